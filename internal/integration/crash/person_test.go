package crash

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle/authtest"
)

// A person signs in with a browser, by one of the two providers.
type person struct {
	subject string
	email   string
	byMail  bool
	browser *http.Client
}

func newPerson(i int) *person {
	jar, _ := cookiejar.New(nil) // which never fails without options
	return &person{
		subject: fmt.Sprint(100000 + i),
		email:   fmt.Sprintf("person-%d@example.com", i),
		byMail:  i%3 == 0,
		browser: &http.Client{
			Jar: jar, Timeout: 20 * time.Second,
			// A connection that is kept could be one that the next server inherits.
			Transport: &http.Transport{DisableKeepAlives: true},
		},
	}
}

// people are the users of the provider.
func people(n int) []authtest.Person {
	var all []authtest.Person
	for i := range n {
		p := newPerson(i)
		all = append(all, authtest.Person{Subject: p.subject, Name: "Person", Login: p.subject, Email: p.email, EmailVerified: true})
	}
	return all
}

// signIn performs a whole sign-in, and returns the first error.
func (p *person) signIn(ctx context.Context, site string, box *authtest.Mailbox) error {
	var csrf struct {
		Token string `json:"csrfToken"`
	}
	if err := p.get(ctx, site+"/auth/csrf", &csrf); err != nil {
		return err
	}
	form := url.Values{"csrfToken": {csrf.Token}, "email": {p.email}}
	target := site + "/auth/signin/acme?login_hint=" + p.subject
	if p.byMail {
		target = site + "/auth/signin/email"
	}
	if err := p.visit(ctx, http.MethodPost, target, form); err != nil {
		return err
	}
	if p.byMail {
		m, err := box.Wait(ctx, p.email)
		if err != nil {
			return err
		}
		if err := p.visit(ctx, http.MethodGet, m.Links()[0], nil); err != nil {
			return err
		}
	}
	return p.isSignedIn(ctx, site)
}

// isSignedIn reports whether the session route returns this person.
func (p *person) isSignedIn(ctx context.Context, site string) error {
	var session struct{ User struct{ Email string } }
	if err := p.get(ctx, site+"/auth/session", &session); err != nil {
		return err
	}
	if session.User.Email != p.email {
		return fmt.Errorf("%s is signed in as %q", p.email, session.User.Email)
	}
	return nil
}

func (p *person) visit(ctx context.Context, method, target string, form url.Values) error {
	r, err := http.NewRequestWithContext(ctx, method, target, strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := p.browser.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if code := resp.Request.URL.Query().Get("error"); code != "" {
		return fmt.Errorf("%s ended at %s", target, resp.Request.URL)
	}
	return nil
}

func (p *person) get(ctx context.Context, target string, answer any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		return err
	}
	resp, err := p.browser.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	return json.NewDecoder(resp.Body).Decode(answer)
}

// mustSignIn fails the test unless the person can sign in.
func (p *person) mustSignIn(t *testing.T, site string, box *authtest.Mailbox) {
	t.Helper()
	if err := p.signIn(t.Context(), site, box); err != nil {
		t.Errorf("%s cannot sign in again: %v", p.email, err)
	}
}
