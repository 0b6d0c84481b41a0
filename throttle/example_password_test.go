package throttle_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/password"
	"github.com/pintleauth/pintle/throttle"
)

// Sign-in by password: the application keeps hashes, and the guard limits how many
// passwords a client can try.
func ExampleGuard_Credentials() {
	type member struct{ id, name, hash string }
	var passwords password.Hasher // one for the whole application
	hash, err := passwords.Hash(context.Background(), "correct horse battery staple")
	if err != nil {
		log.Fatal(err)
	}
	members := map[string]member{"kim@example.com": {"7", "Kim", hash}} // a table in the database

	guard := &throttle.Guard{PerAccountAndClient: throttle.Limit{Burst: 3}}
	byPassword := &pintle.Credentials{
		Fields: []pintle.Field{
			{Name: "email", Label: "E-mail", Type: "email", Attributes: map[string]string{"autocomplete": "username"}},
			{Name: "password", Label: "Password", Type: "password", Attributes: map[string]string{"autocomplete": "current-password"}},
		},
		Authorize: func(ctx context.Context, s *pintle.Submission) (*pintle.User, error) {
			email := strings.ToLower(s.Text("email"))
			m := members[email] // an unknown member has the empty hash, which takes as long
			right, err := passwords.Verify(ctx, m.hash, s.Text("password"))
			if err != nil || !right {
				return nil, err
			}
			return &pintle.User{ID: m.id, Name: m.name, Email: email}, nil
		},
	}
	auth, err := pintle.New(pintle.Config{
		Providers: []pintle.Provider{guard.Credentials(byPassword, "email")},
		Secrets:   []string{"the output of openssl rand -base64 33"},
		Logger:    slog.New(slog.DiscardHandler),
		Getenv:    func(string) string { return "" }, // nothing but what is here
	})
	if err != nil {
		log.Fatal(err)
	}

	for _, typed := range []string{"correct horse battery staple", "123456", "password", "qwerty", "111111"} {
		r := httptest.NewRequest(http.MethodPost, "http://localhost:3000/login", nil)
		_, err := auth.SignIn(httptest.NewRecorder(), r, "credentials", pintle.SignInOptions{
			Fields: map[string]any{"email": "kim@example.com", "password": typed},
		})
		switch {
		case err == nil:
			fmt.Println("signed in")
		case errors.Is(err, throttle.ErrTooMany):
			fmt.Println("too many attempts")
		case errors.Is(err, pintle.CodeCredentials):
			fmt.Println("wrong password")
		default:
			log.Fatal(err)
		}
	}
	// Output:
	// signed in
	// wrong password
	// wrong password
	// wrong password
	// too many attempts
}
