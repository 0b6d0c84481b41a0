package pintle_test

import (
	"cmp"
	"fmt"
	"html/template"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/pages"
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
<label>Password <input name="password" type="password" autocomplete="current-password"></label>
<button>Sign in</button>
</form>`))
	auth := exampleAuth(pintle.Callbacks{}) // with Pages: pintle.Pages{SignIn: "/login"}
	login := http.NewCrossOriginProtection().Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data := struct{ Next, Problem string }{Next: r.FormValue("callbackUrl")}
		if r.Method == http.MethodPost {
			next, err := auth.SignIn(w, r, "credentials", pintle.SignInOptions{
				RedirectTo: cmp.Or(data.Next, "/"),
				Fields:     map[string]any{"password": r.PostFormValue("password")},
			})
			if err == nil {
				http.Redirect(w, r, next, http.StatusSeeOther)
				return
			}
			data.Problem = "That did not work. Try again."
		}
		if err := page.Execute(w, data); err != nil {
			log.Print(err)
		}
	}))

	for _, password := range []string{"open barley", "open sesame"} {
		form := url.Values{"password": {password}, "callbackUrl": {"/cave"}}
		r := httptest.NewRequest(http.MethodPost, "http://localhost:3000/login", strings.NewReader(form.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w := httptest.NewRecorder()
		login.ServeHTTP(w, r)
		text, _ := io.ReadAll(w.Body)
		fmt.Println(w.Code, w.Header().Get("Location"), strings.Contains(string(text), "Try again"))
	}
	// Output:
	// 200  true
	// 303 http://localhost:3000/cave false
}
