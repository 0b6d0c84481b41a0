package adapters_test

import (
	"errors"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
)

// writtenByAuthJS makes the adapter write the rows of a person. Pintle reads, uses
// and changes them, and the adapter reads the changes.
func (s *shared) writtenByAuthJS(t *testing.T, n int, p person) {
	p = p.by("authjs", s)
	owner := ownerKey(t, s.authjs.call(t, "createUser", userObject(p.user)))
	id := ownerID(owner)
	p.user.ID, p.account.UserID, p.session.UserID, p.passkey.UserID = id, id, id, id
	s.authjs.call(t, "linkAccount", accountObject(p.account, owner))
	s.authjs.call(t, "createSession", sessionObject(p.session, owner))
	s.authjs.call(t, "createVerificationToken", linkObject(p.link))
	if s.passkeys {
		s.authjs.call(t, "createAuthenticator", passkeyObject(p.passkey, owner))
	}

	s.pintleFinds(t, p)
	s.pintleUsesTheLink(t, p)
	s.bothAnswerForTheSession(t, p)
	s.pintleChanges(t, &p, n)
	s.authJSFinds(t, p, owner)
	s.pintleDeletes(t, p, owner)
}

func (s *shared) pintleFinds(t *testing.T, p person) {
	t.Helper()
	ctx, want := t.Context(), describedUser(&p.user)
	found := func(what string, u *pintle.User, err error) {
		t.Helper()
		if err != nil {
			t.Errorf("%s: %v", what, err)
			return
		}
		same(t, what, describedUser(u), want, userFields)
	}
	u, err := s.pintle.User(ctx, p.user.ID)
	found("User", u, err)
	if p.user.Email != "" {
		u, err = s.pintle.UserByEmail(ctx, p.user.Email)
		found("UserByEmail", u, err)
	}
	u, err = s.pintle.UserByAccount(ctx, p.account.Provider, p.account.ProviderAccountID)
	found("UserByAccount", u, err)

	session, u, err := s.pintle.SessionAndUser(ctx, p.session.Token)
	found("SessionAndUser", u, err)
	if err == nil {
		same(t, "SessionAndUser", describedSession(session), describedSession(&p.session), sessionFields)
	}
	listed := 0
	for one, err := range s.pintle.UserSessions(ctx, p.user.ID) {
		listed++
		if err != nil {
			t.Errorf("UserSessions: %v", err)
			continue
		}
		same(t, "UserSessions", describedSession(one).only("userId", "expires"), describedSession(&p.session).only("userId", "expires"), sessionFields)
	}
	if listed != 1 {
		t.Errorf("UserSessions yielded %d sessions, want the one", listed)
	}

	a, err := s.pintle.Account(ctx, p.account.Provider, p.account.ProviderAccountID)
	if err != nil {
		t.Errorf("Account: %v", err)
	} else {
		same(t, "Account", describedAccount(a), describedAccount(&p.account), accountFields)
	}
	accounts, err := s.pintle.UserAccounts(ctx, p.user.ID)
	if err != nil || len(accounts) != 1 {
		t.Errorf("UserAccounts = %v, %v, want the one", accounts, err)
	} else {
		same(t, "UserAccounts", describedAccount(accounts[0]), describedAccount(&p.account), accountFields)
	}
	if !s.passkeys {
		return
	}
	passkey, err := s.pintle.Passkey(ctx, p.passkey.CredentialID)
	if err != nil {
		t.Errorf("Authenticator: %v", err)
	} else {
		same(t, "Passkey", describedPasskey(passkey), describedPasskey(&p.passkey), passkeyFields)
	}
	passkeys, err := s.pintle.UserPasskeys(ctx, p.user.ID)
	if err != nil || len(passkeys) != 1 {
		t.Errorf("UserPasskeys = %v, %v, want the one", passkeys, err)
	} else {
		same(t, "UserPasskeys", describedPasskey(passkeys[0]), describedPasskey(&p.passkey), passkeyFields)
	}
}

// pintleUsesTheLink makes Pintle consume a mail link. Both the address and the
// token must match (SH-08, SH-09).
func (s *shared) pintleUsesTheLink(t *testing.T, p person) {
	t.Helper()
	if _, err := s.pintle.UseVerification(t.Context(), "another@example.org", p.link.Token); !errors.Is(err, pintle.ErrNotFound) {
		t.Errorf("UseVerification with another address: %v, want ErrNotFound", err)
	}
	if _, err := s.pintle.UseVerification(t.Context(), p.link.Identifier, "another token"); !errors.Is(err, pintle.ErrNotFound) {
		t.Errorf("UseVerification with another token: %v, want ErrNotFound", err)
	}
	v, err := s.pintle.UseVerification(t.Context(), p.link.Identifier, p.link.Token)
	if err != nil {
		t.Fatalf("UseVerification: %v", err)
	}
	same(t, "UseVerification", describedLink(v), describedLink(&p.link), linkFields)
	s.linkIsUsed(t, p.link)
}

func (s *shared) linkIsUsed(t *testing.T, v pintle.Verification) {
	t.Helper()
	if _, err := s.pintle.UseVerification(t.Context(), v.Identifier, v.Token); !errors.Is(err, pintle.ErrNotFound) {
		t.Errorf("UseVerification of a used link: %v, want ErrNotFound", err)
	}
	again := s.authjs.call(t, "useVerificationToken", map[string]any{"identifier": v.Identifier, "token": v.Token})
	if !nothing(again) {
		t.Errorf("useVerificationToken of a used link: %v, want null", again)
	}
}

// pintleChanges has Pintle change everything, in p too.
func (s *shared) pintleChanges(t *testing.T, p *person, n int) {
	t.Helper()
	ctx := t.Context()
	p.user.Name, p.user.Image = "Zoë the "+string(rune('1'+n))+"st 🦊", ""
	p.user.EmailVerified = time.Now().Truncate(time.Millisecond)
	u, err := s.pintle.UpdateUser(ctx, p.user.ID, pintle.UserUpdate{Name: &p.user.Name, Image: &p.user.Image, EmailVerified: &p.user.EmailVerified})
	if err != nil {
		t.Fatalf("UpdateUser: %v", err)
	}
	same(t, "UpdateUser", describedUser(u), describedUser(&p.user), userFields)

	p.session.Expires = time.Now().Add(90 * day).Truncate(time.Second)
	if err := s.pintle.UpdateSession(ctx, p.session.Token, pintle.SessionUpdate{Expires: p.session.Expires}); err != nil {
		t.Errorf("UpdateSession: %v", err)
	}

	p.account.AccessToken, p.account.RefreshToken, p.account.ExpiresAt = "refreshed 🦊", "", 1803904245
	if err := s.pintle.UpdateAccount(ctx, &p.account); err != nil {
		t.Errorf("UpdateAccount: %v", err)
	}

	if s.passkeys {
		old := p.passkey.Counter
		p.passkey.Counter, p.passkey.BackedUp = old/2+1, !p.passkey.BackedUp
		if err := s.pintle.UsePasskey(ctx, &p.passkey, old); err != nil {
			t.Errorf("UsePasskey: %v", err)
		}
	}
}

// pintleDeletes makes Pintle remove all rows, and checks that the adapter finds
// none.
func (s *shared) pintleDeletes(t *testing.T, p person, owner any) {
	t.Helper()
	ctx := t.Context()
	gone := func(call string, args ...any) {
		t.Helper()
		if found := s.authjs.call(t, call, args...); !nothing(found) {
			t.Errorf("%s of a removed row: %v", call, found)
		}
	}
	if _, err := s.pintle.DeleteSession(ctx, p.session.Token); err != nil {
		t.Errorf("DeleteSession: %v", err)
	}
	gone("getSessionAndUser", p.session.Token)
	if s.passkeys {
		if err := s.pintle.DeletePasskey(ctx, p.user.ID, p.passkey.CredentialID); err != nil {
			t.Errorf("DeletePasskey: %v", err)
		}
		gone("getAuthenticator", p.passkey.CredentialID)
		if left := s.authjs.call(t, "listAuthenticatorsByUserId", owner); len(left.([]any)) != 0 {
			t.Errorf("listAuthenticatorsByUserId of a removed user: %v", left)
		}
	}
	if err := s.pintle.UnlinkAccount(ctx, p.user.ID, p.account.Provider, p.account.ProviderAccountID, nil); err != nil {
		t.Errorf("UnlinkAccount: %v", err)
	}
	gone("getUserByAccount", map[string]any{"provider": p.account.Provider, "providerAccountId": p.account.ProviderAccountID})

	// Deleting the user removes the remaining rows.
	s.authjs.call(t, "linkAccount", accountObject(p.account, owner))
	s.authjs.call(t, "createSession", sessionObject(p.session, owner))
	if s.passkeys {
		s.authjs.call(t, "createAuthenticator", passkeyObject(p.passkey, owner))
	}
	if err := s.pintle.DeleteUser(ctx, p.user.ID); err != nil {
		t.Errorf("DeleteUser: %v", err)
	}
	gone("getUser", owner)
	gone("getSessionAndUser", p.session.Token)
	gone("getUserByAccount", map[string]any{"provider": p.account.Provider, "providerAccountId": p.account.ProviderAccountID})
	if p.user.Email != "" {
		gone("getUserByEmail", p.user.Email)
	}
	if s.passkeys {
		gone("getAuthenticator", p.passkey.CredentialID)
	}
}
