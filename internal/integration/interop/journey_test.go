package interop_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"

	"github.com/pintleauth/pintle/authtest"

	"github.com/pintleauth/pintle/internal/testsite"
)

// sessionCookie is its name on an https site, with both servers.
const sessionCookie = "__Secure-authjs.session-token"

// A journey is one person with one browser, and the state that the person expects.
type journey struct {
	ctx     context.Context
	turns   *turns
	choose  *rand.Rand
	browser *http.Client
	who     authtest.Person
	tokens  bool // sessions are tokens

	signedIn bool
	asUser   bool // as a user in the database
	shown    shown
	user     *shown // the row of the person, once there is one
	linked   bool   // the account at the provider belongs to it
}

// shown has the members of a user in the session.
type shown struct {
	ID    any
	Name  string
	Email string
}

func newJourney(ctx context.Context, s *site, base http.RoundTripper, seed uint64, number int, tokens bool) *journey {
	// The actions and the servers have separate random sources, so that the
	// actions stay the same if a server needs more requests.
	j := &journey{
		ctx: ctx, who: person(number), tokens: tokens,
		choose: rand.New(rand.NewPCG(seed, uint64(2*number))),
		turns:  &turns{site: s, base: base, next: rand.New(rand.NewPCG(seed, uint64(2*number+1)))},
	}
	j.browser = testsite.Browser(j.turns)
	return j
}

// travel performs a few actions and returns the first error.
func (j *journey) travel() error {
	for range 2 + j.choose.IntN(4) {
		if err := j.step(); err != nil {
			return err
		}
		if err := j.look(); err != nil {
			return err
		}
	}
	return nil
}

func (j *journey) step() error {
	if !j.signedIn || j.choose.IntN(4) == 0 && j.user != nil {
		switch n := j.choose.IntN(5); {
		case n == 0 && j.tokens && !j.signedIn:
			return j.signInByPassword()
		case n < 3:
			return j.signInByProvider()
		default:
			return j.signInByMail()
		}
	}
	switch n := j.choose.IntN(6); {
	case n == 0:
		return j.forgedSignOut()
	case n < 3 && j.tokens:
		return j.rename()
	case n < 4:
		return j.look()
	default:
		return j.signOut()
	}
}

func (j *journey) signInByPassword() error {
	if j.choose.IntN(2) == 0 {
		to, err := j.post("callback/password", url.Values{"username": {"mary"}, "password": {"trilobite"}})
		if err != nil {
			return err
		}
		if !strings.HasPrefix(to, origin+"/auth/signin?error=CredentialsSignin") {
			return fmt.Errorf("a wrong password leads to %s", to)
		}
	}
	to, err := j.post("callback/password", url.Values{"username": {"mary"}, "password": {"ammonite"}})
	if err != nil {
		return err
	}
	if to != origin+"/home" {
		return fmt.Errorf("the right password leads to %s", to)
	}
	j.signedIn, j.asUser, j.shown = true, false, shown{"mary", "Mary Anning", "mary@example.test"}
	return nil
}

// signInByProvider signs in with the provider, or links its account if the browser
// is signed in already.
func (j *journey) signInByProvider() error {
	to, err := j.post("signin/idp?"+url.Values{"login_hint": {j.who.Email}}.Encode(), nil)
	if err != nil {
		return err
	}
	if !strings.HasPrefix(to, j.turns.site.idp.Issuer) {
		return fmt.Errorf("the provider is at %s", to)
	}
	if to, err = j.follow(to); err != nil {
		return err
	}
	if !strings.HasPrefix(to, origin+"/auth/callback/idp?") {
		return fmt.Errorf("the provider sends the browser to %s", to)
	}
	if to, err = j.follow(to); err != nil {
		return err
	}
	if j.user != nil && !j.linked && !j.asUser {
		// A user with this address exists, and the address is not proven.
		if !strings.Contains(to, "error=OAuthAccountNotLinked") {
			return fmt.Errorf("an account that is not linked leads to %s", to)
		}
		return nil
	}
	if to != origin+"/home" {
		return fmt.Errorf("the provider leads to %s", to)
	}
	if j.user == nil {
		j.user = &shown{nil, j.who.Name, j.who.Email}
	}
	j.linked, j.signedIn, j.asUser, j.shown = true, true, true, *j.user
	return nil
}

func (j *journey) signInByMail() error {
	to, err := j.post("signin/mail", url.Values{"email": {j.who.Email}})
	if err != nil {
		return err
	}
	if !strings.HasPrefix(to, origin+"/auth/verify-request") {
		return fmt.Errorf("requesting a mail leads to %s", to)
	}
	mail, err := j.turns.site.box.Wait(j.ctx, j.who.Email)
	if err != nil {
		return err
	}
	link := mail.Links()[0]
	if to, err = j.follow(link); err != nil {
		return err
	}
	if j.linked && strings.HasPrefix(to, origin+"/auth/callback/mail?error=OAuthAccountNotLinked") {
		// W-55: Pintle requires a sign-in with the provider before a mail link
		// signs in to a user that the provider made.
		return j.signInByProvider()
	}
	if to != origin+"/home" {
		return fmt.Errorf("the link in the mail leads to %s", to)
	}
	if j.user == nil {
		j.user = &shown{nil, "", j.who.Email}
	}
	j.signedIn, j.asUser, j.shown = true, true, *j.user
	if j.choose.IntN(3) == 0 {
		if to, err = j.follow(link); err != nil {
			return err
		}
		if !strings.HasPrefix(to, origin+"/auth/error?error=Verification") {
			return fmt.Errorf("a link that was used leads to %s", to)
		}
	}
	return nil
}

// rename changes the session from a script.
func (j *journey) rename() error {
	name := fmt.Sprintf("Zoë <the %dth> & 木村", j.choose.IntN(1000))
	if j.choose.IntN(3) == 0 {
		name += strings.Repeat(" é", 1500) // more than one cookie can hold
	}
	token, err := j.csrf()
	if err != nil {
		return err
	}
	text, _ := json.Marshal(map[string]any{"csrfToken": token, "data": map[string]any{"user": map[string]any{"name": name}}})
	status, _, body, err := j.ask(http.MethodPost, origin+"/auth/session", "application/json", string(text))
	if err != nil {
		return err
	}
	j.shown.Name = name
	if status != http.StatusOK {
		return fmt.Errorf("an update is answered with %d %s", status, body)
	}
	return j.sees("the update", body)
}

func (j *journey) signOut() error {
	cookies := j.sessionCookies()
	to, err := j.post("signout", nil)
	if err != nil {
		return err
	}
	if to != origin+"/home" {
		return fmt.Errorf("signing out leads to %s", to)
	}
	j.signedIn, j.asUser = false, false
	if left := j.sessionCookies(); len(left) > 0 {
		return fmt.Errorf("signing out leaves %d cookies of the session", len(left))
	}
	if j.tokens {
		return nil
	}
	// A copy of the cookie is not valid: the row is deleted for both.
	r, err := http.NewRequestWithContext(j.ctx, http.MethodGet, origin+"/auth/session", http.NoBody)
	if err != nil {
		return err
	}
	for _, c := range cookies {
		r.AddCookie(c)
	}
	answers, err := j.turns.both(r)
	for who, answer := range answers {
		if answer != "null" {
			return fmt.Errorf("%s still returns a session that has ended: %s", who, answer)
		}
	}
	return err
}

// forgedSignOut sends a request that a page of another site can send.
func (j *journey) forgedSignOut() error {
	_, to, _, err := j.ask(http.MethodPost, origin+"/auth/signout", "application/x-www-form-urlencoded", "csrfToken="+strings.Repeat("a", 64))
	if err != nil {
		return err
	}
	if to == "" || to == origin+"/home" {
		return fmt.Errorf("a forged sign-out leads to %q", to)
	}
	return nil
}

// look reads the session as a script does, and as code on the server does.
func (j *journey) look() error {
	for _, at := range []string{"/auth/session", "/__conformance/session"} {
		status, _, body, err := j.ask(http.MethodGet, origin+at, "", "")
		if err != nil {
			return err
		}
		if status != http.StatusOK {
			return fmt.Errorf("%s is answered with %d %s", at, status, body)
		}
		if err := j.sees(at, body); err != nil {
			return err
		}
	}
	return nil
}

// sees compares the responses about the session with the expected one.
func (j *journey) sees(where, body string) error {
	var session *struct{ User *shown }
	if err := json.Unmarshal([]byte(body), &session); err != nil {
		return fmt.Errorf("%s returns %s: %w", where, body, err)
	}
	if session == nil || !j.signedIn {
		if session != nil || j.signedIn {
			return fmt.Errorf("%s returns %s; signed in: %t", where, body, j.signedIn)
		}
		return nil
	}
	got := *session.User
	got.ID = fmt.Sprint(got.ID) // a number where the database makes it
	if j.shown.ID == nil {
		// The database has assigned the id of the new row.
		j.shown.ID, j.user.ID = got.ID, got.ID
	}
	if got != j.shown {
		return fmt.Errorf("%s returns %+v, want %+v", where, got, j.shown)
	}
	return nil
}

func (j *journey) csrf() (string, error) {
	_, _, body, err := j.ask(http.MethodGet, origin+"/auth/csrf", "", "")
	if err != nil {
		return "", err
	}
	var answer struct{ CSRFToken string }
	if err := json.Unmarshal([]byte(body), &answer); err != nil {
		return "", fmt.Errorf("read the form token from %s: %w", body, err)
	}
	return answer.CSRFToken, nil
}

// post sends a form of the site and returns where it leads.
func (j *journey) post(route string, form url.Values) (string, error) {
	token, err := j.csrf()
	if err != nil {
		return "", err
	}
	if form == nil {
		form = url.Values{}
	}
	form.Set("csrfToken", token)
	form.Set("callbackUrl", origin+"/home")
	_, to, body, err := j.ask(http.MethodPost, origin+"/auth/"+route, "application/x-www-form-urlencoded", form.Encode())
	if err == nil && to == "" {
		err = fmt.Errorf("the form for %s leads nowhere: %s", route, body)
	}
	return to, err
}

// follow requests an address and returns the target of its redirect.
func (j *journey) follow(address string) (string, error) {
	status, to, _, err := j.ask(http.MethodGet, address, "", "")
	if err == nil && to == "" {
		err = fmt.Errorf("%s leads nowhere, with status %d", address, status)
	}
	return to, err
}

func (j *journey) ask(method, address, mediaType, body string) (status int, to, answer string, err error) {
	r, err := http.NewRequestWithContext(j.ctx, method, address, strings.NewReader(body))
	if err != nil {
		return 0, "", "", err
	}
	if mediaType != "" {
		r.Header.Set("Content-Type", mediaType)
	}
	resp, err := j.browser.Do(r)
	if err != nil {
		return 0, "", "", err
	}
	text, err := io.ReadAll(resp.Body)
	if closed := resp.Body.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return 0, "", "", err
	}
	if where, err := resp.Location(); err == nil {
		to = where.String()
	} else if !errors.Is(err, http.ErrNoLocation) {
		return 0, "", "", err
	}
	return resp.StatusCode, to, string(text), nil
}

func (j *journey) sessionCookies() []*http.Cookie {
	site, _ := url.Parse(origin) // a constant
	var found []*http.Cookie
	for _, c := range j.browser.Jar.Cookies(site) {
		if strings.HasPrefix(c.Name, sessionCookie) {
			found = append(found, c)
		}
	}
	return found
}
