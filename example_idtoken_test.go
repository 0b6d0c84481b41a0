package pintle_test

import (
	"fmt"
	"html/template"
	"io"
	"log"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/native"
)

var oneTap = template.Must(template.New("").Parse(`<script src="https://accounts.google.com/gsi/client" async></script>
<div id="g_id_onload" data-client_id="{{.ClientID}}" data-nonce="{{.Nonce}}" data-login_uri="https://your-site.example/auth/idtoken/google"></div>
`))

// A page with Google One Tap.
func ExampleAuth_IDTokenNonce() {
	// This takes the place of Google.
	idp := authtest.NewIdentityProvider(authtest.Options{})
	if err := idp.Listen(); err != nil {
		log.Fatal(err)
	}
	defer idp.Close()
	idp.SignInAs(authtest.Person{Subject: "42", Name: "Kim"})

	google := idp.OIDC("google") // provider.Google(provider.Options{})
	google.AcceptIDTokens.Audiences = []string{google.ClientID}
	auth, err := pintle.New(pintle.Config{
		Providers: []pintle.Provider{google},
		Secrets:   []string{"the output of openssl rand -base64 33"},
		Getenv:    func(string) string { return "" }, // nothing but what is here
	})
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/auth/", auth)
	mux.Handle("/", auth.Load(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if session := pintle.SessionFrom(r.Context()); session != nil {
			_, _ = fmt.Fprint(w, "signed in: ", session.User.Name)
			return
		}
		nonce, err := auth.IDTokenNonce(w, r, "google")
		if err != nil {
			http.Error(w, "unavailable", http.StatusInternalServerError)
			return
		}
		_ = oneTap.Execute(w, map[string]string{"Nonce": nonce, "ClientID": google.ClientID})
	})))
	site := httptest.NewServer(mux)
	defer site.Close()

	jar, err := cookiejar.New(nil)
	if err != nil {
		log.Fatal(err)
	}
	browser := &http.Client{Jar: jar}
	text := func(answer *http.Response, err error) string {
		if err != nil {
			log.Fatal(err)
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		if err != nil {
			log.Fatal(err)
		}
		return string(body)
	}
	page := text(browser.Get(site.URL))

	// What Google's script does in the page: it asks Google for a token with the nonce, and
	// posts it with a cookie that it has set.
	nonce := regexp.MustCompile(`data-nonce="([^"]+)"`).FindStringSubmatch(page)[1]
	const csrf = "made-by-the-script-of-Google"
	at, err := url.Parse(site.URL)
	if err != nil {
		log.Fatal(err)
	}
	jar.SetCookies(at, []*http.Cookie{{Name: "g_csrf_token", Value: csrf}})
	fmt.Println(text(browser.PostForm(site.URL+"/auth/idtoken/google", url.Values{
		"credential": {idp.IDTokenFor(google.ClientID, "", nonce, nil)}, "g_csrf_token": {csrf},
	})))
	// Output: signed in: Kim
}

// A desktop application signs in through the browser.
func ExampleConfig_native() {
	cfg := pintle.Config{
		Session: pintle.SessionConfig{Strategy: pintle.StrategyDatabase, AllowBearer: true},
		Native:  []native.Application{{ID: "desktop", Name: "Desktop", RedirectURLs: []string{"http://127.0.0.1/signed-in"}}},
	}
	_ = cfg // with Providers and a Store
}
