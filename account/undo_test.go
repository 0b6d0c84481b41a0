package account_test

import (
	"context"
	"encoding/base64"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/store/memstore"
)

// undoes opens the link of a change in a new browser, and takes the account back.
func (s *site) undoes(m *pintle.Message, pairs ...string) *browser {
	s.t.Helper()
	b := s.browser().get(m.URL).isAt("/auth/account/address-undo").want(http.StatusOK)
	return b.post("/auth/account/address-undo", append([]string{"password", newPassword}, pairs...)...)
}

// ages makes everything that a user has older, and the times at which accounts were linked.
func (s *site) ages(u *pintle.User, by time.Duration) {
	s.t.Helper()
	rows, err := s.rows.Factors(s.t.Context(), u.ID)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, row := range rows {
		if row.Kind == "password" {
			continue
		}
		if err := s.rows.DeleteFactor(s.t.Context(), u.ID, row.Kind, row.ID); err != nil {
			s.t.Fatal(err)
		}
		row.Created = row.Created.Add(-by)
		if err := s.rows.AddFactor(s.t.Context(), row); err != nil {
			s.t.Fatal(err)
		}
	}
}

// AT-40, AT-45, AC-86: the thief has the session and the password of the user.
func TestTheLinkToTheOldAddressGivesTheAccountBack(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens, withGitHub, withPasskeys(&echo{}))
		u := s.seed(ada, goodPassword, true)
		s.link(u, "github")
		stale := s.browser().startSession(u, time.Hour, "pwd").get("/auth/account/address").isAt("/auth/account/confirm")
		stale.post("/auth/account/address", "email", newAddress).want(http.StatusForbidden)

		thief := s.browser().signIn(ada, goodPassword).beginsAddress(newAddress)
		id := s.passkey(u) // is added before the address moves
		s.noteLinked(u, "passkey", id)
		thief.post("/auth/account/address-finish", "code", s.mailOf("address-confirm").Code).isSignedInAs(newAddress)
		undo := s.mailOf("address-changed-undo")
		s.app(u)
		s.remember(u)
		s.linked(u, "acme")
		thief.addsDeletion(u)
		// AT-45: no change of the password ends the link.
		s.changesPassword(u, "a password of the thief")

		b := s.undoes(undo).isAt("/auth/signin").says("The change is undone").isSignedInAs("")
		thief.isSignedInAs("")
		if got := s.user(ada); got == nil || got.ID != u.ID || time.Since(got.EmailVerified) > time.Minute || s.user(newAddress) != nil {
			t.Fatalf("the user is %+v", got)
		}
		if got := s.holds(u); got != "password github" {
			t.Errorf("the user has %q, want what there was before the thief came", got)
		}
		if n := s.passkeys(u); n != 0 {
			t.Errorf("the user still has %d passkeys of the thief", n)
		}
		if !s.state(u).DeleteAt.IsZero() {
			t.Error("the deletion that the thief asked for goes on")
		}
		if s.count(ada, "address-undone") != 1 || s.count(newAddress, "address-undone") != 1 {
			t.Error("one of the addresses was not told")
		}
		s.browser().signIn(ada, newPassword).isSignedInAs(ada)
		s.browser().signIn(newAddress, "a password of the thief").isSignedInAs("")
		s.browser().get(undo.URL).want(http.StatusGone)
		b.get("/auth/account/address-undo").want(http.StatusForbidden)
	})
}

// addsDeletion makes the user one who will be deleted.
func (b *browser) addsDeletion(u *pintle.User) {
	b.changeState(u.ID, func(s *accountstore.State) {
		s.DeleteAt = time.Now().Add(24 * time.Hour).UTC().Truncate(time.Millisecond)
	})
}

// changesPassword stores a password as a thief would.
func (s *site) changesPassword(u *pintle.User, chosen string) {
	s.t.Helper()
	row := s.factor(u, "password")
	hash, err := s.hasher.Hash(s.t.Context(), chosen)
	if err != nil {
		s.t.Fatal(err)
	}
	row.Secret, row.Step = hash, time.Now().UnixMilli()
	if err := s.rows.ReplaceFactor(s.t.Context(), row); err != nil {
		s.t.Fatal(err)
	}
}

// linked stores an account, as one that was linked now.
func (s *site) linked(u *pintle.User, provider string) {
	s.t.Helper()
	s.link(u, provider)
	s.noteLinked(u, provider, "1 "+u.ID)
}

func (s *site) noteLinked(u *pintle.User, provider, id string) {
	s.t.Helper()
	r := s.browser().request(http.MethodGet, "/auth/callback/"+provider, http.NoBody)
	account.NoteLinked(s.accounts, r, u.ID, &pintle.Account{Provider: provider, ProviderAccountID: id})
}

// holds are the kinds of the factors of a user, and the providers of the accounts.
func (s *site) holds(u *pintle.User) string {
	s.t.Helper()
	all := s.storedKinds(u)
	accounts, err := s.store.UserAccounts(s.t.Context(), u.ID)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, a := range accounts {
		all += " " + a.Provider
	}
	return all
}

// AT-40: the thief links an account at a provider and adds a passkey as any user does, before and
// after the address moves. What the user linked long ago at the same provider stays.
func TestWhatAThiefLinksAtAProviderGoesWithTheChange(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		idp, withAcme := acme(t)
		s := newSite(t, tokens, withAcme, withPasskeys(&echo{}))
		u := s.seed(ada, goodPassword, true)
		s.link(u, "acme")
		thief := s.browser().signIn(ada, goodPassword)
		links := func(subject string) {
			t.Helper()
			idp.SignInAs(authtest.Person{Subject: subject, Email: "thief@example.com"})
			thief.get("/auth/signin").post("/auth/signin/acme")
		}
		links("thief, before")
		thief.addPasskey("thief, before")
		time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second))) // tokens count in seconds: see untilNextSecond
		thief.startSession(u, 0, "pwd", "otp").beginsAddress(newAddress)
		thief.get("/auth/account/address-finish").post("/auth/account/address-finish", "code", s.mailOf("address-confirm").Code).isSignedInAs(newAddress)
		thief.startSession(s.user(newAddress), 0, "pwd", "otp")
		links("thief, after")
		thief.startSession(s.user(newAddress), 0, "pwd", "otp").addPasskey("thief, after")
		if got := s.holds(u); got != "password acme acme passkey acme passkey" {
			t.Fatalf("the user has %q: the thief could not link", got)
		}
		s.undoes(s.mailOf("address-changed-undo")).isAt("/auth/signin").says("The change is undone")
		accounts, err := s.store.UserAccounts(t.Context(), u.ID)
		s.done(err)
		if n := s.passkeys(u); n != 0 {
			t.Errorf("the user still has %d passkeys of the thief", n)
		}
		if len(accounts) != 1 || accounts[0].ProviderAccountID != "1 "+u.ID {
			t.Errorf("the user has %d accounts, want the one of before the thief came", len(accounts))
		}
	})
}

// AT-40: what a thief adds shortly before the change goes as well.
func TestWhatWasAddedOnTheDayBeforeTheChangeIsRemovedWithIt(t *testing.T) {
	s := newSite(t, false, withGitHub)
	u := s.seed(ada, goodPassword, true)
	s.link(u, "github")
	b := s.browser().signIn(ada, goodPassword)
	s.linked(u, "acme")
	b.movesAddress(newAddress)
	s.undoes(s.mailOf("address-changed-undo")).isAt("/auth/signin")
	if got := s.holds(u); got != "password github" {
		t.Errorf("the user has %q, want what there was two days ago", got)
	}
}

// AT-46
func TestAnOlderSecondFactorIsNeededToUndoAChange(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens)
		u := s.seed(ada, goodPassword, true)
		old := s.app(u)
		s.ages(u, 25*time.Hour)
		s.browser().startSession(u, 0, "pwd", "otp").movesAddress(newAddress)
		undo := s.mailOf("address-changed-undo")
		young := s.app(u) // of the thief
		if b := s.undoes(undo); b.status != http.StatusUnauthorized {
			t.Fatalf("without a code: %d", b.status)
		}
		b := s.browser().get(undo.URL).says("Code of the app")
		if answer := b.postJSON("/auth/account/address-undo", map[string]any{"password": newPassword}); answer["error"] != "second_factor_required" {
			t.Errorf("the answer is %v", answer)
		}
		s.undoes(undo, "code", "000000").want(http.StatusUnprocessableEntity)
		s.undoes(undo, "code", young()).want(http.StatusUnprocessableEntity)
		if s.user(ada) != nil {
			t.Fatal("the address is back without the code")
		}
		s.undoes(undo, "code", old()).isAt("/auth/signin")
		if apps, _ := s.apps(u); apps != 1 || s.user(ada) == nil {
			t.Errorf("the user has %d apps, and the address is back: %t", apps, s.user(ada) != nil)
		}
	})
}

// AT-46: a mailbox that has another owner by now does not take the account of a user who has an
// older passkey and no app. An operator can remove the passkey.
func TestAnOlderPasskeyKeepsTheOldMailboxFromUndoingAChange(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens, withPasskeys(&echo{}))
		u := s.seed(ada, goodPassword, true)
		id := base64.StdEncoding.EncodeToString([]byte("older"))
		s.done(s.store.LinkAccount(t.Context(), &pintle.Account{UserID: u.ID, Type: pintle.TypeWebAuthn, Provider: "passkey", ProviderAccountID: id}))
		s.done(s.store.CreatePasskey(t.Context(), &pintle.Passkey{
			CredentialID: id, ProviderAccountID: id, UserID: u.ID, DeviceType: "singleDevice", Created: time.Now().Add(-8 * 24 * time.Hour),
		}))
		s.browser().startSession(u, 0, "pwd", "otp").movesAddress(newAddress)
		undo := s.mailOf("address-changed-undo")
		s.undoes(undo).want(http.StatusUnauthorized)
		if s.user(ada) != nil || s.passwordIs(newAddress, newPassword) || s.passkeys(u) != 1 {
			t.Error("the mailbox alone has taken the account")
		}
		ops, ctx := s.operators()
		s.done(ops.RemovePasskeys(ctx, u.ID))
		s.undoes(undo).isAt("/auth/signin")
		if s.user(ada) == nil {
			t.Error("the address is not back")
		}
	})
}

// AT-52: a thief who knows the password types wrong codes for as long as the link works.
func TestAThiefWhoUsesUpTheCodesOfAUserDoesNotKeepTheOwnerFromUndoing(t *testing.T) {
	s := newSite(t, false)
	u := s.seed(ada, goodPassword, true)
	old := s.app(u)
	s.ages(u, 25*time.Hour)
	s.browser().startSession(u, 0, "pwd", "otp").movesAddress(newAddress)
	s.fail(u, 100)
	s.changeState(u.ID, func(state *accountstore.State) { state.Suspended = true })
	for range 10 {
		if _, err := s.rows.CountFailure(t.Context(), u.ID, time.Now(), 15*time.Minute, 10); err != nil {
			t.Fatal(err)
		}
	}
	s.undoes(s.mailOf("address-changed-undo"), "code", old()).isAt("/auth/signin").says("The change is undone")
	if state := s.state(u); state.Suspended || state.Streak != 0 {
		t.Errorf("the codes of the user are still suspended: %+v", state)
	}
}

// AT-52: another person has the old mailbox by now.
func TestAReaderOfTheOldMailboxHasFewCodesAndSuspendsNone(t *testing.T) {
	s := newSite(t, false)
	u := s.seed(ada, goodPassword, true)
	old := s.app(u)
	s.ages(u, 25*time.Hour)
	s.browser().startSession(u, 0, "pwd", "otp").movesAddress(newAddress)
	undo := s.mailOf("address-changed-undo")
	for range 20 {
		s.undoes(undo, "code", "000000").want(http.StatusUnprocessableEntity)
	}
	s.undoes(undo, "code", "000000").want(http.StatusTooManyRequests)
	if state := s.state(u); state.Suspended || state.Streak != 0 {
		t.Errorf("the codes of the user are suspended: %+v", state)
	}
	if n, err := s.rows.CountFailure(t.Context(), u.ID, time.Now(), 15*time.Minute, 0); err != nil || n.Recent != 0 {
		t.Errorf("%d wrong codes are counted for the user, %v", n.Recent, err)
	}
	s.undoes(undo, "code", old()).want(http.StatusTooManyRequests)
	s.browser().signIn(newAddress, goodPassword).post(secondFactor, "code", old()).isSignedInAs(newAddress)
}

// AC-86, AC-90: what is due is deleted, whatever a link to undo a change does meanwhile.
func TestAnUndoingDoesNotReviveAUserWhoIsBeingDeleted(t *testing.T) {
	fails := true
	f := &fault{}
	s := newSite(t, false, func(c *pintle.Config, o *account.Options) {
		c.Store = faultyStore{c.Store, f}
		o.Deletion.Delete = func(context.Context, *pintle.User) error {
			if fails {
				return errFault
			}
			return nil
		}
	})
	u := s.seed(ada, goodPassword, true)
	s.browser().signIn(ada, goodPassword).movesAddress(newAddress)
	owner := s.browser().get(s.mailOf("address-changed-undo").URL).want(http.StatusOK)
	f.onUpdate = func() {
		s.changeState(u.ID, func(state *accountstore.State) { state.DeleteAt = time.Now().Add(-time.Second) })
		if n, err := s.accounts.DeleteDue(t.Context()); n != 0 || err == nil {
			t.Errorf("DeleteDue with a callback that fails: %d, %v", n, err)
		}
	}
	owner.post("/auth/account/address-undo", "password", newPassword)
	fails = false
	if n, err := s.accounts.DeleteDue(t.Context()); n != 1 || err != nil || s.user(ada) != nil {
		t.Errorf("DeleteDue: %d, %v", n, err)
	}
}

// AC-86, AC-90
func TestAChangeOfAUserWhoIsDueIsNotUndone(t *testing.T) {
	s := newSite(t, false)
	u := s.seed(ada, goodPassword, true)
	s.browser().signIn(ada, goodPassword).movesAddress(newAddress)
	s.changeState(u.ID, func(state *accountstore.State) { state.DeleteAt = time.Now().Add(-time.Second) })
	s.browser().get(s.mailOf("address-changed-undo").URL).want(http.StatusGone)
	if s.state(u).DeleteAt.IsZero() {
		t.Error("the deletion is taken back")
	}
}

// AT-46: a factor that a thief has added just before is not asked for, and goes.
func TestAYoungerSecondFactorIsNotAskedForAndGoes(t *testing.T) {
	s := newSite(t, false)
	u := s.seed(ada, goodPassword, true)
	s.app(u) // an hour old
	if _, err := s.accounts.GiveRecoveryCodes(t.Context(), u.ID); err != nil {
		t.Fatal(err)
	}
	s.browser().startSession(u, 0, "pwd", "otp").movesAddress(newAddress)
	s.undoes(s.mailOf("address-changed-undo")).isAt("/auth/signin")
	s.wantNoApp(u)
}

// AC-86, section 3.2: a thief moves the address twice, and tries to undo the undoing.
func TestUndoingAChangeEndsThoseAfterIt(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens)
		s.seed(ada, goodPassword, true)
		b := s.browser().signIn(ada, goodPassword).movesAddress(newAddress)
		first := s.mailOf("address-changed-undo")
		b.movesAddress("third@example.com")
		second := s.mailOf("address-changed-undo")
		if second.To != newAddress {
			t.Fatalf("the second link went to %s", second.To)
		}
		third := s.browser().get(second.URL).isAt("/auth/account/address-undo")
		s.undoes(first).isAt("/auth/signin")
		third.post("/auth/account/address-undo", "password", newPassword).want(http.StatusGone)
		s.browser().get(second.URL).post("/auth/account/address-undo", "password", newPassword).want(http.StatusGone)
		if s.user(ada) == nil {
			t.Error("the address is not back")
		}
	})
}

func TestTheLastOfTwoChangesIsUndoneAloneAndThenTheFirst(t *testing.T) {
	s := newSite(t, false)
	s.seed(ada, goodPassword, true)
	b := s.browser().signIn(ada, goodPassword).movesAddress(newAddress)
	first := s.mailOf("address-changed-undo")
	b.movesAddress("third@example.com")
	s.undoes(s.mailOf("address-changed-undo")).isAt("/auth/signin")
	if s.user(newAddress) == nil {
		t.Fatal("the second change is not undone")
	}
	s.undoes(first).isAt("/auth/signin")
	if s.user(ada) == nil {
		t.Error("the first change is not undone")
	}
}

// AC-86: old address taken meanwhile.
func TestAnOldAddressThatAnotherUserHasByNowStaysTheirs(t *testing.T) {
	s := newSite(t, false)
	u := s.seed(ada, goodPassword, true)
	s.browser().signIn(ada, goodPassword).movesAddress(newAddress)
	other, err := s.store.CreateUser(t.Context(), &pintle.User{ID: "other", Email: ada, EmailVerified: time.Now().UTC().Truncate(time.Millisecond)})
	if err != nil {
		t.Fatal(err)
	}
	before := s.fingerprint(u)
	b := s.undoes(s.mailOf("address-changed-undo")).want(http.StatusConflict).says("Another account has this address")
	if s.fingerprint(u) != before || s.user(ada).ID != other.ID {
		t.Error("the account has changed")
	}
	b.get("/auth/account/address-undo").want(http.StatusOK) // an operator may make it free
}

// AC-86: the setting of the application.
func TestAnApplicationSetsHowLongAChangeCanBeUndone(t *testing.T) {
	t.Run("not at all", func(t *testing.T) {
		s := newSite(t, false, func(_ *pintle.Config, o *account.Options) { o.AddressChange.UndoFor = -1 })
		s.seed(ada, goodPassword, true)
		s.browser().signIn(ada, goodPassword).movesAddress(newAddress)
		if m := s.mailOf("address-changed"); m.To != ada || m.Token != "" || strings.Contains(m.Text, "token=") {
			t.Errorf("the notice is %+v", m)
		}
		if s.count(ada, "address-changed-undo") != 0 {
			t.Error("a link was mailed")
		}
	})
	t.Run("seven days", func(t *testing.T) {
		s := newSite(t, false)
		s.seed(ada, goodPassword, true)
		s.browser().signIn(ada, goodPassword).movesAddress(newAddress)
		m := s.mailOf("address-changed-undo")
		if left := time.Until(m.Expires); left < 7*24*time.Hour-time.Minute || left > 7*24*time.Hour {
			t.Errorf("the link works for %v", left)
		}
		if _, err := s.store.Sweep(t.Context(), time.Now().Add(6*24*time.Hour), 1000); err != nil {
			t.Fatal(err)
		}
		// The computer may be that of another person: it keeps the link for an hour only.
		opened := s.browser().stay().get(m.URL).want(http.StatusSeeOther)
		if set := strings.Join(opened.header["Set-Cookie"], "\n"); !strings.Contains(set, "pintle.undo=") || !strings.Contains(set, "Max-Age=3600;") {
			t.Errorf("the link sets %q", set)
		}
		s.browser().get(m.URL).want(http.StatusOK)
		s.expire(m.URL)
		s.browser().get(m.URL).want(http.StatusGone)
	})
	t.Run("too long", func(t *testing.T) {
		o := account.Options{Mail: (&site{}).keepMail, AddressChange: account.AddressChange{UndoFor: 31 * 24 * time.Hour}}
		if _, err := pintle.New(pintle.Config{
			Store: memstore.New(), URL: "https://app.example.com", Secrets: []string{strings.Repeat("secret ", 6)}, Accounts: account.New(o),
			Getenv: func(string) string { return "" },
		}); err == nil || !strings.Contains(err.Error(), "UndoFor") {
			t.Errorf("New returned %v", err)
		}
	})
}

// AT-46, AT-4: a program that opens the links of the mails, and presses buttons.
func TestAScannerNeitherChangesAnAddressNorUndoesIt(t *testing.T) {
	s := newSite(t, false)
	s.seed(ada, goodPassword, true)
	b := s.browser().signIn(ada, goodPassword).beginsAddress(newAddress)
	scanAll := func() {
		t.Helper()
		s.mu.Lock()
		mails := slices.Clone(s.mails)
		s.mu.Unlock()
		before := s.stored(ada, newAddress)
		for _, m := range mails {
			s.scan(m)
		}
		if after := s.stored(ada, newAddress); after != before {
			t.Errorf("the scanner changed\n%s\nto\n%s", before, after)
		}
	}
	scanAll()
	b.post("/auth/account/address-finish", "code", s.mailOf("address-confirm").Code).isSignedInAs(newAddress)
	scanAll()
	b.isSignedInAs(newAddress)
	s.undoes(s.mailOf("address-changed-undo")).isAt("/auth/signin")
}

// AT-3: of several requests with one link one sets its password.
func TestOfSeveralRequestsWithOneUndoLinkOneSetsThePassword(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens)
		s.seed(ada, goodPassword, true)
		s.browser().signIn(ada, goodPassword).movesAddress(newAddress)
		link := s.mailOf("address-changed-undo").URL
		var all []*browser
		var wg sync.WaitGroup
		for i := range 8 {
			b := s.browser().get(link)
			all = append(all, b)
			token := b.token()
			wg.Go(func() {
				b.postQuietly("/auth/account/address-undo", token, "password", strings.Repeat("x", i)+"a password of many")
			})
		}
		wg.Wait()
		won := -1
		for i, b := range all {
			if b.status == http.StatusSeeOther {
				if won >= 0 {
					t.Errorf("requests %d and %d have undone the change", won, i)
				}
				won = i
			}
		}
		if won < 0 || s.user(ada) == nil {
			t.Fatalf("no request has undone the change")
		}
		if !s.passwordIs(ada, strings.Repeat("x", won)+"a password of many") {
			t.Error("the password is not that of the request that was done")
		}
	})
}

// AT-7: whichever call of the store fails, the link works afterwards, or the owner has the
// address and can reset the password.
func TestAnUndoingThatBreaksOffCanGoOn(t *testing.T) {
	t.Parallel()
	for n := 1; ; n++ {
		s, f := withFaults(t)
		u := s.seed(ada, goodPassword, true)
		thief := s.browser().signIn(ada, goodPassword).movesAddress(newAddress)
		s.app(u)
		undo := s.mailOf("address-changed-undo")
		b := s.browser().get(undo.URL)
		token := b.token()
		f.arm(n)
		b.post("/auth/account/address-undo", "csrfToken", token, "password", newPassword)
		hit := f.hit.Load()
		f.arm(-1)
		undone := s.user(ada) != nil && s.passwordIs(ada, newPassword)
		if told := s.count(ada, "address-undone"); undone != (told == 1) {
			t.Errorf("call %d fails: undone: %t, and %d mails tell of it", n, undone, told)
		}
		if s.user(ada) == nil {
			s.undoes(undo).isAt("/auth/signin")
		} else if !s.passwordIs(ada, newPassword) {
			if again := s.browser().get(undo.URL); again.status == http.StatusOK {
				again.post("/auth/account/address-undo", "password", newPassword).isAt("/auth/signin")
			} else {
				s.browser().get(s.resetLink(ada)).post("/auth/account/reset", "password", newPassword).isAt("/auth/signin")
			}
		}
		thief.isSignedInAs("")
		s.wantNoApp(u)
		if s.user(ada) == nil || !s.passwordIs(ada, newPassword) {
			t.Fatalf("call %d fails: the owner has not got the account back", n)
		}
		if !hit {
			if n < 15 {
				t.Errorf("the undoing took %d calls", n)
			}
			return
		}
	}
}

// AT-7, AC-85: whichever call of the store fails, no session of before lives on beside a new
// address, and the change can begin again. If the address has moved, the mail to the old one
// gives the account back.
func TestAChangeOfAddressThatBreaksOffCanBeginAgain(t *testing.T) {
	for name, way := range map[string]func(*fault){
		"one call fails":                                  func(*fault) {},
		"the store fails from a call on":                  func(f *fault) { f.lasts = true },
		"the answer to an update gets lost":               func(f *fault) { f.late = true },
		"the answer is lost, and no user had the address": func(f *fault) { f.late = true },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for n := 1; ; n++ {
				s, f := withFaults(t)
				way(f)
				s.seed(ada, goodPassword, true)
				if !strings.Contains(name, "no user had") {
					if _, err := s.store.CreateUser(t.Context(), &pintle.User{ID: "holder", Email: newAddress}); err != nil {
						t.Fatal(err)
					}
				}
				other := s.browser().signIn(ada, goodPassword)
				b := s.browser().signIn(ada, goodPassword).beginsAddress(newAddress)
				code, token := s.mailOf("address-confirm").Code, b.token()
				f.arm(n)
				b.stay().post("/auth/account/address-finish", "csrfToken", token, "code", code)
				hit := f.hit.Load()
				f.arm(-1)
				if strings.Contains(s.log(), "function=SignOutEverywhere") && b.status < 400 {
					t.Errorf("call %d fails: sessions have not ended, and the answer is %d", n, b.status)
				}
				if s.user(ada) != nil {
					s.browser().signIn(ada, goodPassword).movesAddress(newAddress)
				}
				other.isSignedInAs("")
				s.browser().signIn(newAddress, goodPassword).isSignedInAs(newAddress)
				if old, now := s.count(ada, "address-changed-undo"), s.count(newAddress, "address-new"); old != 1 || now != 1 {
					t.Fatalf("call %d fails: the old address has %d mails, and the new one %d", n, old, now)
				}
				s.undoes(s.mailOf("address-changed-undo")).isAt("/auth/signin")
				if s.user(ada) == nil {
					t.Fatalf("call %d fails: the owner has not got the account back", n)
				}
				if !hit {
					return
				}
			}
		})
	}
}

// AT-7, AC-34, AC-85: a reset overtakes the change, and the address cannot move back, whichever
// call of the store fails.
func TestAnAddressThatDoesNotMoveBackAfterAResetCanBeMovedBackByTheMail(t *testing.T) {
	t.Parallel()
	stayed := false
	for n := 1; ; n++ {
		s, f := withFaults(t)
		s.seed(ada, goodPassword, true)
		thief := s.browser().signIn(ada, goodPassword).beginsAddress(newAddress)
		code := s.mailOf("address-confirm").Code
		f.onUpdate = func() {
			s.browser().get(s.resetLink(ada)).post("/auth/account/reset", "password", newPassword).isAt("/auth/signin")
			f.arm(n)
		}
		thief.post("/auth/account/address-finish", "code", code)
		hit := f.hit.Load()
		f.arm(-1)
		if s.user(ada) == nil {
			stayed = true
			s.undoes(s.mailOf("address-changed-undo")).isAt("/auth/signin")
		} else if s.count(ada, "address-changed-undo")+s.count(newAddress, "address-new") != 0 {
			t.Errorf("call %d fails: mails tell of a change that was not made", n)
		}
		thief.isSignedInAs("")
		s.browser().signIn(ada, newPassword).isSignedInAs(ada)
		if !hit {
			break
		}
	}
	if !stayed {
		t.Error("the address has moved back after each fault")
	}
}

// AT-43, AT-45: the owner undoes the first change while a thief finishes a second one.
func TestAChangeThatIsUndoneMeanwhileDoesNotMoveTheAddressOn(t *testing.T) {
	t.Parallel()
	s, f := withFaults(t)
	s.seed(ada, goodPassword, true)
	thief := s.browser().signIn(ada, goodPassword).movesAddress(newAddress)
	first := s.mailOf("address-changed-undo")
	thief.beginsAddress("third@example.com")
	f.onUpdate = func() { s.undoes(first).isAt("/auth/signin") }
	thief.post("/auth/account/address-finish", "code", s.mailOf("address-confirm").Code)
	if thief.status < 400 || s.user(ada) == nil || s.user("third@example.com") != nil {
		t.Errorf("the thief is answered %d, and the owner has the address: %t", thief.status, s.user(ada) != nil)
	}
	thief.isSignedInAs("")
	if n := s.count("third@example.com", "address-new"); n != 0 {
		t.Errorf("%d mails tell of a change that was not made", n)
	}
}

// AT-7, AT-45: whichever call of the store fails, a thief does not undo an undoing that has
// moved the address.
func TestAnUndoingThatBreaksOffIsNotUndoneByALaterLink(t *testing.T) {
	t.Parallel()
	for n := 1; ; n++ {
		s, f := withFaults(t)
		s.seed(ada, goodPassword, true)
		b := s.browser().signIn(ada, goodPassword).movesAddress(newAddress)
		first := s.mailOf("address-changed-undo")
		b.movesAddress("third@example.com")
		second := s.mailOf("address-changed-undo")
		owner := s.browser().get(first.URL)
		token := owner.token()
		f.arm(n)
		owner.post("/auth/account/address-undo", "csrfToken", token, "password", newPassword)
		hit := f.hit.Load()
		f.arm(-1)
		if s.user(ada) != nil {
			s.browser().get(second.URL).post("/auth/account/address-undo", "password", "a password of the thief").want(http.StatusGone)
			if s.user(ada) == nil {
				t.Fatalf("call %d fails: the thief has the address", n)
			}
		}
		if !hit {
			return
		}
	}
}
