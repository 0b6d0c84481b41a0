package passkey_test

import (
	"context"
	"slices"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/passkey/passkeytest"
)

// A session records whether the authenticator verified its user, in the ceremony that
// began the session.
func TestASessionRecordsWhetherTheUserWasVerified(t *testing.T) {
	const verified = passkeytest.UserPresent | passkeytest.UserVerified
	for _, tt := range []struct {
		flags byte
		want  []string
	}{
		{passkeytest.UserPresent, []string{"pop", "user"}},
		{verified, []string{"pop", "user", "mfa"}},
		{passkeytest.UserPresent | passkeytest.BackupEligible, []string{"pop", "user"}},
		{verified | passkeytest.BackupEligible, []string{"pop", "user", "mfa"}},
	} {
		var recorded []string
		s := newSite(t, func(s *site) {
			s.UserVerification = "preferred"
			s.Session.RecordAuthentication = true
			s.Callbacks.Session = func(_ context.Context, v *pintle.SessionView) (any, error) {
				recorded = v.Session.Authentication.Methods
				return v.Session, nil
			}
		})
		key := passkeytest.New()
		key.Flags = tt.flags
		for _, typed := range [][]string{{"email", "ada@example.com"}, nil} {
			b := s.browser()
			b.signIn(key, typed...)
			recorded = nil
			b.signedInAs()
			if !slices.Equal(recorded, tt.want) {
				t.Errorf("with the flags %#x and the fields %q the session records %q, want %q", tt.flags, typed, recorded, tt.want)
			}
		}
	}
}
