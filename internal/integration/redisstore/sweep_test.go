package redisstore_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/store/redisstore"
)

// AC-215: Auth.js deletes the key of a user, and knows nothing of these rows.
func TestASweepRemovesTheRowsOfUsersThatAuthJSDeleted(t *testing.T) {
	for _, d := range deployments {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			client, o := d.open(t), alone()
			o.BaseKeyPrefix += "[a-z]*:" // which has a meaning in a pattern
			s, neighbour := redisstore.New(client, o), redisstore.New(client, alone())
			ok := func(err error) {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
			}
			rows := func(s *redisstore.Store, id string) {
				t.Helper()
				ok(errors.Join(
					s.AccountStore().ChangeState(t.Context(), &accountstore.State{UserID: id, Roles: []string{"admin"}}),
					s.AccountStore().AddFactor(t.Context(), &accountstore.Factor{UserID: id, Kind: "password", Secret: "hash", Created: time.Now()}),
					s.AccountStore().AddFactor(t.Context(), &accountstore.Factor{UserID: id, Kind: "totp", ID: "1", Secret: "sealed", Created: time.Now()}),
				))
			}
			left := func(s *redisstore.Store, id string) int {
				t.Helper()
				factors, err := s.AccountStore().Factors(t.Context(), id)
				ok(err)
				state, err := s.AccountStore().State(t.Context(), id)
				ok(err)
				return len(factors) + len(state.Roles)
			}
			var there, gone []string
			for i := range 40 {
				u, err := s.CreateUser(t.Context(), &pintle.User{Email: fmt.Sprintf("%d@example.org", i)})
				ok(err)
				rows(s, u.ID)
				if i%2 == 0 {
					ok(client.Del(t.Context(), o.BaseKeyPrefix+"user:"+u.ID).Err())
					gone = append(gone, u.ID)
				} else {
					there = append(there, u.ID)
				}
			}
			gone = append(gone, "an id: that no user has")
			rows(s, gone[20])
			rows(neighbour, "elsewhere")
			for want := 2 * len(gone); want >= 0; want -= 12 {
				n, err := s.SweepAccountStore(t.Context(), 12)
				if want := min(12, want); err != nil || n != want {
					t.Fatalf("SweepAccountStore removed %d rows, %v, want %d", n, err, want)
				}
			}
			for _, id := range gone {
				if left(s, id) != 0 {
					t.Errorf("rows of %q are left", id)
				}
			}
			for _, id := range there {
				if left(s, id) != 3 {
					t.Errorf("rows of %q are gone", id)
				}
			}
			if left(neighbour, "elsewhere") != 3 {
				t.Error("rows under another prefix are gone")
			}
		})
	}
}
