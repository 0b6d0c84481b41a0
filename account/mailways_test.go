package account_test

import (
	"context"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
)

var mailedLink = regexp.MustCompile(`https?://\S+`)

// wantLinks checks the paths of the links in the text of a mail. Only the first one may have a
// token.
func (s *site) wantLinks(m *pintle.Message, want ...string) {
	s.t.Helper()
	var paths []string
	for i, link := range mailedLink.FindAllString(m.Text, -1) {
		u, err := url.Parse(link)
		if err != nil {
			s.t.Fatal(err)
		}
		paths = append(paths, u.Path)
		if token := u.Query().Get("token"); token != m.Token && i == 0 || token != "" && i > 0 {
			s.t.Errorf("the link %s of the mail %q has the token %q", u.Path, m.Subject, token)
		}
		if !strings.Contains(m.HTML, `href="`+strings.ReplaceAll(link, "&", "&amp;")+`"`) {
			s.t.Errorf("the HTML of the mail %q has no link to %s", m.Subject, u.Path)
		}
	}
	if !slices.Equal(paths, want) {
		s.t.Errorf("the mail %q leads to %q, want %q", m.Subject, paths, want)
	}
}

// AC-51, AC-73: a user who has come by a provider or a passkey learns from the mail how to sign
// in.
func TestAMailToAUserNamesTheOtherWaysToSignIn(t *testing.T) {
	forgets := func(b *browser, email string) {
		b.get("/auth/account/forgot").post("/auth/account/forgot", "email", email)
	}
	for name, change := range map[string]func(*pintle.Config, *account.Options){
		"proof first": func(*pintle.Config, *account.Options) {}, "deferred": deferred,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, false, withGitHub, withPasskeys(&echo{}), change, func(c *pintle.Config, _ *account.Options) {
				c.Texts.Words = map[string]string{"GitHub": "die Gitterburg"}
			})
			u := s.seed(ada, "", true)
			s.link(u, "github")
			s.link(u, "former") // is not configured any more
			s.passkey(u)
			plain := s.seed(bob, goodPassword, true)
			held := s.seed("held@example.com", goodPassword, false)
			s.link(held, "github")

			const ways = "You can also sign in with: die Gitterburg, Passkey."
			b := s.browser().signUp(ada)
			known := s.wantMail(ada, "You have an account")
			s.wantLinks(known, "/auth/signin", "/auth/account/forgot")
			again := "/auth/account/sign-up-sent"
			if name == "deferred" {
				again = prove
			}
			b.post(again, "again", "1")
			if m := s.lastMail(); m == known || m.Text[:400] != known.Text[:400] {
				t.Errorf("the second mail is %q", m.Text)
			}
			forgets(s.browser(), ada)
			reset := s.wantMail(ada, "A new password")
			s.wantLinks(reset, "/auth/account/reset", "/auth/signin")
			for _, m := range []*pintle.Message{known, reset} {
				if !strings.Contains(m.Text, ways) || !strings.Contains(m.HTML, ways) {
					t.Errorf("the mail %q does not name the ways: %s", m.Subject, m.Text)
				}
			}

			s.browser().signUp(plain.Email)
			s.wantLinks(s.wantMail(bob, "You have an account"), "/auth/signin", "/auth/account/forgot")
			forgets(s.browser(), plain.Email)
			s.wantLinks(s.wantMail(bob, "A new password"), "/auth/account/reset")
			for _, email := range []string{bob, held.Email, "none@example.com"} {
				s.browser().signUp(email)
				forgets(s.browser(), email)
				for _, m := range s.sent(email) {
					if strings.Contains(m.Text+m.HTML, "sign in with") {
						t.Errorf("the mail %q to %s names ways: %s", m.Subject, email, m.Text)
					}
				}
			}
		})
	}
}

// In writing from right to left the names of providers keep their direction.
func TestTheWaysInAMailFromRightToLeftAreApart(t *testing.T) {
	s := newSite(t, false, withGitHub, func(c *pintle.Config, _ *account.Options) { c.Texts.Dir = "rtl" })
	s.link(s.seed(ada, goodPassword, true), "github")
	s.browser().signUp(ada)
	if m := s.lastMail(); !strings.Contains(m.Text, "\u2068GitHub\u2069") {
		t.Errorf("the mail is %q", m.Text)
	}
}

// AC-5: the accounts of another user are read for an address without one, and stay unsaid.
func TestTheWaysOfAnotherUserAreReadForAnAddressWithoutOneAndNotNamed(t *testing.T) {
	store := &readsAccounts{}
	s := newSite(t, false, withGitHub, func(c *pintle.Config, _ *account.Options) { store.Store, c.Store = c.Store, store })
	u, held := s.seed(ada, goodPassword, true), s.seed(bob, goodPassword, false)
	s.link(u, "github")
	s.link(held, "github")
	r := s.browser().request(http.MethodGet, "/", http.NoBody)
	if ways := account.WaysOf(s.accounts, r, ada); !slices.Equal(ways, []string{"GitHub"}) {
		t.Errorf("the ways are %q", ways)
	}
	for _, email := range []string{"none@example.com", bob} {
		if ways := account.WaysOf(s.accounts, r, email); len(ways) > 0 {
			t.Errorf("the ways of %s are %q", email, ways)
		}
	}
	if want := []string{u.ID, u.ID, held.ID}; !slices.Equal(store.of, want) {
		t.Errorf("the accounts of %q were read, want %q", store.of, want)
	}
}

// A readsAccounts store notes whose accounts are read.
type readsAccounts struct {
	pintle.Store
	of []string
}

func (s *readsAccounts) UserAccounts(ctx context.Context, userID string) ([]*pintle.Account, error) {
	s.of = append(s.of, userID)
	return s.Store.UserAccounts(ctx, userID)
}
