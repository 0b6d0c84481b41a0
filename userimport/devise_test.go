package userimport_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle/store/memstore"
	"github.com/pintleauth/pintle/userimport"
)

// A lock of Devise is for wrong passwords, and ends.
func TestALockOfDeviseEndsAfterAnHour(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ ago, left time.Duration }{
		"just now": {10 * time.Minute, 50 * time.Minute}, "yesterday": {24 * time.Hour, 0},
	} {
		store := memstore.New()
		locked := time.Now().UTC().Add(-c.ago).Truncate(time.Second)
		text := fmt.Sprintf("email,encrypted_password,locked_at\nada@example.com,,%s\n", locked.Format(time.RFC3339))
		importAll(t, store, userimport.Devise(strings.NewReader(text), deviseApp()), userimport.Options{Partial: true})
		_, state, _ := userAt(t, store, "ada@example.com")
		want, reason := time.Time{}, ""
		if c.left > 0 {
			want, reason = locked.Add(time.Hour), "locked in Devise"
		}
		if !state.BannedUntil.Equal(want) || state.BanReason != reason {
			t.Errorf("locked %s: banned until %s for %q, want %s", name, state.BannedUntil, state.BanReason, want)
		}
	}
}
