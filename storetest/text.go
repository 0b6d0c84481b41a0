package storetest

import (
	"strings"
	"unicode/utf8"

	"github.com/pintleauth/pintle"
)

// hostile is what attackers send in the hope that a query, a key or a pattern is
// put together from it.
var hostile = []string{
	`'`, `''`, `"`, "`", `\`, `\'`, `%`, `_`, `*`, `?`, `:`, `$1`, `?1`, `@p1`, `:id`,
	`' OR '1'='1`, `" OR ""="`, `'; DROP TABLE users; --`, `' UNION SELECT 'a','b','c' --`, `') OR 1=1#`, `\' OR 1=1 -- `,
	`{"$ne":null}`, `{$gt: ""}`, `[]`, `null`, `undefined`, `NaN`, `true`, `0`,
	`../../etc/passwd`, `a/b?c#d`, `user:email:x`, "\r\nSET x 1\r\n", `EVAL "return 1" 0`,
	"line\nbreak", "tab\there", " leading", "trailing ", "\u202eright to left", "👩🏽‍💻", "zero\u200bwidth",
	strings.Repeat("long", 40),
}

// unstorable is what some databases cannot hold. They may refuse to store it,
// but a look-up of it is an ordinary one that finds nothing.
var unstorable = []string{"\x00", "nul\x00byte", "\xff\xfe", "cut \xe2\x82", "\ufffe"}

var textChecks = []check{
	{"SH-73 look-ups of hostile texts find nothing and change nothing", func(t *tester) {
		witness := t.everything()
		link := newVerification()
		keepsLinks := t.can.Verifications
		if keepsLinks {
			t.createVerification(link)
		}
		for _, text := range append(append([]string{strings.Repeat("x", 100_000)}, hostile...), unstorable...) {
			t.findsNothing(text, witness.user.ID)
		}
		t.there(witness)
		if keepsLinks {
			t.uses(link)
		}
	}},
	{"SH-73 hostile texts are stored as what they are", func(t *tester) {
		witness := t.everything()
		for _, text := range hostile {
			t.keeps(text)
		}
		for _, text := range unstorable {
			u := newUser()
			u.Name, u.Email = text, text
			created, err := t.store.CreateUser(t.ctx, u)
			if err != nil {
				if _, err := t.store.UserByEmail(t.ctx, text); err == nil {
					t.Errorf("CreateUser refused the address %q, which is found", text)
				}
				continue
			}
			found, err := t.store.UserByEmail(t.ctx, text)
			t.ok("UserByEmail", err)
			t.same("the user", described(found), described(created))
			t.same("the name", found.Name, text)
		}
		t.there(witness)
	}},
}

// findsNothing gives text to every method that looks something up.
func (t *tester) findsNothing(text, userID string) {
	t.Helper()
	what := func(method string) string { return method + "(" + text[:min(len(text), 40)] + ")" }
	if !utf8.ValidString(text) || len(text) > 40 {
		what = func(method string) string { return method + " of hostile bytes" }
	}
	_, err := t.store.User(t.ctx, text)
	t.notFound(what("User"), err)
	_, err = t.store.UserByEmail(t.ctx, text)
	t.notFound(what("UserByEmail"), err)
	_, err = t.store.UserByAccount(t.ctx, text, text)
	t.notFound(what("UserByAccount"), err)
	_, err = t.store.UserByAccount(t.ctx, "github", text)
	t.notFound(what("UserByAccount"), err)
	name := "Mallory"
	_, err = t.store.UpdateUser(t.ctx, text, pintle.UserUpdate{Name: &name})
	t.notFound(what("UpdateUser"), err)
	if s := t.store; t.can.Sessions {
		t.ended(text)
		t.notFound(what("UpdateSession"), s.UpdateSession(t.ctx, text, pintle.SessionUpdate{Expires: now()}))
		_, err := s.DeleteSession(t.ctx, text)
		t.notFound(what("DeleteSession"), err)
	}
	if t.can.Verifications {
		t.unusable(text, text)
	}
	if t.can.Passkeys {
		s := t.passkeys()
		_, err := s.Passkey(t.ctx, text)
		t.notFound(what("Passkey"), err)
		t.notFound(what("UsePasskey"), s.UsePasskey(t.ctx, &pintle.Passkey{CredentialID: text, Counter: 8}, 7))
		found, err := s.UserPasskeys(t.ctx, text)
		t.ok(what("UserPasskeys"), err)
		if len(found) != 0 {
			t.Errorf("%s returned %d passkeys", what("UserPasskeys"), len(found))
		}
		if t.can.PasskeyNames {
			t.notFound(what("RenamePasskey"), t.namedPasskeys().RenamePasskey(t.ctx, userID, text, "Key"))
			t.notFound(what("RenamePasskey"), t.namedPasskeys().RenamePasskey(t.ctx, text, text, "Key"))
		}
		if s := t.store; t.can.Passkeys {
			t.notFound(what("DeletePasskey"), s.DeletePasskey(t.ctx, userID, text))
			t.notFound(what("DeletePasskey"), s.DeletePasskey(t.ctx, text, text))
		}
	}
	if s := t.store; t.can.Accounts {
		_, err := s.Account(t.ctx, text, text)
		t.notFound(what("Account"), err)
		t.notFound(what("UnlinkAccount"), s.UnlinkAccount(t.ctx, userID, "github", text, nil))
		t.notFound(what("UpdateAccount"), s.UpdateAccount(t.ctx, &pintle.Account{UserID: userID, Provider: "github", ProviderAccountID: text}))
		if t.can.AccountSwap {
			t.notFound(what("SwapAccount"), s.SwapAccount(t.ctx, &pintle.Account{UserID: userID, Provider: "github", ProviderAccountID: text}, text))
		}
	}
	if s := t.store; t.can.SessionList {
		t.notFound(what("EndSession"), s.EndSession(t.ctx, userID, text))
		t.notFound(what("EndSession"), s.EndSession(t.ctx, text, text))
		n, err := s.EndUserSessions(t.ctx, text, text)
		t.ok(what("EndUserSessions"), err)
		if n != 0 {
			t.Errorf("%s ended %d sessions", what("EndUserSessions"), n)
		}
	}
	if s := t.store; t.can.DeleteUser {
		t.notFound(what("DeleteUser"), s.DeleteUser(t.ctx, text))
	}
}

// keeps stores text in every field that a client can fill, and reads it back.
func (t *tester) keeps(text string) {
	t.Helper()
	u := newUser()
	u.Name, u.Email, u.Image = text, text, text
	u.ID = t.createUser(u).ID
	found, err := t.store.UserByEmail(t.ctx, text)
	t.ok("UserByEmail", err)
	t.same("UserByEmail", described(found), described(u))
	a := newAccount(u.ID)
	a.ProviderAccountID, a.AccessToken, a.Scope = text, text, text
	t.link(a)
	t.owner(a, u)
	if s := t.store; t.can.Accounts {
		found, err := s.Account(t.ctx, a.Provider, text)
		t.ok("Account", err)
		t.same("Account", describedAccount(found), describedAccount(a))
	}
	if t.can.Sessions {
		s := newSession(u.ID)
		s.Token = text
		s.Data = map[string]any{text: text}
		t.createSession(s)
		if found := t.live(s, u); len(found.Data) > 0 {
			t.same("Data", jsonText(found.Data), jsonText(s.Data))
		}
	}
	if t.can.Verifications {
		v := newVerification()
		v.Identifier = text
		t.createVerification(v)
		t.uses(v)
	}
	if t.can.Passkeys {
		p := newPasskey(u.ID)
		p.CredentialID, p.ProviderAccountID, p.Transports, p.Name = text, text, strings.Split(text, ","), text
		t.passkey(t.createPasskey(p))
	}
}
