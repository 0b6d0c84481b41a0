package throttle_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"net/netip"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/throttle"
)

func Example() {
	guard := &throttle.Guard{}
	auth, err := pintle.New(pintle.Config{
		// The proxies in front of this server.
		TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")},
		URL:            "https://app.example.com",
		Secrets:        []string{"the output of: openssl rand -base64 33"},
		Logger:         slog.New(slog.DiscardHandler),
		Providers: []pintle.Provider{
			guard.Credentials(&pintle.Credentials{Authorize: checkPassword}, "username"),
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}

	// An attacker guesses.
	for guess := range 1000 {
		r := httptest.NewRequest("POST", "https://app.example.com/login", nil)
		_, err := auth.SignIn(httptest.NewRecorder(), r, "credentials", pintle.SignInOptions{
			Fields: map[string]any{"username": "kim", "password": fmt.Sprint(guess)},
		})
		if errors.Is(err, throttle.ErrTooMany) {
			fmt.Println("rejected after", guess, "guesses")
			return
		}
	}
	// Output: rejected after 10 guesses
}

func checkPassword(_ context.Context, s *pintle.Submission) (*pintle.User, error) {
	if s.Text("username") != "kim" || s.Text("password") != "open sesame" {
		return nil, nil // wrong credentials
	}
	return &pintle.User{ID: "1", Name: "Kim"}, nil
}
