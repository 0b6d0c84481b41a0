package soak

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/pintleauth/pintle/authtest"
)

const (
	cookieName = "authjs.session-token"

	// patience is what a client gives a request, and mailTime what a user gives a mail.
	patience = 15 * time.Second
	mailTime = 5 * time.Second
)

// A violation is an answer that is wrong whatever has failed. Other errors are failures that
// a user sees and can repeat.
type violation struct{ text string }

func (v *violation) Error() string { return v.text }

func wrong(format string, args ...any) error { return &violation{fmt.Sprintf(format, args...)} }

// The state of a session in the journal.
type state int

const (
	live    state = iota // the sign-in was acknowledged
	ended                // the end was acknowledged
	unknown              // a request that would end it failed
)

// A browser has a session, or had one.
type browser struct {
	client *http.Client
	token  string
	state  state
}

// A user is a person of the journal. One worker at a time acts for each.
type user struct {
	number   int
	email    string
	way      string // provider, mail or password
	id       string // that the application has acknowledged
	password string
	before   []string // ids of users whose deletion was acknowledged
	browsers []*browser
	doubtful bool // a request failed that may have changed the user, or may still do so
}

// A visit is what a worker does for a user.
type visit struct {
	ctx context.Context
	url string
	box *authtest.Mailbox

	tokens bool // sessions are in tokens
	*user
}

func newClient() *http.Client {
	jar, _ := cookiejar.New(nil) // which never fails without options
	return &http.Client{Jar: jar, Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true}}
}

// sessionOf returns the session token of a browser, or "".
func (v *visit) sessionOf(c *http.Client) string {
	site, _ := url.Parse(v.url)
	for _, cookie := range c.Jar.Cookies(site) {
		if cookie.Name == cookieName {
			return cookie.Value
		}
	}
	return ""
}

// A page is what a browser shows at last.
type page struct {
	at     *url.URL
	status int
	text   string
}

func (v *visit) load(c *http.Client, method, target string, form url.Values) (*page, error) {
	if strings.HasPrefix(target, "/") {
		target = v.url + target
	}
	r, err := http.NewRequestWithContext(v.ctx, method, target, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Accept", "text/html")
	resp, err := c.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return nil, err
	}
	p := &page{resp.Request.URL, resp.StatusCode, string(text)}
	if p.status >= 400 || p.at.Query().Get("error") != "" {
		return p, fmt.Errorf("%s leads to %s with status %d", target, p.at, p.status)
	}
	return p, nil
}

// post sends a form of the site: names and values, in turn.
func (v *visit) post(c *http.Client, path string, fields ...string) (*page, error) {
	p, err := v.load(c, http.MethodGet, "/auth/csrf", nil)
	if err != nil {
		return nil, err
	}
	var csrf struct{ CSRFToken string }
	if err := json.Unmarshal([]byte(p.text), &csrf); err != nil {
		return nil, err
	}
	form := url.Values{"csrfToken": {csrf.CSRFToken}}
	for i := 0; i < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	return v.load(c, http.MethodPost, path, form)
}

var (
	shownForm  = regexp.MustCompile(`<form action="([^"]*)" method="post"`)
	shownToken = regexp.MustCompile(`name="csrfToken" value="([^"]*)"`)
)

// press presses the button of a page that has one form.
func (v *visit) press(c *http.Client, p *page) (*page, error) {
	action, token := shownForm.FindStringSubmatch(p.text), shownToken.FindStringSubmatch(p.text)
	if action == nil || token == nil {
		return nil, fmt.Errorf("the page at %s has no button", p.at)
	}
	target, err := p.at.Parse(html.UnescapeString(action[1]))
	if err != nil {
		return nil, err
	}
	return v.load(c, http.MethodPost, target.String(), url.Values{"csrfToken": {html.UnescapeString(token[1])}})
}

// forgetMail throws the mails away that have come for the user.
func (v *visit) forgetMail() {
	over, cancel := context.WithCancel(context.Background())
	cancel()
	for {
		if _, err := v.box.Wait(over, v.email); err != nil {
			return
		}
	}
}

// link waits for a mail with a link to a path.
func (v *visit) link(path string) (string, error) {
	ctx, cancel := context.WithTimeout(v.ctx, mailTime)
	defer cancel()
	for {
		m, err := v.box.Wait(ctx, v.email)
		if err != nil {
			return "", err
		}
		for _, link := range m.Links() {
			if strings.Contains(link, path) {
				return link, nil
			}
		}
	}
}

// arrived notes a sign-in if the browser has a session, whatever came after it: from then on
// the session exists.
func (v *visit) arrived(c *http.Client, failure error) error {
	token := v.sessionOf(c)
	if token == "" {
		if failure == nil {
			failure = errors.New("the sign-in made no session")
		}
		return failure
	}
	b := &browser{client: c, token: token}
	v.browsers = append(v.browsers, b)
	return v.check(b)
}

func (v *visit) signIn() error {
	c := newClient()
	switch v.way {
	case "provider":
		_, err := v.post(c, "/auth/signin/acme?login_hint="+v.subject(), "callbackUrl", "/")
		return v.arrived(c, err)
	case "mail":
		return v.byMail(c)
	}
	if v.password == "" {
		return v.signUp(c)
	}
	_, err := v.post(c, "/auth/callback/credentials", "email", v.email, "password", v.password, "callbackUrl", "/")
	return v.arrived(c, err)
}

func (v *visit) byMail(c *http.Client) error {
	v.forgetMail()
	if _, err := v.post(c, "/auth/signin/email", "email", v.email, "callbackUrl", "/"); err != nil {
		return err
	}
	link, err := v.link("/auth/callback/email")
	if err != nil {
		return err
	}
	p, err := v.load(c, http.MethodGet, link, nil)
	if err == nil {
		_, err = v.press(c, p)
	}
	return v.arrived(c, err)
}

func (v *visit) signUp(c *http.Client) error {
	v.forgetMail()
	if _, err := v.post(c, "/auth/account/sign-up", "email", v.email); err != nil {
		return err
	}
	link, err := v.link("/auth/account/sign-up-finish")
	if err != nil {
		return err
	}
	if _, err := v.load(c, http.MethodGet, link, nil); err != nil {
		return err
	}
	password := fmt.Sprintf("the first password of %d", v.number)
	_, err = v.post(c, "/auth/account/sign-up-finish", "password", password)
	if err = v.arrived(c, err); v.sessionOf(c) != "" {
		v.password = password
		return err
	}
	// Whether there is a user with this password is not known. A reset would find out.
	v.doubtful = true
	return err
}

func (v *visit) subject() string { return fmt.Sprint(100_000 + v.number) }

var errAnswer = errors.New("the application has failed to answer")

// ask returns the status of a request of a session, and the user.
func (v *visit) ask(c *http.Client) (status int, id, email string, err error) {
	r, err := http.NewRequestWithContext(v.ctx, http.MethodGet, v.url+"/app/me", http.NoBody)
	if err != nil {
		return 0, "", "", err
	}
	resp, err := c.Do(r)
	if err != nil {
		return 0, "", "", err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode == http.StatusOK {
		var u struct{ ID, Email string }
		err = json.NewDecoder(resp.Body).Decode(&u)
		id, email = u.ID, u.Email
	} else if resp.StatusCode != http.StatusUnauthorized {
		err = errAnswer
	}
	return resp.StatusCode, id, email, err
}

// check compares what the application says of a session with the journal.
func (v *visit) check(b *browser) error {
	status, id, email, err := v.ask(b.client)
	switch {
	case err != nil:
		return err
	case status == http.StatusUnauthorized && b.state == live:
		b.state = unknown // once is enough
		return wrong("a session of %s (%s) is lost", v.email, v.id)
	case status == http.StatusUnauthorized:
		return nil
	case email != v.email:
		return wrong("a session of %s is one of %s (%s)", v.email, email, id)
	case b.state == ended:
		return wrong("a session of %s (%s) goes on after its end", v.email, v.id)
	}
	if slices.Contains(v.before, id) {
		return wrong("the user %s (%s) was deleted and is there again", v.email, id)
	}
	if v.id == "" {
		v.id = id
	}
	if id != v.id {
		return wrong("%s is the user %s, and was %s", v.email, id, v.id)
	}
	return nil
}

// replay checks a session in a browser that has nothing but its token, as a thief has.
func (v *visit) replay(b *browser) error {
	thief := newClient()
	site, _ := url.Parse(v.url)
	thief.Jar.SetCookies(site, []*http.Cookie{{Name: cookieName, Value: b.token, Path: "/"}})
	return v.check(&browser{client: thief, token: b.token, state: b.state})
}

func (v *visit) signOut(b *browser) error {
	b.state = unknown
	if _, err := v.post(b.client, "/auth/signout", "callbackUrl", "/"); err != nil {
		return err
	}
	b.state = ended
	return v.replay(b)
}

func (v *visit) command(b *browser, path string) error {
	r, err := http.NewRequestWithContext(v.ctx, http.MethodPost, v.url+path, http.NoBody)
	if err != nil {
		return err
	}
	resp, err := b.client.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusNoContent {
		return fmt.Errorf("POST %s answers %s", path, resp.Status)
	}
	return nil
}

// endAll sets the state of all sessions of the user.
func (v *visit) endAll(to state) {
	for _, b := range v.browsers {
		if b.state != ended {
			b.state = to
		}
	}
}

func (v *visit) delete(b *browser) error {
	v.endAll(unknown)
	v.doubtful = true // it may be deleted later
	if err := v.command(b, "/app/delete"); err != nil {
		return err
	}
	v.doubtful = false
	v.endAll(ended)
	v.before = append(v.before, v.id)
	v.id, v.password = "", ""
	return v.replay(b)
}

func (v *visit) reset() error {
	c := newClient()
	v.forgetMail()
	if _, err := v.post(c, "/auth/account/forgot", "email", v.email); err != nil {
		return err
	}
	link, err := v.link("/auth/account/reset")
	if err != nil {
		return err
	}
	if _, err := v.load(c, http.MethodGet, link, nil); err != nil {
		return err
	}
	old, chosen := v.password, fmt.Sprintf("a password of %d chosen at %d", v.number, time.Now().UnixNano())
	v.endAll(unknown)
	v.doubtful = true // it may be done later
	p, err := v.post(c, "/auth/account/reset", "password", chosen)
	if err != nil {
		return err
	}
	if p.at.Query().Get("notice") != "password_reset" {
		return fmt.Errorf("a reset leads to %s", p.at)
	}
	v.doubtful, v.password = false, chosen
	v.endAll(ended)
	for _, b := range v.browsers {
		if err := v.replay(b); err != nil {
			return err
		}
	}
	thief := newClient()
	_, _ = v.post(thief, "/auth/callback/credentials", "email", v.email, "password", old, "callbackUrl", "/")
	if v.sessionOf(thief) != "" {
		return wrong("%s is signed in with the password from before the reset", v.email)
	}
	if v.tokens {
		// A token has its beginning in whole seconds, so that one of the second of the reset has ended, too.
		pause(v.ctx, time.Until(time.Now().Truncate(time.Second).Add(time.Second)))
	}
	return nil
}
