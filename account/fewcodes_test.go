package account_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
)

const fewCodesLeft = "You have few recovery codes left. Make new ones."

// spend removes recovery codes of a user until n are left.
func (s *site) spend(u *pintle.User, n int) {
	s.t.Helper()
	all, err := s.rows.Factors(s.t.Context(), u.ID)
	if err != nil {
		s.t.Fatal(err)
	}
	left := 0
	for _, f := range all {
		if f.Kind != "recovery" {
			continue
		}
		if left++; left > n {
			if err := s.rows.DeleteFactor(s.t.Context(), u.ID, f.Kind, f.ID); err != nil {
				s.t.Fatal(err)
			}
		}
	}
}

// AC-113: fewer than four codes are reported after a sign-in with one, and on the page of the
// account.
func TestAUserWithFewRecoveryCodesIsToldSo(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens)
		u := s.seed(ada, goodPassword, true)
		s.app(u)
		codes, err := s.accounts.GiveRecoveryCodes(t.Context(), u.ID)
		if err != nil {
			t.Fatal(err)
		}
		signIn := func(code string) *browser {
			t.Helper()
			b := s.browser().get("/auth/signin?callbackUrl=%2Fwanted")
			b.post("/auth/callback/credentials", "email", ada, "password", goodPassword)
			return b.post(secondFactor, "method", "recovery", "code", code)
		}
		s.spend(u, 5)
		b := signIn(codes[0]).isAt("/wanted") // four are left
		if b.get("/auth/account"); strings.Contains(b.page, fewCodesLeft) {
			t.Error("four codes are few")
		}
		b = signIn(codes[1]).isAt("/auth/account/factors").says(fewCodesLeft).isSignedInAs(ada)
		wanted, on := `href="`+s.server.URL+`/wanted">Continue</a>`, s.server.URL+"/wanted"
		b.says(wanted).get("/auth/account").says(fewCodesLeft).says("/auth/account/recovery-codes")

		// Where new codes are made, the way goes on.
		b.get("/auth/account/recovery-codes?callbackUrl=" + url.QueryEscape(on)).says(`name="callbackUrl" value="` + on + `"`)
		b.post("/auth/account/recovery-codes", "new", "1", "callbackUrl", on).says(`name="callbackUrl" value="` + on + `"`)
		b.post("/auth/account/recovery-codes", "saved", "1", "callbackUrl", on).says("Your new recovery codes are saved.").says(wanted)
		if b.get("/auth/account/factors?callbackUrl=https%3A%2F%2Felsewhere.example"); strings.Contains(b.page, "elsewhere") {
			t.Error("the page leads to another site")
		}
	})
}

// Where the application sends the browser to another site, no page of this one comes between.
func TestFewRecoveryCodesDoNotLoseTheWayToAnotherSite(t *testing.T) {
	s := newSite(t, false, func(c *pintle.Config, _ *account.Options) {
		c.Callbacks.Redirect = func(context.Context, string, string) (string, error) { return "https://elsewhere.example/", nil }
	})
	u := s.seed(ada, goodPassword, true)
	s.app(u)
	codes, err := s.accounts.GiveRecoveryCodes(t.Context(), u.ID)
	if err != nil {
		t.Fatal(err)
	}
	s.spend(u, 2)
	b := s.browser()
	b.get("/auth/signin").post("/auth/callback/credentials", "email", ada, "password", goodPassword).stay()
	b.post(secondFactor, "method", "recovery", "code", codes[0]).want(http.StatusSeeOther)
	if got := b.header.Get("Location"); got != "https://elsewhere.example/" {
		t.Errorf("the browser is sent to %q", got)
	}
}
