package pintle_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/sharedstate"
	"github.com/pintleauth/pintle/token"
)

const benchSecret = "a secret for benchmarks, 32 characters or more"

// benchService is a service with token sessions and a request that carries one.
func benchService(b *testing.B, target string, changes ...func(*pintle.Config)) (*pintle.Auth, *http.Request) {
	b.Helper()
	cfg := pintle.Config{
		Providers: []pintle.Provider{&pintle.Credentials{
			Authorize: func(context.Context, *pintle.Submission) (*pintle.User, error) { return nil, nil },
		}},
		Secrets: []string{benchSecret},
		Getenv:  func(string) string { return "" },
	}
	for _, change := range changes {
		change(&cfg)
	}
	auth, err := pintle.New(cfg)
	if err != nil {
		b.Fatal(err)
	}
	codec, err := token.New("authjs.session-token", benchSecret)
	if err != nil {
		b.Fatal(err)
	}
	sealed, err := codec.Encode(map[string]any{
		"name": "Ada Lovelace", "email": "ada@example.com", "picture": "https://example.com/ada.png", "sub": "user-1",
		"auth_time": time.Now().Unix(), "auth_provider": "credentials", "amr": []string{"pwd"},
	}, 30*24*time.Hour)
	if err != nil {
		b.Fatal(err)
	}
	r := httptest.NewRequestWithContext(b.Context(), http.MethodGet, "http://127.0.0.1:3000"+target, nil)
	r.Header.Set("Cookie", "authjs.session-token="+sealed)
	return auth, r
}

// sink is a ResponseWriter that forgets.
type sink struct{ header http.Header }

func (s sink) Header() http.Header         { return s.header }
func (s sink) Write(p []byte) (int, error) { return len(p), nil }
func (s sink) WriteHeader(int)             {}

func benchmark(b *testing.B, h http.Handler, r *http.Request) {
	b.Helper()
	w := sink{http.Header{}}
	b.ReportAllocs()
	for b.Loop() {
		clear(w.header)
		h.ServeHTTP(w, r)
	}
}

// BenchmarkLoad is what a session costs the host's own handlers.
func BenchmarkLoad(b *testing.B) { benchmarkLoad(b) }

// BenchmarkLoadLimited is the same with an absolute lifetime.
func BenchmarkLoadLimited(b *testing.B) {
	benchmarkLoad(b, func(c *pintle.Config) { c.Session.AbsoluteMaxAge = 90 * 24 * time.Hour })
}

// BenchmarkLoadObserved is the same with an observer of sessions. Without one, the observer costs
// BenchmarkLoad no allocation.
func BenchmarkLoadObserved(b *testing.B) {
	benchmarkLoad(b, func(c *pintle.Config) { c.Observer.Session = func(context.Context, *pintle.ObservedSession) {} })
}

func benchmarkLoad(b *testing.B, changes ...func(*pintle.Config)) {
	b.Helper()
	auth, r := benchService(b, "/protected", changes...)
	benchmark(b, auth.Load(auth.Require(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if pintle.SessionFrom(r.Context()).User.Name == "" {
			b.Fatal("the browser is signed out")
		}
	}))), r)
}

// BenchmarkLoadStored is the same for a session in the database, without the
// database.
func BenchmarkLoadStored(b *testing.B) { benchmarkLoadStored(b, pintle.Observer{}) }

// BenchmarkLoadStoredObserved is the same with an observer of sessions and of the store.
func BenchmarkLoadStoredObserved(b *testing.B) {
	benchmarkLoadStored(b, pintle.Observer{
		Session: func(context.Context, *pintle.ObservedSession) {},
		Store:   func(s pintle.Store) pintle.Store { return struct{ pintle.Store }{s} },
	})
}

func benchmarkLoadStored(b *testing.B, observer pintle.Observer) {
	b.Helper()
	now := time.Now()
	store := oneSession{
		session: pintle.StoredSession{Token: "t", UserID: "1", Created: now, Expires: now.Add(30 * 24 * time.Hour)},
		user:    pintle.User{ID: "1", Name: "Ada Lovelace", Email: "ada@example.com"},
	}
	auth, err := pintle.New(pintle.Config{
		Providers: []pintle.Provider{&pintle.OAuth{ID: "acme", Issuer: "https://idp.example", ClientID: "app", ClientSecret: "secret"}},
		Store:     &store,
		Observer:  observer,
		Secrets:   []string{benchSecret},
		Getenv:    func(string) string { return "" },
	})
	if err != nil {
		b.Fatal(err)
	}
	r := httptest.NewRequestWithContext(b.Context(), http.MethodGet, "http://127.0.0.1:3000/protected", nil)
	r.Header.Set("Cookie", "authjs.session-token=t")
	benchmark(b, auth.Load(auth.Require(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if pintle.SessionFrom(r.Context()).User.Name == "" {
			b.Fatal("the browser is signed out")
		}
	}))), r)
}

// oneSession is a store that finds what it holds at no cost.
type oneSession struct {
	pintle.Store
	session pintle.StoredSession
	user    pintle.User
}

func (*oneSession) Features() pintle.Features { return pintle.Features{Sessions: true} }

func (*oneSession) SharedState() sharedstate.Store { return nil }

func (s *oneSession) SessionAndUser(context.Context, string) (*pintle.StoredSession, *pintle.User, error) {
	return &s.session, &s.user, nil
}

// BenchmarkLoadAnonymous measures the cost for anonymous requests.
func BenchmarkLoadAnonymous(b *testing.B) {
	auth, r := benchService(b, "/")
	r.Header.Del("Cookie")
	benchmark(b, auth.Load(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})), r)
}

func BenchmarkSessionRoute(b *testing.B) {
	auth, r := benchService(b, "/auth/session")
	benchmark(b, auth, r)
}

func BenchmarkCSRFRoute(b *testing.B) {
	auth, r := benchService(b, "/auth/csrf")
	r.Header.Del("Cookie")
	benchmark(b, auth, r)
}

// BenchmarkLoadShown is what a session costs where Callbacks.Session decides what a
// browser sees of it, which needs all claims of the token.
func BenchmarkLoadShown(b *testing.B) {
	_, r := benchService(b, "/protected")
	auth, err := pintle.New(pintle.Config{
		Providers: []pintle.Provider{&pintle.Credentials{
			Authorize: func(context.Context, *pintle.Submission) (*pintle.User, error) { return nil, nil },
		}},
		Callbacks: pintle.Callbacks{
			Session: func(_ context.Context, v *pintle.SessionView) (any, error) { return v.Claims["name"], nil },
		},
		Secrets: []string{benchSecret},
		Getenv:  func(string) string { return "" },
	})
	if err != nil {
		b.Fatal(err)
	}
	benchmark(b, auth.Load(auth.Require(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))), r)
}

// BenchmarkSignIn is a sign-in by a form, without the check of the password: the
// form token is verified, and a session begins in a token.
func BenchmarkSignIn(b *testing.B) {
	auth, err := pintle.New(pintle.Config{
		Providers: []pintle.Provider{&pintle.Credentials{
			Authorize: func(context.Context, *pintle.Submission) (*pintle.User, error) {
				return &pintle.User{ID: "user-1", Name: "Ada Lovelace", Email: "ada@example.com"}, nil
			},
		}},
		Secrets: []string{benchSecret},
		Getenv:  func(string) string { return "" },
	})
	if err != nil {
		b.Fatal(err)
	}
	w := httptest.NewRecorder()
	auth.ServeHTTP(w, httptest.NewRequestWithContext(b.Context(), http.MethodGet, "http://127.0.0.1:3000/auth/csrf", nil))
	var form struct{ CSRFToken string }
	if err := json.Unmarshal(w.Body.Bytes(), &form); err != nil {
		b.Fatal(err)
	}
	body := strings.NewReader(url.Values{"csrfToken": {form.CSRFToken}, "username": {"ada"}, "password": {"secret"}}.Encode())
	r := httptest.NewRequestWithContext(b.Context(), http.MethodPost, "http://127.0.0.1:3000/auth/callback/credentials", body)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for _, c := range w.Result().Cookies() {
		r.AddCookie(&http.Cookie{Name: c.Name, Value: c.Value})
	}
	out := sink{http.Header{}}
	b.ReportAllocs()
	for b.Loop() {
		clear(out.header)
		if _, err := body.Seek(0, io.SeekStart); err != nil {
			b.Fatal(err)
		}
		auth.ServeHTTP(out, r)
		if !strings.HasPrefix(strings.Join(out.header["Set-Cookie"], "\n"), "authjs.") ||
			!strings.Contains(strings.Join(out.header["Set-Cookie"], "\n"), "session-token=") {
			b.Fatal("the browser is not signed in:", out.header)
		}
	}
}
