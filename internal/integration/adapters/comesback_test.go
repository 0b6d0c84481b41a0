package adapters_test

import (
	"errors"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
)

// comesBack makes each side delete a user with two accounts, who then signs in at
// the other as a new user.
func (s *shared) comesBack(t *testing.T) {
	if s.oneAccountEach {
		t.Skip("with these tables a user has at most one account, and no adapter deletes a user with an account")
	}
	user := pintle.User{Name: "Ada", Email: "comesback@example.org"}
	accounts := []pintle.Account{
		{Type: pintle.TypeOAuth, Provider: "github", ProviderAccountID: "comes back"},
		{Type: pintle.TypeOIDC, Provider: "google", ProviderAccountID: "comes back"},
	}

	user.ID = proposedID()
	owner := ownerKey(t, s.authjs.call(t, "createUser", userObject(user)))
	for _, a := range accounts {
		s.authjs.call(t, "linkAccount", accountObject(a, owner))
	}
	// The adapter for unstorage only deletes users with a session.
	s.authjs.call(t, "createSession", sessionObject(pintle.StoredSession{Token: "comes back", Expires: time.Now().Add(time.Hour)}, owner))
	s.authjs.call(t, "deleteUser", owner)
	for _, a := range accounts {
		if u, err := s.pintle.UserByAccount(t.Context(), a.Provider, a.ProviderAccountID); !errors.Is(err, pintle.ErrNotFound) {
			t.Errorf("UserByAccount of a deleted user = %v, %v, want ErrNotFound", u, err)
		}
	}
	created, err := s.pintle.CreateUser(t.Context(), &user)
	if err != nil {
		t.Fatalf("CreateUser with the address of a deleted user: %v", err)
	}
	for _, a := range accounts {
		a.UserID = created.ID
		if err := s.pintle.LinkAccount(t.Context(), &a); err != nil {
			t.Errorf("LinkAccount of a deleted user's account: %v", err)
		}
		s.bothFindOwner(t, a, created.ID)
	}

	if err := s.pintle.DeleteUser(t.Context(), created.ID); err != nil {
		t.Fatal(err)
	}
	user.ID = proposedID()
	owner = ownerKey(t, s.authjs.call(t, "createUser", userObject(user)))
	for _, a := range accounts {
		key := map[string]any{"provider": a.Provider, "providerAccountId": a.ProviderAccountID}
		if found := s.authjs.call(t, "getUserByAccount", key); !nothing(found) {
			t.Errorf("getUserByAccount of a deleted user: %v, want null", found)
		}
		s.authjs.call(t, "linkAccount", accountObject(a, owner))
		s.bothFindOwner(t, a, ownerID(owner))
	}
}

func (s *shared) bothFindOwner(t *testing.T, a pintle.Account, id string) {
	t.Helper()
	u, err := s.pintle.UserByAccount(t.Context(), a.Provider, a.ProviderAccountID)
	if err != nil || u.ID != id {
		t.Errorf("UserByAccount = %v, %v, want the user %s", u, err, id)
	}
	key := map[string]any{"provider": a.Provider, "providerAccountId": a.ProviderAccountID}
	if got := object(t, s.authjs.call(t, "getUserByAccount", key)); got["id"] != id {
		t.Errorf("getUserByAccount has found %v, want the user %s", got, id)
	}
}
