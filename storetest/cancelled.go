package storetest

import (
	"context"
	"errors"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/uuid"
)

var cancelledChecks = []check{
	{"a look-up whose context has ended is no answer", func(t *tester) {
		b := t.everything()
		ctx := ended(t.ctx)
		_, err := t.store.User(ctx, b.user.ID)
		t.noAnswer("User", err)
		_, err = t.store.User(ctx, uuid.New())
		t.noAnswer("User of an unknown id", err)
		_, err = t.store.UserByEmail(ctx, unique())
		t.noAnswer("UserByEmail", err)
		_, err = t.store.UserByAccount(ctx, "github", unique())
		t.noAnswer("UserByAccount", err)
		if s := t.store; t.can.Sessions {
			_, _, err = s.SessionAndUser(ctx, b.session.Token)
			t.noAnswer("SessionAndUser", err)
			_, _, err = s.SessionAndUser(ctx, uuid.New())
			t.noAnswer("SessionAndUser of an unknown token", err)
		}
		if s := t.store; t.can.Accounts {
			_, err = s.Account(ctx, "github", unique())
			t.noAnswer("Account", err)
			_, err = s.UserAccounts(ctx, b.user.ID)
			t.noAnswer("UserAccounts", err)
		}
		if t.can.Passkeys {
			_, err = t.passkeys().Passkey(ctx, unique())
			t.noAnswer("Passkey", err)
			_, err = t.passkeys().UserPasskeys(ctx, b.user.ID)
			t.noAnswer("UserPasskeys", err)
		}
		if s := t.store; t.can.SessionList {
			asked := false
			for session, err := range s.UserSessions(ctx, b.user.ID) {
				asked = true
				t.noAnswer("UserSessions", err)
				if session != nil {
					t.Error("UserSessions yielded a session with its error")
				}
			}
			if !asked {
				t.Error("UserSessions yielded no error")
			}
		}
	}},
	{"a change whose context has ended does not happen", func(t *tester) {
		b := t.everything()
		ctx := ended(t.ctx)
		u := newUser()
		_, err := t.store.CreateUser(ctx, u)
		t.noAnswer("CreateUser", err)
		_, err = t.store.UserByEmail(t.ctx, u.Email)
		t.notFound("UserByEmail", err)
		name := "Changed"
		_, err = t.store.UpdateUser(ctx, b.user.ID, pintle.UserUpdate{Name: &name})
		t.noAnswer("UpdateUser", err)
		a := newAccount(b.user.ID)
		t.noAnswer("LinkAccount", t.store.LinkAccount(ctx, a))
		t.noOwner(a.Provider, a.ProviderAccountID)
		if s := t.store; t.can.Sessions {
			session := newSession(b.user.ID)
			t.noAnswer("CreateSession", s.CreateSession(ctx, session))
			t.ended(session.Token)
			t.noAnswer("UpdateSession", s.UpdateSession(ctx, b.session.Token, pintle.SessionUpdate{Expires: now()}))
			_, err := s.DeleteSession(ctx, b.session.Token)
			t.noAnswer("DeleteSession", err)
		}
		if s := t.store; t.can.Verifications {
			v := newVerification()
			t.noAnswer("CreateVerification", s.CreateVerification(ctx, v))
			t.unusable(v.Identifier, v.Token)
			t.createVerification(v)
			_, err := s.UseVerification(ctx, v.Identifier, v.Token)
			t.noAnswer("UseVerification", err)
			t.uses(v)
		}
		if t.can.Passkeys {
			s := t.passkeys()
			p := newPasskey(b.user.ID)
			t.noAnswer("CreatePasskey", s.CreatePasskey(ctx, p))
			_, err := s.Passkey(t.ctx, p.CredentialID)
			t.notFound("Passkey", err)
			t.noAnswer("UsePasskey", s.UsePasskey(ctx, counted(b.passkey, 99), b.passkey.Counter))
			if t.can.PasskeyNames {
				t.noAnswer("RenamePasskey", t.namedPasskeys().RenamePasskey(ctx, b.user.ID, b.passkey.CredentialID, "Changed"))
			}
			if s := t.store; t.can.Passkeys {
				t.noAnswer("DeletePasskey", s.DeletePasskey(ctx, b.user.ID, b.passkey.CredentialID))
			}
		}
		if s := t.store; t.can.Accounts {
			t.noAnswer("UpdateAccount", s.UpdateAccount(ctx, b.account))
			t.noAnswer("UnlinkAccount", s.UnlinkAccount(ctx, b.user.ID, b.account.Provider, b.account.ProviderAccountID, nil))
		}
		if s := t.store; t.can.AccountSwap {
			t.noAnswer("SwapAccount", s.SwapAccount(ctx, b.account, b.account.RefreshToken))
		}
		if s := t.store; t.can.SessionList {
			t.noAnswer("EndSession", s.EndSession(ctx, b.user.ID, t.listed(b.user.ID)[0].Handle))
			_, err := s.EndUserSessions(ctx, b.user.ID, "")
			t.noAnswer("EndUserSessions", err)
		}
		if s := t.store; t.can.DeleteUser {
			t.noAnswer("DeleteUser", s.DeleteUser(ctx, b.user.ID))
		}
		if s := t.store; t.can.Sweep {
			_, err := s.Sweep(ctx, now(), 10)
			t.noAnswer("Sweep", err)
		}
		t.there(b)
	}},
}

// ended returns a context that is over.
func ended(parent context.Context) context.Context {
	ctx, cancel := context.WithCancel(parent)
	cancel()
	return ctx
}

// noAnswer checks that a call failed without claiming to know anything.
func (t *tester) noAnswer(what string, err error) {
	t.Helper()
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%s: got error %v, want context.Canceled", what, err)
	}
	if errors.Is(err, pintle.ErrNotFound) || errors.Is(err, pintle.ErrConflict) {
		t.Errorf("%s: %v claims to be an answer", what, err)
	}
}
