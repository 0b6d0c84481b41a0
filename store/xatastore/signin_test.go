package xatastore_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/internal/xatatest"
	"github.com/pintleauth/pintle/store/xatastore"
)

// stumbling spoils every third request, in one way after another. A request that
// may be carried out only once is never carried out and then spoiled: the store
// could not know which attempt was the first.
func stumbling() func(*http.Request) *xatatest.Fault {
	var n atomic.Int64
	return func(r *http.Request) *xatatest.Fault {
		i := n.Add(1)
		switch {
		case i%3 != 0:
			return nil
		case i%2 == 0 || r.Method == http.MethodDelete:
			return &xatatest.Fault{Status: 503}
		}
		return &xatatest.Fault{Status: 502, Lost: true}
	}
}

func TestPeopleSignInWhileTheServiceStumbles(t *testing.T) {
	idp := authtest.Start(t, authtest.Options{AutoConsent: true})
	idp.SignInAs(authtest.Person{Subject: "42", Name: "Ada", Email: "ada@example.org"})
	box := authtest.NewMailbox(authtest.MailboxOptions{})
	db, o := newDatabase(t, xatastore.Schema(""))
	db.Fault = stumbling()
	store := newStore(t, o)
	cfg := pintle.Config{
		Secrets:   []string{"a secret that is long enough for everybody"},
		Store:     store,
		Providers: []pintle.Provider{idp.OIDC("acme"), &pintle.Email{From: "app@example.org", Send: box.Send}},
		Logger:    slog.New(slog.DiscardHandler),
		Getenv:    func(string) string { return "" },
	}
	auth, err := pintle.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/auth/", auth)
	mux.Handle("/", auth.Load(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who := "no user"
		if s := pintle.SessionFrom(r.Context()); s != nil {
			who = s.User.Email
		}
		_, _ = io.WriteString(w, who)
	})))
	srv := httptest.NewServer(mux)
	defer srv.Close()

	ada := authtest.HTTPClient(t, auth, srv.URL, nil)
	text(t)(authtest.SignInWith(t, ada, srv.URL+"/auth", "acme"), nil)
	bob := authtest.HTTPClient(t, auth, srv.URL, nil)
	text(t)(authtest.SignInWith(t, bob, srv.URL+"/auth", "email", "email", "bob@example.org"), nil)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	mail, err := box.Wait(ctx, "bob@example.org")
	if err != nil {
		t.Fatal(err)
	}
	text(t)(bob.Get(mail.Links()[0]))

	for want, client := range map[string]*http.Client{"ada@example.org": ada, "bob@example.org": bob} {
		if who := text(t)(client.Get(srv.URL + "/")); who != want {
			t.Errorf("%s is signed in, want %s", who, want)
		}
		u, err := store.UserByEmail(t.Context(), want)
		if err != nil {
			t.Fatal(err)
		}
		devices := 0
		for _, err := range store.UserSessions(t.Context(), u.ID) {
			if err != nil {
				t.Error(err)
			}
			devices++
		}
		if devices != 1 {
			t.Errorf("%s has %d sessions, want 1", want, devices)
		}
	}
	// The link was used.
	mallory := authtest.HTTPClient(t, auth, srv.URL, nil)
	text(t)(mallory.Get(mail.Links()[0]))
	if who := text(t)(mallory.Get(srv.URL + "/")); who != "no user" {
		t.Errorf("a link that was used signs %s in", who)
	}

	form := regexp.MustCompile(`name="csrfToken" value="(\w+)"`).FindStringSubmatch(text(t)(ada.Get(srv.URL + "/auth/signout")))
	if form == nil {
		t.Fatal("the page to sign out has no form")
	}
	text(t)(ada.PostForm(srv.URL+"/auth/signout", url.Values{"csrfToken": form[1:]}))
	if who := text(t)(ada.Get(srv.URL + "/")); who != "no user" {
		t.Errorf("after signing out, %s is signed in", who)
	}
	db.Fault = nil
	if left := asAuthJS(t, o, http.MethodPost, "/tables/nextauth_sessions/query", `{"columns": ["user.*"]}`); strings.Contains(left, "ada@example.org") {
		t.Error("Ada's session is still there")
	}
}

// text returns the body of a response.
func text(t *testing.T) func(*http.Response, error) string {
	t.Helper()
	return func(resp *http.Response, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(body)
	}
}
