package account

import (
	"slices"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
)

// AC-61, AC-135: the provider goes with its method, and a time to come is a mistake of a clock.
func TestWhatASessionHasProvenLately(t *testing.T) {
	at := func(ago time.Duration) time.Time { return time.Now().Add(-ago) }
	for name, c := range map[string]struct {
		proofs   map[string]time.Time
		methods  []string
		provider string
	}{
		"both now":                 {map[string]time.Time{"pwd": at(0), "fed": at(time.Minute)}, []string{"pwd", "fed"}, "acme"},
		"the provider long ago":    {map[string]time.Time{"pwd": at(0), "fed": at(11 * time.Minute)}, []string{"pwd"}, ""},
		"the password long ago":    {map[string]time.Time{"pwd": at(11 * time.Minute), "fed": at(9 * time.Minute)}, []string{"fed"}, "acme"},
		"within the clocks":        {map[string]time.Time{"pwd": at(-10 * time.Second)}, []string{"pwd"}, ""},
		"in a minute":              {map[string]time.Time{"pwd": at(-time.Minute)}, nil, ""},
		"without a recorded proof": {nil, nil, ""},
	} {
		got := provenLately(&pintle.Session{Authentication: pintle.Authentication{
			Provider: "acme", Methods: []string{"pwd", "fed"}, Proofs: c.proofs,
		}})
		if !slices.Equal(got.Methods, c.methods) || got.Provider != c.provider {
			t.Errorf("%s: %q by %q, want %q by %q", name, got.Methods, got.Provider, c.methods, c.provider)
		}
	}
}
