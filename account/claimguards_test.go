package account_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/store/memstore"
)

// AC-61: sessions that the application has begun in other browsers are of a time when nothing
// was proven.
func TestTheProofOfAClaimEndsTheSessionsInOtherBrowsers(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newDeferred(t, tokens)
		b := s.browser().signUp(ada).get(prove)
		u, err := s.store.User(t.Context(), b.id())
		if err != nil {
			t.Fatal(err)
		}
		other := s.browser().startSession(u, 0)
		if other.id() != u.ID {
			t.Fatal("the other browser is not signed in")
		}
		b.post(prove, "code", s.code()).isSignedInAs(ada)
		if other.id() != "" {
			t.Error("the session in the other browser goes on")
		}
	})
}

// AC-31, AC-57: what has changed while the code was taken.
func TestAClaimThatHasChangedMeanwhileIsNotProven(t *testing.T) {
	for name, change := range map[string]func(*accountstore.State){
		"its time has passed":   func(state *accountstore.State) { state.DeleteAt = time.Now().Add(-time.Second) },
		"it is another address": func(state *accountstore.State) { state.Claim = "eve@example.com" },
		"it is none":            func(state *accountstore.State) { state.Claim = "" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := &whileBanned{}
			s := newDeferred(t, false, func(c *pintle.Config, _ *account.Options) { store.Store, c.Store = c.Store, store })
			b := s.browser().signUp(ada).get(prove)
			id := b.id()
			store.atUse = func() { s.changeState(id, change) }
			b.post(prove, "code", s.code())
			if s.user(ada) != nil || s.stateOf(id).DeleteAt.IsZero() {
				t.Error("the user has the address, or is no longer to be deleted")
			}
		})
	}
}

// AC-22, AC-51: the further mails of a claim are among those that any client can cause.
func TestTheFurtherMailsOfAClaimAreLimited(t *testing.T) {
	t.Run("for the address", func(t *testing.T) {
		s := newDeferred(t, false)
		b := s.browser().signUp(ada)
		for range 4 { // with the mail of the sign-up these are five
			s.browser().get("/auth/account/forgot").post("/auth/account/forgot", "email", ada)
		}
		b.get(prove).post(prove, "again", "1").want(http.StatusTooManyRequests)
		if n := len(s.sent(ada)); n != 5 {
			t.Errorf("%d mails went to the address", n)
		}
	})
	t.Run("for the flow", func(t *testing.T) {
		s := newDeferred(t, false, withoutMailLimits)
		b := s.browser().signUp(ada).get(prove)
		for range 3 {
			b.post(prove, "again", "1").want(http.StatusOK)
		}
		b.post(prove, "again", "1").want(http.StatusTooManyRequests)
		if n := len(s.sent(ada)); n != 4 {
			t.Errorf("%d mails were sent for one sign-up", n)
		}
	})
}

// AC-4: of two requests with one link or code, the one that did not use the flow up changes
// nothing.
func TestWhatAnotherRequestHasUsedUpChangesNothing(t *testing.T) {
	rows := &flowRows{}
	withRows := func(c *pintle.Config, _ *account.Options) { c.Store = flowStore{c.Store, rows} }
	s := newSite(t, false, withRows)
	u := s.seed(bob, goodPassword, true)
	unproven := s.seed("held@example.com", goodPassword, false)
	claims := newDeferred(t, false, withRows)
	flows := map[string]*browser{
		"sign-up": s.browser().signUp(ada).get(s.lastMail().URL),
		"reset":   s.browser().get(s.resetLink(bob)),
		"proof":   s.browser().startSession(unproven, 0, "pwd").get(prove).post(prove, "again", "1"),
		"claim":   claims.browser().signUp(ada).get(prove),
	}
	code := s.code()
	taken := flows["claim"].id()
	rows.late = true
	flows["sign-up"].post("/auth/account/sign-up-finish", "password", newPassword).want(http.StatusGone)
	flows["reset"].post("/auth/account/reset", "password", newPassword).want(http.StatusGone)
	flows["proof"].post(prove, "code", code).want(http.StatusGone)
	flows["claim"].post(prove, "code", claims.code()).want(http.StatusGone)
	if s.user(ada) != nil || claims.user(ada) != nil || claims.stateOf(taken).DeleteAt.IsZero() {
		t.Error("a user has the address")
	}
	if !s.passwordIs(u.Email, goodPassword) || !s.user(unproven.Email).EmailVerified.IsZero() {
		t.Error("the password has changed, or the address is proven")
	}
}

// AC-31, AC-57: the deletion begins between the look at the state and its change.
func TestAClaimIsNotProvenAtTheMomentInWhichItsUserIsDeleted(t *testing.T) {
	store := &beforeChange{}
	s := newDeferred(t, false, func(c *pintle.Config, _ *account.Options) { store.Store, c.Store = c.Store, store })
	b := s.browser().signUp(ada).get(prove)
	id := b.id()
	store.do = func() {
		s.changeState(id, func(state *accountstore.State) { state.BannedUntil = accountstore.Forever })
	}
	b.post(prove, "code", s.code())
	if s.user(ada) != nil || s.stateOf(id).DeleteAt.IsZero() {
		t.Error("the user has the address, or is no longer to be deleted")
	}
}

// A beforeChange store calls a function before the next change of a state.
type beforeChange struct {
	pintle.Store
	do func()
}

func (s *beforeChange) AccountStore() accountstore.Store {
	return beforeChangeRows{s.Store.AccountStore(), s}
}

type beforeChangeRows struct {
	accountstore.Store
	of *beforeChange
}

func (r beforeChangeRows) ChangeState(ctx context.Context, s *accountstore.State) error {
	if do := r.of.do; do != nil {
		r.of.do = nil
		do()
	}
	return r.Store.ChangeState(ctx, s)
}

// AT-7: a process may end after the address was given and before the claim was cleared.
func TestAClaimThatACrashHasLeftIsNoClaim(t *testing.T) {
	s := newSite(t, false)
	u := s.seed(ada, goodPassword, true)
	s.changeState(u.ID, func(state *accountstore.State) { state.Claim = ada })
	b := s.browser().signIn(ada, goodPassword).isSignedInAs(ada)
	b.get(prove).want(http.StatusNotFound)
	b.post(prove, "again", "1").want(http.StatusNotFound)
	b.deletes()
	if state := s.stateOf(u.ID); state.Claim != "" || state.DeleteAt.IsZero() {
		t.Errorf("after the deletion was planned the state is %+v", state)
	}
	s.browser().signIn(ada, goodPassword).isAt("/auth/account/keep").isSignedInAs("")
}

// AC-51: no code is stored that would prove the address of another user.
func TestAMailToAnAddressWithAnAccountLeavesNoCode(t *testing.T) {
	for name, change := range map[string]func(*pintle.Config, *account.Options){
		"proof first": func(*pintle.Config, *account.Options) {}, "deferred": deferred,
	} {
		rows := &flowRows{}
		s := newSite(t, false, change, func(c *pintle.Config, _ *account.Options) { c.Store = flowStore{c.Store, rows} })
		s.seed(ada, goodPassword, true)
		for email, known := range map[string]bool{ada: true, bob: false} {
			s.browser().signUp(email)
			if none := rows.code == (accountstore.Hash{}); none != known {
				t.Errorf("%s: for %s there is a code: %t", name, email, !none)
			}
		}
	}
}

// A flowStore has flowRows.
type flowStore struct {
	pintle.Store
	rows *flowRows
}

func (s flowStore) AccountStore() accountstore.Store {
	return boundFlowRows{s.Store.AccountStore(), s.rows}
}

// In flowRows with late set another request is always the first to use a flow, and with
// changed to change one. They note the code of the flow that was changed last.
type flowRows struct {
	late, changed bool
	code          accountstore.Hash
}

type boundFlowRows struct {
	accountstore.Store
	of *flowRows
}

func (r boundFlowRows) UseFlow(ctx context.Context, id accountstore.Hash, kind string) (*accountstore.Flow, error) {
	if r.of.late {
		return nil, pintle.ErrNotFound
	}
	return r.Store.UseFlow(ctx, id, kind)
}

func (r boundFlowRows) ChangeFlow(ctx context.Context, f *accountstore.Flow) error {
	r.of.code = f.Code
	if r.of.changed {
		return pintle.ErrConflict
	}
	return r.Store.ChangeFlow(ctx, f)
}

// AC-61: the application may deny a first proof, on whichever page it is given.
func TestTheApplicationDeniesAFirstProof(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		for name, prove := range map[string]func(s *site) (b *browser, userID string){
			"of a claim": func(s *site) (*browser, string) {
				b := s.browser().signUp(ada).get(prove)
				id := b.id()
				return b.post(prove, "code", s.code()), id
			},
			"of a signed-in user": func(s *site) (*browser, string) {
				u := s.seed(ada, goodPassword, false)
				b := s.browser().startSession(u, 0, "pwd").get(prove).post(prove, "again", "1")
				return b.post(prove, "code", s.code()), u.ID
			},
			"at a sign-in": func(s *site) (*browser, string) {
				u := s.seed(ada, goodPassword, false)
				return s.browser().signIn(ada, goodPassword).isAt(prove).post(prove, "code", s.code()), u.ID
			},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				var asked []string
				deny := func(c *pintle.Config, _ *account.Options) {
					c.Callbacks.ProveAddress = func(_ context.Context, p *pintle.PendingSignIn) error {
						asked = append(asked, p.User.ID+" "+p.User.Email)
						return &pintle.Error{Code: pintle.CodeAccessDenied, Err: errors.New("no")}
					}
				}
				change := deny
				if name == "of a claim" {
					change = func(c *pintle.Config, o *account.Options) { deny(c, o); deferred(c, o) }
				}
				s := newSite(t, tokens, change)
				s.mux.Handle("/id", s.auth.Load(http.HandlerFunc(writeID)))
				b, id := prove(s)
				b.want(http.StatusForbidden)
				if want := []string{id + " " + ada}; !slices.Equal(asked, want) {
					t.Errorf("the application was asked about %q, want %q", asked, want)
				}
				if u := s.user(ada); u != nil && !u.EmailVerified.IsZero() {
					t.Error("the address is proven")
				}
				if name == "of a claim" && (s.user(ada) != nil || s.stateOf(id).DeleteAt.IsZero()) {
					t.Error("the user has the address, or is no longer to be deleted")
				}
			})
		}
	})
}

// AC-55: the other account was confirmed while the client read the question about it.
func TestAnAccountThatIsConfirmedMeanwhileIsNotAskedAbout(t *testing.T) {
	s := newDeferred(t, false, withGitHub)
	holder := s.seed(ada, "", false)
	s.link(holder, "github")
	b := s.browser().signUp(ada).get(prove).post(prove, "code", s.code()).says("Is this account yours?")
	now := time.Now().UTC().Truncate(time.Millisecond)
	if _, err := s.store.UpdateUser(t.Context(), holder.ID, pintle.UserUpdate{EmailVerified: &now}); err != nil {
		t.Fatal(err)
	}
	if b.get(prove); strings.Contains(b.page, "Is this account yours?") || strings.Contains(b.page, "GitHub") {
		t.Errorf("the page tells of the account: %s", b.text())
	}
	b.post(prove, "choice", "new").want(http.StatusConflict)
}

// AC-61: of two accounts of one provider the one of the sign-in is that of the owner.
func TestTheFirstProofByASignInKeepsTheAccountOfTheSignInAlone(t *testing.T) {
	var s *site
	s = withAcme(t, false, authtest.Person{Subject: "ada", Email: ada}, withMailLinks(&s))
	u := s.seed(ada, "", false)
	for _, subject := range []string{"ada", "eve"} {
		err := s.store.LinkAccount(t.Context(), &pintle.Account{UserID: u.ID, Type: pintle.TypeOIDC, Provider: "acme", ProviderAccountID: subject})
		if err != nil {
			t.Fatal(err)
		}
	}
	b := s.browser().get("/auth/signin").post("/auth/signin/email", "email", ada)
	b.get(s.lastMail().URL).post(strings.TrimPrefix(s.lastMail().URL, s.server.URL)).says("acme")
	b.post("/auth/signin/acme").isSignedInAs(ada)
	if linked, err := s.store.UserAccounts(t.Context(), u.ID); err != nil || len(linked) != 1 || linked[0].ProviderAccountID != "ada" {
		t.Errorf("the user has the accounts %v, %v", linked, err)
	}
}

// AC-61: Auth.js may have lost the account of a passkey.
func TestTheFirstProofEvictsAPasskeyWithoutAnAccount(t *testing.T) {
	s := newSite(t, false, withPasskeys(&echo{}))
	u := s.seed(ada, "", false)
	key := &pintle.Passkey{CredentialID: "a2V5", ProviderAccountID: "a2V5", UserID: u.ID, DeviceType: "singleDevice"}
	if err := s.store.CreatePasskey(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	b := s.browser().startSession(u, 0, "fed").get(prove).post(prove, "again", "1")
	b.post(prove, "code", s.code()).isSignedInAs(ada)
	if keys, err := s.store.UserPasskeys(t.Context(), u.ID); err != nil || len(keys) > 0 {
		t.Errorf("the user has %d passkeys, %v", len(keys), err)
	}
}

// AC-61: the code went to the address that the user had then.
func TestACodeThatWentToAFormerAddressProvesNothing(t *testing.T) {
	s := newSite(t, false)
	u := s.seed(ada, goodPassword, false)
	b := s.browser().startSession(u, 0, "pwd").get(prove).post(prove, "again", "1")
	code, moved := s.code(), bob
	if _, err := s.store.UpdateUser(t.Context(), u.ID, pintle.UserUpdate{Email: &moved}); err != nil {
		t.Fatal(err)
	}
	b.post(prove, "code", code).want(http.StatusGone)
	if !s.user(bob).EmailVerified.IsZero() {
		t.Error("the address is proven")
	}
}

// AC-53: another browser than the one that began has the link, and not the form for the code.
func TestTheCodeOfASignUpIsForTheBrowserThatBegan(t *testing.T) {
	s := newSite(t, false)
	s.browser().signUp(ada)
	m, code := s.lastMail(), s.code()
	other := s.browser().get(m.URL).isAt("/auth/account/sign-up-finish")
	other.post("/auth/account/sign-up-sent", "again", "1").want(http.StatusForbidden)
	other.post("/auth/account/sign-up-sent", "code", code).want(http.StatusForbidden)
	if n := len(s.sent(ada)); n != 1 {
		t.Errorf("%d mails were sent", n)
	}
}

func TestAPasswordCannotVouchForASecondFactor(t *testing.T) {
	cfg := pintle.Config{Store: memstore.New(), URL: "https://app.example.com", Secrets: []string{strings.Repeat("secret ", 6)}}
	cfg.Accounts = account.New(account.Options{
		Mail:         func(context.Context, *pintle.Message) error { return nil },
		SecondFactor: account.SecondFactor{SkipFor: []string{"credentials"}},
	})
	if _, err := pintle.New(cfg); err == nil || !strings.Contains(err.Error(), "SkipFor") {
		t.Errorf("New returned %v", err)
	}
}
