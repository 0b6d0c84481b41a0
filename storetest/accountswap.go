package storetest

import (
	"strings"

	"github.com/pintleauth/pintle"
)

var accountSwapChecks = []check{
	{"tokens are swapped if the refresh token is the expected one, and nothing else changes", func(t *tester) {
		s := t.swapper()
		u, other := t.someone(), t.someone()
		a, untouched := t.link(newAccount(u.ID)), t.link(newAccount(other.ID))
		change := newTokens(a)
		change.UserID, change.Type, change.VerifiedEmail = other.ID, pintle.TypeOAuth, "another@example.org"
		change.ExpiresAt = 1700000000
		t.ok("SwapAccount", s.SwapAccount(t.ctx, change, a.RefreshToken))
		want := *change
		want.UserID, want.Type = u.ID, a.Type
		found := t.storedAccount(a)
		t.same("Account", describedAccount(found), describedAccount(&want))
		if !t.has(AuthJSAccounts) {
			t.same("VerifiedEmail", found.VerifiedEmail, a.VerifiedEmail)
		}
		t.owner(a, u)
		t.same("another account", describedAccount(t.storedAccount(untouched)), describedAccount(untouched))
	}},
	{"RPX-76 tokens are not swapped if the refresh token is another, and nothing changes", func(t *tester) {
		s := t.swapper()
		a := newAccount(t.someone().ID)
		a.RefreshToken = "Refresh-é." + unique()
		t.link(a)
		for what, old := range map[string]string{
			"another":               "refresh " + unique(),
			"none":                  "",
			"one in small letters":  strings.ToLower(a.RefreshToken),
			"one without an accent": strings.Replace(a.RefreshToken, "é", "e", 1),
			"one with a space":      a.RefreshToken + " ",
			"the beginning of it":   a.RefreshToken[:len(a.RefreshToken)-1],
			"a pattern":             "%",
			"no text":               a.RefreshToken + "\xff",
			"one with a NUL":        a.RefreshToken + "\x00",
		} {
			t.conflict("SwapAccount that expects "+what, s.SwapAccount(t.ctx, newTokens(a), old))
		}
		t.same("Account", describedAccount(t.storedAccount(a)), describedAccount(a))
	}},
	{"an account without a refresh token is expected by an empty text", func(t *tester) {
		s := t.swapper()
		a := newAccount(t.someone().ID)
		a.RefreshToken = ""
		t.link(a)
		t.conflict("SwapAccount that expects a token", s.SwapAccount(t.ctx, newTokens(a), "refresh"))
		given := newTokens(a)
		t.ok("SwapAccount that expects none", s.SwapAccount(t.ctx, given, ""))
		t.conflict("SwapAccount that expects none, once more", s.SwapAccount(t.ctx, newTokens(a), ""))
		taken := newTokens(a)
		taken.RefreshToken = ""
		t.ok("SwapAccount that takes the token away", s.SwapAccount(t.ctx, taken, given.RefreshToken))
		t.ok("SwapAccount that expects none again", s.SwapAccount(t.ctx, given, ""))
		t.same("RefreshToken", t.storedAccount(a).RefreshToken, given.RefreshToken)
	}},
	{"a refresh token that stays is expected again", func(t *tester) {
		s := t.swapper()
		a := t.link(newAccount(t.someone().ID))
		for range 2 {
			change := newTokens(a)
			change.RefreshToken = a.RefreshToken
			t.ok("SwapAccount", s.SwapAccount(t.ctx, change, a.RefreshToken))
			t.same("AccessToken", t.storedAccount(a).AccessToken, change.AccessToken)
			t.ok("SwapAccount to what is there", s.SwapAccount(t.ctx, change, a.RefreshToken))
		}
	}},
	{"a refresh token of 4 KB is compared to its end", func(t *tester) {
		t.limited(NarrowColumns)
		s := t.swapper()
		a := newAccount(t.someone().ID)
		a.RefreshToken = strings.Repeat("refresh.", 512)
		t.link(a)
		t.conflict("SwapAccount that expects another end", s.SwapAccount(t.ctx, newTokens(a), a.RefreshToken[:4095]+"!"))
		t.ok("SwapAccount", s.SwapAccount(t.ctx, newTokens(a), a.RefreshToken))
	}},
	{"the tokens of an account that does not exist are not found, and none is created", func(t *tester) {
		s := t.swapper()
		a := newAccount(t.someone().ID)
		for _, old := range []string{"", a.RefreshToken} {
			t.notFound("SwapAccount", s.SwapAccount(t.ctx, a, old))
		}
		t.noOwner(a.Provider, a.ProviderAccountID)
	}},
	{"RPX-76 of 64 who swap the tokens of an account one does", func(t *tester) {
		s := t.swapper()
		for range rounds {
			a := t.link(newAccount(t.someone().ID))
			changes := make([]*pintle.Account, writers)
			for i := range changes {
				changes[i] = newTokens(a)
			}
			winner := t.oneWinner("SwapAccount", pintle.ErrConflict, race(func(i int) error {
				return s.SwapAccount(t.ctx, changes[i], a.RefreshToken)
			}))
			t.same("Account", describedAccount(t.storedAccount(a)), describedAccount(changes[winner]))
		}
	}},
}

func (t *tester) swapper() pintle.Store {
	t.Helper()
	return t.needs(t.can.AccountSwap, "AccountSwap")
}

// newTokens returns an account with other tokens.
func newTokens(of *pintle.Account) *pintle.Account {
	a := newAccount(of.UserID)
	a.Type, a.Provider, a.ProviderAccountID = of.Type, of.Provider, of.ProviderAccountID
	return a
}

// storedAccount returns an account as the store has it.
func (t *tester) storedAccount(a *pintle.Account) *pintle.Account {
	t.Helper()
	found, err := t.store.Account(t.ctx, a.Provider, a.ProviderAccountID)
	t.ok("Account", err)
	return found
}
