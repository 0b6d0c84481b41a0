package pintle_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"strings"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
)

// Only users with a verified address of the company may sign in. The others see
// the error page.
func ExampleCallbacks_signIn() {
	// This takes the place of a provider at which everyone can have an account.
	public := authtest.NewIdentityProvider(authtest.Options{AutoConsent: true})
	if err := public.Listen(); err != nil {
		log.Fatal(err)
	}
	defer public.Close()

	auth, err := pintle.New(pintle.Config{
		Providers: []pintle.Provider{public.OIDC("public")},
		Callbacks: pintle.Callbacks{
			SignIn: func(_ context.Context, a *pintle.SignInAttempt) (string, error) {
				if !a.Profile.Bool("email_verified") || !strings.HasSuffix(a.User.Email, "@example.com") {
					return "", pintle.CodeAccessDenied
				}
				return "", nil
			},
		},
		Secrets: []string{"the output of openssl rand -base64 33"},
		Getenv:  func(string) string { return "" }, // nothing but what is here
	})
	if err != nil {
		log.Fatal(err)
	}
	login := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next, err := auth.SignIn(w, r, "public", pintle.SignInOptions{RedirectTo: "/"})
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
		fmt.Fprintln(w, "welcome")
	}))))
	app := httptest.NewServer(mux)
	defer app.Close()

	for _, person := range []authtest.Person{
		{Subject: "1", Email: "kim@example.com", EmailVerified: true},
		{Subject: "2", Email: "kim@example.com"},
		{Subject: "3", Email: "eve@example.org", EmailVerified: true},
	} {
		public.SignInAs(person)
		jar, _ := cookiejar.New(nil) // never fails without options
		resp, err := (&http.Client{Jar: jar}).Post(app.URL+"/login", "", nil)
		if err != nil {
			log.Fatal(err)
		}
		resp.Body.Close()
		fmt.Println(resp.Status, resp.Request.URL.RequestURI())
	}
	// Output:
	// 200 OK /
	// 403 Forbidden /auth/error?error=AccessDenied
	// 403 Forbidden /auth/error?error=AccessDenied
}
