package main

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/store/sqlstore"
)

// usersName is the first word of the commands about users.
const (
	usersName    = "users"
	usersSummary = "Lists, makes and changes the users of a database; pintle users help lists its commands."
)

// userCommands are the commands about users, by their second word. Each is in a file of its
// name.
var userCommands = []command{
	{"list", "users list [-email TEXT] [-name TEXT] [-role ROLE] [-banned yes] [-deleting yes] [-unproved yes] [-second-factor yes] [-limit N] [-json] [-layout NAME] [-database URL | URL]", "Lists users, the newest first, or those whose address or name begins with a text.", listUsers},
	{"show", "users show [-database URL] [-json] USER", "Shows a user: address, roles, ban, deletion, second factors. USER is an id, or an address, here and below; for acts an address that is proven.", showUser},
	{"create", "users create [-database URL] [-name NAME] [-role ROLE] ADDRESS", "Makes a user without a password, whose address is not proven, and prints the id.", createUser},
	{"invite", "users invite [-database URL] [-name NAME] [-role ROLE] [-revoke] [-stdout] ADDRESS", "Prints a link with which the reader of the address makes an account. It works for seven days.", inviteUser},
	{"verify", "users verify [-database URL] USER", "Records that the user reads mail at the address, which may be unproven here. It removes the other ways to sign in.", simpleOf(findUser, "verify", "the address is proven", true, func(a *acting, id string) error { return a.ops.ProveAddress(a.ctx, id) })},
	{"ban", "users ban [-database URL] [-until TIME] [-reason TEXT] USER", "Keeps a user from signing in, and ends all sessions.", banUser},
	{"unban", "users unban [-database URL] USER", "Lets a user sign in again. What the ban has ended stays ended.", simple("unban", "the user is not banned", true, func(a *acting, id string) error { return a.ops.Unban(a.ctx, id) })},
	{"roles", "users roles [-database URL] [-none] USER [ROLE …]", "Gives a user these roles in place of those of before; -none takes all away.", changeRoles},
	{"reset-password", "users reset-password [-database URL] [-temporary] [-stdout] USER", "Prints a link with which the user chooses a password, or a temporary password.", resetPassword},
	{"reset-second-factor", "users reset-second-factor [-database URL] USER", "Removes the authenticator apps and recovery codes of a user, who adds an app at the next sign-in.", simple("reset-second-factor", "the second factor is removed", true, func(a *acting, id string) error { return a.ops.ResetSecondFactor(a.ctx, id) })},
	{"remove-passkeys", "users remove-passkeys [-database URL] USER", "Removes all passkeys of a user, and ends the sessions.", simple("remove-passkeys", "the passkeys are removed", true, func(a *acting, id string) error { return a.ops.RemovePasskeys(a.ctx, id) })},
	{"sign-out", "users sign-out [-database URL] USER", "Ends all sessions of a user.", simple("sign-out", "the user is signed out", true, func(a *acting, id string) error { return a.ops.SignOut(a.ctx, id) })},
	{"delete", "users delete [-database URL] [-after DURATION] USER", "Deletes a user, at once, without what the application has of the user, or after a time in which the user can keep the account.", deleteUser},
	{"export", "users export [-database URL] USER", "Prints what is stored about a user as JSON, without secrets.", exportUser},
	{"import", "users import [-database URL] -from SYSTEM [-dry-run] [-partial] [-layout NAME] [-json] FILE", "Stores the users of another system, who keep their passwords: see pintle users import -h. It may be stopped and run again. The status is 1 if it has stopped, and 3 if users were refused.", importUsers},
}

// runUsers runs the command that the second word names.
func runUsers(args []string, stdout, stderr io.Writer) int {
	name := ""
	if len(args) > 0 {
		name = args[0]
	}
	for _, c := range userCommands {
		if c.name == name {
			c.name = usersName + " " + c.name
			return c.execute(args[1:], stdout, stderr)
		}
	}
	switch name {
	case "help", "-h", "-help", "--help":
		if len(args) > 1 && args[1] != "help" && !strings.HasPrefix(args[1], "-") {
			return runUsers([]string{args[1], "-h"}, stdout, stderr)
		}
		usersUsage(stdout)
		return 0
	case "":
	default:
		fmt.Fprintf(stderr, "pintle users: %s\n", unknownCommand(name, usersName+" "))
		return 2
	}
	usersUsage(stderr)
	return 2
}

func usersUsage(w io.Writer) {
	fmt.Fprintln(w, "usage:")
	for _, c := range userCommands {
		fmt.Fprintf(w, "\tpintle %s\n\t\t%s\n", c.usage, strings.TrimSpace(c.summary))
	}
}

// usersFlags are the options that all commands about users have.
type usersFlags struct {
	tables tableFlags
	json   bool
}

func (f *usersFlags) register(flags *flag.FlagSet) {
	f.tables.register(flags)
	flags.BoolVar(&f.json, "json", false, "print a JSON object for each user, one a line")
}

// open opens the store that the arguments, the options or the environment name. The caller
// closes it.
func (f *usersFlags) open(named ...string) (*sqlstore.Store, *opened, error) {
	if err := f.tables.check(); err != nil {
		return nil, nil, err
	}
	f.tables.accounts = f.tables.layout != "" // the tables beside those of the layout
	address, err := f.tables.address(named)
	if err != nil {
		return nil, nil, err
	}
	db, dialect, err := openDatabase(address, mustExist)
	if err != nil {
		return nil, nil, err
	}
	store, err := f.tables.store(context.Background(), db, dialect)
	if err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	return store, &opened{db, dialect}, nil
}

// An opened is a database that a command has opened.
type opened struct {
	*sql.DB
	dialect sqlstore.Dialect
}

// findUser returns the user that an id or an address names.
func findUser(ctx context.Context, store pintle.Store, named string) (*pintle.User, error) {
	u, err := store.User(ctx, named)
	if errors.Is(err, pintle.ErrNotFound) && strings.Contains(named, "@") {
		u, err = store.UserByEmail(ctx, strings.ToLower(named))
	}
	if errors.Is(err, pintle.ErrNotFound) {
		return nil, fmt.Errorf("there is no user with the id or the address %q", named)
	}
	return u, err
}

// findProven is findUser for an act. An address that is not proven names no user: any user can
// have entered it, and would get what the operator gives to its owner.
func findProven(ctx context.Context, store pintle.Store, named string) (*pintle.User, error) {
	u, err := findUser(ctx, store, named)
	if err == nil && u.ID != named && u.EmailVerified.IsZero() {
		return nil, fmt.Errorf("the user %s has not proven the address, and may be another person: "+
			"look with pintle users show, and name the user by the id", u.ID)
	}
	return u, err
}
