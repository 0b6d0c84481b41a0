package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"github.com/pintleauth/pintle/token"
)

// maxInput is how many bytes of the input are read.
const maxInput = 64 << 10

// cookies are the default names of the session cookie, over https and http.
var cookies = []string{"__Secure-authjs.session-token", "authjs.session-token"}

// openToken opens a session token that it reads from in, and writes its claims.
func openToken(in io.Reader, w io.Writer, args []string) error {
	flags := flag.NewFlagSet("token", flag.ContinueOnError)
	name := flags.String("cookie", "", "the `name` of the cookie, if the application sets one")
	tenant := flags.String("tenant", "", "the `name` of the tenant, if the application has several")
	if err := parse(flags, args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		// All users of the machine can read the arguments in the list of processes,
		// and could sign in with the token.
		return usagef("the token comes from standard input")
	}
	secrets := environmentSecrets()
	if len(secrets) == 0 {
		return errors.New("set AUTH_SECRET to the secret of the application")
	}
	text, err := io.ReadAll(io.LimitReader(in, maxInput))
	if err != nil {
		return err
	}
	if strings.TrimSpace(string(text)) == "" {
		return usagef("the standard input is empty: it has to be the token, or a Cookie header with it")
	}
	names := cookies
	if *name != "" {
		names = []string{*name}
	}
	for _, name := range names {
		var opened token.Token
		if opened, err = open(*tenant, name, secrets, strings.TrimSpace(string(text))); err == nil {
			return printClaims(w, name, opened)
		}
	}
	return fmt.Errorf("%w: is AUTH_SECRET that of the application, the cookie called %s (-cookie), and the tenant, if there is one, named (-tenant)?", err, strings.Join(names, " or "))
}

// secretVariables have the secrets, newest first.
var secretVariables = []string{"AUTH_SECRET_3", "AUTH_SECRET_2", "AUTH_SECRET_1", "AUTH_SECRET", "NEXTAUTH_SECRET"}

// environmentSecrets are the secrets as package pintle reads them, newest first.
func environmentSecrets() []string {
	var secrets []string
	for _, name := range secretVariables {
		if secret := os.Getenv(name); secret != "" {
			secrets = append(secrets, secret)
		}
	}
	return secrets
}

// open opens a token, or the one in a Cookie header, where a long one is in
// parts.
func open(tenant, name string, secrets []string, text string) (token.Token, error) {
	codec, err := token.NewTenant(tenant, name, secrets...)
	if err != nil {
		return token.Token{}, err
	}
	if !strings.Contains(text, "=") {
		return codec.Decode(text)
	}
	_, header, ok := strings.Cut(text, "ookie: ")
	if !ok {
		header = text
	}
	return codec.FromCookie(&http.Request{Header: http.Header{"Cookie": {header}}})
}

func printClaims(w io.Writer, name string, t token.Token) error {
	var claims bytes.Buffer
	if err := json.Indent(&claims, t.JSON(), "", "\t"); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "%s\nof %s, until %s\n", claims.Bytes(), name, t.Expires().UTC().Format("2006-01-02 15:04:05 MST"))
	return err
}
