package account_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/authtest"
)

// AT-8, AC-31: a thief with a session and a fresh proof changes what does not depend on the
// password, while the owner ends all sessions.
func TestARemovalThatItsOwnerOvertakesStartsNoSession(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		for name, overtake := range map[string]func(s *site, u *pintle.User, code string){
			"a reset": func(s *site, _ *pintle.User, code string) {
				owner := s.browser().get(s.resetLink(ada))
				owner.post("/auth/account/reset", "password", newPassword, "code", code).isAt("/auth/signin")
			},
			"a deletion": func(s *site, u *pintle.User, _ string) {
				s.changeState(u.ID, func(state *accountstore.State) { state.DeleteAt = time.Now().Add(time.Hour) })
			},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				store := &beforeDelete{}
				s := newSite(t, tokens, func(c *pintle.Config, _ *account.Options) { store.Store, c.Store = c.Store, store })
				u := s.seed(ada, goodPassword, true)
				code := s.app(u)
				rows, err := s.rows.Factors(t.Context(), u.ID)
				if err != nil {
					t.Fatal(err)
				}
				thief := s.browser().startSession(u, 0, "pwd", "otp").isSignedInAs(ada)
				store.do = func() { overtake(s, u, code()) }
				for _, row := range rows {
					if row.Kind == "totp" {
						thief.post("/auth/account/factor", "kind", "totp", "id", row.ID, "action", "remove").want(http.StatusUnauthorized)
					}
				}
				thief.isSignedInAs("")
			})
		}
	})
}

// A beforeDelete store calls a function before the next factor is deleted.
type beforeDelete struct {
	pintle.Store
	do func()
}

func (s *beforeDelete) AccountStore() accountstore.Store {
	return beforeDeleteRows{s.Store.AccountStore(), s}
}

type beforeDeleteRows struct {
	accountstore.Store
	of *beforeDelete
}

func (r beforeDeleteRows) DeleteFactor(ctx context.Context, userID, kind, id string) error {
	once(&r.of.do)
	return r.Store.DeleteFactor(ctx, userID, kind, id)
}

// A passkey whose authenticator did not verify its user may be in other hands.
func TestAPasskeyThatDoesNotVerifyItsUserEndsNoSuspension(t *testing.T) {
	s, _, _ := withApp(t, false, withPasskeys(&echo{}))
	u := s.user(ada)
	id := s.passkey(u)
	s.changeState(u.ID, func(state *accountstore.State) { state.Suspended = true })
	s.half().get(secondFactor).byPasskey(id).isSignedInAs(ada)
	if !s.state(u).Suspended {
		t.Error("the suspension has ended")
	}
}

// AC-116: the code went to the address that the user had then.
func TestAMailedCodeToAFormerAddressIsNotAccepted(t *testing.T) {
	s, u := withMailedCode(t, false)
	s.changeState(u.ID, func(state *accountstore.State) { state.Must = "password" })
	b := s.half()
	b.post(secondFactor, "method", "mail", "code", b.mailsACode()).isAt("/auth/account/must-change")
	moved := "grace@example.com"
	if _, err := s.store.UpdateUser(t.Context(), u.ID, pintle.UserUpdate{Email: &moved}); err != nil {
		t.Fatal(err)
	}
	b.post("/auth/account/must-change", "password", newPassword).want(http.StatusForbidden).isSignedInAs("")
}

// AC-41: the mails with a code that follow a right password have a limit, too.
func TestTheMailedCodesOfManySignInsAreLimited(t *testing.T) {
	s, _ := withMailedCode(t, false)
	for range 5 {
		s.half().mailsACode()
	}
	s.half().post(secondFactor, "method", "mail", "again", "1").want(http.StatusTooManyRequests)
	if n := len(s.sent(ada)); n != 5 {
		t.Errorf("%d mails were sent", n)
	}
}

// AC-4, AC-116: of two requests with one code the one that did not change the flow is refused.
func TestAMailedCodeOfWhichAnotherRequestWasFirstIsRefused(t *testing.T) {
	rows := &flowRows{}
	s, _ := withMailedCode(t, false, func(c *pintle.Config, _ *account.Options) { c.Store = flowStore{c.Store, rows} })
	b := s.half()
	code := b.mailsACode()
	rows.changed = true
	b.post(secondFactor, "method", "mail", "code", code).want(http.StatusConflict).isSignedInAs("")
}

// AC-116: an address that is not proven may be that of another person.
func TestNoCodeIsMailedToAnUnprovenAddress(t *testing.T) {
	s := withAcme(t, false, authtest.Person{Subject: "ada", Email: ada}, withFallback)
	u := s.seed(ada, "", false)
	err := s.store.LinkAccount(t.Context(), &pintle.Account{UserID: u.ID, Type: pintle.TypeOIDC, Provider: "acme", ProviderAccountID: "ada"})
	if err != nil {
		t.Fatal(err)
	}
	s.app(u)
	b := s.browser().get("/auth/signin").post("/auth/signin/acme").isAt(secondFactor)
	if strings.Contains(b.page, byMail) {
		t.Errorf("the page offers it: %s", b.text())
	}
	b.post(secondFactor, "method", "mail", "again", "1").want(http.StatusUnprocessableEntity)
	if len(s.sent(ada)) > 0 {
		t.Error("a mail was sent")
	}
}

func TestThePageOfTheSecondFactorTakesNoOtherMethod(t *testing.T) {
	s := newSite(t, false)
	code := s.app(s.seed(ada, goodPassword, true))()
	b := s.half()
	for _, method := range []string{"passkey", "mail", "password", "x"} {
		b.post(secondFactor, "method", method, "code", code).want(http.StatusUnprocessableEntity).isSignedInAs("")
	}
	b.post(secondFactor, "method", "totp", "code", code).isSignedInAs(ada)
}

// A sign-in that waits for something else has no page for a second factor.
func TestThePageOfTheSecondFactorIsForASignInThatWaitsForIt(t *testing.T) {
	for name, has := range map[string]func(s *site, u *pintle.User) []string{
		"a passkey alone": func(s *site, u *pintle.User) []string {
			s.passkey(u)
			return []string{"method", "passkey", "data", "x"}
		},
		"second factors are off": func(s *site, u *pintle.User) []string {
			return []string{"code", s.app(u)()}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, false, withPasskeys(&echo{}), func(_ *pintle.Config, o *account.Options) {
				o.SecondFactor.Off = name == "second factors are off"
			})
			u := s.seed(ada, goodPassword, true)
			form := has(s, u)
			s.changeState(u.ID, func(state *accountstore.State) { state.Must = "password" })
			b := s.browser().signIn(ada, goodPassword).isAt("/auth/account/must-change")
			b.get(secondFactor).want(http.StatusForbidden)
			b.post(secondFactor, form...).want(http.StatusForbidden).isSignedInAs("")
		})
	}
}

// AT-52: parallel requests were first to the hundredth code.
func TestACodeThatComesAfterTheHundredthOfOtherRequestsIsRefused(t *testing.T) {
	s, f := withFaults(t)
	u := s.seed(ada, goodPassword, true)
	code := s.app(u)
	b := s.half()
	f.onState = func() { // after the state was read
		f.onState = nil
		for range 100 {
			if _, err := s.rows.CountFailure(t.Context(), u.ID, time.Now().Add(-time.Hour), time.Minute, 1000); err != nil {
				t.Error(err)
			}
		}
	}
	b.post(secondFactor, "code", code()).want(http.StatusForbidden).isSignedInAs("")
}
