package pintle_test

import (
	"context"
	"errors"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
)

// actingAuth is a service with an answer to requests with the cookie of an operator.
func actingAuth(t testing.TB, act func(*pintle.ActingRequest) (*pintle.Session, error), changes ...func(*pintle.Config)) *pintle.Auth {
	t.Helper()
	cfg := pintle.Config{
		Providers: []pintle.Provider{&pintle.Credentials{
			Authorize: func(context.Context, *pintle.Submission) (*pintle.User, error) {
				return &pintle.User{ID: "2", Name: "Bob"}, nil
			},
		}},
		Secrets: []string{benchSecret}, Getenv: func(string) string { return "" },
	}
	cfg.Callbacks.Act = func(_ context.Context, a *pintle.ActingRequest) (*pintle.Session, error) { return act(a) }
	for _, change := range changes {
		change(&cfg)
	}
	auth, err := pintle.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return auth
}

// actingRequest is a request of the operator eve with the cookie.
func actingRequest(t testing.TB, auth *pintle.Auth, method, path string) *http.Request {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, "http://localhost"+path, http.NoBody)
	authtest.SignIn(t, auth, r, &pintle.User{ID: "1", Name: "Eve"})
	r.AddCookie(&http.Cookie{Name: "pintle.acting", Value: "grant"})
	return r
}

func hasEnded(*pintle.ActingRequest) (*pintle.Session, error) { return nil, pintle.CodeActingEnded }

// AC-191, AT-105
func TestARequestThatWasMeantForTheUserReachesNoHandler(t *testing.T) {
	auth := actingAuth(t, hasEnded)
	reached := false
	app := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true })
	for name, h := range map[string]http.Handler{"Load": auth.Load(app), "Require": auth.Require(app), "both": auth.Load(auth.Require(app))} {
		for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
			r, w := actingRequest(t, auth, method, "/"), httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code != http.StatusConflict || w.Body.String() != `{"error":"acting_ended"}` || len(w.Header()["Set-Cookie"]) > 0 {
				t.Errorf("%s: %s is answered with %d %q, and sets %q", name, method, w.Code, w.Body, w.Header()["Set-Cookie"])
			}
			if !strings.Contains(w.Header().Get("Cache-Control"), "no-store") {
				t.Errorf("%s: a cache may keep the answer", name)
			}
		}
		r, w := actingRequest(t, auth, http.MethodPost, "/"), httptest.NewRecorder()
		r.Header.Set("Accept", "text/html")
		h.ServeHTTP(w, r)
		if w.Code != http.StatusConflict || !strings.Contains(w.Body.String(), "You no longer act as the user.") {
			t.Errorf("%s: a form is answered with %d %q", name, w.Code, w.Body)
		}
	}
	if reached {
		t.Error("a handler was called")
	}
	if s, err := auth.Session(actingRequest(t, auth, http.MethodPost, "/")); s != nil || !errors.Is(err, pintle.CodeActingEnded) {
		t.Errorf("Session returns %v, %v", s, err)
	}
	if s, err := auth.Session(actingRequest(t, auth, http.MethodGet, "/")); err != nil || s == nil || s.User.Name != "Eve" || s.Actor != nil {
		t.Errorf("Session of a GET returns %v, %v", s, err)
	}
}

// AC-191
func TestTheApplicationAnswersRequestsThatWereMeantForTheUser(t *testing.T) {
	var refused pintle.Refusal
	auth := actingAuth(t, hasEnded, func(c *pintle.Config) {
		c.Refuse = func(_ http.ResponseWriter, _ *http.Request, f pintle.Refusal) { refused = f }
	})
	auth.Load(http.NotFoundHandler()).ServeHTTP(httptest.NewRecorder(), actingRequest(t, auth, http.MethodPost, "/"))
	if refused.Status != http.StatusConflict || refused.SignIn != "" || refused.Session != nil {
		t.Errorf("the application is asked about %+v", refused)
	}
}

// A store that does not answer: it is not known for whom the request is.
func TestAnOperatorWhoMayActOrNotIsNobody(t *testing.T) {
	auth := actingAuth(t, func(*pintle.ActingRequest) (*pintle.Session, error) { return nil, errors.New("away") })
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		w := httptest.NewRecorder()
		auth.Load(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if s := pintle.SessionFrom(r.Context()); s != nil {
				t.Errorf("%s is of %v", method, s)
			}
		})).ServeHTTP(w, actingRequest(t, auth, method, "/"))
		w = httptest.NewRecorder()
		auth.Require(http.NotFoundHandler()).ServeHTTP(w, actingRequest(t, auth, method, "/"))
		if w.Code != http.StatusServiceUnavailable || len(w.Header()["Set-Cookie"]) > 0 {
			t.Errorf("%s is answered with %d, and sets %q", method, w.Code, w.Header()["Set-Cookie"])
		}
	}
	for path, status := range map[string]int{"/auth/signin/credentials": 503, "/auth/callback/credentials": 503, "/auth/session": 503} {
		w := httptest.NewRecorder()
		auth.ServeHTTP(w, actingRequest(t, auth, http.MethodPost, path))
		if w.Code != status {
			t.Errorf("%s is answered with %d", path, w.Code)
		}
	}
}

// AT-104: a sign-in is the end of what the browser has of an operator.
func TestASignInForgetsThatAnOperatorHasActed(t *testing.T) {
	auth := actingAuth(t, hasEnded)
	r, w := actingRequest(t, auth, http.MethodGet, "/"), httptest.NewRecorder()
	if _, err := auth.SignIn(w, r, "credentials", pintle.SignInOptions{}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(strings.Join(w.Header()["Set-Cookie"], "\n"), "pintle.acting=;") {
		t.Errorf("the sign-in sets %q", w.Header()["Set-Cookie"])
	}
}

// A request without the cookie costs one look at the header.
func TestARequestWithoutAnOperatorAllocatesNoMore(t *testing.T) {
	count := func(auth *pintle.Auth) float64 {
		r := actingRequest(t, auth, http.MethodGet, "/")
		r.Header.Set("Cookie", strings.ReplaceAll(r.Header.Get("Cookie"), "; pintle.acting=grant", ""))
		w := sink{http.Header{}}
		h := auth.Load(auth.Require(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if pintle.SessionFrom(r.Context()).User.Name != "Eve" {
				t.Fatal("the browser is signed out")
			}
		})))
		// The least of many runs: what package sync keeps for the next one may be gone, and the
		// race detector drops some of it at random.
		least := math.Inf(1)
		for range 200 {
			least = min(least, testing.AllocsPerRun(1, func() {
				clear(w.header)
				h.ServeHTTP(w, r)
			}))
		}
		return least
	}
	asked := actingAuth(t, func(*pintle.ActingRequest) (*pintle.Session, error) {
		t.Error("Callbacks.Act is called without the cookie")
		return nil, pintle.CodeActingEnded
	})
	plain := actingAuth(t, nil, func(c *pintle.Config) { c.Callbacks.Act = nil })
	if with, without := count(asked), count(plain); with != without {
		t.Errorf("a request allocates %v times with Callbacks.Act, and %v times without", with, without)
	}
}

// BenchmarkLoadNotActing is what [pintle.Callbacks].Act adds to BenchmarkLoad for requests that
// have no cookie of an operator.
func BenchmarkLoadNotActing(b *testing.B) {
	benchmarkLoad(b, func(c *pintle.Config) {
		c.Callbacks.Act = func(context.Context, *pintle.ActingRequest) (*pintle.Session, error) {
			return nil, pintle.CodeActingEnded
		}
	})
}

// AC-188: the session of the operator is extended as always, and the one of the user is not.
func TestTheSessionOfAnOperatorWhoActsIsExtended(t *testing.T) {
	end := time.Now().Add(time.Hour)
	auth := actingAuth(t, func(a *pintle.ActingRequest) (*pintle.Session, error) {
		if a.Session == nil || a.Session.User.Name != "Eve" {
			t.Errorf("Act is asked about the session %v", a.Session)
		}
		return &pintle.Session{User: pintle.User{ID: "2", Name: "Bob"}, Expires: end, Actor: &pintle.Actor{ID: "1", Name: "Eve"}}, nil
	}, func(c *pintle.Config) { c.Session.UpdateAge = -1 })
	w := httptest.NewRecorder()
	auth.Load(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if s := pintle.SessionFrom(r.Context()); s == nil || s.User.Name != "Bob" || !s.Expires.Equal(end) {
			t.Errorf("the session is %v", s)
		}
	})).ServeHTTP(w, actingRequest(t, auth, http.MethodGet, "/"))
	lines := strings.Join(w.Header()["Set-Cookie"], "\n")
	if !strings.Contains(lines, "authjs.session-token=") || strings.Contains(lines, "pintle.acting") || w.Header().Get("Pintle-Acting") != "1" {
		t.Errorf("the answer has the header %v", w.Header())
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost/", http.NoBody)
	for _, c := range w.Result().Cookies() {
		r.AddCookie(c)
	}
	if s, err := auth.Session(r); err != nil || s == nil || s.User.Name != "Eve" {
		t.Errorf("the cookie of the session is of %v, %v", s, err)
	}
}

// actingBob is the session of an operator who acts as Bob.
func actingBob(a *pintle.ActingRequest) (*pintle.Session, error) {
	return &pintle.Session{
		User: pintle.User{ID: "2", Name: "Bob"}, Expires: time.Now().Add(time.Hour), Actor: &pintle.Actor{ID: "1", Name: "Eve"},
	}, nil
}

// AT-102: where it cannot be read that an operator acts, the request does not go on as the
// operator.
func TestACallbackThatFailsForAnOperatorWhoActsOpensNothing(t *testing.T) {
	auth := actingAuth(t, actingBob, func(c *pintle.Config) {
		c.Callbacks.Session = func(_ context.Context, v *pintle.SessionView) (any, error) {
			if v.Session.Actor != nil {
				return nil, errors.New("the callback knows no such user")
			}
			return v.Session, nil
		}
	})
	w := httptest.NewRecorder()
	s, err := auth.UpdateSession(w, actingRequest(t, auth, http.MethodPost, "/"), map[string]any{"name": "Mallory"})
	if s != nil || !errors.Is(err, pintle.CodeActing) || len(w.Header()["Set-Cookie"]) > 0 {
		t.Errorf("UpdateSession returns %+v, %v and sets %q", s, err, w.Header()["Set-Cookie"])
	}
	w = httptest.NewRecorder()
	_, s, err = auth.StartSession(w, actingRequest(t, auth, http.MethodPost, "/"), &pintle.User{ID: "3"}, pintle.StartOptions{})
	if s != nil || err == nil || len(w.Header()["Set-Cookie"]) > 0 {
		t.Errorf("StartSession returns %+v, %v and sets %q", s, err, w.Header()["Set-Cookie"])
	}
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		auth.Load(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if s := pintle.SessionFrom(r.Context()); s != nil {
				t.Errorf("%s has the session %+v", method, s)
			}
		})).ServeHTTP(httptest.NewRecorder(), actingRequest(t, auth, method, "/"))
	}
}

// AT-102: what a handler was to change in the session of the user is not changed in that of the
// operator if the acting ends meanwhile.
func TestAChangeForTheUserIsNotMadeInTheSessionOfTheOperator(t *testing.T) {
	over := false
	auth := actingAuth(t, func(a *pintle.ActingRequest) (*pintle.Session, error) {
		if over {
			return nil, pintle.CodeActingEnded
		}
		return actingBob(a)
	})
	called := false
	h := auth.Load(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		called, over = true, true
		s, err := auth.UpdateSession(w, r, map[string]any{"name": "Mallory"})
		if s != nil || !errors.Is(err, pintle.CodeActing) {
			t.Errorf("UpdateSession returns %+v, %v", s, err)
		}
		if here := pintle.SessionFrom(r.Context()); here == nil || here.User.Name != "Bob" || here.Actor == nil {
			t.Errorf("the handler has the session %+v afterwards", here)
		}
	}))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, actingRequest(t, auth, http.MethodGet, "/"))
	if !called {
		t.Fatalf("the handler was not called: %d %s", w.Code, w.Body)
	}
}

// AC-191, AT-105: the cookie goes when the operator sees a page of their own, and not when a
// browser loads one in advance or in a frame, beside a form that is still in view. A WebSocket
// is no GET in effect.
func TestOnlyAPageThatTheOperatorSeesForgetsTheUser(t *testing.T) {
	auth := actingAuth(t, hasEnded)
	reached := 0
	h := auth.Load(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached++ }))
	for name, tt := range map[string]struct {
		header []string
		clears bool
	}{
		"a page":                   {[]string{"Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}, true},
		"a page of an old browser": {[]string{"Accept", "text/html"}, true},
		"a frame":                  {[]string{"Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "iframe"}, false},
		"a page in advance":        {[]string{"Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document", "Sec-Purpose", "prefetch;prerender"}, false},
		"a script":                 {[]string{"Sec-Fetch-Mode", "cors", "Sec-Fetch-Dest", "empty"}, false},
	} {
		r, w := actingRequest(t, auth, http.MethodGet, "/"), httptest.NewRecorder()
		for i := 0; i < len(tt.header); i += 2 {
			r.Header.Set(tt.header[i], tt.header[i+1])
		}
		h.ServeHTTP(w, r)
		if cleared := strings.Contains(strings.Join(w.Header()["Set-Cookie"], "\n"), "pintle.acting="); cleared != tt.clears {
			t.Errorf("%s: the cookie is cleared: %t", name, cleared)
		}
	}
	if reached != 5 {
		t.Errorf("%d of 5 requests went on as the operator", reached)
	}
	r, w := actingRequest(t, auth, http.MethodHead, "/"), httptest.NewRecorder()
	r.Header.Set("Sec-Fetch-Mode", "navigate")
	if h.ServeHTTP(w, r); reached != 6 || len(w.Header()["Set-Cookie"]) > 0 {
		t.Errorf("a HEAD, which shows no page, sets %q", w.Header()["Set-Cookie"])
	}
	r, w = actingRequest(t, auth, http.MethodGet, "/"), httptest.NewRecorder()
	r.Header.Set("Upgrade", "websocket")
	if h.ServeHTTP(w, r); w.Code != http.StatusConflict || reached != 6 {
		t.Errorf("a WebSocket is answered with %d", w.Code)
	}
}
