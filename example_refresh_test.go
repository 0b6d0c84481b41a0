package pintle_test

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"os"
	"slices"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/store/memstore"
)

// An application calls the API of a provider on behalf of the user. Refresh
// replaces an access token that is about to expire.
func ExampleAuth_Refresh() {
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
	client := &http.Client{Timeout: 10 * time.Second}
	page := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		accounts, err := auth.Accounts(r.Context(), pintle.SessionFrom(r.Context()))
		if err != nil {
			http.Error(w, "try again later", http.StatusInternalServerError)
			return
		}
		i := slices.IndexFunc(accounts, func(a *pintle.Account) bool { return a.Provider == "acme" })
		if i < 0 {
			http.Error(w, "link an account of Acme first", http.StatusForbidden)
			return
		}
		account, err := auth.Refresh(r.Context(), accounts[i])
		if errors.Is(err, pintle.ErrNoRefresh) {
			http.Error(w, "sign in with Acme again", http.StatusForbidden)
			return
		}
		if err != nil {
			http.Error(w, "try again later", http.StatusBadGateway)
			return
		}
		call, err := http.NewRequestWithContext(r.Context(), http.MethodGet, acme.URL(authtest.UserInfoEndpoint), nil)
		if err != nil {
			http.Error(w, "try again later", http.StatusInternalServerError)
			return
		}
		call.Header.Set("Authorization", "Bearer "+account.AccessToken)
		resp, err := client.Do(call)
		if err != nil {
			http.Error(w, "try again later", http.StatusBadGateway)
			return
		}
		defer resp.Body.Close()
		fmt.Fprintln(w, "Acme answers", resp.Status)
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
	for _, request := range acme.Requests(authtest.TokenEndpoint) {
		fmt.Println(request.Form.Get("grant_type"))
	}
	// Output:
	// Acme answers 200 OK
	// authorization_code
	// refresh_token
}
