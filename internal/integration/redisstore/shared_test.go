package redisstore_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/internal/integration/services"
	"github.com/pintleauth/pintle/store/memstore"
	"github.com/pintleauth/pintle/store/redisstore"
)

var (
	ada = pintle.User{ID: "3f0c7f3e-9d7c-4b67-8f0e-0a4f5a1b2c3d", Name: "Ada", Email: "ada@example.org"}

	linked = pintle.Account{
		UserID: ada.ID, Type: pintle.TypeOAuth, Provider: "github", ProviderAccountID: "583231",
		AccessToken: "gho_x", ExpiresAt: 2592000, TokenType: "bearer", Scope: "user",
	}
)

// whole returns a store with one of everything and the end of its session.
func whole(t *testing.T, client redis.UniversalClient) (*redisstore.Store, time.Time) {
	t.Helper()
	s := redisstore.New(client, redisstore.Options{})
	_, err := s.CreateUser(t.Context(), &ada)
	ends := time.Date(2100, 1, 2, 3, 4, 5, 0, time.UTC)
	err = errors.Join(err,
		s.LinkAccount(t.Context(), &linked),
		s.CreateSession(t.Context(), &pintle.StoredSession{Token: "t0", UserID: ada.ID, Expires: ends}),
		s.CreateVerification(t.Context(), &pintle.Verification{Identifier: ada.Email, Token: "abc", Expires: ends}),
		s.CreatePasskey(t.Context(), &pintle.Passkey{CredentialID: "a/b+c/c=", UserID: ada.ID, ProviderAccountID: "a/b+c/c=", PublicKey: "AA==", DeviceType: "singleDevice"}))
	if err != nil {
		t.Fatal(err)
	}
	return s, ends
}

func TestKeysAndValuesAreThoseOfTheAdapter(t *testing.T) {
	client := single(t)
	whole(t, client)
	want := map[string]string{
		"user:" + ada.ID:                     `{"email":"ada@example.org","id":"` + ada.ID + `","name":"Ada"}`,
		"user:email:ada@example.org":         ada.ID,
		"user:account:github:583231":         `{"access_token":"gho_x","expires_at":2592000,"id":"github:583231","provider":"github","providerAccountId":"583231","scope":"user","token_type":"bearer","type":"oauth","userId":"` + ada.ID + `"}`,
		"user:account:by-user-id:" + ada.ID:  "user:account:github:583231",
		"user:session:t0":                    `{"expires":"2100-01-02T03:04:05.000Z","sessionToken":"t0","userId":"` + ada.ID + `"}`,
		"user:session:by-user-id:" + ada.ID:  "user:session:t0",
		"user:token:ada@example.org:abc":     `{"expires":"2100-01-02T03:04:05.000Z","identifier":"ada@example.org","token":"abc"}`,
		"authenticator:a:b+c:c=":             `{"counter":0,"credentialBackedUp":false,"credentialDeviceType":"singleDevice","credentialID":"a/b+c/c=","credentialPublicKey":"AA==","providerAccountId":"a/b+c/c=","transports":null,"userId":"` + ada.ID + `"}`,
		"authenticator:by-user-id:" + ada.ID: `["a/b+c/c="]`,
		"user:accounts:" + ada.ID:            "",
		"user:sessions:" + ada.ID:            "",
		"pintle:users":                       "",
	}
	keys, err := client.Keys(t.Context(), "*").Result()
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range keys {
		value, known := want[key]
		if !known {
			t.Errorf("there is a key %q that the adapter does not have", key)
			continue
		}
		delete(want, key)
		if value == "" {
			continue
		}
		got, err := client.Get(t.Context(), key).Result()
		if err != nil {
			t.Fatal(err)
		}
		if sorted(t, got) != value {
			t.Errorf("%s:\n got %s\nwant %s", key, sorted(t, got), value)
		}
	}
	for key := range want {
		t.Errorf("there is no key %q", key)
	}
}

// sorted is JSON with the members of objects in the order of their names.
func sorted(t *testing.T, text string) string {
	t.Helper()
	var v any
	if json.Unmarshal([]byte(text), &v) != nil {
		return text
	}
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// written has the keys that the adapter writes for one sign-in.
func written(t *testing.T, client redis.UniversalClient) {
	t.Helper()
	for key, value := range map[string]string{
		"user:u1":                      `{"name":"Ada","email":"ada@example.org","image":null,"emailVerified":"2026-01-02T03:04:05.678Z","id":"u1"}`,
		"user:email:ada@example.org":   "u1",
		"user:account:google:117":      `{"provider":"google","type":"oidc","providerAccountId":"117","id_token":"e.y.J","expires_at":1767323045,"userId":"u1","id":"google:117"}`,
		"user:account:by-user-id:u1":   "user:account:google:117",
		"user:session:s1":              `{"sessionToken":"s1","userId":"u1","expires":"2100-01-02T03:04:05.678Z"}`,
		"user:session:by-user-id:u1":   "user:session:s1",
		"user:token:ada@example.org:h": `{"identifier":"ada@example.org","token":"h","expires":"2100-01-02T03:04:05.678Z"}`,
		"authenticator:YQ==":           `{"credentialID":"YQ==","userId":"u1","providerAccountId":"YQ==","credentialPublicKey":"AA==","counter":3,"credentialDeviceType":"multiDevice","credentialBackedUp":true,"transports":"usb"}`,
		"authenticator:by-user-id:u1":  `["YQ==","YQ=="]`,
	} {
		if err := client.Set(t.Context(), key, value, 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestWhatTheAdapterWroteIsReadExtendedAndDeleted(t *testing.T) {
	for _, d := range deployments {
		t.Run(d.name, func(t *testing.T) {
			client := d.open(t)
			written(t, client)
			s := redisstore.New(client, redisstore.Options{})
			session, u, err := s.SessionAndUser(t.Context(), "s1")
			if err != nil || u.Email != "ada@example.org" || session.Expires.UnixMilli() != 4102542245678 {
				t.Fatalf("SessionAndUser = %+v, %+v, %v", session, u, err)
			}
			if u, err := s.UserByAccount(t.Context(), "google", "117"); err != nil || u.ID != "u1" || u.EmailVerified.UnixMilli() != 1767323045678 {
				t.Errorf("UserByAccount = %+v, %v", u, err)
			}
			if accounts, err := s.UserAccounts(t.Context(), "u1"); err != nil || len(accounts) != 1 || accounts[0].IDToken != "e.y.J" || accounts[0].Extra != nil {
				t.Errorf("UserAccounts = %+v, %v", accounts, err)
			}
			if passkeys, err := s.UserPasskeys(t.Context(), "u1"); err != nil || len(passkeys) != 1 || passkeys[0].Counter != 3 {
				t.Errorf("UserPasskeys = %+v, %v: want the one, once", passkeys, err)
			}
			for listed, err := range s.UserSessions(t.Context(), "u1") {
				if err != nil || listed.UserID != "u1" {
					t.Errorf("UserSessions yielded %+v, %v", listed, err)
				}
			}
			if err := s.UpdateSession(t.Context(), "s1", pintle.SessionUpdate{Expires: time.Now().Add(time.Hour)}); err != nil {
				t.Error(err)
			}
			if v, err := s.UseVerification(t.Context(), "ada@example.org", "h"); err != nil || v.Expires.UnixMilli() != 4102542245678 {
				t.Errorf("UseVerification = %+v, %v", v, err)
			}
			if err := s.DeleteUser(t.Context(), "u1"); err != nil {
				t.Error(err)
			}
			if left := keysOf(t, client); len(left) != 0 {
				t.Errorf("DeleteUser left %q", left)
			}
		})
	}
}

func TestWhatTheAdapterWroteLastStaysListed(t *testing.T) {
	for _, d := range deployments {
		t.Run(d.name, func(t *testing.T) {
			client := d.open(t)
			written(t, client)
			s := redisstore.New(client, redisstore.Options{})
			mine := linked
			mine.UserID = "u1"
			err := errors.Join(s.LinkAccount(t.Context(), &mine),
				s.CreateSession(t.Context(), &pintle.StoredSession{Token: "t0", UserID: "u1", Expires: time.Now().Add(time.Hour)}),
				s.CreateSession(t.Context(), &pintle.StoredSession{Token: "t1", UserID: "u1", Expires: time.Now().Add(time.Hour)}))
			if err != nil {
				t.Fatal(err)
			}
			if accounts, err := s.UserAccounts(t.Context(), "u1"); err != nil || len(accounts) != 2 {
				t.Errorf("UserAccounts = %+v, %v, want the adapter's and the new one", accounts, err)
			}
			if n, err := s.EndUserSessions(t.Context(), "u1", "t1"); err != nil || n != 2 {
				t.Errorf("EndUserSessions but for the last = %d, %v, want the adapter's and the other", n, err)
			}
			if _, _, err := s.SessionAndUser(t.Context(), "s1"); !errors.Is(err, pintle.ErrNotFound) {
				t.Errorf("the adapter's session after EndUserSessions: %v, want ErrNotFound", err)
			}
		})
	}
}

func TestAnAccountThatTheAdapterLeftBehindHasNoUser(t *testing.T) {
	for _, d := range deployments {
		t.Run(d.name, func(t *testing.T) {
			client := d.open(t)
			written(t, client)
			s := redisstore.New(client, redisstore.Options{})
			heir, err := s.CreateUser(t.Context(), &pintle.User{Email: "heir@example.org"})
			if err != nil {
				t.Fatal(err)
			}
			again := pintle.Account{UserID: heir.ID, Type: pintle.TypeOIDC, Provider: "google", ProviderAccountID: "117", AccessToken: "new"}
			if err := s.LinkAccount(t.Context(), &again); !errors.Is(err, pintle.ErrConflict) {
				t.Errorf("LinkAccount of another user's account: %v, want ErrConflict", err)
			}
			// Of several accounts the adapter removes the last with the user.
			if err := client.Del(t.Context(), "user:u1").Err(); err != nil {
				t.Fatal(err)
			}
			if err := s.LinkAccount(t.Context(), &again); err != nil {
				t.Fatalf("LinkAccount of an account whose owner was deleted: %v", err)
			}
			if u, err := s.UserByAccount(t.Context(), "google", "117"); err != nil || u.ID != heir.ID {
				t.Errorf("UserByAccount = %+v, %v, want the heir", u, err)
			}
			if a, err := s.Account(t.Context(), "google", "117"); err != nil || a.AccessToken != "new" || a.IDToken != "" {
				t.Errorf("Account = %+v, %v, want no data of the earlier one", a, err)
			}
			if err := s.LinkAccount(t.Context(), &again); !errors.Is(err, pintle.ErrConflict) {
				t.Errorf("LinkAccount a second time: %v, want ErrConflict", err)
			}
		})
	}
}

func keysOf(t *testing.T, client redis.UniversalClient) []string {
	t.Helper()
	c, ok := client.(*redis.ClusterClient)
	if !ok {
		return client.Keys(t.Context(), "*").Val()
	}
	found := make(chan []string, 3)
	err := c.ForEachMaster(t.Context(), func(ctx context.Context, node *redis.Client) error {
		keys, err := node.Keys(ctx, "*").Result()
		found <- keys
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return slices.Concat(<-found, <-found, <-found)
}

func TestADeletedUserLeavesNoKey(t *testing.T) {
	for _, d := range deployments {
		t.Run(d.name, func(t *testing.T) {
			client := d.open(t)
			s, _ := whole(t, client)
			person(t, s)
			if _, err := s.UseVerification(t.Context(), ada.Email, "abc"); err != nil {
				t.Fatal(err)
			}
			if err := s.DeleteUser(t.Context(), ada.ID); err != nil {
				t.Fatal(err)
			}
			if left := keysOf(t, client); len(left) != 0 {
				t.Errorf("DeleteUser left %q", left)
			}
		})
	}
}

func TestTheAddressAUserNoLongerHasIsFree(t *testing.T) {
	client := single(t)
	written(t, client)
	// The adapter leaves the key of the address a user had.
	if err := client.Set(t.Context(), "user:email:old@example.org", "u1", 0).Err(); err != nil {
		t.Fatal(err)
	}
	s := redisstore.New(client, redisstore.Options{})
	if u, err := s.UserByEmail(t.Context(), "old@example.org"); !errors.Is(err, pintle.ErrNotFound) {
		t.Errorf("UserByEmail of an address the user no longer has = %+v, %v, want ErrNotFound", u, err)
	}
	heir, err := s.CreateUser(t.Context(), &pintle.User{Email: "old@example.org"})
	if err != nil {
		t.Fatal(err)
	}
	if u, err := s.UserByEmail(t.Context(), "old@example.org"); err != nil || u.ID != heir.ID {
		t.Errorf("UserByEmail = %+v, %v, want the heir", u, err)
	}
	if _, err := s.CreateUser(t.Context(), &pintle.User{Email: "ada@example.org"}); !errors.Is(err, pintle.ErrConflict) {
		t.Errorf("CreateUser with an address of the adapter's user: %v, want ErrConflict", err)
	}
}

func TestAReservationOfAProcessThatDiedEndsByItself(t *testing.T) {
	client := single(t)
	s := redisstore.New(client, redisstore.Options{})
	const reserved = "user:email:ada@example.org"
	if err := client.Set(t.Context(), reserved, "unknown", time.Hour).Err(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.CreateUser(t.Context(), &ada); !errors.Is(err, pintle.ErrConflict) {
		t.Errorf("CreateUser with a reserved address: %v, want ErrConflict", err)
	}
	if _, err := s.User(t.Context(), ada.ID); !errors.Is(err, pintle.ErrNotFound) {
		t.Errorf("the rejected user: %v, want ErrNotFound", err)
	}
	if err := client.PExpire(t.Context(), reserved, time.Millisecond).Err(); err != nil {
		t.Fatal(err)
	}
	for client.Exists(t.Context(), reserved).Val() != 0 {
		time.Sleep(time.Millisecond)
	}
	if _, err := s.CreateUser(t.Context(), &ada); err != nil {
		t.Errorf("CreateUser after the reservation: %v", err)
	}
	if ttl := client.PTTL(t.Context(), reserved).Val(); ttl != -1 {
		t.Errorf("the address of a user who was created ends in %v", ttl)
	}
}

func TestSessionsAndMailLinksEndByThemselvesAndNothingElseDoes(t *testing.T) {
	client := single(t)
	_, ends := whole(t, client)
	for _, key := range client.Keys(t.Context(), "*").Val() {
		at, err := client.PExpireTime(t.Context(), key).Result()
		if err != nil {
			t.Fatal(err)
		}
		want := time.Duration(-1)
		switch key {
		case "user:session:t0", "user:session:by-user-id:" + ada.ID, "user:sessions:" + ada.ID, "user:token:ada@example.org:abc":
			want = time.Duration(ends.Add(time.Hour).UnixMilli()) * time.Millisecond
		}
		if at != want {
			t.Errorf("%s goes at %v, want %v", key, at, want)
		}
	}
}

func TestWithoutRedisNoLookUpReturnsAResult(t *testing.T) {
	server := services.Redis(t)
	client := closed(t, redis.NewClient(&redis.Options{Addr: server.Addr, ContextTimeoutEnabled: true, MaxRetries: -1}))
	s, _ := whole(t, client)
	alone := redisstore.Sessions(memstore.New(), client, redisstore.Options{BaseKeyPrefix: "x:"})
	rows := s.AccountStore()
	server.Stop(t)
	for name, call := range map[string]func() error{
		"SessionAndUser":            func() error { _, _, err := s.SessionAndUser(t.Context(), "t0"); return err },
		"UserByEmail":               func() error { _, err := s.UserByEmail(t.Context(), ada.Email); return err },
		"UserByAccount":             func() error { _, err := s.UserByAccount(t.Context(), "github", "583231"); return err },
		"UseVerification":           func() error { _, err := s.UseVerification(t.Context(), ada.Email, "abc"); return err },
		"SessionAndUser, elsewhere": func() error { _, _, err := alone.SessionAndUser(t.Context(), "t0"); return err },
		"DeleteUser, elsewhere":     func() error { return alone.DeleteUser(t.Context(), ada.ID) },
		"State":                     func() error { _, err := rows.State(t.Context(), ada.ID); return err },
		"ChangeState":               func() error { return rows.ChangeState(t.Context(), &accountstore.State{UserID: ada.ID}) },
		"CountFailure":              func() error { _, err := rows.CountFailure(t.Context(), ada.ID, noon, time.Hour, 3); return err },
		"Factors":                   func() error { _, err := rows.Factors(t.Context(), ada.ID); return err },
		"AddFactor":                 func() error { return rows.AddFactor(t.Context(), &accountstore.Factor{UserID: ada.ID}) },
		"AdvanceFactor":             func() error { return rows.AdvanceFactor(t.Context(), ada.ID, "totp", "1", 8, noon) },
		"DeleteFactors":             func() error { _, err := rows.DeleteFactors(t.Context(), ada.ID, []string{"totp"}, nil); return err },
		"Flow":                      func() error { _, err := rows.Flow(t.Context(), accountstore.Hash{}); return err },
		"AttemptFlow":               func() error { _, err := rows.AttemptFlow(t.Context(), accountstore.Hash{}, 5); return err },
		"UseFlow":                   func() error { _, err := rows.UseFlow(t.Context(), accountstore.Hash{}, "reset"); return err },
		"EndFlows":                  func() error { _, err := rows.EndFlows(t.Context(), ada.ID, "reset"); return err },
		"CountFlows":                func() error { _, err := rows.CountFlows(t.Context(), ada.ID, "reset", noon); return err },
	} {
		if err := call(); err == nil || errors.Is(err, pintle.ErrNotFound) || errors.Is(err, pintle.ErrConflict) {
			t.Errorf("%s without a server: %v, want an error other than a result", name, err)
		}
	}
	server.Start(t)
	if _, _, err := s.SessionAndUser(t.Context(), "t0"); err != nil {
		t.Errorf("after the server came back, without its scripts: %v", err)
	}
}

func TestRedisHoldsNoTokenOfSessionsAlone(t *testing.T) {
	client := single(t)
	s := redisstore.Sessions(memstore.New(), client, redisstore.Options{})
	if _, err := s.CreateUser(t.Context(), &pintle.User{ID: "u1"}); err != nil {
		t.Fatal(err)
	}
	if err := s.CreateSession(t.Context(), &pintle.StoredSession{Token: "secret-token", UserID: "u1", Expires: time.Now().Add(time.Hour)}); err != nil {
		t.Fatal(err)
	}
	for _, key := range client.Keys(t.Context(), "*").Val() {
		text := key + client.Get(t.Context(), key).Val() + fmt.Sprint(client.ZRange(t.Context(), key, 0, -1).Val())
		if strings.Contains(text, "secret-token") {
			t.Errorf("%s holds the token", key)
		}
	}
}

func BenchmarkSessionAndUser(b *testing.B) {
	for _, d := range deployments {
		b.Run(d.name, func(b *testing.B) {
			client := d.open(b)
			s := redisstore.New(client, redisstore.Options{})
			if _, err := s.CreateUser(b.Context(), &ada); err != nil {
				b.Fatal(err)
			}
			if err := s.CreateSession(b.Context(), &pintle.StoredSession{Token: "t0", UserID: ada.ID, Expires: time.Now().Add(time.Hour)}); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := s.SessionAndUser(b.Context(), "t0"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
