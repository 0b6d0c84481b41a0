package adapters_test

import (
	"errors"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
)

// writtenByPintle makes Pintle write the rows of a person. The adapter reads, uses
// and changes them, and Pintle reads the changes.
func (s *shared) writtenByPintle(t *testing.T, n int, p person) {
	p = p.by("pintle", s)
	ctx := t.Context()
	created, err := s.pintle.CreateUser(ctx, &p.user)
	if err != nil {
		t.Fatal(err)
	}
	id := created.ID
	p.user.ID, p.account.UserID, p.session.UserID, p.passkey.UserID = id, id, id, id
	err = errors.Join(s.pintle.LinkAccount(ctx, &p.account), s.pintle.CreateSession(ctx, &p.session), s.pintle.CreateVerification(ctx, &p.link))
	if s.passkeys {
		err = errors.Join(err, s.pintle.CreatePasskey(ctx, &p.passkey))
	}
	if err != nil {
		t.Fatal(err)
	}

	s.authJSFinds(t, p, id)
	s.authJSUsesTheLink(t, p)
	s.bothAnswerForTheSession(t, p)
	owner := s.authJSChanges(t, &p, n)
	s.pintleFinds(t, p)
	s.authJSDeletes(t, p, owner)
}

// authJSFinds compares the rows that the adapter reads. Its id of the user is
// owner, or its form in a token.
func (s *shared) authJSFinds(t *testing.T, p person, owner any) {
	t.Helper()
	want := describedUser(&p.user)
	user := func(what string, found any) {
		t.Helper()
		if nothing(found) {
			t.Errorf("%s found no user", what)
			return
		}
		same(t, what, object(t, found), want, userFields)
	}
	user("getUser", s.authjs.call(t, "getUser", owner))
	if p.user.Email != "" {
		user("getUserByEmail", s.authjs.call(t, "getUserByEmail", p.user.Email))
	}
	key := map[string]any{"provider": p.account.Provider, "providerAccountId": p.account.ProviderAccountID}
	user("getUserByAccount", s.authjs.call(t, "getUserByAccount", key))

	account := s.authjs.call(t, "account", p.account.Provider, p.account.ProviderAccountID)
	same(t, "the account", object(t, account), describedAccount(&p.account), accountFields)
	if s.authjs.has("getAccount") {
		account = s.authjs.call(t, "getAccount", p.account.ProviderAccountID, p.account.Provider)
		same(t, "getAccount", object(t, account), describedAccount(&p.account), accountFields)
	}

	both, ok := s.authjs.call(t, "getSessionAndUser", p.session.Token).(map[string]any)
	if !ok {
		t.Fatal("getSessionAndUser found nothing")
	}
	user("getSessionAndUser", both["user"])
	same(t, "getSessionAndUser", object(t, both["session"]), describedSession(&p.session), sessionFields)
	if !s.passkeys {
		return
	}
	wanted := describedPasskey(&p.passkey)
	same(t, "getAuthenticator", object(t, s.authjs.call(t, "getAuthenticator", p.passkey.CredentialID)), wanted, passkeyFields)
	listed := s.authjs.call(t, "listAuthenticatorsByUserId", owner).([]any)
	if len(listed) != 1 {
		t.Errorf("listAuthenticatorsByUserId: %v, want the one", listed)
	} else {
		same(t, "listAuthenticatorsByUserId", object(t, listed[0]), wanted, passkeyFields)
	}
}

func (s *shared) authJSUsesTheLink(t *testing.T, p person) {
	t.Helper()
	other := s.authjs.call(t, "useVerificationToken", map[string]any{"identifier": "another@example.org", "token": p.link.Token})
	if !nothing(other) {
		t.Errorf("useVerificationToken with another address: %v, want null", other)
	}
	used := s.authjs.call(t, "useVerificationToken", map[string]any{"identifier": p.link.Identifier, "token": p.link.Token})
	same(t, "useVerificationToken", object(t, used), describedLink(&p.link), linkFields)
	s.linkIsUsed(t, p.link)
}

// authJSChanges makes the adapter change all that it can, also in p, and returns
// its id of the user.
func (s *shared) authJSChanges(t *testing.T, p *person, n int) (owner any) {
	t.Helper()
	owner = s.authjs.call(t, "getUser", p.user.ID).(map[string]any)["id"]
	p.user.Name = "木村 the " + string(rune('1'+n)) + "st \"🦊\""
	p.user.EmailVerified = time.Now().Truncate(time.Millisecond)
	changed := s.authjs.call(t, "updateUser", map[string]any{"id": owner, "name": p.user.Name, "emailVerified": date(p.user.EmailVerified)})
	same(t, "updateUser", object(t, changed).only("id", "name", "emailVerified"), describedUser(&p.user).only("id", "name", "emailVerified"), userFields)

	p.session.Expires = time.Now().Add(100 * day).Truncate(time.Second)
	s.authjs.call(t, "updateSession", map[string]any{"sessionToken": p.session.Token, "expires": date(p.session.Expires)})

	if s.passkeys {
		p.passkey.Counter = p.passkey.Counter/2 + 1
		s.authjs.call(t, "updateAuthenticatorCounter", p.passkey.CredentialID, p.passkey.Counter)
	}
	return owner
}

// authJSDeletes makes the adapter remove all rows, and checks that Pintle finds
// none.
func (s *shared) authJSDeletes(t *testing.T, p person, owner any) {
	t.Helper()
	ctx := t.Context()
	gone := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, pintle.ErrNotFound) {
			t.Errorf("%s of a removed row: %v, want ErrNotFound", what, err)
		}
	}
	session := func() error { _, _, err := s.pintle.SessionAndUser(ctx, p.session.Token); return err }
	account := func() error {
		_, err := s.pintle.UserByAccount(ctx, p.account.Provider, p.account.ProviderAccountID)
		return err
	}
	s.authjs.call(t, "deleteSession", p.session.Token)
	gone("SessionAndUser", session())
	if err := s.pintle.UpdateSession(ctx, p.session.Token, pintle.SessionUpdate{Expires: time.Now().Add(time.Hour)}); !errors.Is(err, pintle.ErrNotFound) {
		t.Errorf("UpdateSession of a removed session: %v, want ErrNotFound", err)
	}
	s.authjs.call(t, "unlinkAccount", map[string]any{"provider": p.account.Provider, "providerAccountId": p.account.ProviderAccountID})
	gone("UserByAccount", account())

	// Deleting the user removes the rows that Pintle left, if the tables allow it.
	if !s.oneAccountEach {
		if err := errors.Join(s.pintle.LinkAccount(ctx, &p.account), s.pintle.CreateSession(ctx, &p.session)); err != nil {
			t.Fatal(err)
		}
	}
	s.authjs.call(t, "deleteUser", owner)
	_, err := s.pintle.User(ctx, p.user.ID)
	gone("User", err)
	gone("SessionAndUser", session())
	gone("UserByAccount", account())
	if p.user.Email != "" {
		_, err = s.pintle.UserByEmail(ctx, p.user.Email)
		gone("UserByEmail", err)
	}
}
