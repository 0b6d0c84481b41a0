package frameworks_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
)

// fullStack is the style of integrations that return handlers, auth, signIn and
// signOut: a *pintle.Auth is the object that has all four.
func fullStack(cfg pintle.Config) (http.Handler, error) {
	cfg.BasePath = "/api/auth"
	auth, err := pintle.New(cfg)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("/api/auth/", auth) // the handlers

	// Around one handler: it rejects anonymous requests.
	mux.Handle("GET /members", auth.Require(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "Hello, %s", pintle.SessionFrom(r.Context()).User.Name)
	})))

	// In plain server code: any function that has the request.
	greet := func(r *http.Request) (string, error) {
		session, err := auth.Session(r)
		if err != nil || session == nil {
			return "Hello, guest", err
		}
		return "Hello, " + session.User.Name, nil
	}
	mux.HandleFunc("GET /greeting", func(w http.ResponseWriter, r *http.Request) {
		text, err := greet(r)
		if err != nil {
			http.Error(w, "the session could not be read", http.StatusServiceUnavailable)
			return
		}
		fmt.Fprint(w, text)
	})

	// signIn and signOut, for forms of the application.
	mux.HandleFunc("POST /enter", func(w http.ResponseWriter, r *http.Request) {
		next, err := auth.SignIn(w, r, r.PostFormValue("provider"), pintle.SignInOptions{RedirectTo: "/members"})
		if err != nil {
			next = "/api/auth/error"
		}
		http.Redirect(w, r, next, http.StatusSeeOther)
	})
	mux.HandleFunc("POST /leave", func(w http.ResponseWriter, r *http.Request) {
		next, err := auth.SignOut(w, r, pintle.SignOutOptions{RedirectTo: "/greeting"})
		if err != nil {
			next = "/api/auth/error"
		}
		http.Redirect(w, r, next, http.StatusSeeOther)
	})

	// As middleware: every handler finds the session, and forms of other sites
	// are refused.
	return http.NewCrossOriginProtection().Handler(auth.Load(mux)), nil
}

func TestTheFullStackStyle(t *testing.T) {
	idp := authtest.Start(t, authtest.Options{AutoConsent: true})
	idp.SignInAs(authtest.Person{Subject: "42", Name: "Ada", Email: "ada@example.com"})
	cfg := config()
	cfg.Providers = append(cfg.Providers, idp.OIDC("acme"))
	app, err := fullStack(cfg)
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(app)
	defer srv.Close()
	b := newBrowser(t, srv.URL)

	b.get("/api/auth/session").want(http.StatusOK).wantBody("null")
	b.get("/members").want(http.StatusFound).wantLocation("/api/auth/signin?callbackUrl=%2Fmembers")
	b.get("/greeting").want(http.StatusOK).wantBody("Hello, guest")

	if to := b.post("/enter", "provider", "unknown").want(http.StatusSeeOther).location(); !strings.HasPrefix(to, b.address+"/api/auth/signin?") {
		t.Errorf("an unknown provider leads to %s", to)
	}
	to := b.post("/enter", "provider", "acme").want(http.StatusSeeOther).location()
	b.get(b.get(to).location()).want(http.StatusFound).wantLocation(b.address + "/members")
	b.get("/members").want(http.StatusOK).wantBody("Hello, Ada")
	b.get("/greeting").want(http.StatusOK).wantBody("Hello, Ada")

	b.do(http.MethodPost, "/leave", "", "Sec-Fetch-Site", "cross-site").want(http.StatusForbidden)
	b.post("/leave").want(http.StatusSeeOther).wantLocation(b.address + "/greeting")
	b.get("/greeting").want(http.StatusOK).wantBody("Hello, guest")
}

// express is the style of a handler that is mounted on a pattern and a function
// that gets the session of a request.
func express(auth *pintle.Auth) http.Handler {
	app := chi.NewRouter()
	app.Handle("/auth/*", auth)
	app.Get("/", func(w http.ResponseWriter, r *http.Request) {
		session, err := auth.Session(r)
		switch {
		case err != nil:
			http.Error(w, "the session could not be read", http.StatusServiceUnavailable)
		case session == nil:
			http.Error(w, "not signed in", http.StatusUnauthorized)
		default:
			fmt.Fprintf(w, "Hello, %s", session.User.Name)
		}
	})
	return app
}

func TestTheExpressStyle(t *testing.T) {
	auth := must(pintle.New(config()))
	srv := httptest.NewServer(express(auth))
	defer srv.Close()
	b := newBrowser(t, srv.URL)
	b.get("/").want(http.StatusUnauthorized)
	b.get("/auth").want(http.StatusNotFound) // as in Express, the pattern needs one segment more
	b.get("/auth/").want(http.StatusBadRequest).wantBody(`"Bad request."`)
	b.signIn("kim")
	r := b.get("/").want(http.StatusOK).wantBody("Hello, Kim")
	if len(r.Header["Set-Cookie"]) > 0 {
		t.Errorf("reading the session sets cookies: %q", r.Header["Set-Cookie"])
	}
}

// solid is the style of a handler for all paths below a prefix that serves GET and
// POST. For paths without a route it returns no response, so that the next handler
// runs.
func solid(auth http.Handler, prefix string, next http.Handler) http.Handler {
	actions := []string{"providers", "session", "csrf", "signin", "signout", "callback", "verify-request", "error", "webauthn-options", "backchannel-logout", "idtoken", "native", "jwks", "initiate"}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rest, below := strings.CutPrefix(r.URL.EscapedPath(), prefix+"/")
		action, _, _ := strings.Cut(rest, "/")
		if below && slices.Contains(actions, action) && (r.Method == http.MethodGet || r.Method == http.MethodPost) {
			auth.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func TestTheSolidStyle(t *testing.T) {
	cfg := config()
	cfg.BasePath = "/api/auth" // W-28: the prefix is the base path; S-69
	auth := must(pintle.New(cfg))
	next := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "next") })
	srv := httptest.NewServer(solid(auth, "/api/auth", next))
	defer srv.Close()
	b := newBrowser(t, srv.URL)
	b.get("/api/auth/session").want(http.StatusOK).wantBody("null")
	b.get("/api/auth/signin").want(http.StatusOK)
	b.post("/api/auth/signout").want(http.StatusFound)
	for _, path := range []string{"/", "/api/auth", "/api/auth/", "/api/auth/unknown", "/api/authsession", "/api/auth/sessions", "/auth/session", "/api/auth/%73ession"} {
		b.get(path).want(http.StatusOK).wantBody("next")
	}
	for _, method := range []string{http.MethodPut, http.MethodDelete, http.MethodOptions} {
		b.do(method, "/api/auth/session", "").want(http.StatusOK).wantBody("next")
	}
}
