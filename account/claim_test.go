package account_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/store/memstore"
	"github.com/pintleauth/pintle/throttle"
)

const prove = "/auth/account/prove"

// deferred lets users sign up before they prove the address.
func deferred(_ *pintle.Config, o *account.Options) { o.SignUp.Verify = account.VerifyDeferred }

// newDeferred starts an application with deferred sign-ups. Its page /id has the id of the
// user who is signed in.
func newDeferred(t *testing.T, tokens bool, changes ...func(*pintle.Config, *account.Options)) *site {
	t.Helper()
	s := newSite(t, tokens, append(changes, deferred)...)
	s.mux.Handle("/id", s.auth.Load(http.HandlerFunc(writeID)))
	return s
}

// writeID answers with the id of the user who is signed in.
func writeID(w http.ResponseWriter, r *http.Request) {
	if session := pintle.SessionFrom(r.Context()); session != nil {
		_, _ = io.WriteString(w, session.User.ID)
	}
}

// id is the id of the user who is signed in, or "".
func (b *browser) id() string {
	b.t.Helper()
	other := *b
	return other.get("/id").page
}

// stateOf returns the state of a user.
func (s *site) stateOf(userID string) *accountstore.State {
	s.t.Helper()
	state, err := s.rows.State(s.t.Context(), userID)
	if err != nil {
		s.t.Fatal(err)
	}
	return state
}

// exists reports whether the store has a user.
func (s *site) exists(userID string) bool {
	s.t.Helper()
	_, err := s.store.User(s.t.Context(), userID)
	if err != nil && !errors.Is(err, pintle.ErrNotFound) {
		s.t.Fatal(err)
	}
	return err == nil
}

// passClaim lets the seven days of a user pass.
func (s *site) passClaim(userID string) {
	s.t.Helper()
	s.changeState(userID, func(state *accountstore.State) { state.DeleteAt = time.Now().Add(-time.Second) })
}

// AC-57
func TestADeferredSignUpSignsInAtOnceAndTheCodeProvesTheAddress(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newDeferred(t, tokens, func(_ *pintle.Config, o *account.Options) {
			o.SignUp.Fields = []pintle.Field{{Name: "name", Label: "Name"}}
		})
		b := s.browser().signUp("Ada@example.com", "callbackUrl", "/welcome", "name", "Ada").isAt("/welcome")
		id := b.id()
		u, err := s.store.User(t.Context(), id)
		if err != nil || u.Email != "" || !u.EmailVerified.IsZero() || u.Name != "Ada" {
			t.Fatalf("the user is %+v, %v", u, err)
		}
		state := s.stateOf(id)
		if left := time.Until(state.DeleteAt); state.Claim != ada || left > 7*24*time.Hour || left < 7*24*time.Hour-time.Minute {
			t.Errorf("the claim is %q, and the user has %v", state.Claim, left)
		}
		m := s.wantMail(ada, "Your code")
		if m.Token != "" || !strings.HasSuffix(m.URL, prove) {
			t.Errorf("the mail leads to %q", m.URL)
		}
		b.get("/auth/account").says("not confirmed").says(prove)
		b.get("/auth/account/password").says(prove)
		b.get(prove).says(ada)
		b.post(prove, "code", s.code()).isAt("/auth/account/password").isSignedInAs(ada)
		if u := s.user(ada); u == nil || u.ID != id || u.EmailVerified.IsZero() {
			t.Fatalf("the user of the address is %+v, want %s", u, id)
		}
		if state := s.stateOf(id); state.Claim != "" || !state.DeleteAt.IsZero() {
			t.Errorf("after the proof the claim is %q, and the user is deleted at %v", state.Claim, state.DeleteAt)
		}
		b.post("/auth/account/password", "password", goodPassword).isAt("/auth/account")
		if slices.ContainsFunc(s.mails, aboutDevice) {
			t.Error("the browser of the sign-up counts as a new one")
		}
		s.browser().signIn(ada, goodPassword).isSignedInAs(ada)
	})
}

// AC-57: nothing but the session leads to the account.
func TestTheClaimOfAnAddressLeadsToNoAccount(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		var s *site
		s = newDeferred(t, tokens, withMailLinks(&s), withGitHub)
		b := s.browser().signUp(ada)
		id := b.id()
		if s.user(ada) != nil {
			t.Fatal("the address leads to the user")
		}
		other := s.browser()
		other.get("/auth/account/forgot").post("/auth/account/forgot", "email", ada)
		if m := s.wantMail(ada, "No account"); m.Token != "" {
			t.Error("a claim is enough for a reset")
		}
		other.get(prove).isAt("/auth/signin")
		other.post(prove, "code", "12345678").want(http.StatusUnauthorized)
		other.get("/auth/signin").post("/auth/signin/email", "email", ada)
		reader := s.browser().get(s.lastMail().URL)
		reader.post(reader.at.Path + "?" + reader.at.RawQuery).isSignedInAs(ada)
		if s.user(ada) == nil || s.user(ada).ID == id {
			t.Error("the mail link signs in to the account of the deferred sign-up")
		}
		if b.id() != id || s.stateOf(id).Claim != ada {
			t.Error("the sign-in of the other user has changed the account")
		}
	})
}

// AT-12, AC-3, AC-57
func TestNothingIsAddedToAnAccountWhoseAddressIsAClaim(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newDeferred(t, tokens, withPasskeys(&echo{}), withGitHub)
		b := s.browser().signUp(ada)
		id := b.id()
		for path, form := range map[string][]string{
			"/auth/account/password":       {"password", goodPassword},
			"/auth/account/totp":           {"code", "123456"},
			"/auth/account/recovery-codes": {"saved", "1"},
		} {
			b.post(path, form...).want(http.StatusForbidden)
			b.get(path).isAt("/auth/account/confirm").says(prove)
		}
		b.get("/auth/account/confirm?acr_values=1fa").says(prove)
		for _, method := range []string{"mail", "password", "totp", "recovery", "passkey", ""} {
			b.post("/auth/account/confirm", "acr_values", "1fa", "method", method, "again", "1", "code", s.code(), "password", goodPassword)
			if b.status == http.StatusOK && strings.Contains(b.page, "have confirmed that it is you") {
				t.Errorf("the session is confirmed by %q", method)
			}
		}
		b.get("/auth/webauthn-options/passkey?action=register")
		factors, err := s.rows.Factors(t.Context(), id)
		if err != nil || len(factors) > 0 {
			t.Errorf("%d factors are there, %v", len(factors), err)
		}
		calls := s.demand("/guarded", account.Demand{})
		if b.get("/guarded"); *calls > 0 {
			t.Error("the session meets a demand")
		}
	})
}

// AC-3, AC-57
func TestNoAccountIsLinkedToAUserWhoClaimsAnAddress(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := withAcme(t, tokens, authtest.Person{Subject: "eve", Email: "eve@example.com"}, deferred)
		b := s.browser().signUp(ada)
		b.get("/auth/signin").post("/auth/signin/acme").isAt("/auth/account/confirm").says(prove)
		if u := s.user("eve@example.com"); u != nil {
			t.Error("a user was made")
		}
	})
}

// variable is what differs between the pages about any two accounts. They have the address,
// so their lengths differ as well.
var variable = regexp.MustCompile(`Content-Length: \d+|Expires=[^;]+|[0-9a-f]{8}-[0-9a-f-]{27}|\d{4}-\d\d-\d\dT[0-9:.]+Z|"[A-Za-z0-9_-]{43}"`)

// AT-17, AC-51, AC-52
func TestAnswersToADeferredSignUpTellNothingOfTheAddress(t *testing.T) {
	ask := func(ask func(string, ...string), show func(string), email string) {
		ask("/auth/account/sign-up", "email", email, "callbackUrl", "/welcome")
		show("/auth/account/me?x")
		show(prove)
		for range 4 { // the last is beyond the limit
			ask(prove, "again", "1")
		}
		ask(prove, "code", "no code")
		for range 6 {
			ask(prove, "code", "1234 5678")
		}
		show(prove)
	}
	varies := func(text string) string { return variable.ReplaceAllString(text, "VARIES") }
	inBothKinds(t, func(t *testing.T, tokens bool) {
		for _, script := range []bool{false, true} {
			r := &recorder{}
			s := newDeferred(t, tokens, func(c *pintle.Config, _ *account.Options) { c.Store = recordedStore{c.Store, r} })
			s.seedEveryKind()
			var free string
			work := r.of(func() { free = varies(s.answers(ask, script, kindsOfUsers[0])) })
			if !strings.Contains(free, "4 mails") || !strings.Contains(free, "session-token") {
				t.Fatalf("the answers have no session or no mails:\n%s", free)
			}
			for _, email := range kindsOfUsers[1:] {
				var got string
				did := r.of(func() { got = varies(s.answers(ask, script, email)) })
				if got != free {
					t.Errorf("%s is answered differently:\n%s", email, firstDifference(got, free))
				}
				// The second look-up of findUser finds a user of the first request on.
				if len(did) != len(work) {
					t.Errorf("%s costs %d calls of the store, and a free address %d:\n%s\n%s", email, len(did), len(work), did, work)
				}
			}
		}
	})
}

// AT-10, AT-11, AT-15: an attacker signs up with the address of another person.
func TestTheAttackersDeferredSignUpDoesNotReachTheAccountOfTheOwner(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newDeferred(t, tokens)
		attacker := s.browser().signUp(ada)
		code := s.code()
		owner := s.browser().signUp(ada)
		if attacker.id() == owner.id() {
			t.Fatal("both are one user")
		}
		owner.get(prove).post(prove, "code", code).want(http.StatusUnprocessableEntity) // that of the other sign-up
		owner.get(prove).post(prove, "code", s.code()).isSignedInAs(ada)
		attacker.get(prove).post(prove, "again", "1")
		if m := s.wantMail(ada, "You have an account"); mailedCode.MatchString(m.Text) {
			t.Error("the mail to the address of another user has a code")
		}
		attacker.post(prove, "code", code)
		if attacker.status == http.StatusOK || attacker.who() != "" {
			t.Error("the attacker has the address")
		}
		if u := s.user(ada); u == nil || u.ID != owner.id() {
			t.Error("the address is not that of its owner")
		}
	})
}

// AC-55, AC-57: the code of a mail from before the other proof.
func TestAClaimIsNotProvenOnceAnotherUserHasTheAddress(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newDeferred(t, tokens)
		b := s.browser().signUp(ada)
		id, code := b.id(), s.code()
		s.seed(ada, goodPassword, true)
		b.get(prove).post(prove, "code", code).want(http.StatusConflict).says("There is an account with this address")
		if b.id() != id || s.user(ada).ID == id || s.stateOf(id).DeleteAt.IsZero() {
			t.Error("the account is another one than before")
		}
	})
}

// AC-60: another user has the address and has not proven it.
func TestTheClientSaysWhetherTheUnprovenAccountIsTheirsBeforeAClaimTakesItsAddress(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newDeferred(t, tokens, withGitHub)
		holder := s.seed(ada, "", false)
		s.link(holder, "github")
		theirs := s.browser().startSession(holder, 0, "fed")
		b := s.browser().signUp(ada)
		id := b.id()
		b.get(prove).post(prove, "code", s.code()).isAt(prove).says("Is this account yours?").says("GitHub")
		if s.user(ada).ID != holder.ID {
			t.Fatal("the address is taken without a question")
		}
		b.post(prove, "choice", "theirs").isAt("/auth/signin")
		if s.user(ada).ID != holder.ID || b.id() != id {
			t.Error("an answer that takes nothing has taken something")
		}
		b.get(prove).post(prove, "choice", "new").isSignedInAs(ada)
		if u := s.user(ada); u.ID != id || u.EmailVerified.IsZero() {
			t.Errorf("the address belongs to %s", u.ID)
		}
		if theirs.id() != "" {
			t.Error("a session with the address that its user has lost goes on")
		}
		if s.stateOf(holder.ID).Must != "know-address-lost" {
			t.Error("the user who has lost the address is not told")
		}
	})
}

// AC-57: after seven days the account is deleted.
func TestAUserWhoHasNotProvenTheAddressIsDeletedWhenTheSessionIsRead(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		for _, path := range []string{"/id", "/auth/account", prove, "/auth/session"} {
			s := newDeferred(t, tokens)
			b := s.browser().signUp(ada)
			id := b.id()
			s.changeState(id, func(state *accountstore.State) { state.DeleteAt = time.Now().Add(time.Minute) })
			if b.id() != id {
				t.Fatal("the session ends before its time")
			}
			s.passClaim(id)
			b.get(path)
			if s.exists(id) || b.id() != "" {
				t.Errorf("after %s the user is still there, or signed in", path)
			}
			if state := s.stateOf(id); state.Claim != "" || state.Version != 0 {
				t.Errorf("the state of the deleted user is %+v", state)
			}
		}
	})
}

// A store that fails must not let the session go on.
func TestTheSessionOfAUserWhoCannotBeDeletedIsNotAccepted(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		var store *keepsUsers
		s := newDeferred(t, tokens, func(c *pintle.Config, _ *account.Options) {
			store = &keepsUsers{Store: c.Store}
			c.Store = store
		})
		b := s.browser().signUp(ada)
		id := b.id()
		store.refuses = true
		s.passClaim(id)
		if b.id() != "" || !s.exists(id) {
			t.Fatal("the session is accepted, or the user deleted")
		}
		if !strings.Contains(s.log(), "not proven the address in time not deleted") {
			t.Error("the operator does not learn of it")
		}
		if n, err := s.accounts.DeleteUnproven(t.Context()); n != 0 || err == nil {
			t.Errorf("DeleteUnproven = %d, %v", n, err)
		}
		store.refuses = false
		if n, err := s.accounts.DeleteUnproven(t.Context()); n != 1 || err != nil || s.exists(id) {
			t.Errorf("DeleteUnproven = %d, %v", n, err)
		}
	})
}

// A keepsUsers store can be made to delete no user.
type keepsUsers struct {
	pintle.Store
	refuses bool
}

func (s *keepsUsers) DeleteUser(ctx context.Context, id string) error {
	if s.refuses {
		return errAway
	}
	return s.Store.DeleteUser(ctx, id)
}

// AC-57
func TestDeleteUnprovenDeletesTheUsersWhoseTimeHasPassedAndNoOthers(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newDeferred(t, tokens)
		late, inTime, proven := s.browser().signUp("late@example.com"), s.browser().signUp("intime@example.com"), s.browser().signUp(ada)
		proven.get(prove).post(prove, "code", s.code()).isSignedInAs(ada)
		lateID, inTimeID := late.id(), inTime.id()
		s.passClaim(lateID)
		// One who is to be deleted for another reason.
		planned := s.seed("grace@example.com", goodPassword, true)
		s.changeState(planned.ID, func(state *accountstore.State) { state.DeleteAt = time.Now().Add(-time.Hour) })
		if n, err := s.accounts.DeleteUnproven(t.Context()); n != 1 || err != nil {
			t.Errorf("DeleteUnproven = %d, %v", n, err)
		}
		if s.exists(lateID) || !s.exists(inTimeID) || !s.exists(planned.ID) || s.user(ada) == nil {
			t.Error("another user is deleted, or the right one is not")
		}
		if late.id() != "" || inTime.id() != inTimeID || proven.who() != ada {
			t.Error("the sessions are not those of the users who are left")
		}
		if n, err := s.accounts.DeleteUnproven(t.Context()); n != 0 || err != nil {
			t.Errorf("the second DeleteUnproven = %d, %v", n, err)
		}
	})
}

// AC-57, AC-90: the application may have something of such a user, too.
func TestTheApplicationRemovesWhatItHasOfAUserWhoHasNotProvenTheAddress(t *testing.T) {
	for name, remove := range map[string]func(*site, *browser){
		"by the job":               func(s *site, _ *browser) { _, _ = s.accounts.DeleteUnproven(t.Context()) },
		"when the session is read": func(_ *site, b *browser) { b.id() },
	} {
		t.Run(name, func(t *testing.T) {
			var calls []string
			fails := true
			s := newDeferred(t, false, func(_ *pintle.Config, o *account.Options) {
				o.Deletion.Delete = func(_ context.Context, u *pintle.User) error {
					calls = append(calls, u.ID)
					if fails {
						return errors.New("the files cannot be removed")
					}
					return nil
				}
			})
			b := s.browser().signUp(ada)
			id := b.id()
			s.passClaim(id)
			if remove(s, b); !s.exists(id) || b.id() != "" {
				t.Fatal("the user is deleted, and what the application has is not; or is still signed in")
			}
			if n, err := s.accounts.DeleteUnproven(t.Context()); n != 0 || err == nil || !strings.Contains(err.Error(), "the files") {
				t.Errorf("DeleteUnproven: %d, %v", n, err)
			}
			fails, calls = false, nil
			if remove(s, b); s.exists(id) || !slices.Equal(calls, []string{id}) {
				t.Errorf("the user is still there, or the callback was called for %q", calls)
			}
		})
	}
}

// AT-7, AC-57: whichever call of the store fails while the address is given, alone or with all
// after it, the user has it and claims none, or is still to be deleted. The job deletes no
// user who has it.
func TestAProofOfAClaimThatBreaksOffLeavesNoUserForEver(t *testing.T) {
	for name, lasts := range map[string]bool{"one call fails": false, "the store fails from a call on": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for n := 1; ; n++ {
				f := &fault{lasts: lasts}
				s := newDeferred(t, false, func(c *pintle.Config, _ *account.Options) { c.Store = faultyStore{c.Store, f} })
				b := s.browser().signUp(ada).get(prove)
				id, token, code := b.id(), b.token(), s.code()
				f.arm(n)
				b.stay().post(prove, "csrfToken", token, "code", code)
				hit := f.hit.Load()
				f.arm(0)
				state, proven := s.stateOf(id), s.user(ada) != nil
				if state.Claim == "" != state.DeleteAt.IsZero() || state.Claim == "" && !proven {
					t.Errorf("call %d fails: proven: %t, the claim is %q, and the user is deleted at %v", n, proven, state.Claim, state.DeleteAt)
				}
				if state.Claim != "" {
					s.passClaim(id)
				}
				deleted, err := s.accounts.DeleteUnproven(t.Context())
				if err != nil || deleted == 1 == proven || s.exists(id) != proven {
					t.Errorf("call %d fails: proven: %t, and DeleteUnproven: %d, %v", n, proven, deleted, err)
				}
				if state := s.stateOf(id); state.Claim != "" || !state.DeleteAt.IsZero() {
					t.Errorf("call %d fails: afterwards the state is %+v", n, state)
				}
				if !hit {
					if !proven || n < 8 {
						t.Errorf("after %d calls: proven: %t", n, proven)
					}
					return
				}
			}
		})
	}
}

// The time for the proof passes while the address is given.
func TestAUserWhoProvesAClaimInTheLastMinuteHasAnHour(t *testing.T) {
	f := &fault{}
	s := newDeferred(t, false, func(c *pintle.Config, _ *account.Options) { c.Store = faultyStore{c.Store, f} })
	b := s.browser().signUp(ada).get(prove)
	id, left := b.id(), time.Duration(0)
	s.changeState(id, func(state *accountstore.State) { state.DeleteAt = time.Now().Add(time.Minute) })
	f.onUpdate = func() { left = time.Until(s.stateOf(id).DeleteAt) }
	b.post(prove, "code", s.code()).isSignedInAs(ada)
	if left < time.Hour-time.Minute || left > time.Hour {
		t.Errorf("while the address is given, the user is to be deleted in %v", left)
	}
}

// AC-90: a claim that a process has left behind does not hide the deletion that its user asks for.
func TestADeletionOfAUserWithALeftClaimCanBeTakenBack(t *testing.T) {
	s := newDeferred(t, false)
	u := s.seed(ada, goodPassword, true)
	s.changeState(u.ID, func(state *accountstore.State) { state.Claim = ada })
	b := s.browser().signIn(ada, goodPassword).deletes().isAt("/auth/signin")
	b.signIn(ada, goodPassword).isAt("/auth/account/keep")
}

// AT-8: the application gives the user another address meanwhile.
func TestAClaimReplacesNoAddress(t *testing.T) {
	f := &fault{}
	s := newDeferred(t, false, func(c *pintle.Config, _ *account.Options) { c.Store = faultyStore{c.Store, f} })
	b := s.browser().signUp(ada).get(prove)
	id, other, now := b.id(), "other@example.com", time.Now().UTC().Truncate(time.Millisecond)
	f.onUpdate = func() {
		if _, err := s.store.UpdateUser(t.Context(), id, pintle.UserUpdate{Email: &other, EmailVerified: &now}); err != nil {
			t.Error(err)
		}
	}
	b.post(prove, "code", s.code()).want(http.StatusConflict)
	if got := s.user(other); got == nil || got.ID != id {
		t.Errorf("the user of the other address is %+v", got)
	}
}

// AC-57: each sign-up makes a user, so a client has fewer of them than of mails.
func TestAClientMakesFewUsersByDeferredSignUps(t *testing.T) {
	var store *countsUsers
	s := newDeferred(t, false, func(c *pintle.Config, _ *account.Options) {
		store = &countsUsers{Store: c.Store, users: map[string]bool{}}
		c.Store = store
	})
	for i := range 20 {
		s.browser().signUp(fmt.Sprintf("ada%d@example.com", i)).isAt("/")
	}
	b := s.browser().signUp("one-more@example.com").want(http.StatusTooManyRequests).isSignedInAs("")
	if len(store.users) != 20 || b.header.Get("Retry-After") == "" {
		t.Errorf("there are %d users, and the answer says to try again in %q s", len(store.users), b.header.Get("Retry-After"))
	}
}

func TestAnApplicationSetsHowManyUsersAClientMakes(t *testing.T) {
	s := newDeferred(t, false, func(_ *pintle.Config, o *account.Options) {
		o.Passwords.Guard = &throttle.Guard{MailsPerClient: throttle.Limit{Burst: 30, Every: time.Minute}}
	})
	for i := range 30 {
		s.browser().signUp(fmt.Sprintf("ada%d@example.com", i)).isAt("/")
	}
	s.browser().signUp("one-more@example.com").want(http.StatusTooManyRequests)
}

// AC-31, AC-57: of the proof and the deletion one goes on.
func TestAUserWhoProvesTheAddressAtTheLastMomentIsNotDeleted(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		store := &whileBanned{}
		s := newDeferred(t, tokens, func(c *pintle.Config, _ *account.Options) { store.Store, c.Store = c.Store, store })
		b := s.browser().signUp(ada).get(prove)
		id := b.id()
		state := s.stateOf(id)
		state.DeleteAt = time.Now().Add(-time.Second)
		store.before = func() { // between the look at the state and the deletion
			s.changeState(id, func(state *accountstore.State) { state.DeleteAt = time.Now().Add(time.Minute) })
			b.post(prove, "code", s.code()).isSignedInAs(ada)
		}
		s.changeState(id, func(now *accountstore.State) { now.DeleteAt = state.DeleteAt })
		if n, err := s.accounts.DeleteUnproven(t.Context()); n != 0 || err != nil {
			t.Errorf("DeleteUnproven = %d, %v", n, err)
		}
		if !s.exists(id) {
			t.Error("a user who has proven the address is deleted")
		}
	})
}

// The other way round: the deletion has begun, and the user types the code.
func TestAUserWhoseDeletionHasBegunCannotProveTheAddress(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		store := &whileBanned{}
		s := newDeferred(t, tokens, func(c *pintle.Config, _ *account.Options) { store.Store, c.Store = c.Store, store })
		b := s.browser().signUp(ada).get(prove)
		id := b.id()
		s.changeState(id, func(state *accountstore.State) {
			state.BannedUntil = accountstore.Forever // as DeleteUnproven does first
		})
		b.post(prove, "code", s.code())
		if s.user(ada) != nil {
			t.Error("the user has the address")
		}
		s.passClaim(id)
		if n, err := s.accounts.DeleteUnproven(t.Context()); n != 1 || err != nil || s.exists(id) {
			t.Errorf("a deletion that broke off is not finished: %d, %v", n, err)
		}
	})
}

// The deletion begins while the code is taken.
func TestAnAddressThatIsProvenWhileItsUserIsDeletedIsNotGiven(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		store := &whileBanned{}
		s := newDeferred(t, tokens, func(c *pintle.Config, _ *account.Options) { store.Store, c.Store = c.Store, store })
		b := s.browser().signUp(ada).get(prove)
		id := b.id()
		store.atUse = func() {
			s.changeState(id, func(state *accountstore.State) { state.BannedUntil = accountstore.Forever })
		}
		b.post(prove, "code", s.code())
		if s.user(ada) != nil || s.stateOf(id).DeleteAt.IsZero() {
			t.Error("the user has the address, or is no longer to be deleted")
		}
	})
}

// AC-61: a thief may have copied the session.
func TestTheProofOfAClaimEndsTheSessionOfBefore(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newDeferred(t, tokens)
		b := s.browser().signUp(ada).get(prove)
		id, thief := b.id(), s.browser()
		here, err := url.Parse(s.server.URL)
		if err != nil {
			t.Fatal(err)
		}
		thief.client.Jar.SetCookies(here, b.client.Jar.Cookies(here))
		if thief.id() != id {
			t.Fatal("the copy does not sign in")
		}
		b.post(prove, "code", s.code()).isSignedInAs(ada)
		if thief.id() != "" {
			t.Error("the copy of the session goes on")
		}
	})
}

// A whileBanned store runs functions before the first ban, and after a flow is used.
type whileBanned struct {
	pintle.Store
	before, atUse func()
}

func (r *whileBannedRows) UseFlow(ctx context.Context, id accountstore.Hash, kind string) (*accountstore.Flow, error) {
	f, err := r.Store.UseFlow(ctx, id, kind)
	if do := r.of.atUse; do != nil {
		r.of.atUse = nil
		do()
	}
	return f, err
}

func (s *whileBanned) AccountStore() accountstore.Store {
	return &whileBannedRows{s.Store.AccountStore(), s}
}

type whileBannedRows struct {
	accountstore.Store
	of *whileBanned
}

func (r *whileBannedRows) ChangeState(ctx context.Context, s *accountstore.State) error {
	if do := r.of.before; do != nil && !s.BannedUntil.IsZero() {
		r.of.before = nil
		do()
	}
	return r.Store.ChangeState(ctx, s)
}

func TestADeferredSignUpWithoutASessionLeavesNoUser(t *testing.T) {
	for name, refuse := range map[string]func(*pintle.Config){
		"Callbacks.SignIn": func(c *pintle.Config) {
			c.Callbacks.SignIn = func(context.Context, *pintle.SignInAttempt) (string, error) { return "", errors.New("no") }
		},
		"Callbacks.JWT": func(c *pintle.Config) {
			c.Callbacks.JWT = func(context.Context, *pintle.TokenChange) (pintle.Claims, error) { return nil, nil }
		},
	} {
		t.Run(name, func(t *testing.T) {
			var store *countsUsers
			s := newDeferred(t, true, func(c *pintle.Config, _ *account.Options) {
				store = &countsUsers{Store: c.Store, users: map[string]bool{}}
				c.Store = store
				refuse(c)
			})
			s.browser().signUp(ada).want(http.StatusForbidden).isSignedInAs("")
			if len(store.users) > 0 || len(s.mails) > 0 {
				t.Errorf("%d users and %d mails are left", len(store.users), len(s.mails))
			}
		})
	}
}

// A countsUsers store notes which users there are.
type countsUsers struct {
	pintle.Store
	users map[string]bool
}

func (s *countsUsers) Features() pintle.Features {
	f := s.Store.Features()
	f.Transactions = false
	return f
}

func (s *countsUsers) CreateUser(ctx context.Context, u *pintle.User) (*pintle.User, error) {
	made, err := s.Store.CreateUser(ctx, u)
	if err == nil {
		s.users[made.ID] = true
	}
	return made, err
}

func (s *countsUsers) DeleteUser(ctx context.Context, id string) error {
	delete(s.users, id)
	return s.Store.DeleteUser(ctx, id)
}

// The state says when the user is to be deleted: without it the user would stay for ever.
func TestADeferredSignUpWhoseStateIsNotStoredLeavesNoUser(t *testing.T) {
	var store *countsUsers
	s := newDeferred(t, false, func(c *pintle.Config, _ *account.Options) {
		store = &countsUsers{Store: failingStates{c.Store}, users: map[string]bool{}}
		c.Store = store
	})
	s.browser().signUp(ada).want(http.StatusServiceUnavailable).isSignedInAs("")
	if len(store.users) > 0 {
		t.Error("a user is left")
	}
}

type failingStates struct{ pintle.Store }

func (s failingStates) AccountStore() accountstore.Store {
	return failingStateRows{s.Store.AccountStore()}
}

type failingStateRows struct{ accountstore.Store }

func (failingStateRows) ChangeState(context.Context, *accountstore.State) error { return errAway }

// The host may refuse the address once it is proven, as at any sign-up.
func TestTheHostIsAskedAboutTheAddressBeforeAClaimIsProven(t *testing.T) {
	var asked []string
	s := newDeferred(t, false, func(c *pintle.Config, _ *account.Options) {
		c.Callbacks.SignIn = func(_ context.Context, a *pintle.SignInAttempt) (string, error) {
			asked = append(asked, a.User.Email)
			if a.User.Email != "" {
				return "", errors.New("no")
			}
			return "", nil
		}
	})
	b := s.browser().signUp(ada)
	b.get(prove).post(prove, "code", s.code()).want(http.StatusForbidden)
	if s.user(ada) != nil || !slices.Equal(asked, []string{"", ada}) {
		t.Errorf("the callback was called with %q", asked)
	}
}

// AC-58, AC-52: a refusal depends on the text of the address alone.
func TestARefusalOfAnAddressTellsNothingOfItsAccount(t *testing.T) {
	for _, verify := range []account.Verification{account.VerifyRequired, account.VerifyDeferred} {
		r := &recorder{}
		s := newSite(t, false, func(c *pintle.Config, o *account.Options) {
			c.Store = recordedStore{c.Store, r}
			o.SignUp.Verify = verify
			o.SignUp.Allow = func(_ context.Context, address string) error {
				if strings.HasSuffix(address, "@example.com") {
					return errors.New("not here")
				}
				return nil
			}
		})
		s.seedEveryKind()
		ask := func(ask func(string, ...string), _ func(string), email string) {
			ask("/auth/account/sign-up", "email", email)
		}
		var free string
		calls := r.of(func() { free = s.answers(ask, false, kindsOfUsers[0]) })
		if len(slices.DeleteFunc(calls, func(call string) bool { return call == "Record" })) > 0 {
			t.Errorf("a refusal reads the store: %q", calls)
		}
		if !strings.Contains(free, "This is not possible here.") || len(s.mails) > 0 {
			t.Fatalf("the answer is no refusal, or there are %d mails:\n%s", len(s.mails), free)
		}
		for _, email := range kindsOfUsers[1:] {
			if got := s.answers(ask, false, email); got != free {
				t.Errorf("%s is answered differently:\n%s", email, firstDifference(got, free))
			}
		}
		s.browser().signUp("ada@example.org")
		if len(s.sent("ada@example.org")) != 1 {
			t.Error("an address that is allowed gets no mail")
		}
	}
}

func TestNewRefusesDeferredSignUpsThatSomethingHasToHold(t *testing.T) {
	for name, change := range map[string]func(*pintle.Config, *account.Options){
		"Callbacks.Hold": func(c *pintle.Config, _ *account.Options) {
			c.Callbacks.Hold = func(context.Context, *pintle.PendingSignIn) (string, error) { return "", nil }
		},
		"SecondFactor.Required": func(_ *pintle.Config, o *account.Options) {
			o.SecondFactor.Required = func(context.Context, *pintle.PendingSignIn) (bool, error) { return false, nil }
		},
		"Verify is 7": func(_ *pintle.Config, o *account.Options) { o.SignUp.Verify = 7 },
	} {
		t.Run(name, func(t *testing.T) {
			o := account.Options{Mail: func(context.Context, *pintle.Message) error { return nil }}
			cfg := pintle.Config{
				Store: memstore.New(), URL: "https://app.example.com", Secrets: []string{strings.Repeat("secret ", 6)},
				Getenv: func(string) string { return "" },
			}
			deferred(&cfg, &o)
			change(&cfg, &o)
			cfg.Accounts = account.New(o)
			if _, err := pintle.New(cfg); err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("New returned %v", err)
			}
		})
	}
}

// AC-64, AC-57
func TestWithoutVerificationAnUnprovenAddressSignsInWithThePasswordAndAddsNothing(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens, func(_ *pintle.Config, o *account.Options) { o.SignUp.Verify = account.VerifyNone })
		s.seed(ada, goodPassword, false)
		b := s.browser().signIn(ada, goodPassword).isAt("/").isSignedInAs(ada)
		if !s.user(ada).EmailVerified.IsZero() {
			t.Error("the address counts as proven")
		}
		b.get("/auth/account/totp").isAt(prove)
		must := s.seed("must@example.com", goodPassword, false)
		s.changeState(must.ID, func(state *accountstore.State) { state.Must = "password" })
		s.browser().signIn("must@example.com", goodPassword).isAt(prove).isSignedInAs("")
		s.browser().signUp("grace@example.com").isAt("/auth/account/sign-up-sent").isSignedInAs("")
		if s.user("grace@example.com") != nil {
			t.Error("a sign-up makes a user before the proof")
		}
	})
}
