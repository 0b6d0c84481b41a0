package pintle_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/store/memstore"
)

// signedInAs is a session of a stored user.
func signedInAs(u *pintle.User) *pintle.Session { return &pintle.Session{User: *u} }

// The last way to sign in does not go by accident.
func TestTheLastWayToSignInStays(t *testing.T) {
	verified := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	password := func(knows bool, err error) *pintle.Credentials {
		return &pintle.Credentials{Authorize: checkPassword, CanSignIn: func(_ context.Context, u *pintle.User) (bool, error) {
			if u.Name != "Ada Lovelace" {
				return false, errors.New("CanSignIn received another user")
			}
			return knows, err
		}}
	}
	tests := []struct {
		name     string
		verified time.Time
		email    string
		accounts []string // further ones, by their providers
		ways     []pintle.Provider
		mail     bool
		want     error
	}{
		{name: "nothing else", want: pintle.CodeLastSignIn},
		{name: "another account at the same provider", accounts: []string{"acme"}},
		{name: "an account at another provider", accounts: []string{"hub"}},
		{name: "an account at a provider that is no more", accounts: []string{"gone"}, want: pintle.CodeLastSignIn},
		{name: "an address that mail has verified", email: "ada@example.com", verified: verified, mail: true},
		{name: "an address that a provider said", email: "ada@example.com", mail: true, want: pintle.CodeLastSignIn},
		{name: "a verified address and no mail", email: "ada@example.com", verified: verified, want: pintle.CodeLastSignIn},
		{name: "mail and no address", verified: verified, mail: true, want: pintle.CodeLastSignIn},
		{name: "a password", ways: []pintle.Provider{password(true, nil)}},
		{name: "no password", ways: []pintle.Provider{password(false, nil)}, want: pintle.CodeLastSignIn},
		{name: "passwords without Knows", ways: []pintle.Provider{&pintle.Credentials{Authorize: checkPassword}}, want: pintle.CodeLastSignIn},
		{name: "passwords that cannot be looked up", ways: []pintle.Provider{password(true, errBroken)}, want: pintle.CodeConfiguration},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			k := newRecordingStore()
			s := newSite(t, withRecordingStore(k, pintle.StrategyDatabase), func(s *site) {
				s.Providers = append([]pintle.Provider{s.idp.OIDC("acme"), s.idp.OAuth2("hub")}, tt.ways...)
				if tt.mail {
					s.Providers = append(s.Providers, s.mailProvider())
				}
			})
			ada := k.seedUser(t, pintle.User{Name: "Ada Lovelace", Email: tt.email, EmailVerified: tt.verified})
			grace := k.seedUser(t, people["grace"].user)
			k.seedAccount(t, ada, "acme", "1001")
			for i, provider := range tt.accounts {
				k.seedAccount(t, ada, provider, "another-"+string(rune('a'+i)))
			}
			k.seedAccount(t, grace, "hub", "9") // which is no way for Ada
			err := s.auth.Unlink(t.Context(), signedInAs(ada), "acme", "1001")
			if !errors.Is(err, tt.want) {
				t.Fatalf("Unlink is %v, want %v", err, tt.want)
			}
			if gone := k.owner(t, "acme", "1001") == nil; gone != (tt.want == nil) {
				t.Errorf("the account is gone: %t", gone)
			}
		})
	}
}

// The account to unlink comes from a form. It is removed only from the user who
// sent the form.
func TestAUserCannotUnlinkTheAccountOfAnotherUser(t *testing.T) {
	k := newRecordingStore()
	s := newSite(t, withRecordingStore(k, pintle.StrategyJWT))
	ada, grace := k.seedUser(t, people["ada"].user), k.seedUser(t, people["grace"].user)
	for _, id := range []string{"1001", "1003"} {
		k.seedAccount(t, ada, "acme", id)
	}
	for _, id := range []string{"1002", "1004"} {
		k.seedAccount(t, grace, "acme", id)
	}
	for _, account := range [][2]string{{"acme", "1002"}, {"acme", "unknown"}, {"hub", "1001"}, {"", ""}} {
		if err := s.auth.Unlink(t.Context(), signedInAs(ada), account[0], account[1]); !errors.Is(err, pintle.ErrNotFound) {
			t.Errorf("Unlink(%q, %q) is %v, want ErrNotFound", account[0], account[1], err)
		}
	}
	for id, owner := range map[string]*pintle.User{"1001": ada, "1003": ada, "1002": grace, "1004": grace} {
		if is := k.owner(t, "acme", id); is == nil || is.ID != owner.ID {
			t.Errorf("account %s belongs to %v", id, is)
		}
	}
	if err := s.auth.Unlink(t.Context(), signedInAs(k.seedUser(t, pintle.User{Name: "Linus Torvalds"})), "acme", "1001"); !errors.Is(err, pintle.ErrNotFound) {
		t.Errorf("Unlink by a user without the account is %v", err)
	}
	if err := s.auth.Unlink(t.Context(), signedInAs(&pintle.User{ID: "unknown"}), "acme", "1001"); !errors.Is(err, pintle.ErrNotFound) {
		t.Errorf("Unlink for a user who was removed is %v", err)
	}
}

// The store checks what has to be left and removes in one step: flows.md has no
// event for it.
func TestUnlinkingIsOneStepWithoutAnEvent(t *testing.T) {
	k := newRecordingStore()
	s := newSite(t, withRecordingStore(k, pintle.StrategyDatabase))
	ada := k.seedUser(t, people["ada"].user)
	k.seedAccount(t, ada, "acme", "1001")
	k.seedAccount(t, ada, "acme", "1003")
	unlink := func(id string) error { return s.auth.Unlink(t.Context(), signedInAs(ada), "acme", id) }

	k.fail("unlinkAccount")
	if err := unlink("1001"); !errors.Is(err, pintle.CodeStore) || !errors.Is(err, errBroken) {
		t.Errorf("Unlink is %v", err)
	}
	k.wantCalls(t, "getUser", "userAccounts", "unlinkAccount")
	k.fail()
	if err := unlink("1001"); err != nil {
		t.Fatal(err)
	}
	k.wantCalls(t, "getUser", "userAccounts", "unlinkAccount")
	if err := unlink("1003"); !errors.Is(err, pintle.CodeLastSignIn) || errors.Is(err, pintle.CodeStore) {
		t.Errorf("Unlink of the last is %v", err)
	}
	k.wantCalls(t, "getUser", "userAccounts")

	for _, operation := range []string{"getUser", "userAccounts"} {
		k.fail(operation)
		if err := unlink("1003"); !errors.Is(err, pintle.CodeStore) {
			t.Errorf("when %s fails Unlink is %v", operation, err)
		}
	}
}

// A rendezvous lets the first list of accounts be returned when both requests
// have one.
type rendezvous struct {
	*recordingStore
	first sync.WaitGroup
	lists atomic.Int32
}

func (r *rendezvous) UserAccounts(ctx context.Context, userID string) ([]*pintle.Account, error) {
	accounts, err := r.recordingStore.UserAccounts(ctx, userID)
	if r.lists.Add(1) <= 2 {
		r.first.Done()
		r.first.Wait()
	}
	return accounts, err
}

func TestTwoRequestsDoNotUnlinkTheLastTwoAccounts(t *testing.T) {
	for _, strategy := range []pintle.SessionStrategy{pintle.StrategyDatabase, pintle.StrategyJWT} {
		k := newRecordingStore()
		store := &rendezvous{recordingStore: k.recordingStore}
		store.first.Add(2)
		s := newSite(t, with(store, k.callLog, strategy))
		ada := k.seedUser(t, people["ada"].user)
		ids := []string{"1001", "1003"}
		errs := make([]error, len(ids))
		for _, id := range ids {
			k.seedAccount(t, ada, "acme", id)
		}
		var both sync.WaitGroup
		for i, id := range ids {
			both.Go(func() { errs[i] = s.auth.Unlink(t.Context(), signedInAs(ada), "acme", id) })
		}
		both.Wait()
		left, err := k.Store.UserAccounts(t.Context(), ada.ID)
		if err != nil || len(left) != 1 {
			t.Errorf("%d accounts are left (%v), want 1; the requests returned %v", len(left), err, errs)
		}
		if joined := errors.Join(errs...); !errors.Is(joined, pintle.CodeLastSignIn) || (errs[0] == nil) == (errs[1] == nil) {
			t.Errorf("the requests returned %v, want CodeLastSignIn for one of them", errs)
		}
	}
}

func TestAStoreWithoutTransactionsUnlinksToo(t *testing.T) {
	k := newRecordingStore()
	s := newSite(t, with(k.recordingStore, k.callLog, pintle.StrategyDatabase))
	ada := k.seedUser(t, people["ada"].user)
	k.seedAccount(t, ada, "acme", "1001")
	if err := s.auth.Unlink(t.Context(), signedInAs(ada), "acme", "1001"); !errors.Is(err, pintle.CodeLastSignIn) {
		t.Errorf("Unlink of the last is %v", err)
	}
	k.seedAccount(t, ada, "acme", "1003")
	if err := s.auth.Unlink(t.Context(), signedInAs(ada), "acme", "1001"); err != nil {
		t.Error(err)
	}
	if k.owner(t, "acme", "1001") != nil || k.owner(t, "acme", "1003") == nil {
		t.Error("not the one account was removed that was meant")
	}
}

// A passkey whose account is gone would be asked for and refused for ever.
func TestAPasskeyGoesWithItsAccount(t *testing.T) {
	store := memstore.New()
	s := newSite(t, withPasskeys, func(s *site) { s.Store = store })
	ctx := t.Context()
	ada, err := store.CreateUser(ctx, &pintle.User{Name: "Ada Lovelace"})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range []*pintle.Account{
		{UserID: ada.ID, Type: pintle.TypeWebAuthn, Provider: "passkey", ProviderAccountID: "AAAA"},
		{UserID: ada.ID, Type: pintle.TypeOIDC, Provider: "acme", ProviderAccountID: "1001"},
	} {
		if err := store.LinkAccount(ctx, a); err != nil {
			t.Fatal(err)
		}
	}
	if err := store.CreatePasskey(ctx, &pintle.Passkey{CredentialID: "AAAA", UserID: ada.ID, ProviderAccountID: "AAAA"}); err != nil {
		t.Fatal(err)
	}
	unlink := func(provider, id string) error { return s.auth.Unlink(ctx, signedInAs(ada), provider, id) }
	if err := unlink("passkey", "AAAA"); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Passkey(ctx, "AAAA"); !errors.Is(err, pintle.ErrNotFound) {
		t.Errorf("the passkey is still there (%v)", err)
	}
	if err := unlink("acme", "1001"); !errors.Is(err, pintle.CodeLastSignIn) {
		t.Errorf("Unlink of the last is %v", err)
	}

	// The account of a removed passkey is no way to sign in, and can be removed.
	left := &pintle.Account{UserID: ada.ID, Type: pintle.TypeWebAuthn, Provider: "passkey", ProviderAccountID: "BBBB"}
	if err := store.LinkAccount(ctx, left); err != nil {
		t.Fatal(err)
	}
	if err := unlink("acme", "1001"); !errors.Is(err, pintle.CodeLastSignIn) {
		t.Errorf("Unlink of the last but one whose passkey is gone is %v", err)
	}
	if err := unlink("passkey", "BBBB"); err != nil {
		t.Errorf("Unlink of one whose passkey is gone is %v", err)
	}
	if accounts, err := s.auth.Accounts(ctx, signedInAs(ada)); err != nil || len(accounts) != 1 {
		t.Errorf("the accounts are %v, %v", accounts, err)
	}
	if err := store.LinkAccount(ctx, left); err != nil {
		t.Fatal(err)
	}
	if err := store.CreatePasskey(ctx, &pintle.Passkey{CredentialID: "BBBB", UserID: ada.ID, ProviderAccountID: "BBBB"}); err != nil {
		t.Fatal(err)
	}
	if err := unlink("acme", "1001"); err != nil {
		t.Errorf("Unlink by a user who has a passkey is %v", err)
	}
}

// A page has no use for what the application may do at the provider.
func TestLinkedAccountsAreListedWithoutTheirTokens(t *testing.T) {
	k := newRecordingStore()
	s := newSite(t, withRecordingStore(k, pintle.StrategyDatabase))
	session := s.arrive("laptop").held()
	k.seedAccount(t, k.seedUser(t, people["grace"].user), "acme", "1002")
	accounts, err := s.auth.Accounts(t.Context(), session)
	if err != nil || len(accounts) != 1 {
		t.Fatalf("the accounts are %v, %v", accounts, err)
	}
	a := accounts[0]
	if a.Provider != "acme" || a.ProviderAccountID != "1001" || a.UserID != session.User.ID || a.Type != pintle.TypeOIDC || a.Scope == "" {
		t.Errorf("the account is %+v", *a)
	}
	if a.AccessToken+a.RefreshToken+a.IDToken+a.OAuthToken+a.OAuthTokenSecret != "" || a.SessionState != nil || a.Extra != nil {
		t.Error("the account has tokens")
	}
	if full, err := s.auth.Account(t.Context(), "acme", "1001"); err != nil || full.AccessToken == "" {
		t.Errorf("the store was to have tokens, but has %v, %v", full, err)
	}
	k.fail("userAccounts")
	if _, err := s.auth.Accounts(t.Context(), session); !errors.Is(err, pintle.CodeStore) {
		t.Errorf("Accounts is %v", err)
	}
}
