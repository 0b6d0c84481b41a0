package pintle

import (
	"testing"
	"testing/synctest"
	"time"
)

// W-37, SA-L6: what was used is remembered for as long as a copy is good, by the
// clocks that are furthest apart, also if it was used when a generation of the memory
// ended.
func TestWhatWasUsedIsRememberedWhileACopyIsGood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSpent()
		s.flows.here.Use("begins a generation", time.Now().Unix())
		time.Sleep(usedLifetime)
		s.flows.here.Use("a", time.Now().Add(clockTolerance).Unix())
		for range int((checkMaxAge + 2*clockTolerance) / time.Second) {
			if s.flows.here.Use("a", time.Now().Unix()) {
				t.Fatal("a copy can be used")
			}
			time.Sleep(time.Second)
		}
	})
}

// W-22, SA-M4: who began a flow, by the id in its check cookies.
func TestWhoBeganAFlow(t *testing.T) {
	s := &settings{jwtSecrets: []string{"the new secret", "the old secret"}}
	earlier := &settings{jwtSecrets: []string{"the old secret"}}
	other := &settings{jwtSecrets: []string{"another secret"}}
	ada, grace := &User{ID: "ada"}, &User{ID: "grace"}
	const uuid = "4f3c4e0b-2d65-4a49-8e4e-0a1f9a3c1a2b"

	for name, tt := range map[string]struct {
		id                    string
		ada, grace, signedOut bool
	}{
		"SA-M4 no cookie says":                {"", false, false, false},
		"Auth.js":                             {uuid, true, true, true},
		"signed out":                          {uuid + "." + s.userMark(nil), false, false, true},
		"Ada":                                 {uuid + "." + s.userMark(ada), true, false, false},
		"Ada, before the secret was replaced": {uuid + "." + earlier.userMark(ada), true, false, false},
		"Ada, elsewhere":                      {uuid + "." + other.userMark(ada), false, false, false},
		"a mark that was cut off":             {uuid + "." + s.userMark(ada)[:10], false, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			for _, who := range []struct {
				user *User
				want bool
			}{{ada, tt.ada}, {grace, tt.grace}, {nil, tt.signedOut}} {
				if got := s.startedBy(tt.id, who.user); got != who.want {
					t.Errorf("startedBy(%+v) = %t, want %t", who.user, got, who.want)
				}
			}
		})
	}
}
