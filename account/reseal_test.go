package account_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/accountstore"
)

var beforeSecret, afterSecret = strings.Repeat("before ", 6), strings.Repeat("after ", 6)

// withSecrets has its own secrets, and the store of another site.
func withSecrets(store pintle.Store, secrets ...string) func(*pintle.Config, *account.Options) {
	return func(c *pintle.Config, _ *account.Options) {
		if c.Secrets = secrets; store != nil {
			c.Store = store
		}
	}
}

// AC-107
func TestAnAppThatIsSealedAnewWorksWithoutTheOldSecret(t *testing.T) {
	s, a, _ := withApp(t, false, withSecrets(nil, beforeSecret))
	other := s.seed("other@example.com", goodPassword, true)
	s.addTOTP(other.ID) // which no secret opens
	before := *s.totpRow()
	both := account.ResealOptions{Secrets: []string{afterSecret, beforeSecret}}

	counting := both
	counting.CountOnly = true
	c, err := account.Reseal(t.Context(), s.rows, counting)
	if want := (account.SealCount{Old: 1, Unopened: 1}); c != want || err == nil || !strings.Contains(err.Error(), other.ID) {
		t.Fatalf("Reseal = %+v, %v, want %+v and an error that names the row", c, err, want)
	}
	if after := *s.totpRow(); after != before {
		t.Fatalf("counting has changed %+v to %+v", before, after)
	}
	c, err = account.Reseal(t.Context(), s.rows, both)
	if want := (account.SealCount{First: 1, Resealed: 1, Unopened: 1}); c != want || err == nil {
		t.Fatalf("Reseal = %+v, %v, want %+v and an error", c, err, want)
	}
	after := *s.totpRow()
	if after.Secret == before.Secret || after.Step != before.Step || after.Name != before.Name || !after.LastUsed.Equal(before.LastUsed) {
		t.Errorf("Reseal has changed %+v to %+v", before, after)
	}
	c, _ = account.Reseal(t.Context(), s.rows, both)
	if want := (account.SealCount{First: 1, Unopened: 1}); c != want || s.totpRow().Secret != after.Secret {
		t.Errorf("the second Reseal = %+v, want %+v", c, want)
	}
	rotated := newSite(t, false, withSecrets(s.store, afterSecret))
	rotated.half().post(secondFactor, "code", a.code(t, 1)).isSignedInAs(ada)
	if _, err := account.Reseal(t.Context(), s.rows, account.ResealOptions{}); err == nil {
		t.Error("Reseal without a secret returns no error")
	}
}

// AC-107: an app of one tenant does not open as that of another.
func TestResealKeepsTheAppsOfTenantsApart(t *testing.T) {
	s, a, _ := withApp(t, false, withSecrets(nil, beforeSecret), func(c *pintle.Config, _ *account.Options) { c.Tenant = "shop" })
	secrets := []string{afterSecret, beforeSecret}
	if c, err := account.Reseal(t.Context(), s.rows, account.ResealOptions{Secrets: secrets}); c.Unopened != 1 || err == nil {
		t.Errorf("without the tenant Reseal = %+v, %v", c, err)
	}
	c, err := account.Reseal(t.Context(), s.rows, account.ResealOptions{Secrets: secrets, Tenants: []string{"", "shop"}})
	if c.Resealed != 1 || err != nil {
		t.Errorf("Reseal = %+v, %v", c, err)
	}
	rotated := newSite(t, false, withSecrets(s.store, afterSecret), func(c *pintle.Config, _ *account.Options) { c.Tenant = "shop" })
	rotated.half().post(secondFactor, "code", a.code(t, 1)).isSignedInAs(ada)
}

// A user may use, rename or remove an app while it is sealed anew.
func TestResealUndoesNoChangeThatIsMadeMeanwhile(t *testing.T) {
	s, _, _ := withApp(t, false, withSecrets(nil, beforeSecret))
	o := account.ResealOptions{Secrets: []string{afterSecret, beforeSecret}}
	rows := &meanwhileRows{Store: s.rows}
	rows.before = func() {
		row := s.totpRow()
		row.Name = "renamed"
		if err := s.rows.ReplaceFactor(t.Context(), row); err != nil {
			t.Error(err)
		}
		if err := s.rows.AdvanceFactor(t.Context(), row.UserID, row.Kind, row.ID, row.Step+5, time.Now()); err != nil {
			t.Error(err)
		}
	}
	step := s.totpRow().Step
	c, err := account.Reseal(t.Context(), rows, o)
	if want := (account.SealCount{First: 1, Resealed: 1}); c != want || err != nil {
		t.Errorf("Reseal = %+v, %v, want %+v", c, err, want)
	}
	if row := s.totpRow(); row.Name != "renamed" || row.Step != step+5 {
		t.Errorf("the row is %+v", row)
	}
	s2, _, _ := withApp(t, false, withSecrets(nil, beforeSecret))
	rows = &meanwhileRows{Store: s2.rows, before: func() {
		row := s2.totpRow()
		if err := s2.rows.DeleteFactor(t.Context(), row.UserID, row.Kind, row.ID); err != nil {
			t.Error(err)
		}
	}}
	c, err = account.Reseal(t.Context(), rows, o)
	if want := (account.SealCount{}); c != want || err != nil {
		t.Errorf("of an app that was removed Reseal = %+v, %v", c, err)
	}
	factors, err := s2.rows.Factors(t.Context(), s2.userID())
	if err != nil || slices.ContainsFunc(factors, func(f *accountstore.Factor) bool { return f.Kind == "totp" }) {
		t.Errorf("the app is there again: %v", err)
	}
}

// meanwhileRows run a function before the first row is replaced.
type meanwhileRows struct {
	accountstore.Store
	before func()
}

func (r *meanwhileRows) ReplaceFactor(ctx context.Context, f *accountstore.Factor) error {
	if do := r.before; do != nil {
		r.before = nil
		do()
	}
	return r.Store.ReplaceFactor(ctx, f)
}
