package pintle_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"testing"

	"github.com/pintleauth/pintle"
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
