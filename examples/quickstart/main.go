// Command quickstart shows sign-in with Pintle, without an account at a service:
//
//	go run ./examples/quickstart
//
// It keeps users and sessions in SQLite, has sign-up, passwords and second factors, and a
// local identity provider. Mails are printed on the terminal. Read README.md first.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/store/sqlstore"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:3000", "loopback `address` to listen on; if it is taken, a free port is used")
	file := flag.String("db", defaultDatabase(), "SQLite `file`, made if it does not exist")
	sessions := flag.String("sessions", "database", "where sessions are kept: `database or token`")
	operator := flag.String("operator", "", "make the user with this `address` an operator, and end")
	flag.Parse()
	if err := run(*addr, *file, *sessions, *operator); err != nil {
		fmt.Fprintln(os.Stderr, "quickstart:", err)
		os.Exit(1)
	}
}

func run(addr, file, sessions, operator string) error {
	strategy, ok := map[string]pintle.SessionStrategy{"database": pintle.StrategyDatabase, "token": pintle.StrategyJWT}[sessions]
	if !ok {
		return fmt.Errorf("-sessions %q: use database or token", sessions)
	}
	ctx := context.Background()
	db, err := openDatabase(ctx, file)
	if err != nil {
		return err
	}
	defer db.Close()
	store := sqlstore.New(db, sqlstore.SQLite)
	if err := createDemoUsers(ctx, store); err != nil {
		return err
	}
	secret, err := readSecret(file + ".secret")
	if err != nil {
		return err
	}
	idp := authtest.NewIdentityProvider(authtest.Options{Name: "Local identity provider"})
	if err := idp.Listen(); err != nil {
		return err
	}
	defer idp.Close()

	accounts := newAccounts(printMail)
	auth, err := pintle.New(config(store, sqlstore.NewRevocations(db, sqlstore.SQLite), accounts, idp, secret, strategy))
	if err != nil {
		return err
	}
	if operator != "" {
		err := makeOperator(ctx, store, accounts, operator)
		if err == nil {
			fmt.Printf("%s is an operator. With -sessions token, sign in again.\n", operator)
		}
		return err
	}
	listener, err := listen(ctx, addr)
	if err != nil {
		return err
	}
	fmt.Printf("http://%s\nusers and sessions: %s\nsecret, readable by you only: %[2]s.secret\nmails are printed here\n"+
		"to make a user an operator: go run ./examples/quickstart -db %[2]q -operator ADDRESS\n", name(listener.Addr()), file)
	return serve(listener, newSite(auth, strategy, accounts, idp.Issuer))
}
