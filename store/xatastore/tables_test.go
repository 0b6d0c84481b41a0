package xatastore_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/store/xatastore"
)

func newUser(t *testing.T, s *xatastore.Store, email string) *pintle.User {
	t.Helper()
	u, err := s.CreateUser(t.Context(), &pintle.User{Email: email})
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// signIn stores n sessions, a minute apart.
func signIn(t *testing.T, s *xatastore.Store, u *pintle.User, n int) {
	t.Helper()
	began := time.Now().Add(-time.Hour).UTC().Truncate(time.Second)
	for i := range n {
		session := &pintle.StoredSession{
			Token: fmt.Sprintf("%s-%d", u.ID, i), UserID: u.ID,
			Created: began.Add(time.Duration(i) * time.Second), Expires: began.Add(48 * time.Hour),
		}
		if err := s.CreateSession(t.Context(), session); err != nil {
			t.Fatal(err)
		}
	}
}

func TestListsHaveMoreThanOnePage(t *testing.T) {
	_, o := newDatabase(t, xatastore.Schema(""))
	s := newStore(t, o)
	u, other := newUser(t, s, "ada@example.org"), newUser(t, s, "bob@example.org")
	const n = 123
	signIn(t, s, u, n)
	signIn(t, s, other, 2)
	listed := 0
	last := time.Now()
	for session, err := range s.UserSessions(t.Context(), u.ID) {
		if err != nil {
			t.Fatal(err)
		}
		if !session.Created.Before(last) {
			t.Errorf("a session of %s comes after one of %s, want newest first", session.Created, last)
		}
		last = session.Created
		listed++
	}
	if listed != n {
		t.Errorf("UserSessions yielded %d sessions, want %d", listed, n)
	}
	for i := range n {
		a := &pintle.Account{UserID: u.ID, Type: pintle.TypeOAuth, Provider: "github", ProviderAccountID: fmt.Sprint(i)}
		if err := s.LinkAccount(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
	if accounts, err := s.UserAccounts(t.Context(), u.ID); err != nil || len(accounts) != n {
		t.Errorf("UserAccounts() = %d accounts, %v, want %d", len(accounts), err, n)
	}
	if ended, err := s.EndUserSessions(t.Context(), u.ID, u.ID+"-7"); err != nil || ended != n-1 {
		t.Errorf("EndUserSessions() = %d, %v, want %d", ended, err, n-1)
	}
	if _, _, err := s.SessionAndUser(t.Context(), u.ID+"-7"); err != nil {
		t.Errorf("the session to keep: %v", err)
	}
}

func TestAUserWithMoreThanOneTransactionIsDeleted(t *testing.T) {
	_, o := newDatabase(t, xatastore.Schema(""))
	s := newStore(t, o)
	u := newUser(t, s, "ada@example.org")
	signIn(t, s, u, 600) // 1200 records
	if err := s.DeleteUser(t.Context(), u.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := s.User(t.Context(), u.ID); !errors.Is(err, pintle.ErrNotFound) {
		t.Errorf("User() = %v, want pintle.ErrNotFound", err)
	}
	if n, err := s.Sweep(t.Context(), time.Now().Add(999*time.Hour), 10_000); n != 0 || err != nil {
		t.Errorf("%d sessions were left, %v", n, err)
	}
}

func TestAListWhoseCursorsLeadNowhereEnds(t *testing.T) {
	pages := 0
	s := reached(t, transport(func(r *http.Request) (*http.Response, error) {
		pages++
		return answer(200, `{"records": [], "meta": {"page": {"cursor": "again", "more": true}}}`)(r)
	}))
	if _, err := s.UserAccounts(t.Context(), "1"); err == nil || pages > 5_000 {
		t.Errorf("UserAccounts() = %v after %d pages", err, pages)
	}
}

func TestFurtherColumnsOfUsersAreKept(t *testing.T) {
	var schema struct {
		Tables []struct {
			Name    string           `json:"name"`
			Columns []map[string]any `json:"columns"`
		} `json:"tables"`
	}
	if err := json.Unmarshal(published(t, nil), &schema); err != nil {
		t.Fatal(err)
	}
	for i, table := range schema.Tables {
		if table.Name == "nextauth_users" {
			schema.Tables[i].Columns = append(table.Columns,
				map[string]any{"name": "role", "type": "string"}, map[string]any{"name": "badge", "type": "int"}, map[string]any{"name": "active", "type": "bool"})
		}
	}
	text, err := json.Marshal(schema)
	if err != nil {
		t.Fatal(err)
	}
	_, o := newDatabase(t, text)
	o.Extended, o.UserColumns = false, []string{"role", "badge", "active"}
	s := newStore(t, o)
	u, err := s.CreateUser(t.Context(), &pintle.User{Email: "ada@example.org", Extra: map[string]any{
		"role": "admin", "badge": json.Number("9007199254740993"), "active": true, "nickname": "not kept",
	}})
	if err != nil {
		t.Fatal(err)
	}
	name := "Ada"
	if _, err := s.UpdateUser(t.Context(), u.ID, pintle.UserUpdate{Name: &name}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.UpdateUser(t.Context(), u.ID, pintle.UserUpdate{Extra: map[string]any{"role": "member", "active": nil, "nickname": "not kept"}}); err != nil {
		t.Fatal(err)
	}
	u, err = s.UserByEmail(t.Context(), "ada@example.org")
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(u.Extra); got != "map[badge:9007199254740993 role:member]" {
		t.Errorf("Extra is %s", got)
	}
}

func TestPasskeysNeedTheirTable(t *testing.T) {
	_, o := newDatabase(t, published(t, nil))
	o.Extended = false
	s := newStore(t, o)
	if f := s.Features(); f.Passkeys || f.PasskeyNames || !strings.Contains(f.Remedy, "Options.Extended") {
		t.Errorf("the features are %+v", f)
	}
	err := s.CreatePasskey(t.Context(), &pintle.Passkey{CredentialID: "AAAA", UserID: "1"})
	if !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), "Extended") {
		t.Errorf("CreatePasskey() = %v, want errors.ErrUnsupported and what to do", err)
	}
}

// The published schema has a column of type email, of which the service takes
// only addresses.
func TestAnAddressTheServiceRefusesIsAnError(t *testing.T) {
	_, o := newDatabase(t, published(t, nil))
	o.Extended = false
	s := newStore(t, o)
	newUser(t, s, "ada@example.org")
	for _, email := range []string{"not an address", "Ada <ada@example.org>", "a@b@c"} {
		_, err := s.CreateUser(t.Context(), &pintle.User{Email: email})
		if e, ok := errors.AsType[*xatastore.Error](err); !ok || e.Status != 400 {
			t.Errorf("CreateUser(%q) = %v, want the service's refusal", email, err)
		}
		if _, err := s.UserByEmail(t.Context(), email); !errors.Is(err, pintle.ErrNotFound) {
			t.Errorf("UserByEmail(%q) = %v", email, err)
		}
	}
	// Without a unique column a look before keeps two addresses apart, when
	// they are not written at once.
	if _, err := s.CreateUser(t.Context(), &pintle.User{Email: "ada@example.org"}); !errors.Is(err, pintle.ErrConflict) {
		t.Errorf("CreateUser() of a taken address = %v, want pintle.ErrConflict", err)
	}
}

// What a column cannot hold is refused here: the service would cut, or keep
// something else.
func TestTextsThatDoNotFitAreRefused(t *testing.T) {
	db, o := newDatabase(t, xatastore.Schema(""))
	s := newStore(t, o)
	u := newUser(t, s, "ada@example.org")
	before := db.Requests()
	long, longer := strings.Repeat("x", 2049), strings.Repeat("x", 204801)
	for name, err := range map[string]error{
		"a long address": func() error { _, err := s.CreateUser(t.Context(), &pintle.User{Email: long}); return err }(),
		"a long image":   func() error { _, err := s.CreateUser(t.Context(), &pintle.User{Image: longer}); return err }(),
		"bytes":          func() error { _, err := s.CreateUser(t.Context(), &pintle.User{Name: "\xff"}); return err }(),
		"a long token":   s.CreateSession(t.Context(), &pintle.StoredSession{Token: long, UserID: u.ID, Expires: time.Now()}),
		"no token":       s.CreateSession(t.Context(), &pintle.StoredSession{UserID: u.ID, Expires: time.Now()}),
		"a long secret":  s.LinkAccount(t.Context(), &pintle.Account{UserID: u.ID, Provider: "p", ProviderAccountID: "1", IDToken: longer}),
		"a long link":    s.CreateVerification(t.Context(), &pintle.Verification{Identifier: long, Token: "t"}),
		"long data":      s.CreateSession(t.Context(), &pintle.StoredSession{Token: "t", UserID: u.ID, Data: map[string]any{"x": longer}}),
		"data":           s.CreateSession(t.Context(), &pintle.StoredSession{Token: "t", UserID: u.ID, Data: map[string]any{"x": func() {}}}),
	} {
		if err == nil || errors.Is(err, pintle.ErrConflict) || errors.Is(err, pintle.ErrNotFound) {
			t.Errorf("%s: %v, want an error", name, err)
		}
	}
	if err := s.CreateSession(t.Context(), &pintle.StoredSession{Token: "t", UserID: "../x", Expires: time.Now()}); !errors.Is(err, pintle.ErrNotFound) {
		t.Errorf("a session of a user whom no record can be: %v, want pintle.ErrNotFound", err)
	}
	if n := db.Requests() - before; n > 0 {
		t.Errorf("%d requests were made", n)
	}
}

// Requests cost time: the look-up of every request of a signed-in browser is one.
func TestHowManyRequestsItTakes(t *testing.T) {
	db, o := newDatabase(t, xatastore.Schema(""))
	s := newStore(t, o)
	e := newEverything(t, s)
	for _, tt := range []struct {
		name string
		do   func() error
		want int
	}{
		{"SessionAndUser", func() error { _, _, err := s.SessionAndUser(t.Context(), "token"); return err }, 1},
		{"User", func() error { _, err := s.User(t.Context(), e.user.ID); return err }, 1},
		{"UserByEmail", func() error { _, err := s.UserByEmail(t.Context(), e.user.Email); return err }, 1},
		{"UserByAccount", func() error { _, err := s.UserByAccount(t.Context(), "github", "1"); return err }, 1},
		{"CreateUser", func() error { _, err := s.CreateUser(t.Context(), &pintle.User{Email: "b@example.org"}); return err }, 2},
		{"CreateSession", func() error {
			return s.CreateSession(t.Context(), &pintle.StoredSession{Token: "t", UserID: e.user.ID, Expires: time.Now()})
		}, 1},
		{"UpdateSession", func() error {
			return s.UpdateSession(t.Context(), "token", pintle.SessionUpdate{Expires: time.Now()})
		}, 2},
		{"DeleteSession", func() error { _, err := s.DeleteSession(t.Context(), "token"); return err }, 2},
		{"LinkAccount", func() error {
			return s.LinkAccount(t.Context(), &pintle.Account{UserID: e.user.ID, Provider: "google", ProviderAccountID: "1"})
		}, 2},
		{"UseVerification", func() error { _, err := s.UseVerification(t.Context(), e.link.Identifier, e.link.Token); return err }, 2},
	} {
		before := db.Requests()
		if err := tt.do(); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		if n := db.Requests() - before; n != tt.want {
			t.Errorf("%s takes %d requests, want %d", tt.name, n, tt.want)
		}
	}
}
