package pintle_test

import (
	"context"
	"errors"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"

	"github.com/pintleauth/pintle"
)

// An audit log has its own logger. The handlers of the events write who signed in
// and out, and which attempts failed.
func ExampleEvents() {
	audit := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{} // so that the output is always the same
			}
			return a
		},
	}))
	auth, err := pintle.New(pintle.Config{
		Providers: []pintle.Provider{&pintle.Credentials{
			Authorize: func(_ context.Context, s *pintle.Submission) (*pintle.User, error) {
				if s.Text("password") != "open sesame" { // a real one compares a hash
					return nil, nil
				}
				return &pintle.User{ID: "7", Name: "Kim"}, nil
			},
		}},
		Events: pintle.Events{
			SignIn: func(ctx context.Context, e *pintle.SignInEvent) error {
				audit.InfoContext(ctx, "signed in", "user", e.User.ID, "provider", e.Account.Provider)
				return nil
			},
			SignInFailed: func(ctx context.Context, e *pintle.SignInFailedEvent) error {
				audit.WarnContext(ctx, "not signed in", "code", string(e.Code), "provider", e.Provider, "client", e.Client)
				return nil
			},
			SignOut: func(ctx context.Context, e *pintle.SignOutEvent) error {
				audit.InfoContext(ctx, "signed out", "user", e.Claims["sub"])
				return nil
			},
		},
		Logger:  slog.New(slog.DiscardHandler),
		Secrets: []string{"the output of openssl rand -base64 33"},
		Getenv:  func(string) string { return "" }, // nothing but what is here
	})
	if err != nil {
		log.Fatal(err)
	}

	// A user types a wrong password, then the right one, and signs out.
	var cookies []*http.Cookie
	for _, password := range []string{"open barley", "open sesame"} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodPost, "http://localhost:3000/login", nil)
		_, err := auth.SignIn(w, r, "credentials", pintle.SignInOptions{Fields: map[string]any{"password": password}})
		if err != nil && !errors.Is(err, pintle.CodeCredentials) {
			log.Fatal(err)
		}
		cookies = w.Result().Cookies()
	}
	r := httptest.NewRequest(http.MethodPost, "http://localhost:3000/logout", nil)
	for _, c := range cookies {
		r.AddCookie(c)
	}
	if _, err := auth.SignOut(httptest.NewRecorder(), r, pintle.SignOutOptions{RedirectTo: "/"}); err != nil {
		log.Fatal(err)
	}
	// Output:
	// level=WARN msg="not signed in" code=CredentialsSignin provider=credentials client=192.0.2.1
	// level=INFO msg="signed in" user=7 provider=credentials
	// level=INFO msg="signed out" user=7
}
