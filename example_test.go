package pintle_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/provider"
)

// The sign-in routes are mounted below /auth, and everything else needs a
// session. Secrets come from AUTH_SECRET, client ids from AUTH_GITHUB_ID and
// AUTH_GITHUB_SECRET.
func Example() {
	auth, err := pintle.New(pintle.Config{
		Providers: []pintle.Provider{provider.GitHub(provider.Options{}), provider.Google(provider.Options{})},
	})
	if err != nil {
		log.Fatal(err)
	}
	app := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "Hello, %s!\n", pintle.SessionFrom(r.Context()).User.Name)
	})
	mux := http.NewServeMux()
	mux.Handle("/auth/", auth)
	mux.Handle("/", auth.Load(auth.Require(app)))
	log.Fatal(http.ListenAndServe("localhost:3000", mux))
}

// exampleAuth is a service for examples, in which every user may sign in.
func exampleAuth(callbacks pintle.Callbacks) *pintle.Auth {
	auth, err := pintle.New(pintle.Config{
		Providers: []pintle.Provider{&pintle.Credentials{
			Authorize: func(_ context.Context, c *pintle.Submission) (*pintle.User, error) {
				if c.Text("password") != "open sesame" {
					return nil, nil // which is wrong
				}
				return &pintle.User{ID: "7", Name: "Ali Baba", Email: "ali@example.com"}, nil
			},
		}},
		Secrets:   []string{"the output of openssl rand -base64 33"},
		Getenv:    func(string) string { return "" }, // nothing but what is here
		Callbacks: callbacks,
	})
	if err != nil {
		log.Fatal(err)
	}
	return auth
}

// exampleSignIn returns the cookies of a user who signs in at auth.
func exampleSignIn(auth *pintle.Auth) []*http.Cookie {
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodPost, "http://localhost:3000/login", nil)
	_, err := auth.SignIn(w, r, "credentials", pintle.SignInOptions{
		RedirectTo: "/",
		Fields:     map[string]any{"password": "open sesame"},
	})
	if err != nil {
		log.Fatal(err)
	}
	return w.Result().Cookies()
}

// exampleGet asks a handler for a page, as a browser does.
func exampleGet(h http.Handler, path string, cookies ...*http.Cookie) *http.Response {
	r := httptest.NewRequest(http.MethodGet, "http://localhost:3000"+path, nil)
	r.Header.Set("Accept", "text/html")
	for _, c := range cookies {
		r.AddCookie(c)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

func ExampleAuth_Load() {
	auth := exampleAuth(pintle.Callbacks{})
	page := auth.Load(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s := pintle.SessionFrom(r.Context()); s != nil {
			fmt.Fprintf(w, "Hello, %s!", s.User.Name)
			return
		}
		fmt.Fprint(w, "Hello! You are signed out.")
	}))

	for _, cookies := range [][]*http.Cookie{nil, exampleSignIn(auth)} {
		text, _ := io.ReadAll(exampleGet(page, "/", cookies...).Body)
		fmt.Println(string(text))
	}
	// Output:
	// Hello! You are signed out.
	// Hello, Ali Baba!
}

func ExampleAuth_Require() {
	auth := exampleAuth(pintle.Callbacks{
		// /health is public, and only Ali may see the treasure.
		Authorized: func(r *http.Request, s *pintle.Session) (pintle.Access, error) {
			switch r.URL.Path {
			case "/health":
				return pintle.Access{Allowed: true}, nil
			case "/treasure":
				return pintle.Access{Allowed: s != nil && s.User.ID == "40"}, nil
			}
			return pintle.Access{Allowed: s != nil}, nil
		},
	})
	app := auth.Load(auth.Require(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "welcome")
	})))

	ali := exampleSignIn(auth)
	fmt.Println(exampleGet(app, "/health").Status)
	anonymous := exampleGet(app, "/cave")
	fmt.Println(anonymous.Status, anonymous.Header.Get("Location"))
	fmt.Println(exampleGet(app, "/cave", ali...).Status)
	fmt.Println(exampleGet(app, "/treasure", ali...).Status)
	// Output:
	// 200 OK
	// 302 Found /auth/signin?callbackUrl=%2Fcave
	// 200 OK
	// 403 Forbidden
}

func ExampleClaim() {
	role := pintle.NewClaim[string]("role")

	s := new(pintle.Session)
	role.Set(s, "admin")

	ctx := pintle.WithSession(context.Background(), s)
	fmt.Println(role.Get(pintle.SessionFrom(ctx)))
	// Output: admin true
}

// The callback of the token puts data into it that the application reads from
// the session, and the callback of the session decides what a browser sees.
func ExampleCallbacks() {
	role := pintle.NewClaim[string]("role")
	auth := exampleAuth(pintle.Callbacks{
		JWT: func(_ context.Context, t *pintle.TokenChange) (pintle.Claims, error) {
			if t.Trigger == pintle.TriggerSignIn {
				role.Put(t.Claims, "captain")
			}
			return t.Claims, nil
		},
		Session: func(_ context.Context, v *pintle.SessionView) (any, error) {
			name, _ := role.Get(v.Session)
			return map[string]any{"name": v.Session.User.Name, "role": name}, nil
		},
	})

	text, _ := io.ReadAll(exampleGet(auth, "/auth/session", exampleSignIn(auth)...).Body)
	fmt.Println(string(text))
	// Output: {"name":"Ali Baba","role":"captain"}
}

// A host with its own sign-in form posts it to its own handler.
func ExampleAuth_SignIn() {
	auth := exampleAuth(pintle.Callbacks{})
	login := http.NewCrossOriginProtection().Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next, err := auth.SignIn(w, r, "credentials", pintle.SignInOptions{
			RedirectTo: "/cave",
			Fields:     map[string]any{"password": r.FormValue("password")},
		})
		switch {
		case errors.Is(err, pintle.CodeCredentials):
			http.Error(w, "That is not the word.", http.StatusUnauthorized)
		case err != nil:
			http.Error(w, "Try again later.", http.StatusInternalServerError)
		default:
			http.Redirect(w, r, next, http.StatusSeeOther)
		}
	}))

	for _, password := range []string{"open barley", "open sesame"} {
		form := url.Values{"password": {password}}
		r := httptest.NewRequest(http.MethodPost, "http://localhost:3000/login", strings.NewReader(form.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w := httptest.NewRecorder()
		login.ServeHTTP(w, r)
		fmt.Println(strings.TrimSpace(fmt.Sprint(w.Code, " ", w.Header().Get("Location"))))
	}
	// Output:
	// 401
	// 303 http://localhost:3000/cave
}

// Two tenants of one program have a configuration each. A name that no tenant
// has gets none.
func ExampleNewFunc() {
	secrets := map[string]string{
		"red.localhost":  "what only the red tenant seals with",
		"blue.localhost": "what only the blue tenant seals with",
	}
	tenant := func(r *http.Request) string { return r.Host }
	auth := pintle.NewFunc(tenant, func(_ context.Context, host string) (pintle.Config, error) {
		secret, known := secrets[host]
		if !known {
			return pintle.Config{}, fmt.Errorf("no tenant has the host %q", host)
		}
		return pintle.Config{
			URL:       "http://" + host,
			Secrets:   []string{secret},
			Providers: []pintle.Provider{provider.GitHub(provider.Options{ClientID: host, ClientSecret: "what GitHub gave the tenant"})},
			Getenv:    func(string) string { return "" },
		}, nil
	})

	for _, host := range []string{"red.localhost", "blue.localhost"} {
		r := httptest.NewRequest(http.MethodGet, "http://"+host+"/auth/providers", nil)
		w := httptest.NewRecorder()
		auth.ServeHTTP(w, r)
		fmt.Println(host, w.Code)
	}
	// Output:
	// red.localhost 200
	// blue.localhost 200
}
