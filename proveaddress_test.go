package pintle_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/store/memstore"
)

// AC-61
func TestTheApplicationRemovesWhatWasThereBeforeTheFirstProof(t *testing.T) {
	for _, strategy := range strategies {
		t.Run(string(strategy), func(t *testing.T) {
			var asked []*pintle.PendingSignIn
			var answer error
			s, k := mailSite(t, strategy, func(s *site, _ *pintle.Email) {
				s.Callbacks.ProveAddress = func(_ context.Context, p *pintle.PendingSignIn) error {
					if !p.User.EmailVerified.IsZero() || p.Request == nil {
						t.Errorf("the callback is called for %+v", p)
					}
					asked = append(asked, p)
					return answer
				}
			})
			u := k.seedUser(t, pintle.User{Email: victimAddress})
			answer = errors.New("the rows cannot be removed")
			b := s.browser()
			if r := b.get(b.mailTo(victimAddress).URL); r.status != http.StatusFound || r.errorCode() != string(pintle.CodeAccessDenied) {
				t.Errorf("the sign-in is answered with %d %s", r.status, r.location())
			}
			if b.session() != nil || !k.byEmail(t, victimAddress).EmailVerified.IsZero() {
				t.Error("the callback failed, and the address is proven or the user signed in")
			}
			answer = nil
			b.get(b.mailTo(victimAddress).URL).goesTo(s.url)
			if len(asked) != 2 || asked[1].User.ID != u.ID || !slices.Contains(asked[1].Authentication.Methods, "mail") {
				t.Fatalf("the callback was called %d times: %+v", len(asked), asked)
			}
			if k.byEmail(t, victimAddress).EmailVerified.IsZero() || b.session() == nil {
				t.Error("the address is not proven")
			}
			// Neither a second proof nor a new user is the first proof of a stored user.
			b.get(b.mailTo(victimAddress).URL).goesTo(s.url)
			b.get(b.mailTo("new@example.com").URL).goesTo(s.url)
			if len(asked) != 2 {
				t.Errorf("the callback was called %d times", len(asked))
			}
		})
	}
}

// AC-61, AT-11: also where a provider vouches for the address.
func TestTheFirstProofWithACallbackEndsAllOtherSessions(t *testing.T) {
	for _, strategy := range strategies {
		t.Run(string(strategy), func(t *testing.T) {
			s, k := mailSite(t, strategy, func(s *site, _ *pintle.Email) {
				s.Session.Revocation = &memstore.Revocations{}
				s.Callbacks.ProveAddress = func(context.Context, *pintle.PendingSignIn) error { return nil }
			})
			u := k.seedUser(t, pintle.User{Email: victimAddress})
			err := k.Store.LinkAccount(t.Context(), &pintle.Account{
				UserID: u.ID, Type: pintle.TypeOIDC, Provider: "acme", ProviderAccountID: "1", VerifiedEmail: victimAddress,
			})
			if err != nil {
				t.Fatal(err)
			}
			before, w := s.browser(), httptest.NewRecorder()
			if _, _, err := s.auth.StartSession(w, before.request(), u, pintle.StartOptions{}); err != nil {
				t.Fatal(err)
			}
			before.takes(w)
			if before.session() == nil {
				t.Fatal("the session does not begin")
			}
			b := s.browser()
			b.get(b.mailTo(victimAddress).URL).goesTo(s.url)
			if before.session() != nil || b.session() == nil {
				t.Errorf("the session of before is %v, the new one %v", before.session(), b.session())
			}
		})
	}
}
