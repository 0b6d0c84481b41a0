package xatastore_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/xatatest"
	"github.com/pintleauth/pintle/store/xatastore"
)

// A transport answers requests as it likes.
type transport func(*http.Request) (*http.Response, error)

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

func answer(status int, body string, header ...string) transport {
	return func(*http.Request) (*http.Response, error) {
		h := http.Header{}
		for i := 0; i < len(header); i += 2 {
			h.Set(header[i], header[i+1])
		}
		return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body))}, nil
	}
}

// reached returns a store that reaches what answers.
func reached(t *testing.T, answers http.RoundTripper) *xatastore.Store {
	t.Helper()
	return newStore(t, xatastore.Options{
		APIKey: xatatest.Key, DatabaseURL: "https://workspace.region.xata.sh/db/app", Retries: -1, Extended: true,
		HTTPClient: &http.Client{Transport: answers},
	})
}

func TestRefusalsCarryWhatTheServiceSays(t *testing.T) {
	for _, tt := range []struct {
		name    string
		answers transport
		want    xatastore.Error
		text    string
	}{
		{
			"a message", answer(403, `{"message": "no access to this branch", "id": "body-id"}`, "X-Request-Id", "header-id"),
			xatastore.Error{Method: "GET", Table: "nextauth_users", Status: 403, Message: "no access to this branch", RequestID: "header-id"},
			"xatastore: find user: GET nextauth_users: 403 Forbidden: no access to this branch (request header-id)",
		},
		{
			"an id in the body", answer(500, `{"message": "oops", "id": "body-id"}`),
			xatastore.Error{Method: "GET", Table: "nextauth_users", Status: 500, Message: "oops", RequestID: "body-id"},
			"xatastore: find user: GET nextauth_users: 500 Internal Server Error: oops (request body-id)",
		},
		{
			"several messages", answer(400, `{"id": "1", "errors": [{"index": 0, "message": "first"}, {"index": 1, "message": "second"}]}`),
			xatastore.Error{Method: "GET", Table: "nextauth_users", Status: 400, Message: "first", RequestID: "1"},
			"xatastore: find user: GET nextauth_users: 400 Bad Request: first (request 1)",
		},
		{
			"a proxy's page", answer(502, `<html>bad gateway</html>`),
			xatastore.Error{Method: "GET", Table: "nextauth_users", Status: 502},
			"xatastore: find user: GET nextauth_users: 502 Bad Gateway",
		},
		{
			"lines that would be others in a log", answer(400, `{"message": "a\nlevel=INFO msg=fine\u0000\u001b[2J"}`, "X-Request-Id", "id"),
			xatastore.Error{Method: "GET", Table: "nextauth_users", Status: 400, Message: "a level=INFO msg=fine  [2J", RequestID: "id"},
			"xatastore: find user: GET nextauth_users: 400 Bad Request: a level=INFO msg=fine  [2J (request id)",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := reached(t, tt.answers).User(t.Context(), "1")
			e, ok := errors.AsType[*xatastore.Error](err)
			if !ok {
				t.Fatalf("User() = %v, want an *Error", err)
			}
			if *e != tt.want {
				t.Errorf("the error is %+v, want %+v", *e, tt.want)
			}
			if err.Error() != tt.text {
				t.Errorf("its text is %q, want %q", err, tt.text)
			}
		})
	}
	t.Run("a long message is shortened", func(t *testing.T) {
		_, err := reached(t, answer(400, `{"message": "`+strings.Repeat("é", 10_000)+`"}`)).User(t.Context(), "1")
		if e, ok := errors.AsType[*xatastore.Error](err); !ok || len(e.Message) > 600 || !strings.HasSuffix(e.Message, "é…") {
			t.Errorf("User() = %.200v", err)
		}
	})
}

// No error holds the key, even if the service or the transport repeats it.
func TestNoErrorHoldsTheKey(t *testing.T) {
	for name, answers := range map[string]transport{
		"a service that repeats it":        answer(401, `{"message": "the key `+xatatest.Key+` is not valid"}`),
		"an id that is the key":            answer(500, `{"message": "x", "id": "`+xatatest.Key+`"}`, "X-Request-Id", xatatest.Key),
		"a proxy's page":                   answer(502, "<html>Authorization: Bearer "+xatatest.Key+"</html>"),
		"JSON that is something else":      answer(200, `"`+xatatest.Key+`"`),
		"a record of another kind":         answer(200, `{"id": "1", "name": 5, "email": "`+xatatest.Key+`"}`),
		"what is not JSON":                 answer(200, xatatest.Key),
		"a redirect to an address with it": answer(302, "", "Location", "https://evil.example/?key="+xatatest.Key),
		"a transport that quotes requests": func(r *http.Request) (*http.Response, error) {
			return nil, fmt.Errorf("cannot send %v", r.Header)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := reached(t, answers)
			_, find := s.User(t.Context(), "1")
			_, check := s.Check(t.Context())
			for _, err := range []error{find, check, s.CreateSession(t.Context(), &pintle.StoredSession{Token: "t", UserID: "1"})} {
				if err == nil {
					t.Error("no error")
				}
				for e := err; e != nil; e = errors.Unwrap(e) {
					if text := fmt.Sprintf("%v %+v %#v", e, e, e); strings.Contains(text, xatatest.Key) {
						t.Errorf("the key is in %s", text)
					}
				}
			}
		})
	}
	t.Run("nor do options that are logged", func(t *testing.T) {
		var log strings.Builder
		for _, h := range []slog.Handler{slog.NewTextHandler(&log, nil), slog.NewJSONHandler(&log, nil)} {
			slog.New(h).InfoContext(t.Context(), "store", "options", xatastore.Options{APIKey: xatatest.Key, DatabaseURL: address})
		}
		if strings.Contains(log.String(), xatatest.Key) || strings.Count(log.String(), address) != 2 {
			t.Errorf("the log is %s", log.String())
		}
	})
	t.Run("nor does a formatted store or its configuration", func(t *testing.T) {
		s := reached(t, answer(500, ""))
		for _, text := range []string{fmt.Sprint(s), fmt.Sprintf("%+v", s), fmt.Sprintf("%+v", s.GetConfig())} {
			if strings.Contains(text, xatatest.Key) {
				t.Errorf("the key is in %s", text)
			}
		}
	})
}

// The service's message about a conflict may quote a session token.
func TestAConflictSaysNothingButThat(t *testing.T) {
	_, o := newDatabase(t, xatastore.Schema(""))
	s := newStore(t, o)
	e := newEverything(t, s)
	for name, err := range map[string]error{
		"CreateSession": s.CreateSession(t.Context(), &e.session),
		"LinkAccount":   s.LinkAccount(t.Context(), &e.account),
		"CreatePasskey": s.CreatePasskey(t.Context(), &e.passkey),
	} {
		if !errors.Is(err, pintle.ErrConflict) || strings.Contains(err.Error(), "exists]") || strings.Contains(err.Error(), "token") {
			t.Errorf("%s = %v", name, err)
		}
	}
}

// RFC 9110 has browsers repeat a redirected request elsewhere. The key must not
// go with it.
func TestNoRedirectIsFollowed(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("the redirect was followed, with the header %q", r.Header.Get("Authorization"))
	}))
	defer elsewhere.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		service := httptest.NewServer(http.RedirectHandler(elsewhere.URL+"/db/app:main/tables/nextauth_users/data/1", status))
		followed := false
		s := newStore(t, xatastore.Options{
			APIKey: xatatest.Key, DatabaseURL: service.URL + "/db/app", Retries: -1,
			HTTPClient: &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { followed = true; return nil }},
		})
		_, err := s.User(t.Context(), "1")
		if e, ok := errors.AsType[*xatastore.Error](err); !ok || e.Status != status || followed {
			t.Errorf("User() = %v, want the redirect as an error", err)
		}
		service.Close()
	}
}

func TestNoCookieIsKept(t *testing.T) {
	asked := 0
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		if r.Header.Get("Cookie") != "" {
			t.Errorf("the request has the cookie %q", r.Header.Get("Cookie"))
		}
		http.SetCookie(w, &http.Cookie{Name: "a", Value: "b"})
		http.Error(w, "{}", http.StatusNotFound)
	}))
	defer service.Close()
	s := newStore(t, xatastore.Options{
		APIKey: xatatest.Key, DatabaseURL: service.URL + "/db/app",
		HTTPClient: &http.Client{Jar: jar{}},
	})
	for range 2 {
		if _, err := s.User(t.Context(), "1"); !errors.Is(err, pintle.ErrNotFound) {
			t.Error(err)
		}
	}
	if asked != 2 {
		t.Errorf("%d requests, want 2", asked)
	}
}

type endless struct{ read int64 }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	e.read += int64(len(p))
	return len(p), nil
}

func (*endless) Close() error { return nil }

func TestAnAnswerWithoutEndIsNotReadToIt(t *testing.T) {
	for _, status := range []int{200, 400} {
		body := &endless{}
		s := reached(t, transport(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: status, Body: body}, nil
		}))
		_, err := s.User(t.Context(), "1")
		if err == nil || errors.Is(err, pintle.ErrNotFound) {
			t.Errorf("User() = %v, want an error", err)
		}
		if body.read > 33<<20 {
			t.Errorf("%d bytes were read", body.read)
		}
	}
}

// The service answers the request for one record with another.
func TestARecordOfAnotherUserIsNotReturned(t *testing.T) {
	const (
		user    = `{"id": "2", "email": "mallory@example.org", "name": "Mallory"}`
		page    = `{"records": [%s], "meta": {"page": {"cursor": "", "more": false}}}`
		session = `{"id": "x", "sessionToken": "hers", "expires": "2099-01-01T00:00:00Z", "user": ` + user + `}`
		join    = `{"id": "x", "user": ` + user + `, "account": {"id": "a", "provider": "github", "providerAccountId": "hers"}}`
		link    = `{"id": "x", "identifier": "mallory@example.org", "token": "hash", "expires": "2099-01-01T00:00:00Z"}`
	)
	ctx := context.Background()
	for name, tt := range map[string]struct {
		answer string
		ask    func(*xatastore.Store) error
	}{
		"User":          {user, func(s *xatastore.Store) error { _, err := s.User(ctx, "1"); return err }},
		"UserByEmail":   {fmt.Sprintf(page, user), func(s *xatastore.Store) error { _, err := s.UserByEmail(ctx, "ada@example.org"); return err }},
		"UserByAccount": {fmt.Sprintf(page, join), func(s *xatastore.Store) error { _, err := s.UserByAccount(ctx, "github", "his"); return err }},
		"UserByAccount of another provider": {fmt.Sprintf(page, join), func(s *xatastore.Store) error {
			_, err := s.UserByAccount(ctx, "google", "hers")
			return err
		}},
		"SessionAndUser": {fmt.Sprintf(page, session), func(s *xatastore.Store) error { _, _, err := s.SessionAndUser(ctx, "his"); return err }},
		"SessionAndUser in another case": {fmt.Sprintf(page, session), func(s *xatastore.Store) error {
			_, _, err := s.SessionAndUser(ctx, "HERS")
			return err
		}},
		"UseVerification": {fmt.Sprintf(page, link), func(s *xatastore.Store) error {
			_, err := s.UseVerification(ctx, "ada@example.org", "hash")
			return err
		}},
		"Passkey": {`{"id": "x", "credentialID": "BBBB", "user": {"id": "2"}}`, func(s *xatastore.Store) error {
			_, err := s.Passkey(ctx, "AAAA")
			return err
		}},
		"UserAccounts": {fmt.Sprintf(page, join), func(s *xatastore.Store) error {
			accounts, err := s.UserAccounts(ctx, "1")
			return errors.Join(err, expect(len(accounts) > 0, "none"))
		}},
		"UserSessions": {fmt.Sprintf(page, session), func(s *xatastore.Store) error {
			for session, err := range s.UserSessions(ctx, "1") {
				return errors.Join(err, expect(session != nil, "none"))
			}
			return pintle.ErrNotFound
		}},
		"an id that no record has": {`{"records": [{"id": "../people/1", "identifier": "ada@example.org", "token": "hash"}], "meta": {"page": {"more": false}}}`, func(s *xatastore.Store) error {
			_, err := s.UseVerification(ctx, "ada@example.org", "hash")
			return err
		}},
		"EndSession": {fmt.Sprintf(page, session), func(s *xatastore.Store) error {
			hash := sha256.Sum256([]byte("hers"))
			return s.EndSession(ctx, "1", base64.RawURLEncoding.EncodeToString(hash[:]))
		}},
		"DeleteUser": {fmt.Sprintf(page, session), func(s *xatastore.Store) error { return s.DeleteUser(ctx, "1") }},
	} {
		t.Run(name, func(t *testing.T) {
			s := reached(t, transport(func(r *http.Request) (*http.Response, error) {
				if writes(r) {
					t.Errorf("something was changed: %s %s", r.Method, r.URL.Path)
				}
				return answer(200, tt.answer)(r)
			}))
			if err := tt.ask(s); err == nil {
				t.Error("it was taken for what was asked for")
			}
		})
	}
}

type jar struct{ http.CookieJar }
