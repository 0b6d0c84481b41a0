package account_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/authtest"
)

// AC-179: each act is recorded under its own kind.
func TestEachActIsRecordedUnderItsKind(t *testing.T) {
	const current = "current"
	for kind, act := range map[string]func(s *site, idp *authtest.IdentityProvider, u *pintle.User, b *browser){
		"address_change_begun": func(_ *site, _ *authtest.IdentityProvider, _ *pintle.User, b *browser) { b.beginsAddress(newAddress) },
		"address_change_done":  func(_ *site, _ *authtest.IdentityProvider, _ *pintle.User, b *browser) { b.movesAddress(newAddress) },
		"address_change_cancelled": func(_ *site, _ *authtest.IdentityProvider, _ *pintle.User, b *browser) {
			b.beginsAddress(newAddress).post("/auth/account/address-cancel")
		},
		"address_change_undone": func(s *site, _ *authtest.IdentityProvider, _ *pintle.User, b *browser) {
			b.movesAddress(newAddress)
			s.undoes(s.mailOf("address-changed-undo"))
		},
		"address_proved": func(s *site, _ *authtest.IdentityProvider, u *pintle.User, b *browser) {
			none := time.Time{}
			_, err := s.store.UpdateUser(s.t.Context(), u.ID, pintle.UserUpdate{EmailVerified: &none})
			s.done(err)
			b.get("/auth/account/prove").post("/auth/account/prove", "again", "1").post("/auth/account/prove", "code", s.code())
		},
		"password_set": func(s *site, _ *authtest.IdentityProvider, u *pintle.User, b *browser) {
			s.done(s.rows.DeleteFactor(s.t.Context(), u.ID, "password", ""))
			b.get("/auth/account/password").post("/auth/account/password", "password", newPassword)
		},
		"password_removed": func(s *site, _ *authtest.IdentityProvider, u *pintle.User, b *browser) {
			s.link(u, "github")
			b.get("/auth/account/password").post("/auth/account/password", current, goodPassword, "remove", "1")
		},
		"factor_removed": func(s *site, _ *authtest.IdentityProvider, u *pintle.User, b *browser) {
			s.app(u)
			b.startSession(u, 0, "pwd", "otp").post("/auth/account/factor", "id", s.factor(u, "totp").ID, "action", "remove")
		},
		"recovery_made": func(s *site, _ *authtest.IdentityProvider, u *pintle.User, b *browser) {
			s.app(u)
			b.startSession(u, 0, "pwd", "otp").get("/auth/account/recovery-codes").post("/auth/account/recovery-codes")
			b.post("/auth/account/recovery-codes", b.fields("saved", "1")...)
		},
		"device_forgotten": func(s *site, _ *authtest.IdentityProvider, u *pintle.User, b *browser) {
			b.post("/auth/account/remembered", "id", s.giveBrowser(u, b))
		},
		"passkey_added": func(_ *site, _ *authtest.IdentityProvider, _ *pintle.User, b *browser) { b.addPasskey("mine") },
		"passkey_renamed": func(s *site, _ *authtest.IdentityProvider, u *pintle.User, b *browser) {
			b.post("/auth/account/passkey", "id", s.passkey(u), "action", "rename", "name", "mine")
		},
		"passkey_removed": func(s *site, _ *authtest.IdentityProvider, u *pintle.User, b *browser) {
			id := s.passkey(u)
			b.startSession(u, 0, "pwd", "otp").post("/auth/account/passkey", "id", id, "action", "remove")
		},
		"account_linked": func(_ *site, idp *authtest.IdentityProvider, _ *pintle.User, b *browser) {
			idp.SignInAs(authtest.Person{Subject: "mine", Email: ada})
			b.get("/auth/signin").post("/auth/signin/acme")
		},
		"account_unlinked": func(s *site, _ *authtest.IdentityProvider, u *pintle.User, b *browser) {
			s.link(u, "github")
			b.post("/auth/account/unlink", "provider", "github", "id", "1 "+u.ID)
		},
		"password_rehashed": func(s *site, _ *authtest.IdentityProvider, u *pintle.User, _ *browser) {
			s.outdate(u)
			s.browser().signIn(ada, goodPassword).isSignedInAs(ada)
		},
		"device_remembered": func(s *site, _ *authtest.IdentityProvider, u *pintle.User, _ *browser) {
			code := s.app(u)
			s.browser().signIn(ada, goodPassword).post(secondFactor, "code", code(), "remember", "1").isSignedInAs(ada)
		},
		"factor_suspended": func(s *site, _ *authtest.IdentityProvider, u *pintle.User, _ *browser) {
			s.app(u)
			s.fail(u, 99)
			s.browser().signIn(ada, goodPassword).post(secondFactor, "code", "000000")
		},
		"deletion_begun": func(_ *site, _ *authtest.IdentityProvider, _ *pintle.User, b *browser) { b.deletes() },
		"deletion_kept": func(s *site, _ *authtest.IdentityProvider, _ *pintle.User, b *browser) {
			b.deletes()
			s.browser().signIn(ada, goodPassword).isAt("/auth/account/keep").post("/auth/account/keep")
		},
		"exported": func(_ *site, _ *authtest.IdentityProvider, _ *pintle.User, b *browser) { b.exports() },
		"op_verified": func(s *site, _ *authtest.IdentityProvider, u *pintle.User, _ *browser) {
			none := time.Time{}
			_, err := s.store.UpdateUser(s.t.Context(), u.ID, pintle.UserUpdate{EmailVerified: &none})
			s.done(err)
			ops, ctx := s.operators()
			s.done(ops.ProveAddress(ctx, u.ID))
		},
		"op_password_required": func(s *site, _ *authtest.IdentityProvider, u *pintle.User, _ *browser) {
			ops, ctx := s.operators()
			s.done(ops.RequirePasswordChange(ctx, u.ID))
		},
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			idp, withAcme := acme(t)
			s := newSite(t, false, withAll, withAcme, remembering)
			u := s.seed(ada, goodPassword, true)
			b := s.browser().startSession(u, 0, "pwd")
			before := len(s.everything(accountstore.ActivityQuery{UserID: u.ID, Kind: kind}))
			act(s, idp, u, b)
			events := s.everything(accountstore.ActivityQuery{UserID: u.ID, Kind: kind})
			done := 0
			for _, e := range events {
				if e.Outcome == "ok" {
					done++
				}
			}
			if before != 0 || done == 0 {
				t.Errorf("before the act there are %d events, after it %d with success: %s; the browser is at %s: %d", before, done, s.happened(u.ID), b.at, b.status)
			}
		})
	}
}

// AC-81, AC-179: the service for stolen passwords does not answer.
func TestACheckOfAPasswordThatFailsIsRecorded(t *testing.T) {
	t.Parallel()
	service := &breachService{}
	s := newSite(t, false, withBreaches(t, service))
	service.status = http.StatusInternalServerError
	s.seed(ada, goodPassword, true)
	s.browser().signIn(ada, goodPassword).isSignedInAs(ada)
	if events := s.everything(accountstore.ActivityQuery{Kind: "breach_check_failed"}); len(events) != 1 {
		t.Errorf("%d checks that failed are recorded", len(events))
	}
}

// AC-174, AC-179, AC-182: a mail that does not arrive is recorded.
func TestAMailThatFailsIsRecorded(t *testing.T) {
	t.Parallel()
	s := newSite(t, false, func(_ *pintle.Config, o *account.Options) {
		o.Mail = func(context.Context, *pintle.Message) error { return errors.New("the mail server is down") }
	})
	s.seed(ada, goodPassword, true)
	s.browser().get("/auth/account/forgot").post("/auth/account/forgot", "email", ada).want(http.StatusOK)
	if events := s.everything(accountstore.ActivityQuery{Kind: "mail_failed"}); len(events) == 0 || strings.Contains(events[0].Detail["code"], "down") {
		t.Errorf("the events are %+v", events)
	}
}
