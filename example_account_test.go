package pintle_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/provider"
	"github.com/pintleauth/pintle/store/memstore"
)

// browserName is what a person knows a session by.
var browserName = pintle.NewClaim[string]("browser")

// An account page shows where a user is signed in, and how they can sign in.
// The session determines whose account it is, never the request.
func ExampleAuth_Devices() {
	store := memstore.New()
	ali, err := store.CreateUser(context.Background(), &pintle.User{ID: "7", Name: "Ali Baba"})
	if err != nil {
		log.Fatal(err)
	}
	auth, err := pintle.New(pintle.Config{
		Store: store,
		Providers: []pintle.Provider{
			provider.GitHub(provider.Options{ClientID: "id", ClientSecret: "secret"}),
			&pintle.Credentials{
				Authorize: func(context.Context, *pintle.Submission) (*pintle.User, error) { return ali, nil },
				CanSignIn: func(context.Context, *pintle.User) (bool, error) { return true, nil }, // all have passwords
			},
		},
		Session: pintle.SessionConfig{
			Describe: func(r *http.Request) map[string]any { return map[string]any{"browser": r.UserAgent()} },
		},
		Pages:   pintle.Pages{Account: "/account"},
		Secrets: []string{"the output of openssl rand -base64 33"},
		Getenv:  func(string) string { return "" }, // nothing but what is here
	})
	if err != nil {
		log.Fatal(err)
	}

	pages := http.NewServeMux()
	pages.HandleFunc("GET /account", func(w http.ResponseWriter, r *http.Request) {
		session := pintle.SessionFrom(r.Context())
		for device, err := range auth.Devices(r.Context(), session) {
			if err != nil {
				http.Error(w, "try again later", http.StatusInternalServerError)
				return
			}
			name, _ := browserName.In(device.Data)
			fmt.Fprintf(w, "%s, this one: %t\n", name, device.Current) // and a form that posts device.Handle
		}
		accounts, err := auth.Accounts(r.Context(), session)
		if err != nil {
			http.Error(w, "try again later", http.StatusInternalServerError)
			return
		}
		for _, account := range accounts {
			fmt.Fprintln(w, account.Provider, account.ProviderAccountID)
		}
	})
	act := func(path string, do func(ctx context.Context, session *pintle.Session, r *http.Request) error) {
		pages.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) {
			switch err := do(r.Context(), pintle.SessionFrom(r.Context()), r); {
			case errors.Is(err, pintle.ErrNotFound):
				http.Redirect(w, r, "/account?error=NotFound", http.StatusSeeOther)
			case errors.Is(err, pintle.CodeLastSignIn):
				http.Redirect(w, r, "/account?error=LastSignIn", http.StatusSeeOther)
			case err != nil:
				http.Error(w, "try again later", http.StatusInternalServerError)
			default:
				http.Redirect(w, r, "/account", http.StatusSeeOther)
			}
		})
	}
	act("/account/end", func(ctx context.Context, s *pintle.Session, r *http.Request) error {
		return auth.EndDevice(ctx, s, r.PostFormValue("device"))
	})
	act("/account/end-others", func(ctx context.Context, s *pintle.Session, _ *http.Request) error {
		_, err := auth.EndOtherDevices(ctx, s)
		return err
	})
	act("/account/unlink", func(ctx context.Context, s *pintle.Session, r *http.Request) error {
		return auth.Unlink(ctx, s, r.PostFormValue("provider"), r.PostFormValue("id"))
	})
	act("/account/delete", func(ctx context.Context, s *pintle.Session, _ *http.Request) error {
		return auth.DeleteUser(ctx, s.User.ID)
	})
	pages.HandleFunc("POST /account/link", func(w http.ResponseWriter, r *http.Request) {
		next, err := auth.SignIn(w, r, "github", pintle.SignInOptions{RedirectTo: "/account"})
		if err != nil {
			http.Error(w, "try again later", http.StatusInternalServerError)
			return
		}
		http.Redirect(w, r, next, http.StatusSeeOther)
	})
	// Forms of other sites end at CrossOriginProtection.
	app := auth.Load(auth.Require(http.NewCrossOriginProtection().Handler(pages)))

	phone, laptop := exampleBrowser(auth, "Safari"), exampleBrowser(auth, "Firefox")
	fmt.Print(exampleVisit(app, laptop, "GET", "/account"))
	fmt.Print(exampleVisit(app, laptop, "POST", "/account/end-others"))
	fmt.Print(exampleVisit(app, laptop, "GET", "/account"))
	fmt.Print(exampleVisit(app, phone, "GET", "/account"))
	// Output:
	// Firefox, this one: true
	// Safari, this one: false
	// See /account
	// Firefox, this one: true
	// Unauthorized
}

// exampleBrowser returns the cookies of a browser in which a user signs in.
func exampleBrowser(auth *pintle.Auth, name string) []*http.Cookie {
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodPost, "http://localhost:3000/login", nil)
	r.Header.Set("User-Agent", name)
	if _, err := auth.SignIn(w, r, "credentials", pintle.SignInOptions{RedirectTo: "/"}); err != nil {
		log.Fatal(err)
	}
	return w.Result().Cookies()
}

// exampleVisit requests a page and returns its text, or where it redirects.
func exampleVisit(h http.Handler, cookies []*http.Cookie, method, path string) string {
	r := httptest.NewRequest(method, "http://localhost:3000"+path, nil)
	for _, c := range cookies {
		r.AddCookie(c)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if to := w.Header().Get("Location"); to != "" {
		return "See " + to + "\n"
	}
	return w.Body.String()
}
