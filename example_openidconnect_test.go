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

// The OpenID provider of a company needs an issuer and a client. The endpoints
// are discovered, and the standard claims become the user.
func ExampleOAuth_openIDConnect() {
	// This takes the place of the provider, https://login.example.com.
	company := authtest.NewIdentityProvider(authtest.Options{AutoConsent: true})
	if err := company.Listen(); err != nil {
		log.Fatal(err)
	}
	defer company.Close()
	company.SignInAs(authtest.Person{Subject: "42", Name: "Kim", Email: "Kim@example.com", EmailVerified: true})

	auth, err := pintle.New(pintle.Config{
		Providers: []pintle.Provider{&pintle.OAuth{
			ID:            "company",
			Name:          "Example Company",
			Protocol:      oauth.OIDC,
			Issuer:        company.Issuer,          // or from AUTH_COMPANY_ISSUER
			ClientID:      "what the company gave", // or from AUTH_COMPANY_ID
			ClientSecret:  "what the company gave", // or from AUTH_COMPANY_SECRET
			Checks:        []oauth.Check{oauth.CheckPKCE, oauth.CheckNonce},
			EmailVerified: func(p pintle.Profile) bool { return p.Bool("email_verified") },
		}},
		Secrets: []string{"the output of openssl rand -base64 33"},
		Getenv:  func(string) string { return "" }, // nothing but what is here
	})
	if err != nil {
		log.Fatal(err)
	}
	login := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next, err := auth.SignIn(w, r, "company", pintle.SignInOptions{RedirectTo: "/"})
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
		fmt.Fprintln(w, user.Name, user.Email)
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
	// Output: Kim kim@example.com
}
