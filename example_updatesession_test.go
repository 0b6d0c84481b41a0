package pintle_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"

	"github.com/pintleauth/pintle"
)

// The session carries the language that the user has chosen. The handler checks
// the choice, and the next request has it.
func ExampleAuth_UpdateSession() {
	language := pintle.NewClaim[string]("language")
	auth, err := pintle.New(pintle.Config{
		Providers: []pintle.Provider{&pintle.Credentials{
			Authorize: func(context.Context, *pintle.Submission) (*pintle.User, error) {
				return &pintle.User{ID: "7", Name: "Kim"}, nil // a real one compares a password
			},
		}},
		Secrets: []string{"the output of openssl rand -base64 33"},
		Getenv:  func(string) string { return "" }, // nothing but what is here
	})
	if err != nil {
		log.Fatal(err)
	}

	pages := http.NewServeMux()
	pages.HandleFunc("POST /language", func(w http.ResponseWriter, r *http.Request) {
		chosen := r.FormValue("language")
		if chosen != "en" && chosen != "de" {
			http.Error(w, "there is no such language", http.StatusBadRequest)
			return
		}
		language.Set(pintle.SessionFrom(r.Context()), chosen)
		if _, err := auth.UpdateSession(w, r, nil); err != nil {
			http.Error(w, "try again later", http.StatusInternalServerError)
			return
		}
		http.Redirect(w, r, "/", http.StatusSeeOther)
	})
	pages.HandleFunc("GET /", func(w http.ResponseWriter, r *http.Request) {
		session := pintle.SessionFrom(r.Context())
		if chosen, _ := language.Get(session); chosen == "de" {
			fmt.Fprintln(w, "Hallo,", session.User.Name)
			return
		}
		fmt.Fprintln(w, "Hello,", session.User.Name)
	})
	login := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next, err := auth.SignIn(w, r, "credentials", pintle.SignInOptions{RedirectTo: "/"})
		if err != nil {
			http.Error(w, "try again later", http.StatusInternalServerError)
			return
		}
		http.Redirect(w, r, next, http.StatusSeeOther)
	})
	mux := http.NewServeMux()
	mux.Handle("POST /login", login)
	mux.Handle("/", auth.Load(auth.Require(pages)))
	app := httptest.NewServer(http.NewCrossOriginProtection().Handler(mux))
	defer app.Close()

	jar, _ := cookiejar.New(nil) // never fails without options
	browser := &http.Client{Jar: jar}
	for _, form := range []struct{ path, language string }{{"/login", ""}, {"/language", "de"}} {
		resp, err := browser.PostForm(app.URL+form.path, url.Values{"language": {form.language}})
		if err != nil {
			log.Fatal(err)
		}
		_, _ = io.Copy(os.Stdout, resp.Body)
		resp.Body.Close()
	}
	// Output:
	// Hello, Kim
	// Hallo, Kim
}
