package storetest

import (
	"encoding/json"
	"strings"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/uuid"
)

var accountsChecks = []check{
	{"9, 18 an account reads back as it was linked", func(t *tester) {
		s := t.accounts()
		a, other := t.link(newAccount(t.someone().ID)), t.link(newAccount(t.someone().ID))
		for _, want := range []*pintle.Account{a, other} {
			found, err := s.Account(t.ctx, want.Provider, want.ProviderAccountID)
			t.ok("Account", err)
			t.same("Account", describedAccount(found), describedAccount(want))
		}
	}},
	{"18 an account of which only the owner is known reads back so", func(t *tester) {
		s := t.accounts()
		a := t.link(&pintle.Account{UserID: t.someone().ID, Type: pintle.TypeWebAuthn, Provider: "auth0", ProviderAccountID: unique()})
		found, err := s.Account(t.ctx, a.Provider, a.ProviderAccountID)
		t.ok("Account", err)
		t.same("Account", describedAccount(found), describedAccount(a))
	}},
	{"18 an unknown account is not found", func(t *tester) {
		s := t.accounts()
		a := t.link(newAccount(t.someone().ID))
		for _, pair := range [][2]string{{unique(), unique()}, {unique(), a.ProviderAccountID}, {a.Provider, unique()}} {
			_, err := s.Account(t.ctx, pair[0], pair[1])
			t.notFound("Account("+pair[0]+", "+pair[1]+")", err)
		}
	}},
	{"tokens of 4 KB survive", func(t *tester) {
		t.limited(NarrowColumns)
		s := t.accounts()
		a := newAccount(t.someone().ID)
		a.AccessToken = strings.Repeat("access+/", 512)
		a.RefreshToken = strings.Repeat("refresh.", 512)
		a.IDToken = strings.Repeat("header.payload.s", 512)
		a.Scope = strings.Repeat("https://example.org/scope ", 40)
		t.link(a)
		found, err := s.Account(t.ctx, a.Provider, a.ProviderAccountID)
		t.ok("Account", err)
		t.same("Account", describedAccount(found), describedAccount(a))
	}},
	{"a token may expire after 2038", func(t *tester) {
		t.limited(NarrowColumns)
		s := t.accounts()
		a := newAccount(t.someone().ID)
		a.ExpiresAt = 4102444800
		t.link(a)
		found, err := s.Account(t.ctx, a.Provider, a.ProviderAccountID)
		t.ok("Account", err)
		t.same("Account", describedAccount(found), describedAccount(a))
	}},
	{"OAuth 1.0a tokens and further members are kept where there is room", func(t *tester) {
		s := t.accounts()
		a := newAccount(t.someone().ID)
		a.OAuthToken, a.OAuthTokenSecret = "token "+unique(), "secret "+unique()
		a.Extra = map[string]any{"refresh_token_expires_in": json.Number("15897600"), "scopes": []any{"a", "b"}}
		t.link(a)
		found, err := s.Account(t.ctx, a.Provider, a.ProviderAccountID)
		t.ok("Account", err)
		if found.OAuthToken == "" && found.OAuthTokenSecret == "" && len(found.Extra) == 0 {
			t.Skip("the store keeps neither")
		}
		t.same("OAuthToken", found.OAuthToken, a.OAuthToken)
		t.same("OAuthTokenSecret", found.OAuthTokenSecret, a.OAuthTokenSecret)
		if len(found.Extra) > 0 {
			t.same("Extra", jsonText(found.Extra), jsonText(a.Extra))
		}
	}},
	{"the address that the provider had verified is kept, and new tokens leave it", func(t *tester) {
		t.limited(AuthJSAccounts)
		s := t.accounts()
		u := t.someone()
		verified, without := newAccount(u.ID), newAccount(t.someone().ID)
		verified.VerifiedEmail = u.Email
		t.link(verified)
		t.link(without)
		change := newAccount(u.ID)
		change.Provider, change.ProviderAccountID, change.VerifiedEmail = verified.Provider, verified.ProviderAccountID, "another@example.org"
		for range 2 {
			for a, want := range map[*pintle.Account]string{verified: u.Email, without: ""} {
				found, err := s.Account(t.ctx, a.Provider, a.ProviderAccountID)
				t.ok("Account", err)
				t.same("VerifiedEmail", found.VerifiedEmail, want)
				listed, err := s.UserAccounts(t.ctx, a.UserID)
				t.ok("UserAccounts", err)
				for _, one := range listed {
					t.same("VerifiedEmail in the list", one.VerifiedEmail, want)
				}
			}
			t.ok("UpdateAccount", s.UpdateAccount(t.ctx, change))
		}
	}},
	{"session_state may be any value of JSON, or is kept as its text", func(t *tester) {
		s := t.accounts()
		for _, value := range []any{
			"a.b|c", "123", "true", "null", `{"a":1}`, json.Number("9007199254740993"), json.Number("0.5"), true, false,
			[]any{"a", json.Number("1"), nil},
			map[string]any{"id": "x", "é": []any{}},
			nil,
		} {
			a := newAccount(t.someone().ID)
			a.SessionState = value
			t.link(a)
			for range 2 {
				found, err := s.Account(t.ctx, a.Provider, a.ProviderAccountID)
				t.ok("Account", err)
				_, isText := value.(string)
				if isText || value == nil || !t.has(AuthJSAccounts) {
					t.same("SessionState", jsonText(found.SessionState), jsonText(value))
				} else {
					t.same("SessionState as text", jsonText(found.SessionState), jsonText(jsonText(value)))
				}
				t.ok("UpdateAccount", s.UpdateAccount(t.ctx, a))
			}
		}
	}},
	{"an account has an id, which new tokens leave", func(t *tester) {
		s := t.accounts()
		seen := map[string]bool{}
		for range 3 {
			a := t.link(newAccount(t.someone().ID))
			found, err := s.Account(t.ctx, a.Provider, a.ProviderAccountID)
			t.ok("Account", err)
			if found.ID == "" && t.has(AuthJSAccounts) {
				t.Skip("the table has no column for ids")
			}
			if found.ID == "" || seen[found.ID] {
				t.Errorf("an account has the id %q, which is empty or another's", found.ID)
			}
			seen[found.ID] = true
			change := newAccount(a.UserID)
			change.ID, change.Provider, change.ProviderAccountID = "spoiled", a.Provider, a.ProviderAccountID
			t.ok("UpdateAccount", s.UpdateAccount(t.ctx, change))
			listed, err := s.UserAccounts(t.ctx, a.UserID)
			t.ok("UserAccounts", err)
			for _, one := range listed {
				t.same("the id in the list, after UpdateAccount", one.ID, found.ID)
			}
		}
	}},
	{"the accounts of a user are theirs alone", func(t *tester) {
		t.limited(OneAccountEach)
		s := t.accounts()
		u, other := t.someone(), t.someone()
		want := map[string]string{}
		for range 3 {
			a := t.link(newAccount(u.ID))
			want[a.ProviderAccountID] = describedAccount(a)
		}
		t.link(newAccount(other.ID))
		found, err := s.UserAccounts(t.ctx, u.ID)
		t.ok("UserAccounts", err)
		if len(found) != len(want) {
			t.Errorf("UserAccounts returned %d accounts, want %d", len(found), len(want))
		}
		for _, a := range found {
			t.same("UserAccounts", describedAccount(a), want[a.ProviderAccountID])
		}
	}},
	{"a user without accounts has none, nor has an unknown user", func(t *tester) {
		s := t.accounts()
		for _, id := range []string{t.someone().ID, uuid.New(), ""} {
			found, err := s.UserAccounts(t.ctx, id)
			t.ok("UserAccounts", err)
			if len(found) != 0 {
				t.Errorf("UserAccounts(%q) returned %d accounts, want none", id, len(found))
			}
		}
	}},
	{"new tokens replace the old ones and nothing else", func(t *tester) {
		s := t.accounts()
		u, other := t.someone(), t.someone()
		a, untouched := t.link(newAccount(u.ID)), t.link(newAccount(other.ID))
		change := newAccount(other.ID)
		change.Provider, change.ProviderAccountID = a.Provider, a.ProviderAccountID
		change.RefreshToken = ""
		change.ExpiresAt = 1700000000
		t.ok("UpdateAccount", s.UpdateAccount(t.ctx, change))
		want := *change
		want.UserID, want.Type = u.ID, a.Type
		found, err := s.Account(t.ctx, a.Provider, a.ProviderAccountID)
		t.ok("Account", err)
		t.same("Account", describedAccount(found), describedAccount(&want))
		t.owner(a, u)
		found, err = s.Account(t.ctx, untouched.Provider, untouched.ProviderAccountID)
		t.ok("Account", err)
		t.same("another account", describedAccount(found), describedAccount(untouched))
		t.ok("UpdateAccount to what is there", s.UpdateAccount(t.ctx, change))
	}},
	{"an update of an account that does not exist is not found, and creates none", func(t *tester) {
		s := t.accounts()
		a := newAccount(t.someone().ID)
		t.notFound("UpdateAccount", s.UpdateAccount(t.ctx, a))
		t.noOwner(a.Provider, a.ProviderAccountID)
	}},
	{"16 an unlinked account has no owner, and may be linked again", func(t *tester) {
		s := t.accounts()
		u, other := t.someone(), t.someone()
		a, b := t.link(newAccount(u.ID)), t.link(newAccount(other.ID))
		t.ok("UnlinkAccount", s.UnlinkAccount(t.ctx, u.ID, a.Provider, a.ProviderAccountID, nil))
		t.noOwner(a.Provider, a.ProviderAccountID)
		_, err := s.Account(t.ctx, a.Provider, a.ProviderAccountID)
		t.notFound("Account", err)
		left, err := s.UserAccounts(t.ctx, u.ID)
		t.ok("UserAccounts", err)
		if len(left) != 0 {
			t.Errorf("UserAccounts returned %d accounts after the only one was unlinked", len(left))
		}
		t.owner(b, other)
		a.UserID = u.ID
		t.link(a)
		t.owner(a, u)
	}},
	{"only the owner's account is unlinked, and only once", func(t *tester) {
		s := t.accounts()
		u, other := t.someone(), t.someone()
		a := t.link(newAccount(u.ID))
		for _, id := range []string{other.ID, uuid.New(), ""} {
			t.notFound("UnlinkAccount of another's account", s.UnlinkAccount(t.ctx, id, a.Provider, a.ProviderAccountID, nil))
		}
		t.owner(a, u)
		t.ok("UnlinkAccount", s.UnlinkAccount(t.ctx, u.ID, a.Provider, a.ProviderAccountID, nil))
		t.notFound("UnlinkAccount a second time", s.UnlinkAccount(t.ctx, u.ID, a.Provider, a.ProviderAccountID, nil))
	}},
	{"an account is unlinked only if one of those to keep stays with its user", func(t *tester) {
		t.limited(OneAccountEach)
		s := t.accounts()
		u, other := t.someone(), t.someone()
		a, b, c := t.link(newAccount(u.ID)), t.link(newAccount(u.ID)), t.link(newAccount(u.ID))
		theirs, unknown := t.link(newAccount(other.ID)), newAccount(u.ID)
		unlink := func(a *pintle.Account, keep ...*pintle.Account) error {
			return s.UnlinkAccount(t.ctx, u.ID, a.Provider, a.ProviderAccountID, keep)
		}
		for what, keep := range map[string][]*pintle.Account{
			"nothing":                    {},
			"an unknown account":         {unknown},
			"another user's account":     {theirs},
			"the account itself":         {a},
			"none that there is":         {unknown, theirs, a},
			"an account with other keys": {{Provider: b.ProviderAccountID, ProviderAccountID: b.Provider}},
		} {
			t.conflict("UnlinkAccount that keeps "+what, unlink(a, keep...))
			t.owner(a, u)
		}
		t.ok("UnlinkAccount that keeps one of two", unlink(a, unknown, b))
		t.noOwner(a.Provider, a.ProviderAccountID)
		t.conflict("UnlinkAccount that keeps one that was unlinked", unlink(b, a))
		t.owner(b, u)
		t.ok("UnlinkAccount that keeps the other", unlink(b, c))
		t.conflict("UnlinkAccount of the last", unlink(c, a, b))
		t.owner(c, u)
		t.notFound("UnlinkAccount of an unknown account", unlink(unknown, c))
		t.notFound("UnlinkAccount of another user's account", unlink(theirs, c))
		t.link(a)
		t.ok("UnlinkAccount that keeps one that was linked again", unlink(c, a))
		t.owner(a, u)
		t.owner(theirs, other)
	}},
	{"a passkey goes with its account, and no other passkey does", func(t *tester) {
		t.limited(OneAccountEach)
		s := t.accounts()
		u, other := t.someone(), t.someone()
		var passkeys []*pintle.Passkey
		linked := func(owner *pintle.User, kind pintle.ProviderType, id string) *pintle.Account {
			a := newAccount(owner.ID)
			a.Type, a.ProviderAccountID = kind, id
			return t.link(a)
		}
		for _, owner := range []*pintle.User{u, u, u, other} {
			passkeys = append(passkeys, t.createPasskey(newPasskey(owner.ID)))
		}
		gone, kept, similar, theirs := passkeys[0], passkeys[1], passkeys[2], passkeys[3]
		a := linked(u, pintle.TypeWebAuthn, gone.CredentialID)
		linked(u, pintle.TypeWebAuthn, kept.CredentialID)
		// A provider may call its users whatever it likes.
		named := linked(u, pintle.TypeOIDC, similar.CredentialID)
		foreign := linked(u, pintle.TypeWebAuthn, theirs.CredentialID)
		t.conflict("UnlinkAccount that keeps nothing", s.UnlinkAccount(t.ctx, u.ID, a.Provider, a.ProviderAccountID, []*pintle.Account{}))
		t.passkey(gone)
		for _, account := range []*pintle.Account{a, named, foreign} {
			t.ok("UnlinkAccount", s.UnlinkAccount(t.ctx, u.ID, account.Provider, account.ProviderAccountID, nil))
		}
		_, err := t.passkeys().Passkey(t.ctx, gone.CredentialID)
		t.notFound("Authenticator of the account that was unlinked", err)
		left, err := t.passkeys().UserPasskeys(t.ctx, u.ID)
		t.ok("UserPasskeys", err)
		if len(left) != 2 {
			t.Errorf("UserPasskeys returned %d passkeys, want 2", len(left))
		}
		for _, passkey := range []*pintle.Passkey{kept, similar, theirs} {
			t.passkey(passkey)
		}
		t.passkey(t.createPasskey(gone)) // its id is free
	}},
	{"accounts that were passed or returned are the caller's", func(t *tester) {
		s := t.accounts()
		a := newAccount(t.someone().ID)
		a.Extra = map[string]any{"tags": []any{"a"}}
		passed := *a
		t.link(&passed)
		found, err := s.Account(t.ctx, a.Provider, a.ProviderAccountID)
		t.ok("Account", err)
		want := describedAccount(found) + jsonText(found.Extra)
		for _, mine := range []*pintle.Account{&passed, found} {
			mine.AccessToken, mine.UserID = "spoiled", "spoiled"
			if tags, ok := mine.Extra["tags"].([]any); ok {
				tags[0] = "spoiled"
			}
		}
		found, err = s.Account(t.ctx, a.Provider, a.ProviderAccountID)
		t.ok("Account", err)
		t.same("after the caller changed its values, Account", describedAccount(found)+jsonText(found.Extra), want)
	}},
}
