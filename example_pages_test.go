package pintle_test

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"log"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/pages"
	"github.com/pintleauth/pintle/throttle"
)

// A site in English and German, which names itself.
func ExampleConfig_texts() {
	auth, err := pintle.New(pintle.Config{
		Providers: []pintle.Provider{&pintle.Credentials{Name: "Password", Authorize: checkPassword}},
		Secrets:   []string{"the output of openssl rand -base64 33"},
		Theme:     pages.Theme{SiteName: "Bird Shop"},
		Languages: []pages.Texts{{
			Lang: "de", Site: "Vogelhandlung",
			SignInHeading: "Anmelden", SignInLead: "weiter zur %s", SignInWith: "Mit %s anmelden",
			Words:   map[string]string{"Username": "Benutzername", "Password": "Passwort"},
			Account: pages.AccountTexts{Words: map[string]string{"show_password": "Passwort zeigen"}},
		}},
		Getenv: func(string) string { return "" }, // nothing but what is here
	})
	if err != nil {
		log.Fatal(err)
	}
	tags := regexp.MustCompile(`(?s)<style>.*?</style>|<script>.*?</script>|<title>.*?</title>|<[^>]*>|\n`)
	for _, language := range []string{"en-GB,en;q=0.9", "de-AT,de;q=0.9,en;q=0.5"} {
		r := httptest.NewRequest(http.MethodGet, "http://localhost:3000/auth/signin", nil)
		r.Header.Set("Accept-Language", language)
		w := httptest.NewRecorder()
		auth.ServeHTTP(w, r)
		fmt.Println(strings.Join(strings.Fields(tags.ReplaceAllString(w.Body.String(), " ")), " "))
	}
	// Output:
	// Sign in to continue to Bird Shop Username Password Show the password Sign in with password
	// Anmelden weiter zur Vogelhandlung Benutzername Passwort Passwort zeigen Mit Passwort anmelden
}

// A sign-in page of the application's own.
func ExamplePages() {
	page := template.Must(template.New("").Parse(`<!doctype html>
<html lang="en"><title>Sign in</title>
{{with .Problem}}<p role="alert">{{.}}</p>{{end}}
<form method="post">
<input type="hidden" name="callbackUrl" value="{{.Next}}">
<label>Email <input name="email" type="email" autocomplete="username" value="{{.Email}}"></label>
<label>Password <input name="password" type="password" autocomplete="current-password"></label>
<button>Sign in</button>
</form>`))
	password := &pintle.Credentials{Authorize: func(_ context.Context, c *pintle.Submission) (*pintle.User, error) {
		if c.Text("email") != "ali@example.com" || c.Text("password") != "open sesame" {
			return nil, nil // which is wrong
		}
		return &pintle.User{ID: "7", Name: "Ali Baba", Email: "ali@example.com"}, nil
	}}
	guard := &throttle.Guard{PerAccountAndClient: throttle.Limit{Burst: 1, Every: time.Minute}}
	auth, err := pintle.New(pintle.Config{
		Providers: []pintle.Provider{guard.Credentials(password, "email")},
		Secrets:   []string{"the output of openssl rand -base64 33"},
		Pages:     pintle.Pages{SignIn: "/login"},
		Getenv:    func(string) string { return "" }, // nothing but what is here
	})
	if err != nil {
		log.Fatal(err)
	}
	login := http.NewCrossOriginProtection().Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data := struct{ Next, Email, Problem string }{Next: r.FormValue("callbackUrl"), Email: r.PostFormValue("email")}
		if r.Method == http.MethodPost {
			next, err := auth.SignIn(w, r, "credentials", pintle.SignInOptions{
				RedirectTo: data.Next,
				Fields:     map[string]any{"email": data.Email, "password": r.PostFormValue("password")},
			})
			if err == nil {
				http.Redirect(w, r, next, http.StatusSeeOther)
				return
			}
			data.Problem = "That did not work. Try again."
			if refused, ok := errors.AsType[*pintle.Error](err); ok && refused.RetryAfter > 0 { // too many attempts
				data.Problem = "Too many attempts. Wait a minute."
				w.Header().Set("Retry-After", strconv.FormatFloat(math.Ceil(refused.RetryAfter.Seconds()), 'f', 0, 64))
				w.WriteHeader(http.StatusTooManyRequests)
			}
		}
		if err := page.Execute(w, data); err != nil {
			log.Print(err)
		}
	}))

	for _, password := range []string{"open sesame", "open barley", "open barley"} {
		form := url.Values{"email": {"ali@example.com"}, "password": {password}, "callbackUrl": {"/cave"}}
		r := httptest.NewRequest(http.MethodPost, "http://localhost:3000/login", strings.NewReader(form.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w := httptest.NewRecorder()
		login.ServeHTTP(w, r)
		_, problem, _ := strings.Cut(w.Body.String(), `<p role="alert">`)
		problem, _, _ = strings.Cut(problem, "<")
		kept := ""
		if strings.Contains(w.Body.String(), `value="ali@example.com"`) {
			kept = "The address is still there. "
		}
		fmt.Println(strings.TrimSpace(fmt.Sprint(w.Code, " ", w.Header().Get("Location"), problem, " ", kept, w.Header().Get("Retry-After"))))
	}
	// Output:
	// 303 http://localhost:3000/cave
	// 200 That did not work. Try again. The address is still there.
	// 429 Too many attempts. Wait a minute. The address is still there. 60
}
