package storetest

import (
	"errors"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/uuid"
)

var featureChecks = []check{
	{"a feature that the store has works", func(t *tester) {
		for _, f := range features {
			if !f.of(t.can) {
				continue
			}
			for _, m := range f.methods {
				if err := m.call(t, t.store); errors.Is(err, errors.ErrUnsupported) {
					t.Errorf("Features.%s is true, and %s fails: %v", f.name, m.name, err)
				}
			}
		}
	}},
	{"the methods of a feature that the store does not have fail with errors.ErrUnsupported", func(t *tester) {
		for _, f := range features {
			if f.of(t.can) {
				continue
			}
			for _, m := range f.methods {
				t.unsupported(m.name+", without Features."+f.name+",", m.call(t, t.store))
			}
		}
	}},
	{"a feature that needs another has it", func(t *tester) {
		for _, rule := range []struct {
			feature, needs string
			broken         bool
		}{
			{"AccountSwap", "Accounts", t.can.AccountSwap && !t.can.Accounts},
			{"SessionList", "Sessions", t.can.SessionList && !t.can.Sessions},
			{"Passkeys", "Accounts", t.can.Passkeys && !t.can.Accounts},
			{"PasskeyNames", "Passkeys", t.can.PasskeyNames && !t.can.Passkeys},
		} {
			if rule.broken {
				t.Errorf("Features.%s is true without Features.%s", rule.feature, rule.needs)
			}
		}
	}},
	{"the features do not change", func(t *tester) {
		t.everything()
		if now := t.store.Features(); now != t.can {
			t.Errorf("Features returned\n%+v, and before\n%+v", now, t.can)
		}
	}},
}

// unsupported reports an answer other than errors.ErrUnsupported.
func (t *tester) unsupported(what string, err error) {
	t.Helper()
	if !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("%s returned %v, want errors.ErrUnsupported", what, err)
	}
}

// A feature is a field of [pintle.Features] and the methods it stands for.
type feature struct {
	name    string
	of      func(pintle.Features) bool
	methods []method
}

// A method is one of [pintle.Store]. The call has arguments that fit nothing in
// the store.
type method struct {
	name string
	call func(*tester, pintle.Store) error
}

var features = []feature{
	{"Accounts", func(f pintle.Features) bool { return f.Accounts }, []method{
		{"Account", func(t *tester, s pintle.Store) error {
			_, err := s.Account(t.ctx, "github", unique())
			return err
		}},
		{"UserAccounts", func(t *tester, s pintle.Store) error {
			_, err := s.UserAccounts(t.ctx, uuid.New())
			return err
		}},
		{"UpdateAccount", func(t *tester, s pintle.Store) error { return s.UpdateAccount(t.ctx, newAccount(uuid.New())) }},
		{"UnlinkAccount", func(t *tester, s pintle.Store) error {
			return s.UnlinkAccount(t.ctx, uuid.New(), "github", unique(), nil)
		}},
	}},
	{"AccountSwap", func(f pintle.Features) bool { return f.AccountSwap }, []method{
		{"SwapAccount", func(t *tester, s pintle.Store) error {
			return s.SwapAccount(t.ctx, newAccount(uuid.New()), "")
		}},
	}},
	{"Sessions", func(f pintle.Features) bool { return f.Sessions }, []method{
		{"CreateSession", func(t *tester, s pintle.Store) error { return s.CreateSession(t.ctx, newSession(uuid.New())) }},
		{"SessionAndUser", func(t *tester, s pintle.Store) error {
			_, _, err := s.SessionAndUser(t.ctx, uuid.New())
			return err
		}},
		{"UpdateSession", func(t *tester, s pintle.Store) error {
			return s.UpdateSession(t.ctx, uuid.New(), pintle.SessionUpdate{Expires: now()})
		}},
		{"DeleteSession", func(t *tester, s pintle.Store) error {
			_, err := s.DeleteSession(t.ctx, uuid.New())
			return err
		}},
	}},
	{"SessionList", func(f pintle.Features) bool { return f.SessionList }, []method{
		{"UserSessions", func(t *tester, s pintle.Store) error {
			for _, err := range s.UserSessions(t.ctx, uuid.New()) {
				return err
			}
			return nil
		}},
		{"EndSession", func(t *tester, s pintle.Store) error { return s.EndSession(t.ctx, uuid.New(), unique()) }},
		{"EndUserSessions", func(t *tester, s pintle.Store) error {
			_, err := s.EndUserSessions(t.ctx, uuid.New(), "")
			return err
		}},
	}},
	{"Verifications", func(f pintle.Features) bool { return f.Verifications }, []method{
		{"CreateVerification", func(t *tester, s pintle.Store) error { return s.CreateVerification(t.ctx, newVerification()) }},
		{"UseVerification", func(t *tester, s pintle.Store) error {
			_, err := s.UseVerification(t.ctx, unique(), unique())
			return err
		}},
	}},
	{"Passkeys", func(f pintle.Features) bool { return f.Passkeys }, []method{
		{"CreatePasskey", func(t *tester, s pintle.Store) error {
			return s.CreatePasskey(t.ctx, newPasskey(uuid.New()))
		}},
		{"Passkey", func(t *tester, s pintle.Store) error {
			_, err := s.Passkey(t.ctx, unique())
			return err
		}},
		{"UserPasskeys", func(t *tester, s pintle.Store) error {
			_, err := s.UserPasskeys(t.ctx, uuid.New())
			return err
		}},
		{"UsePasskey", func(t *tester, s pintle.Store) error {
			return s.UsePasskey(t.ctx, newPasskey(uuid.New()), 0)
		}},
		{"DeletePasskey", func(t *tester, s pintle.Store) error {
			return s.DeletePasskey(t.ctx, uuid.New(), unique())
		}},
	}},
	{"PasskeyNames", func(f pintle.Features) bool { return f.PasskeyNames }, []method{
		{"RenamePasskey", func(t *tester, s pintle.Store) error {
			return s.RenamePasskey(t.ctx, uuid.New(), unique(), "Key ring")
		}},
	}},
	{"DeleteUser", func(f pintle.Features) bool { return f.DeleteUser }, []method{
		{"DeleteUser", func(t *tester, s pintle.Store) error { return s.DeleteUser(t.ctx, uuid.New()) }},
	}},
	{"Sweep", func(f pintle.Features) bool { return f.Sweep }, []method{
		{"Sweep", func(t *tester, s pintle.Store) error {
			_, err := s.Sweep(t.ctx, now(), 1)
			return err
		}},
	}},
	{"Transactions", func(f pintle.Features) bool { return f.Transactions }, []method{
		{"InTx", func(t *tester, s pintle.Store) error {
			return s.InTx(t.ctx, func(pintle.Store) error { return nil })
		}},
	}},
}
