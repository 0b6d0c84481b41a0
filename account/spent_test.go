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

// AT-53, AC-4, AC-106, AC-112: the code of a user signs in once it is used up, and not before.
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

// A racingStore adds another app just before the one of the request.
type racingStore struct{ pintle.Store }

type racingRows struct{ accountstore.Store }

func (s racingStore) AccountStore() accountstore.Store { return racingRows{s.Store.AccountStore()} }

func (s racingStore) InTx(ctx context.Context, do func(pintle.Store) error) error {
	return s.Store.InTx(ctx, func(inner pintle.Store) error { return do(racingStore{inner}) })
}

func (r racingRows) AddFactor(ctx context.Context, f *accountstore.Factor) error {
	if f.Kind == "totp" {
		other := *f
		other.ID = "other"
		if err := r.Store.AddFactor(ctx, &other); err != nil {
			return err
		}
	}
	return r.Store.AddFactor(ctx, f)
}

// AT-54
func TestOfTwoFirstFactorsAtOnceOneStays(t *testing.T) {
	s := newSite(t, false, required, func(cfg *pintle.Config, _ *account.Options) { cfg.Store = racingStore{cfg.Store} })
	s.seed(ada, goodPassword, true)
	b := s.browser().signIn(ada, goodPassword).isAt(enrol)
	b.post(enrol, "code", s.code()).want(200)
	key, a := b.key()
	b.post(enrol, "key", key, "code", a.code(t, 0)).want(200)
	b.post(enrol, "saved", "1").want(http.StatusConflict).isSignedInAs("")
	if row := s.totpRow(); row.ID != "other" {
		t.Errorf("the app that is left is %q", row.ID)
	}
}
