package storetest

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/uuid"
)

// unique returns an unused text without capital letters, so that it is also
// unique in tables that ignore case.
func unique() string { return strings.ToLower(rand.Text()) }

// now is a time that every table can hold.
func now() time.Time { return time.Now().UTC().Truncate(time.Second) }

func newUser() *pintle.User {
	return &pintle.User{
		ID:            uuid.New(),
		Name:          "Ada Lovelace",
		Email:         unique() + "@example.org",
		EmailVerified: now(),
		Image:         "https://example.org/ada.png",
	}
}

// newAccount has a value in every field that OAuth 2 gives one.
func newAccount(userID string) *pintle.Account {
	return &pintle.Account{
		UserID:            userID,
		Type:              pintle.TypeOAuth,
		Provider:          "github",
		ProviderAccountID: unique(),
		AccessToken:       "access " + unique(),
		RefreshToken:      "refresh " + unique(),
		IDToken:           "id " + unique(),
		ExpiresAt:         2592000,
		TokenType:         "bearer",
		Scope:             "user",
		SessionState:      "state " + unique(),
	}
}

func newSession(userID string) *pintle.StoredSession {
	return &pintle.StoredSession{
		Token:   uuid.New(),
		UserID:  userID,
		Created: now(),
		Expires: now().Add(7 * 24 * time.Hour),
	}
}

func newVerification() *pintle.Verification {
	return &pintle.Verification{
		Identifier: unique() + "@example.org",
		Token:      unique() + unique(),
		Expires:    now().Add(15 * time.Minute),
	}
}

func newPasskey(userID string) *pintle.Passkey {
	id := unique() + "=="
	return &pintle.Passkey{
		CredentialID:      id,
		UserID:            userID,
		ProviderAccountID: id,
		PublicKey:         "pQECAyYgASFYIBvg+/==",
		Counter:           7,
		DeviceType:        "multiDevice",
		BackedUp:          true,
		Transports:        []string{"usb", "ble", "nfc"},
		Name:              "Zoë's 🔑",
		Created:           now(),
	}
}

// counted is a passkey that has signed and reports a counter.
func counted(a *pintle.Passkey, counter uint32) *pintle.Passkey {
	used := *a
	used.Counter, used.LastUsed = counter, now()
	return &used
}

// createUser stores u and returns it as stored.
func (t *tester) createUser(u *pintle.User) *pintle.User {
	t.Helper()
	created, err := t.store.CreateUser(t.ctx, u)
	t.ok("CreateUser", err)
	if created == nil || created.ID == "" {
		t.Fatalf("CreateUser returned %v: want the user with an id", created)
	}
	return created
}

// someone stores a user.
func (t *tester) someone() *pintle.User {
	t.Helper()
	return t.createUser(newUser())
}

// freeID returns an id that a user can have, in the form that the store gives ids.
func (t *tester) freeID() string {
	t.Helper()
	ids := t.noUsers()
	return ids[len(ids)-1]
}

// noUsers returns ids of users who never existed and, where users can be
// deleted, of one who no longer does.
func (t *tester) noUsers() []string {
	t.Helper()
	ids := []string{uuid.New()}
	if s := t.store; t.can.DeleteUser {
		u := t.someone()
		t.ok("DeleteUser", s.DeleteUser(t.ctx, u.ID))
		ids = append(ids, u.ID)
	}
	return ids
}

func (t *tester) link(a *pintle.Account) *pintle.Account {
	t.Helper()
	t.ok("LinkAccount", t.store.LinkAccount(t.ctx, a))
	return a
}

func (t *tester) createSession(s *pintle.StoredSession) *pintle.StoredSession {
	t.Helper()
	t.ok("CreateSession", t.sessions().CreateSession(t.ctx, s))
	return s
}

func (t *tester) createPasskey(a *pintle.Passkey) *pintle.Passkey {
	t.Helper()
	t.ok("CreatePasskey", t.passkeys().CreatePasskey(t.ctx, a))
	return a
}

func (t *tester) createVerification(v *pintle.Verification) *pintle.Verification {
	t.Helper()
	t.ok("CreateVerification", t.verifications().CreateVerification(t.ctx, v))
	return v
}

// The functions below describe a value by the fields a store has to keep.

// instant is t to the millisecond: stores may keep more.
func instant(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.UTC().Truncate(time.Millisecond).Format(time.RFC3339Nano)
}

func described(u *pintle.User) string {
	if u == nil {
		return "no user"
	}
	return fmt.Sprintf("user %q: name %q, email %q verified %s, image %q", u.ID, u.Name, u.Email, instant(u.EmailVerified), u.Image)
}

func describedAccount(a *pintle.Account) string {
	if a == nil {
		return "no account"
	}
	return fmt.Sprintf("account of %q: %s %q %q, access %q, refresh %q, id %q, expires %d, type %q, scope %q, state %v",
		a.UserID, a.Type, a.Provider, a.ProviderAccountID, a.AccessToken, a.RefreshToken, a.IDToken,
		a.ExpiresAt, a.TokenType, a.Scope, a.SessionState)
}

func describedSession(s *pintle.StoredSession) string {
	if s == nil {
		return "no session"
	}
	return fmt.Sprintf("session %q of %q until %s", s.Token, s.UserID, instant(s.Expires))
}

func describedVerification(v *pintle.Verification) string {
	if v == nil {
		return "no link"
	}
	return fmt.Sprintf("link %q for %q until %s", v.Token, v.Identifier, instant(v.Expires))
}

// describedPasskey leaves out fields that Auth.js does not have: not every store
// keeps them.
func (t *tester) describedPasskey(a *pintle.Passkey) string {
	if a == nil {
		return "no passkey"
	}
	text := fmt.Sprintf("passkey %q of %q: account %q, key %q, counter %d, %s backed up %t, transports %q",
		a.CredentialID, a.UserID, a.ProviderAccountID, a.PublicKey, a.Counter, a.DeviceType, a.BackedUp, strings.Join(a.Transports, ","))
	if !t.can.PasskeyNames {
		return text
	}
	return text + fmt.Sprintf(", name %q, created %s, last used %s", a.Name, instant(a.Created), instant(a.LastUsed))
}

// jsonText makes values of encoding/json comparable, whatever types they were
// read back as.
func jsonText(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return "not JSON: " + err.Error()
	}
	return string(text)
}
