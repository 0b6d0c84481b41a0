package account_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/accountstore"
)

// useFails is a store in which the use of a flow fails with an error that is set.
type useFails struct {
	pintle.Store
	with *error
}

func (s useFails) AccountStore() accountstore.Store {
	return useFailsRows{s.Store.AccountStore(), s.with}
}

type useFailsRows struct {
	accountstore.Store
	with *error
}

func (r useFailsRows) UseFlow(ctx context.Context, id accountstore.Hash, kind string) (*accountstore.Flow, error) {
	if *r.with != nil {
		return nil, *r.with
	}
	return r.Store.UseFlow(ctx, id, kind)
}

// AC-4, AC-113: codes that another request has saved by a moment earlier, or whose flow the store
// does not use up, are not stored, neither beside an app, nor with one, nor at a sign-in.
func TestCodesAreStoredOnlyByTheRequestThatUsesThemUp(t *testing.T) {
	for name, begin := range map[string]func(s *site, u *pintle.User) (*browser, string){
		"new codes": func(s *site, u *pintle.User) (*browser, string) {
			s.app(u)
			return s.browser().startSession(u, 0, "pwd", "otp").post("/auth/account/recovery-codes", "new", "1"), "recovery-codes"
		},
		"a first app": func(s *site, u *pintle.User) (*browser, string) {
			b := s.browser().startSession(u, 0, "pwd").get("/auth/account/totp")
			key, a := b.key()
			return b.post("/auth/account/totp", "key", key, "code", a.code(s.t, 0)), "recovery-codes"
		},
		"a first app at a sign-in": func(s *site, _ *pintle.User) (*browser, string) {
			b := s.browser().signIn(ada, goodPassword).isAt(enrol).post(enrol, "code", s.code())
			key, a := b.key()
			return b.post(enrol, "key", key, "code", a.code(s.t, 0)), "enrol"
		},
	} {
		for fails, c := range map[string]struct {
			with   error
			status int
		}{
			"used by another request":      {pintle.ErrNotFound, http.StatusGone},
			"a store that does not answer": {errAway, http.StatusServiceUnavailable},
		} {
			t.Run(name+", "+fails, func(t *testing.T) {
				t.Parallel()
				var with error
				s := newSite(t, false, required, func(c *pintle.Config, _ *account.Options) { c.Store = useFails{c.Store, &with} })
				u := s.seed(ada, goodPassword, true)
				b, route := begin(s, u)
				if len(b.codes()) != 10 {
					t.Fatalf("no codes were shown: %s", b.text())
				}
				before := s.storedKinds(u)
				with = c.with
				b.post("/auth/account/"+route, "saved", "1").want(c.status)
				if kinds := s.storedKinds(u); kinds != before {
					t.Errorf("the user had %q, and has %q", before, kinds)
				}
			})
		}
	}
}

// AT-54: another user, and a session that has ended, save no codes.
func TestCodesAreSavedByTheUserWhoHasSeenThem(t *testing.T) {
	s := newSite(t, false)
	s.seed(ada, goodPassword, true)
	s.seed("bob@example.com", goodPassword, true)
	b := s.browser().signIn(ada, goodPassword).get("/auth/account/totp")
	key, a := b.key()
	b.post("/auth/account/totp", "key", key, "code", a.code(t, 0)).says("Save your recovery codes")
	b.signIn("bob@example.com", goodPassword).isSignedInAs("bob@example.com")
	b.post("/auth/account/recovery-codes", "saved", "1").want(410)
	b.post("/auth/account/totp", "key", key, "code", a.code(t, 0)).want(410)
	for _, email := range []string{ada, "bob@example.com"} {
		if rows, _ := s.rows.Factors(t.Context(), s.user(email).ID); len(rows) != 1 {
			t.Errorf("%s has %d rows", email, len(rows))
		}
	}
}

// AC-113
func TestNewRecoveryCodesEndTheOldOnes(t *testing.T) {
	s, a, old := withApp(t, true)
	for _, code := range old[:7] {
		s.half().post(secondFactor, "code", code).isSignedInAs(ada)
	}
	b := s.half().post(secondFactor, "code", a.code(t, 0)).isSignedInAs(ada).get("/auth/account/factors").
		says("You have <bdi>3</bdi> codes left").says("few recovery codes left")
	b.get("/auth/account/recovery-codes").says("You have <bdi>3</bdi> codes left").post("/auth/account/recovery-codes", "new", "1")
	fresh := b.codes()
	s.half().post(secondFactor, "code", old[7]).isSignedInAs(ada) // until the new ones are saved
	b.post("/auth/account/recovery-codes", "saved", "1").isAt("/auth/account/factors").says("You have <bdi>10</bdi> codes left").isSignedInAs(ada)
	s.wantMail(ada, "New recovery codes")
	if rows, err := s.rows.Factors(t.Context(), s.userID()); len(rows) != 12 || err != nil { // password, app, codes
		t.Errorf("%d rows are left, %v", len(rows), err)
	}
	s.half().post(secondFactor, "code", old[8]).want(422).post(secondFactor, "code", fresh[0]).isSignedInAs(ada)
	b.post("/auth/account/recovery-codes", "saved", "1").want(410)
}
