package pintle_test

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"os"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/oauth"
)

// A service that speaks OAuth 2 and is not in the catalogue: its endpoints, and
// what its profile means.
func ExampleOAuth() {
	// This takes the place of the service, https://forge.example.com.
	service := authtest.NewIdentityProvider(authtest.Options{AutoConsent: true})
	if err := service.Listen(); err != nil {
		log.Fatal(err)
	}
	defer service.Close()
	service.SignInAs(authtest.Person{Subject: "42", Login: "kim", Picture: "https://forge.example.com/kim.png"})

	forge := &pintle.OAuth{
		ID:           "forge",
		Name:         "The Forge",
		ClientID:     "what the service gave", // or from AUTH_FORGE_ID
		ClientSecret: "what the service gave", // or from AUTH_FORGE_SECRET
		Authorization: oauth.Endpoint{
			URL:    service.URL(authtest.AuthorizationEndpoint),
			Params: map[string]string{"scope": "read:user"},
		},
		Token:    oauth.Endpoint{URL: service.URL(authtest.TokenEndpoint)},
		UserInfo: oauth.Endpoint{URL: service.URL(authtest.UserEndpoint)},
		Profile: func(p pintle.Profile, _ *pintle.Account) (*pintle.User, error) {
			return &pintle.User{
				ID:    p.ID("id"), // which never changes and is given to one user only
				Name:  p.Text("login"),
				Image: p.Text("avatar_url"),
			}, nil
		},
	}

	auth, err := pintle.New(pintle.Config{
		Providers: []pintle.Provider{forge},
		Secrets:   []string{"the output of openssl rand -base64 33"},
		Getenv:    func(string) string { return "" }, // nothing but what is here
	})
	if err != nil {
		log.Fatal(err)
	}
	login := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next, err := auth.SignIn(w, r, "forge", pintle.SignInOptions{RedirectTo: "/"})
		if err != nil {
			http.Error(w, "try again later", http.StatusInternalServerError)
			return
		}
		http.Redirect(w, r, next, http.StatusSeeOther)
	})
	mux := http.NewServeMux()
	mux.Handle("/auth/", auth)
	mux.Handle("POST /login", http.NewCrossOriginProtection().Handler(login))
	mux.Handle("/", auth.Load(auth.Require(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user := pintle.SessionFrom(r.Context()).User
		fmt.Fprintln(w, user.Name, user.Image)
	}))))
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
	// Output: kim https://forge.example.com/kim.png
}
