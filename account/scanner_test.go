package account_test

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/pintleauth/pintle"
)

var (
	anyForm   = regexp.MustCompile(`(?s)<form action="([^"]*)" method="post"(?: aria-labelledby="[^"]*")?>(.*?)</form>`)
	anyInput  = regexp.MustCompile(`<input [^>]*>`)
	inputName = regexp.MustCompile(` name="([^"]*)"`)
	inputText = regexp.MustCompile(` value="([^"]*)"`)
	anyLink   = regexp.MustCompile(`href="(https?://[^"]*)"`)
)

// pressAll presses every button of the page without typing anything.
func (b *browser) pressAll() {
	page := b.page
	for _, form := range anyForm.FindAllStringSubmatch(page, -1) {
		values := b.press(form)
		// What the button leads to has buttons, too.
		for _, next := range anyForm.FindAllStringSubmatch(b.page, -1) {
			if !strings.Contains(page, next[2]) {
				hidden := url.Values{"csrfToken": {values.Get("csrfToken")}}
				b.do(http.MethodPost, html.UnescapeString(next[1]), hidden)
			}
		}
	}
}

// press sends a form of the page without typing anything.
func (b *browser) press(form []string) (values url.Values) {
	values = url.Values{}
	for _, input := range anyInput.FindAllString(form[2], -1) {
		name, value := inputName.FindStringSubmatch(input), inputText.FindStringSubmatch(input)
		if name != nil && value != nil {
			values.Set(name[1], html.UnescapeString(value[1]))
		}
	}
	b.do(http.MethodPost, html.UnescapeString(form[1]), values)
	return values
}

// scan opens every link of a mail as a program does that looks for malicious ones, and
// presses every button.
func (s *site) scan(m *pintle.Message) {
	for _, link := range anyLink.FindAllStringSubmatch(m.HTML, -1) {
		target := html.UnescapeString(link[1])
		b := s.browser()
		b.do(http.MethodHead, target, nil)
		b.get(target).pressAll()
		b.get(target)
	}
}

// stored is everything about users that a scanner must not change.
func (s *site) stored(emails ...string) string {
	s.t.Helper()
	var all strings.Builder
	for _, email := range emails {
		u := s.user(email)
		if u == nil {
			fmt.Fprintln(&all, email, "no user")
			continue
		}
		rows, err := s.rows.Factors(s.t.Context(), u.ID)
		if err != nil {
			s.t.Fatal(err)
		}
		fmt.Fprintln(&all, u.ID, u.Email, u.EmailVerified, len(rows))
		for _, row := range rows {
			fmt.Fprintln(&all, row.Kind, row.Version, row.Secret)
		}
		for session, err := range s.store.UserSessions(s.t.Context(), u.ID) {
			fmt.Fprintln(&all, session, err)
		}
	}
	return all.String()
}

// AT-4, AC-6, AC-7
func TestAProgramThatOpensLinksAndPressesButtonsChangesNothing(t *testing.T) {
	s := newSite(t, false, withGitHub)
	s.seed("ada@example.com", goodPassword, true)
	held := s.seed("held@example.com", "", false)
	s.link(held, "github")
	s.seed("prove@example.com", goodPassword, false)
	signedIn := s.browser().signIn("ada@example.com", goodPassword).isSignedInAs("ada@example.com")
	all := []string{"ada@example.com", "held@example.com", "new@example.com", "prove@example.com", "none@example.com"}
	check := func(what string) {
		t.Helper()
		before := s.stored(all...)
		s.scan(s.lastMail())
		if after := s.stored(all...); after != before {
			t.Errorf("%s: the scanner changed\n%s\nto\n%s", what, before, after)
		}
		signedIn.isSignedInAs("ada@example.com")
	}

	newcomer := s.browser().signUp("new@example.com")
	code := s.code()
	check("sign-up")
	newcomer.post("/auth/account/sign-up-sent", "code", code).post("/auth/account/sign-up-finish", "password", goodPassword).
		isSignedInAs("new@example.com")

	taking := s.browser().signUp("held@example.com")
	link := s.lastMail().URL
	check("sign-up with a held address")
	taking.get(link).post("/auth/account/address-choice", "choice", "new").post("/auth/account/sign-up-finish", "password", goodPassword).
		isSignedInAs("held@example.com")

	s.browser().signUp("ada@example.com")
	check("sign-up of a user")

	s.browser().get("/auth/account/forgot").post("/auth/account/forgot", "email", "none@example.com")
	check("forgotten password of no user")

	proving := s.browser().signIn("prove@example.com", goodPassword)
	code = s.code()
	check("code")
	proving.post("/auth/account/prove", "code", code).isSignedInAs("prove@example.com")

	link = s.resetLink("ada@example.com")
	check("reset")
	s.browser().get(link).post("/auth/account/reset", "password", newPassword).isAt("/auth/signin")
	signedIn = s.browser().signIn("ada@example.com", newPassword)
	check("notice of a reset")
}
