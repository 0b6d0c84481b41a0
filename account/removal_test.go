package account_test

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
)

const atOneMoment = 64

// AT-141, AC-110: of any number of requests that remove the second factors of a user at one moment, none
// removes the last one of a user who needs one. Afterwards they can be removed one by one.
func TestRequestsAtOneMomentLeaveTheLastSecondFactor(t *testing.T) {
	t.Parallel()
	factors := map[string]struct {
		add    func(s *site, u *pintle.User, name string) (id string)
		left   func(s *site, u *pintle.User) int
		remove func(b *browser, id string) (path string, pairs []string)
	}{
		"passkeys": {
			func(s *site, u *pintle.User, name string) string {
				id := base64.StdEncoding.EncodeToString([]byte(name))
				s.done(s.store.LinkAccount(s.t.Context(), &pintle.Account{UserID: u.ID, Type: pintle.TypeWebAuthn, Provider: "passkey", ProviderAccountID: id}))
				s.done(s.store.CreatePasskey(s.t.Context(), &pintle.Passkey{CredentialID: id, ProviderAccountID: id, UserID: u.ID, DeviceType: "singleDevice"}))
				return id
			},
			func(s *site, u *pintle.User) int { return s.passkeys(u) },
			func(_ *browser, id string) (string, []string) {
				return "/auth/account/passkey", []string{"action", "remove", "id", id}
			},
		},
		"apps": {
			func(s *site, u *pintle.User, name string) string {
				s.done(s.rows.AddFactor(s.t.Context(), &accountstore.Factor{UserID: u.ID, Kind: "totp", ID: name, Secret: "sealed", Created: time.Now()}))
				return name
			},
			func(s *site, u *pintle.User) int { apps, _ := s.apps(u); return apps },
			func(_ *browser, id string) (string, []string) {
				return "/auth/account/factor", []string{"action", "remove", "kind", "totp", "id", id}
			},
		},
	}
	for name, f := range factors {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, false, withAll, required)
			u := s.seed(ada, goodPassword, true)
			all := make([]string, atOneMoment)
			browsers := make([]*browser, atOneMoment)
			ids := map[*browser]string{}
			first := s.browser().startSession(u, 0, "pwd", "otp")
			token := first.get("/auth/account/profile").token()
			for i := range all {
				all[i] = f.add(s, u, fmt.Sprint("factor-", i))
				b := *first
				browsers[i] = &b
				ids[&b] = all[i]
			}
			atOnce(browsers, func(b *browser) {
				path, pairs := f.remove(b, ids[b])
				b.postQuietly(path, token, pairs...)
			})
			if left := f.left(s, u); left < 1 {
				t.Fatal("the user has no second factor left")
			}
			for _, id := range all {
				path, pairs := f.remove(first, id)
				s.browser().startSession(u, 0, "pwd", "otp").post(path, pairs...)
			}
			if left := f.left(s, u); left != 1 {
				t.Errorf("one by one, %d are left, want 1", left)
			}
		})
	}
}

// A turn that its process has not ended lasts for a minute.
func TestARemovalWaitsForATurnThatHasNotEnded(t *testing.T) {
	t.Parallel()
	for left, status := range map[time.Duration]int{time.Minute: http.StatusConflict, -time.Second: http.StatusOK} {
		s := newSite(t, false, withAll)
		u := s.seed(ada, goodPassword, true)
		id := s.passkey(u)
		now := time.Now().UTC().Truncate(time.Millisecond)
		turn := sha256.Sum256([]byte("pintle account removal\x00\x00" + u.ID))
		s.done(s.rows.CreateFlow(t.Context(), &accountstore.Flow{
			ID: turn, Kind: "removal", Subject: u.ID, Payload: "sealed", Created: now.Add(-time.Minute), Expires: now.Add(left),
		}))
		s.browser().startSession(u, 0, "pwd", "otp").post("/auth/account/passkey", "action", "remove", "id", id).want(status)
		if kept := s.passkeys(u); (kept == 1) != (status == http.StatusConflict) {
			t.Errorf("with %v left of the turn, the user has %d passkeys", left, kept)
		}
	}
}
