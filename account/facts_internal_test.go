package account

import (
	"testing"
	"time"

	"github.com/pintleauth/pintle"
)

// AT-70, AT-79, AC-135, AC-140: proofs within the time alone reach a level, and no weak one
// raises it.
func TestTheLevelOfProofs(t *testing.T) {
	const minute = time.Minute
	type proofs map[string]time.Duration // how long ago
	passkey := proofs{"pop": 0, "user": 0, "mfa": 0}
	for name, test := range map[string]struct {
		proofs   proofs
		provider string
		within   time.Duration
		want     Level
	}{
		"nothing":                                  {nil, "", 0, 0},
		"a password":                               {proofs{"pwd": 0}, "", 0, OneFactor},
		"a mail":                                   {proofs{"mail": 0}, "", 0, OneFactor},
		"a password and the mail that resets it":   {proofs{"pwd": 0, "mail": 0}, "", 0, OneFactor},
		"a provider":                               {proofs{"fed": 0}, "github", 0, OneFactor},
		"a provider that reports two factors":      {proofs{"fed": 0, "fed:mfa": 0}, "github", 0, OneFactor},
		"a trusted provider that reports two":      {proofs{"fed": 0, "fed:mfa": 0}, "work", 0, TwoFactors},
		"a trusted provider that reports one":      {proofs{"fed": 0, "fed:pwd": 0}, "work", 0, OneFactor},
		"a code of an app alone":                   {proofs{"otp": 0}, "", 0, OneFactor},
		"two codes":                                {proofs{"otp": 0, "recovery": 0}, "", 0, OneFactor},
		"a password and a code":                    {proofs{"pwd": 0, "otp": 0}, "", 0, TwoFactors},
		"a mail and a code":                        {proofs{"mail": 0, "otp": 0}, "", 0, TwoFactors},
		"a provider and a recovery code":           {proofs{"fed": 0, "recovery": 0}, "github", 0, TwoFactors},
		"a passkey that verified its user":         {passkey, "passkey", 0, PhishingResistant},
		"a passkey that did not":                   {proofs{"pop": 0, "user": 0}, "passkey", 0, OneFactor},
		"a passkey that did not, and a password":   {proofs{"pop": 0, "user": 0, "pwd": 0}, "", 0, TwoFactors},
		"a passkey that did not, and a provider":   {proofs{"pop": 0, "user": 0, "fed": 0}, "", 0, OneFactor},
		"a method that no one knows":               {proofs{"telepathy": 0}, "", 0, 0},
		"two factors of 20 days ago":               {proofs{"pwd": 480 * time.Hour, "otp": 480 * time.Hour}, "", 0, TwoFactors},
		"the same, of the last 10 minutes":         {proofs{"pwd": 480 * time.Hour, "otp": 480 * time.Hour}, "", 10 * minute, 0},
		"a code of 20 days ago and a password now": {proofs{"pwd": 0, "otp": 480 * time.Hour}, "", 10 * minute, OneFactor},
		"a passkey of 20 days ago and a key now":   {proofs{"pop": 0, "user": 0, "mfa": 480 * time.Hour}, "", 10 * minute, OneFactor},
		"just within the time":                     {proofs{"pwd": 9 * minute, "otp": 9 * minute}, "", 10 * minute, TwoFactors},
		"just outside the time":                    {proofs{"pwd": 11 * minute, "otp": 9 * minute}, "", 10 * minute, OneFactor},
		"to come, as another clock has it":         {proofs{"pwd": -10 * time.Second}, "", 10 * minute, OneFactor},
		"to come":                                  {proofs{"pwd": -20 * time.Second}, "", 10 * minute, 0},
	} {
		t.Run(name, func(t *testing.T) {
			a := New(Options{SecondFactor: SecondFactor{SkipFor: []string{"work"}}})
			facts := pintle.Authentication{Provider: test.provider, Proofs: map[string]time.Time{}}
			for method, ago := range test.proofs {
				facts.Proofs[method] = time.Now().Add(-ago)
			}
			d := Demand{MaxAge: test.within}
			if got := a.levelSince(facts, d.since(0)); got != test.want {
				t.Errorf("the level is %q, want %q", got, test.want)
			}
			if got := a.Level(&pintle.Session{Authentication: facts}); test.within == 0 && got != test.want {
				t.Errorf("Accounts.Level is %q, want %q", got, test.want)
			}
		})
	}
}

// AC-140
func TestASessionWithoutFactsHasNoLevel(t *testing.T) {
	a := New(Options{})
	if got := a.Level(nil); got != 0 {
		t.Errorf("a request without a session has the level %q", got)
	}
	if got := a.Level(&pintle.Session{Authentication: pintle.Authentication{Time: time.Now(), Provider: "github"}}); got != 0 {
		t.Errorf("a session without proofs has the level %q", got)
	}
	// A zero time is one that is not known.
	if got := a.levelSince(pintle.Authentication{Proofs: map[string]time.Time{"pwd": {}}}, time.Time{}); got != 0 {
		t.Errorf("a proof without a time has the level %q", got)
	}
}

func TestTheNamesOfLevels(t *testing.T) {
	for level, want := range map[Level]string{OneFactor: "1fa mfa phr", TwoFactors: "mfa phr", PhishingResistant: "phr"} {
		if got := level.andAbove(); got != want {
			t.Errorf("%d and above are %q, want %q", level, got, want)
		}
		if got := levelNamed(level.String()); got != level {
			t.Errorf("%q is the level %d, want %d", level, got, level)
		}
	}
	if got := levelNamed("gold"); got != 0 {
		t.Errorf("an unknown name is the level %d", got)
	}
	if got := Level(9).String(); got != "Level(9)" {
		t.Errorf("an unknown level is %q", got)
	}
}
