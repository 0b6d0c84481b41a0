package account_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/accountstore"
)

const newAddress = "ada@elsewhere.example.com"

// beginsAddress enters a new address.
func (b *browser) beginsAddress(email string) *browser {
	b.t.Helper()
	return b.get("/auth/account/address").isAt("/auth/account/address").post("/auth/account/address", "email", email)
}

// mailOf returns the last mail of a kind.
func (s *site) mailOf(kind string) *pintle.Message {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range slices.Backward(s.mails) {
		if m.Kind == kind {
			return m
		}
	}
	s.t.Fatalf("no mail of the kind %q was sent", kind)
	return nil
}

// movesAddress changes the address with the code of the mail.
func (b *browser) movesAddress(email string) *browser {
	b.t.Helper()
	b.beginsAddress(email).isAt("/auth/account/address-finish").says(email)
	return b.post("/auth/account/address-finish", "code", b.mailOf("address-confirm").Code).says("Your address is changed")
}

// AC-82, AC-83, AC-84, AC-85
func TestAnAddressMovesOnceTheNewOneIsProven(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens)
		u := s.seed(ada, goodPassword, true)
		other := s.browser().signIn(ada, goodPassword).isSignedInAs(ada)
		reset := s.resetLink(ada)
		s.remember(u)
		b := s.browser().signIn(ada, goodPassword)
		old := b.sessionCookie()
		b.beginsAddress(" Ada@Elsewhere.example.com ").isAt("/auth/account/address-finish").says(newAddress)
		b.isSignedInAs(ada)
		if s.user(newAddress) != nil || s.user(ada) == nil {
			t.Fatal("the address has moved before it was proven")
		}
		asked := s.mailOf("address-asked")
		if asked.To != ada || asked.Token != "" || asked.Code != "" || strings.Contains(asked.Text, "token=") || !strings.HasSuffix(asked.URL, "/auth/account") {
			t.Errorf("the notice to the old address is %+v", asked)
		}
		confirm := s.mailOf("address-confirm")
		if confirm.To != newAddress {
			t.Errorf("the code went to %s", confirm.To)
		}
		b.get("/auth/account").says("waits for the code")
		b.get("/auth/account/address-finish").post("/auth/account/address-finish", "code", "0000 0000").want(http.StatusUnprocessableEntity)
		b.post("/auth/account/address-finish", "code", confirm.Code).isAt("/auth/account").says("Your address is changed").isSignedInAs(newAddress)
		if b.sessionCookie() == old {
			t.Error("the session was not replaced")
		}
		other.isSignedInAs("")
		s.browser().get(reset).want(http.StatusGone)
		moved := s.user(newAddress)
		if moved == nil || moved.ID != u.ID || time.Since(moved.EmailVerified) > time.Minute || s.user(ada) != nil {
			t.Fatalf("the user is %+v", moved)
		}
		if kinds := s.storedKinds(u); strings.Contains(kinds, "device") {
			t.Errorf("the user still has %s", kinds)
		}
		if told := s.mailOf("address-changed-undo"); told.To != ada || told.Token == "" {
			t.Errorf("the notice to the old address is %+v", told)
		}
		if told := s.mailOf("address-new"); told.To != newAddress || told.Token != "" || strings.Contains(told.Text, "token=") {
			t.Errorf("the confirmation to the new address is %+v", told)
		}
		b.get(confirm.URL).want(http.StatusGone)
		b.get("/auth/account")
		if strings.Contains(b.page, "waits for the code") {
			t.Error("the change still waits")
		}
		s.browser().signIn(newAddress, goodPassword).isSignedInAs(newAddress)
		s.browser().signIn(ada, goodPassword).isSignedInAs("")
	})
}

// remember stores a remembered browser of a user.
func (s *site) remember(u *pintle.User) {
	s.t.Helper()
	err := s.rows.AddFactor(s.t.Context(), &accountstore.Factor{UserID: u.ID, Kind: "device", ID: "1", Secret: "hash", Created: time.Now().Add(-time.Hour).UTC().Truncate(time.Millisecond)})
	if err != nil {
		s.t.Fatal(err)
	}
}

// AC-83, AC-7
func TestALinkMovesTheAddressInAnyBrowserOfTheUser(t *testing.T) {
	s := newSite(t, false)
	s.seed(ada, goodPassword, true)
	s.browser().signIn(ada, goodPassword).beginsAddress(newAddress)
	b := s.browser().signIn(ada, goodPassword)
	b.get(s.mailOf("address-confirm").URL).isAt("/auth/account/address-finish").want(http.StatusOK).says(newAddress)
	if b.at.RawQuery != "" {
		t.Errorf("the token is in the URL of the page: %s", b.at)
	}
	b.isSignedInAs(ada).post("/auth/account/address-finish").isAt("/auth/account").isSignedInAs(newAddress)
}

// AT-41, AC-83
func TestAStrangerAtAMistypedAddressTakesNothing(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens)
		s.seed(ada, goodPassword, true)
		s.browser().signIn(ada, goodPassword).beginsAddress(newAddress)
		stranger := s.browser().get(s.mailOf("address-confirm").URL).isAt("/auth/signin").says("Sign in to the account whose address is to change")
		if strings.Contains(stranger.page, ada) {
			t.Error("the page tells the stranger the address of the user")
		}
		stranger.post("/auth/account/address-finish").want(http.StatusUnauthorized)
		stranger.post("/auth/account/address-finish", "code", s.mailOf("address-confirm").Code).want(http.StatusUnauthorized)
		if s.user(ada) == nil || s.user(newAddress) != nil {
			t.Error("the address has moved")
		}
	})
}

// AT-42
func TestALinkOfAnotherUsersChangeIsRefused(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens)
		s.seed(ada, goodPassword, true)
		s.seed("bob@example.com", goodPassword, true)
		s.browser().signIn(ada, goodPassword).beginsAddress(newAddress)
		bob := s.browser().signIn("bob@example.com", goodPassword)
		bob.get(s.mailOf("address-confirm").URL).want(http.StatusForbidden)
		bob.post("/auth/account/address-finish").want(http.StatusForbidden)
		if answer := bob.postJSON("/auth/account/address-finish", nil); answer["error"] != "other_user" {
			t.Errorf("the answer is %v", answer)
		}
		if s.user(ada) == nil || s.user("bob@example.com") == nil || s.user(newAddress) != nil {
			t.Error("an address has moved")
		}
		s.browser().signIn(ada, goodPassword).get(s.mailOf("address-confirm").URL).post("/auth/account/address-finish").isSignedInAs(newAddress)
	})
}

// AT-13: the owner gets the account back while the change of a thief waits.
func TestAChangeThatWaitsEndsWithAResetAChangeOfThePasswordOrTheSessions(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		for name, recover := range map[string]func(s *site) (password string){
			"reset": func(s *site) string {
				s.browser().get(s.resetLink(ada)).post("/auth/account/reset", "password", newPassword).isAt("/auth/signin")
				return newPassword
			},
			"change": func(s *site) string {
				s.browser().signIn(ada, goodPassword).changePassword(goodPassword, newPassword)
				return newPassword
			},
			"the application ends all sessions": func(s *site) string {
				if err := s.auth.SignOutEverywhere(t.Context(), "id-"+ada); err != nil {
					t.Fatal(err)
				}
				return goodPassword
			},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := newSite(t, tokens)
				s.seed(ada, goodPassword, true)
				thief := s.browser().signIn(ada, goodPassword).beginsAddress(newAddress)
				link := s.mailOf("address-confirm")
				password := recover(s)
				thief.get(link.URL).want(http.StatusGone)
				thief.post("/auth/account/address-finish", "code", link.Code).want(http.StatusGone)
				thief.signIn(ada, password).get(link.URL).want(http.StatusGone)
				if s.user(ada) == nil || s.user(newAddress) != nil {
					t.Error("the address has moved")
				}
			})
		}
	})
}

// AC-61: the first proof of an address of the user is that of the new one. An old session may be
// that of a person who chose the password.
func TestAChangeOfAnUnprovenAddressIsAFirstProof(t *testing.T) {
	t.Parallel()
	var asked []string
	s := newSite(t, false, func(c *pintle.Config, _ *account.Options) {
		c.Callbacks.ProveAddress = func(_ context.Context, p *pintle.PendingSignIn) error {
			asked = append(asked, p.User.Email)
			return nil
		}
	})
	u := s.seed(ada, goodPassword, false)
	s.browser().startSession(u, 0, "pwd").beginsAddress(newAddress)
	s.trojans(u)
	old := s.browser().startSession(u, time.Hour, "pwd")
	old.get(s.mailOf("address-confirm").URL).post("/auth/account/address-finish").isSignedInAs(newAddress)
	if kinds := s.storedKinds(u); kinds != "" {
		t.Errorf("the user still has %q", kinds)
	}
	if !slices.Equal(asked, []string{newAddress}) {
		t.Errorf("the application was asked about %q", asked)
	}
	if n := s.count(newAddress, "address-proved"); n != 1 {
		t.Errorf("%d mails tell what was removed", n)
	}
}

// AT-8, AC-61
func TestAChangeOfAnUnprovenAddressThatIsOvertakenMovesNothing(t *testing.T) {
	t.Parallel()
	t.Run("by a ban while the application is asked", func(t *testing.T) {
		t.Parallel()
		var s *site
		s = newSite(t, false, func(c *pintle.Config, _ *account.Options) {
			c.Callbacks.ProveAddress = func(_ context.Context, p *pintle.PendingSignIn) error {
				s.changeState(p.User.ID, func(state *accountstore.State) { state.BannedUntil = accountstore.Forever })
				return nil
			}
		})
		u := s.seed(ada, goodPassword, false)
		b := s.browser().startSession(u, 0, "pwd").beginsAddress(newAddress)
		b.post("/auth/account/address-finish", "code", s.mailOf("address-confirm").Code).want(http.StatusUnauthorized)
		if s.user(ada) == nil || s.user(newAddress) != nil {
			t.Error("the address has moved")
		}
	})
	t.Run("by a password of an operator", func(t *testing.T) {
		t.Parallel()
		s, f := withFaults(t)
		u := s.seed(ada, goodPassword, false)
		b := s.browser().startSession(u, 0, "fed").beginsAddress(newAddress)
		f.onEnd = func() {
			if _, err := s.accounts.Operators().SetTemporaryPassword(t.Context(), u.ID); err != nil {
				t.Error(err)
			}
		}
		b.post("/auth/account/address-finish", "code", s.mailOf("address-confirm").Code).want(http.StatusUnauthorized)
		if s.user(ada) == nil || s.user(newAddress) != nil || s.factor(u, "password").Secret == "" {
			t.Error("the address has moved, or the new password is removed")
		}
	})
}

// AT-8: the user who has an address unproven proves another one at the same moment.
func TestAUserWhoIsAboutToLoseAnAddressKeepsTheOneThatIsProvenMeanwhile(t *testing.T) {
	t.Parallel()
	const held = "held@example.com"
	for name, take := range map[string]func(s *site) (finish func()){
		"by a change of address": func(s *site) func() {
			s.seed(ada, goodPassword, true)
			b := s.browser().signIn(ada, goodPassword).beginsAddress(held)
			return func() { b.post("/auth/account/address-finish", "code", s.mailOf("address-confirm").Code) }
		},
		"by a sign-up": func(s *site) func() {
			b := s.browser().signUp(held).get(s.lastMail().URL).post("/auth/account/address-choice", "choice", "new")
			return func() { b.post("/auth/account/sign-up-finish", "password", goodPassword) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &fault{}
			s := newSite(t, false, withGitHub, func(c *pintle.Config, _ *account.Options) { c.Store = faultyStore{c.Store, f} })
			holder := s.seed(held, "", false)
			s.link(holder, "github")
			finish := take(s)
			proven, now := "proven@example.com", time.Now().UTC().Truncate(time.Millisecond)
			f.onUpdate = func() {
				if _, err := s.store.UpdateUser(t.Context(), holder.ID, pintle.UserUpdate{Email: &proven, EmailVerified: &now}); err != nil {
					t.Error(err)
				}
			}
			finish()
			if got := s.user(proven); got == nil || got.ID != holder.ID || got.EmailVerified.IsZero() {
				t.Errorf("the user of the address is %+v", got)
			}
		})
	}
}

// The first mail to prove an address is not called another one.
func TestTheFirstMailToProveAnAddressIsNotSentAgain(t *testing.T) {
	s := newSite(t, false)
	b := s.browser().startSession(s.seed(ada, "", false), 0, "fed").get("/auth/account/prove")
	if b.post("/auth/account/prove", "again", "1").want(http.StatusOK); strings.Contains(b.page, "We sent the mail again.") {
		t.Error("the page says that the first mail was sent again")
	}
	s.code()
	b.post("/auth/account/prove", "again", "1").want(http.StatusOK).says("We sent the mail again.")
}

// AT-8: the application changes the address of a user who is about to prove it.
func TestAnAddressThatChangesWhileItIsProvenIsNotProven(t *testing.T) {
	t.Parallel()
	s, f := withFaults(t)
	u := s.seed(ada, "", false)
	b := s.browser().startSession(u, 0, "fed").get("/auth/account/prove").post("/auth/account/prove", "again", "1")
	other := "other@example.com"
	f.onUpdate = func() {
		if _, err := s.store.UpdateUser(t.Context(), u.ID, pintle.UserUpdate{Email: &other}); err != nil {
			t.Error(err)
		}
	}
	b.post("/auth/account/prove", "code", s.code()).want(http.StatusConflict)
	if got := s.user(other); got == nil || !got.EmailVerified.IsZero() {
		t.Errorf("the user is %+v", got)
	}
}

// A mail server that does not answer must not hang the request that has made the change.
func TestEachNoticeThatIsSentInAnyCaseHasATimeLimit(t *testing.T) {
	limited := map[string]bool{}
	var s *site
	s = newSite(t, false, func(_ *pintle.Config, o *account.Options) {
		o.Mail = func(ctx context.Context, m *pintle.Message) error {
			until, has := ctx.Deadline()
			limited[m.Kind] = has && time.Until(until) <= time.Minute
			return s.keepMail(ctx, m)
		}
	})
	s.seed(ada, goodPassword, true)
	b := s.browser().signIn(ada, goodPassword).movesAddress(newAddress)
	s.undoes(s.mailOf("address-changed-undo"))
	b.signIn(ada, newPassword).deletes().signIn(ada, newPassword).post("/auth/account/keep").deletes()
	s.changeState("id-"+ada, func(state *accountstore.State) { state.DeleteAt = time.Now().Add(-time.Second) })
	if n, err := s.accounts.DeleteDue(t.Context()); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	for _, kind := range []string{"address-changed-undo", "address-new", "address-undone", "deletion-planned", "deletion-kept", "deletion-done"} {
		if within, sent := limited[kind]; !sent || !within {
			t.Errorf("%q: sent: %t, within a minute: %t", kind, sent, within)
		}
	}
}

// AT-13, AT-8: the owner resets the password, or an operator bans the user, while the request
// of the thief is under way.
func TestAChangeThatAResetOvertakesIsTakenBack(t *testing.T) {
	t.Parallel()
	for name, overtake := range map[string]func(s *site, u *pintle.User, link string){
		"reset": func(s *site, _ *pintle.User, link string) {
			s.browser().get(link).post("/auth/account/reset", "password", newPassword).isAt("/auth/signin")
		},
		"ban": func(s *site, u *pintle.User, _ string) {
			s.changeState(u.ID, func(state *accountstore.State) { state.BannedUntil = accountstore.Forever })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, f := withFaults(t)
			u := s.seed(ada, goodPassword, true)
			thief := s.browser().signIn(ada, goodPassword).beginsAddress(newAddress)
			link, reset := s.mailOf("address-confirm"), s.resetLink(ada)
			f.onUse = func() { f.onUse = nil; overtake(s, u, reset) }
			thief.post("/auth/account/address-finish", "code", link.Code).want(http.StatusUnauthorized).isSignedInAs("")
			if s.user(ada) == nil || s.user(newAddress) != nil {
				t.Error("the address has moved")
			}
			if n := s.count(ada, "address-changed-undo") + s.count(newAddress, "address-new"); n != 0 {
				t.Errorf("%d mails tell of a change that was not made", n)
			}
		})
	}
}

// AC-82, AC-5: the answer does not tell whether the new address has an account.
func TestTheAnswerToANewAddressIsTheSameForEveryAddress(t *testing.T) {
	s := newSite(t, false, withGitHub)
	s.seed(ada, goodPassword, true)
	s.seed("bob@example.com", goodPassword, true)
	held := s.seed("held@example.com", "", false)
	s.link(held, "github")
	first := ""
	for i, email := range []string{"free@example.com", "bob@example.com", "held@example.com", ada} {
		b := s.browser().signIn(ada, goodPassword).stay()
		token := b.get("/auth/account/address").token()
		s.mu.Lock()
		before := len(s.mails)
		s.mu.Unlock()
		b.post("/auth/account/address", "csrfToken", token, "email", email)
		shape := strings.Join(append(b.cookieNames(), b.header.Get("Location"), b.page, http.StatusText(b.status)), "\n")
		b.get("/auth/account/address-finish").want(http.StatusOK)
		shape += strings.NewReplacer(email, "ADDRESS", b.token(), "TOKEN").Replace(b.page)
		if i == 0 {
			first = shape
		} else if shape != first {
			t.Errorf("%s is answered by\n%s\nwant\n%s", email, shape, first)
		}
		s.mu.Lock()
		var to []string
		for _, m := range s.mails[before:] {
			to = append(to, m.Kind+" to "+m.To)
		}
		s.mu.Unlock()
		want := map[string]string{
			"free@example.com": "address-confirm to free@example.com, address-asked to " + ada,
			"held@example.com": "address-confirm to held@example.com, address-asked to " + ada,
			"bob@example.com":  "address-taken to bob@example.com, address-asked to " + ada,
		}[email]
		if got := strings.Join(to, ", "); got != want {
			t.Errorf("%s: the mails are %q, want %q", email, got, want)
		}
		b.post("/auth/account/address-finish", "code", "1234 5678").want(http.StatusUnprocessableEntity)
		b.stays = false
	}
	if strings.Contains(s.mailOf("address-taken").Text, "token=") || s.mailOf("address-taken").URL != "" {
		t.Error("the note to a user has a link")
	}
}

// AC-82, AC-83, AC-60: a user who has not proven the address loses it, and a session of that
// user ends.
func TestAnUnprovenHolderLosesTheAddress(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens, withGitHub)
		s.seed(ada, goodPassword, true)
		held := s.seed("held@example.com", "", false)
		s.link(held, "github")
		holder := s.browser().startSession(held, 0, "fed").isSignedInAs("held@example.com")
		s.browser().signIn(ada, goodPassword).movesAddress("held@example.com").isSignedInAs("held@example.com")
		holder.isSignedInAs("")
		got, err := s.store.User(t.Context(), held.ID)
		if err != nil || got.Email != "" || s.state(held).Must != "know-address-lost" {
			t.Errorf("the holder is %+v, must %q, %v", got, s.state(held).Must, err)
		}
	})
}

// AC-83: taken meanwhile.
func TestAnAddressThatWasTakenMeanwhileIsRefused(t *testing.T) {
	s := newSite(t, false)
	s.seed(ada, goodPassword, true)
	b := s.browser().signIn(ada, goodPassword).beginsAddress(newAddress)
	link := s.mailOf("address-confirm")
	s.seed(newAddress, goodPassword, true)
	b.post("/auth/account/address-finish", "code", link.Code).want(http.StatusConflict).isSignedInAs(ada)
	if answer := b.postJSON("/auth/account/address-finish", map[string]any{"code": link.Code}); answer["error"] != "address_taken" {
		t.Errorf("the answer is %v", answer)
	}
	if s.user(ada) == nil {
		t.Error("the user has lost the address")
	}
	if e := s.everything(accountstore.ActivityQuery{Kind: "address_change_taken", UserID: s.user(ada).ID}); len(e) == 0 || e[0].Outcome != "refused" {
		t.Errorf("the record is %+v", e)
	}
}

// AT-43: changes and a sign-up want one address at the same moment.
func TestOfSeveralWhoWantAnAddressOneGetsIt(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens)
		const wanted = "wanted@example.com"
		var all []*browser
		var fields [][]string
		for _, email := range []string{"a@example.com", "b@example.com", "c@example.com"} {
			s.seed(email, goodPassword, true)
			b := s.browser().signIn(email, goodPassword).beginsAddress(wanted)
			all, fields = append(all, b), append(fields, []string{"/auth/account/address-finish", "code", s.mailOf("address-confirm").Code})
		}
		newcomer := s.browser().signUp(wanted)
		newcomer.post("/auth/account/sign-up-sent", "code", s.code()).isAt("/auth/account/sign-up-finish")
		all, fields = append(all, newcomer), append(fields, []string{"/auth/account/sign-up-finish", "password", goodPassword})
		var wg sync.WaitGroup
		for i, b := range all {
			token := b.token()
			wg.Go(func() { b.postQuietly(fields[i][0], token, fields[i][1:]...) })
		}
		wg.Wait()
		moved := 0
		for _, email := range []string{"a@example.com", "b@example.com", "c@example.com"} {
			if s.user(email) == nil {
				moved++
			}
		}
		owner := s.user(wanted)
		if owner == nil {
			t.Fatal("no user has the address")
		}
		if isNew := !strings.HasPrefix(owner.ID, "id-"); isNew != (moved == 0) || moved > 1 {
			t.Errorf("%d users have moved, and %s has the address", moved, owner.ID)
		}
	})
}

// AT-44: no rule for sign-ups weakens the change, and no domain that they refuse is entered.
func TestNoRuleForSignUpsWeakensTheChangeOfAnAddress(t *testing.T) {
	for name, rules := range map[string]account.SignUp{
		"open": {}, "closed": {Closed: true},
		"some": {Allow: func(_ context.Context, address string) error {
			if strings.HasSuffix(address, "@evil.example") {
				return errors.New("not this domain")
			}
			return nil
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, false, func(_ *pintle.Config, o *account.Options) { o.SignUp = rules })
			s.seed(ada, goodPassword, true)
			b := s.browser().signIn(ada, goodPassword)
			if rules.Allow != nil {
				b.beginsAddress("ada@evil.example").want(http.StatusForbidden).says("not possible")
			}
			b.beginsAddress(newAddress)
			if s.user(newAddress) != nil {
				t.Fatal("the address has moved before it was proven")
			}
			stranger := s.browser().get(s.mailOf("address-confirm").URL).isAt("/auth/signin")
			stranger.post("/auth/account/address-finish").want(http.StatusUnauthorized)
			b.post("/auth/account/address-finish", "code", s.mailOf("address-confirm").Code).isSignedInAs(newAddress)
		})
	}
}

// AC-82: a mistyped change does not stand in the way of the next.
func TestANewChangeEndsTheOneThatWaits(t *testing.T) {
	s := newSite(t, false)
	s.seed(ada, goodPassword, true)
	b := s.browser().signIn(ada, goodPassword)
	b.beginsAddress("typo@example.com")
	typo := s.mailOf("address-confirm")
	b.beginsAddress(newAddress)
	s.browser().signIn(ada, goodPassword).get(typo.URL).want(http.StatusGone)
	b.post("/auth/account/address-finish", "code", s.mailOf("address-confirm").Code).isSignedInAs(newAddress)
	b.beginsAddress("third@example.com")
	third := s.mailOf("address-confirm")
	b.get("/auth/account").post("/auth/account/address-cancel").says("stays as it is")
	b.get(third.URL).want(http.StatusGone)
	b.get("/auth/account/address-finish").want(http.StatusForbidden)
}

// AC-82: a thief who begins changes again and again cannot hold back the mails that matter.
func TestNoFloodHoldsTheMailWithTheUndoLinkBack(t *testing.T) {
	s := newSite(t, false)
	u := s.seed(ada, goodPassword, true)
	r := s.browser().request(http.MethodPost, "/auth/account/address", http.NoBody)
	for range 30 {
		account.Notify(s.accounts, r, u, "address-asked", "x")
		account.Notify(s.accounts, r, u, "recovery-made", "")
	}
	if n := s.count(ada, "address-asked"); n != 5 {
		t.Errorf("%d notices of a change that begins were sent, want 5", n)
	}
	s.browser().signIn(ada, goodPassword).movesAddress(newAddress)
	if s.count(ada, "address-changed-undo") != 1 || s.count(newAddress, "address-new") != 1 {
		t.Error("the mails about the change were held back")
	}
}

// 6.2: the browser that has begun a change sees the new address, and no other user does.
func TestABrowserThatChangesTheAddressSeesTheNewOne(t *testing.T) {
	s := newSite(t, false)
	s.seed(ada, goodPassword, true)
	s.seed(bob, goodPassword, true)
	b := s.browser().signIn(ada, goodPassword).beginsAddress(newAddress)
	if pending := b.asJSON("/auth/account/me")["pending"]; !equalJSON(pending, map[string]any{"addressChange": true, "address": newAddress}) {
		t.Errorf("what waits is %v", pending)
	}
	other := s.browser().signIn(ada, goodPassword).asJSON("/auth/account/me")["pending"]
	if !equalJSON(other, map[string]any{"addressChange": true}) {
		t.Errorf("in another browser of the user %v waits", other)
	}
	s.browser().signIn(bob, goodPassword).beginsAddress("bob@elsewhere.example.com")
	b.signIn(bob, goodPassword) // which keeps the cookie of the change of Ada
	if pending := b.asJSON("/auth/account/me")["pending"]; !equalJSON(pending, map[string]any{"addressChange": true}) {
		t.Errorf("another user in the browser sees %v", pending)
	}
}
