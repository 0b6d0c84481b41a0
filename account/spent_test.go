package account_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/accountstore"
)

// A keptStore uses no code up: it fails as the test says.
type keptStore struct {
	pintle.Store
	fault error
}

type keptRows struct {
	accountstore.Store
	fault error
}

func (s *keptStore) AccountStore() accountstore.Store {
	return keptRows{s.Store.AccountStore(), s.fault}
}

func (r keptRows) DeleteFactor(context.Context, string, string, string) error { return r.fault }

func (r keptRows) AdvanceFactor(context.Context, string, string, string, int64, time.Time) error {
	return r.fault
}

// AT-53: the code of a user signs in once it is used up, and not before.
func TestACodeThatIsNotUsedUpSignsNoUserIn(t *testing.T) {
	for fault, status := range map[error]int{
		pintle.ErrNotFound:          http.StatusUnprocessableEntity, // another request was first
		errors.New("no connection"): http.StatusServiceUnavailable,
	} {
		s, a, codes := withApp(t, false)
		kept := newSite(t, false, func(cfg *pintle.Config, _ *account.Options) { cfg.Store = &keptStore{s.store, fault} })
		for _, code := range []string{a.code(t, 0), codes[0]} {
			kept.half().post(secondFactor, "code", code).want(status).isSignedInAs("")
		}
	}
}
