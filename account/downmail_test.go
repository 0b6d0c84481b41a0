package account_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/accountstore"
)

// ports are those of test servers.
var ports = regexp.MustCompile(`127\.0\.0\.1:\d+`)

// AT-93, AC-174: the mail server is down at each kind of notice. The change stands, the answer is the
// same, and the mail that failed is recorded.
func TestAChangeStandsWhateverBecomesOfItsNotice(t *testing.T) {
	for kind, act := range map[string]func(s *site, u *pintle.User, b *browser){
		"password-changed": func(_ *site, _ *pintle.User, b *browser) { b.changePassword(goodPassword, newPassword) },
		"password-removed": func(s *site, u *pintle.User, b *browser) {
			s.link(u, "github")
			b.get("/auth/account/password").post("/auth/account/password", "current", goodPassword, "remove", "1")
		},
		"factor-removed": func(s *site, u *pintle.User, b *browser) {
			s.app(u)
			b.startSession(u, 0, "pwd", "otp").post("/auth/account/factor", "id", s.factor(u, "totp").ID, "action", "remove")
		},
		"recovery-made": func(s *site, u *pintle.User, b *browser) {
			s.app(u)
			b.startSession(u, 0, "pwd", "otp").get("/auth/account/recovery-codes").post("/auth/account/recovery-codes")
			b.post("/auth/account/recovery-codes", b.fields("saved", "1")...)
		},
		"passkey-removed": func(s *site, u *pintle.User, b *browser) {
			id := s.passkey(u)
			b.startSession(u, 0, "pwd", "otp").post("/auth/account/passkey", "id", id, "action", "remove")
		},
		"passkey-added": func(_ *site, _ *pintle.User, b *browser) { b.addPasskey("mine") },
		"account-unlinked": func(s *site, u *pintle.User, b *browser) {
			s.link(u, "github")
			b.post("/auth/account/unlink", "provider", "github", "id", "1 "+u.ID)
		},
		"address-asked":    func(_ *site, _ *pintle.User, b *browser) { b.beginsAddress(newAddress) },
		"address-changed":  func(_ *site, _ *pintle.User, b *browser) { b.movesAddress(newAddress) },
		"deletion-planned": func(_ *site, _ *pintle.User, b *browser) { b.deletes() },
		"exported":         func(_ *site, _ *pintle.User, b *browser) { b.exports() },
		"new-device":       func(_ *site, _ *pintle.User, b *browser) { b.signIn(ada, goodPassword) },
		"signed-out": func(s *site, u *pintle.User, _ *browser) {
			ops, ctx := s.operators()
			s.done(ops.SignOut(ctx, u.ID))
		},
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			var outcomes [2]string
			for i, down := range []bool{false, true} {
				var fails atomic.Bool
				s := newSite(t, false, withAll, func(_ *pintle.Config, o *account.Options) {
					keep := o.Mail
					o.Mail = func(ctx context.Context, m *pintle.Message) error {
						err := keep(ctx, m)
						if fails.Load() {
							err = errors.New("the mail server is down")
						}
						return err
					}
				})
				u := s.seed(ada, goodPassword, true)
				b := s.browser().startSession(u, 0, "pwd")
				fails.Store(down)
				act(s, u, b)
				state := s.state(u)
				var happened []string
				for _, e := range s.everything(accountstore.ActivityQuery{}) {
					if e.Kind != "mail_failed" {
						happened = append(happened, e.Kind+" "+e.Outcome)
					}
				}
				slices.Sort(happened)
				outcomes[i] = fmt.Sprint(b.status, " ", b.at, " ", s.holds(u), " ", state.DeleteAt.IsZero(), " ", happened)
				outcomes[i] = ports.ReplaceAllString(outcomes[i], "")
				if failed := s.everything(accountstore.ActivityQuery{Kind: "mail_failed"}); down == (len(failed) == 0) {
					t.Errorf("down %t: %d mails that failed are recorded", down, len(failed))
				}
			}
			if outcomes[0] != outcomes[1] {
				t.Errorf("with mails: %s\nwithout: %s", outcomes[0], outcomes[1])
			}
		})
	}
}
