package pintle

import (
	"fmt"
	"testing"
	"time"
)

// RPX-78: the tokens of many accounts, issued at one moment, are not replaced at one
// moment.
func TestEarlyRenewalsAreSpread(t *testing.T) {
	for life, within := range map[time.Duration][2]time.Duration{
		time.Second:      {2 * time.Second, 2 * time.Second},
		30 * time.Second: {2700 * time.Millisecond, 3300 * time.Millisecond},
		time.Hour:        {54 * time.Second, 66 * time.Second},
	} {
		found := map[time.Duration]bool{}
		for i := range 1000 {
			a := &Account{Provider: "acme", ProviderAccountID: fmt.Sprint(i)}
			d := earlyBy(a, life)
			if d < within[0] || d > within[1] {
				t.Fatalf("a token of %s is replaced %s before its end, want %v", life, d, within)
			}
			if d != earlyBy(a, life) {
				t.Fatal("an account has two times")
			}
			found[d] = true
		}
		if life > time.Second && len(found) < 50 {
			t.Errorf("1000 accounts with tokens of %s have %d times", life, len(found))
		}
	}
}
