package account_test

import (
	"sync"
	"testing"
)

// AT-170: of sign-ins that present one code at once, one goes on.
func TestARecoveryCodeOfAPasskeySignsInOnceAtOnce(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s, u, id := withKey(t, tokens, &echo{})
		code := s.half().byPasskey(id).savesCodes(enrol)[0]
		var halves []*browser
		for range 8 {
			halves = append(halves, s.half().get(secondFactor+"?method=recovery"))
		}
		var all sync.WaitGroup
		for i := range 64 {
			b, token := *halves[i%len(halves)], halves[i%len(halves)].token()
			all.Go(func() { b.postQuietly(secondFactor, token, "method", "recovery", "code", code) })
		}
		all.Wait()
		signedIn := 0
		for _, b := range halves {
			if b.who() == ada {
				signedIn++
			}
		}
		if n := s.recoveryRows(u); signedIn != 1 || n != 9 {
			t.Errorf("one code has signed %d browsers in, and %d codes are left", signedIn, n)
		}
	})
}
