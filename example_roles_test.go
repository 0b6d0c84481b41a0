package pintle_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"slices"
	"strings"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/store/memstore"
)

// roleIn returns the role that the groups of a profile stand for.
func roleIn(p pintle.Profile) string {
	groups, _ := p["groups"].([]any)
	if slices.Contains(groups, any("app-admins")) {
		return "admin"
	}
	return "member"
}

// roleOf returns the role of the user of a database session.
func roleOf(s *pintle.Session) string {
	if s == nil {
		return ""
	}
	role, _ := s.User.Extra["role"].(string)
	return role
}

// Users have the role that their groups at the identity provider stand for, and
// lose it at the next sign-in after the provider has taken it away.
func ExampleCallbacks_syncUser() {
	// In production this is the provider's server.
	idp := authtest.NewIdentityProvider(authtest.Options{AutoConsent: true})
	if err := idp.Listen(); err != nil {
		log.Fatal(err)
	}
	defer idp.Close()

	auth, err := pintle.New(pintle.Config{
		Providers: []pintle.Provider{idp.OIDC("sso")},
		Store:     memstore.New(),
		Callbacks: pintle.Callbacks{
			SyncUser: func(_ context.Context, a *pintle.SignInAttempt) (pintle.UserUpdate, error) {
				if a.Account.Provider != "sso" {
					return pintle.UserUpdate{}, nil // no other provider gives roles
				}
				return pintle.UserUpdate{Extra: map[string]any{"role": roleIn(a.Profile)}}, nil
			},
			Authorized: func(r *http.Request, s *pintle.Session) (pintle.Access, error) {
				if strings.HasPrefix(r.URL.Path, "/admin") {
					return pintle.Access{Allowed: roleOf(s) == "admin"}, nil
				}
				return pintle.Access{Allowed: s != nil}, nil
			},
		},
		Secrets: []string{"the output of openssl rand -base64 33"},
		Getenv:  func(string) string { return "" }, // nothing but what is here
	})
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/auth/", auth)
	mux.HandleFunc("/login", func(w http.ResponseWriter, r *http.Request) {
		next, err := auth.SignIn(w, r, "sso", pintle.SignInOptions{RedirectTo: "/admin"})
		if err != nil {
			http.Error(w, "try again later", http.StatusInternalServerError)
			return
		}
		http.Redirect(w, r, next, http.StatusSeeOther)
	})
	mux.Handle("/admin", auth.Require(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintln(w, "welcome")
	})))
	app := httptest.NewServer(mux)
	defer app.Close()

	for _, groups := range [][]string{{"app-admins", "engines"}, {"engines"}} {
		idp.SignInAs(authtest.Person{Subject: "42", Name: "Kim", Claims: map[string]any{"groups": groups}})
		jar, _ := cookiejar.New(nil) // which never fails without options
		resp, err := (&http.Client{Jar: jar}).Get(app.URL + "/login")
		if err != nil {
			log.Fatal(err)
		}
		_ = resp.Body.Close()
		fmt.Println(groups, resp.Status)
	}
	// Output:
	// [app-admins engines] 200 OK
	// [engines] 403 Forbidden
}
