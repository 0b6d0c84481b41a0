package apiclient_test

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"os"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/apiclient"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/store/memstore"
)

// A page shows what the API of a provider has of its user.
func Example() {
	// This takes the place of a provider, with access tokens that expire at once.
	acme := authtest.NewIdentityProvider(authtest.Options{AutoConsent: true, TokenLifetime: time.Second})
	if err := acme.Listen(); err != nil {
		log.Fatal(err)
	}
	defer acme.Close()
	acme.SignInAs(authtest.Person{Subject: "42", Name: "Kim"})
	provider := acme.OIDC("acme")
	provider.Authorization.Params = map[string]string{"scope": "openid profile offline_access"}

	auth, err := pintle.New(pintle.Config{
		Providers: []pintle.Provider{provider},
		Store:     memstore.New(), // which keeps the tokens
		Secrets:   []string{"the output of openssl rand -base64 33"},
		Getenv:    func(string) string { return "" }, // nothing but what is here
	})
	if err != nil {
		log.Fatal(err)
	}
	page := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		api, err := apiclient.New(auth, pintle.SessionFrom(r.Context()).User.ID, apiclient.Options{
			Provider: "acme",
			Scopes:   []string{"profile"},
			Origins:  []string{acme.URL("")},
		})
		if err != nil {
			http.Error(w, "try again later", http.StatusInternalServerError)
			return
		}
		call, err := http.NewRequestWithContext(r.Context(), http.MethodGet, acme.URL(authtest.UserInfoEndpoint), http.NoBody)
		if err != nil {
			http.Error(w, "try again later", http.StatusInternalServerError)
			return
		}
		resp, err := api.Do(call)
		switch {
		case errors.Is(err, pintle.ErrNotFound):
			http.Error(w, "link an account of Acme first", http.StatusForbidden)
			return
		case errors.Is(err, apiclient.ErrConsentRequired):
			http.Error(w, "allow Acme to show your profile", http.StatusForbidden)
			return
		case errors.Is(err, pintle.ErrNoRefresh):
			http.Error(w, "sign in with Acme again", http.StatusForbidden)
			return
		case err != nil:
			http.Error(w, "try again later", http.StatusBadGateway)
			return
		}
		defer resp.Body.Close()
		_, _ = io.Copy(w, resp.Body)
	})
	login := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next, err := auth.SignIn(w, r, "acme", pintle.SignInOptions{RedirectTo: "/"})
		if err != nil {
			http.Error(w, "try again later", http.StatusInternalServerError)
			return
		}
		http.Redirect(w, r, next, http.StatusSeeOther)
	})
	mux := http.NewServeMux()
	mux.Handle("/auth/", auth)
	mux.Handle("POST /login", http.NewCrossOriginProtection().Handler(login))
	mux.Handle("/", auth.Load(auth.Require(page)))
	app := httptest.NewServer(mux)
	defer app.Close()

	jar, _ := cookiejar.New(nil) // never fails without options
	browser := &http.Client{Jar: jar}
	resp, err := browser.Post(app.URL+"/login", "", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	_, _ = io.Copy(os.Stdout, resp.Body)
	fmt.Println()
	for _, request := range acme.Requests(authtest.TokenEndpoint) {
		fmt.Println(request.Form.Get("grant_type"))
	}
	// Output:
	// {"name":"Kim","sub":"42"}
	// authorization_code
	// refresh_token
}
