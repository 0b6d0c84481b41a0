package storetest

import (
	"encoding/json"
	"fmt"
	"maps"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/uuid"
)

var userExtraChecks = []check{
	{"members of Extra are changed by name, and everything else stays", func(t *tester) {
		other := t.withExtra(map[string]any{"role": "admin", "plan": "free", "team": "engines"})
		u := t.withExtra(map[string]any{"role": "admin", "plan": "free"})
		t.changesExtra(u, map[string]any{"role": "member"})
		t.changesExtra(u, map[string]any{"team": "engines", "plan": "paid"})
		name := "Augusta Ada King"
		u.Name = name
		updated, err := t.store.UpdateUser(t.ctx, u.ID, pintle.UserUpdate{Name: &name, Extra: map[string]any{"team": "looms"}})
		t.ok("UpdateUser", err)
		u.Extra["team"] = "looms"
		t.sameUser("UpdateUser returned", updated, u)
		t.stored(u)
		t.stored(other)
	}},
	{"a nil value removes a member of Extra", func(t *tester) {
		u := t.withExtra(map[string]any{"role": "admin", "plan": "free"})
		t.changesExtra(u, map[string]any{"role": nil, "unknown": nil})
		t.changesExtra(u, map[string]any{"plan": nil})
		if found, err := t.store.User(t.ctx, u.ID); err == nil && len(found.Extra) > 0 {
			t.Errorf("User returned the extra fields %v: want none", found.Extra)
		}
		t.changesExtra(u, map[string]any{"role": "member"})
	}},
	{"a member of Extra is replaced as a whole, with all its digits", func(t *tester) {
		u := t.withExtra(map[string]any{"access": map[string]any{"admin": true, "pages": []any{"a", "b"}}, "level": json.Number("1")})
		t.changesExtra(u, map[string]any{"access": map[string]any{"pages": []any{"c"}}, "level": json.Number("9007199254740993")})
		t.changesExtra(u, map[string]any{"access": []any{}, "level": false})
		t.changesExtra(u, map[string]any{"access": map[string]any{}, "level": ""})
	}},
	{"a user gets the first member of Extra", func(t *tester) {
		t.withExtra(map[string]any{"role": "member"})
		u := t.someone()
		u.Extra = map[string]any{}
		t.changesExtra(u, map[string]any{"role": "member"})
	}},
	{"a change of Extra for a user who does not exist is not found", func(t *tester) {
		_, err := t.store.UpdateUser(t.ctx, uuid.New(), pintle.UserUpdate{Extra: map[string]any{"role": "admin"}})
		t.notFound("UpdateUser of an unknown id", err)
	}},
	{"a change with the address of another user changes nothing in Extra either", func(t *tester) {
		u, other := t.withExtra(map[string]any{"role": "member"}), t.someone()
		_, err := t.store.UpdateUser(t.ctx, u.ID, pintle.UserUpdate{Email: &other.Email, Extra: map[string]any{"role": "admin"}})
		t.conflict("UpdateUser to a taken address", err)
		t.stored(u)
	}},
	{"members of Extra with the names of fields change none of these", func(t *tester) {
		u, victim := t.withExtra(map[string]any{"role": "member"}), t.someone()
		for name, value := range map[string]any{
			"id": victim.ID, "_id": victim.ID, "name": "Mallory", "email": unique() + "@example.org", "image": "https://example.org/mallory.png",
			"emailVerified": now().Add(-time.Hour).Format(time.RFC3339),
		} {
			// A store may refuse such a change.
			_, _ = t.store.UpdateUser(t.ctx, u.ID, pintle.UserUpdate{Extra: map[string]any{name: value}})
			for _, id := range []string{u.ID, victim.ID} {
				found, err := t.store.User(t.ctx, id)
				t.ok("User", err)
				want := map[string]*pintle.User{u.ID: u, victim.ID: victim}[id]
				t.same("User after Extra had "+name, described(found), described(want))
			}
			if name == "email" {
				_, err := t.store.UserByEmail(t.ctx, value.(string))
				t.notFound("UserByEmail of an address in Extra", err)
			}
		}
	}},
	{"SH-73 hostile texts in Extra are stored as what they are, or refused", func(t *tester) {
		u := t.withExtra(map[string]any{"role": "member"})
		for _, text := range hostile {
			t.changesExtra(u, map[string]any{"role": text})
		}
		for _, name := range []string{"a.b", "$set", "role'", "'; DROP TABLE users; --", "[0]", "*", "👩🏽‍💻"} {
			updated, err := t.store.UpdateUser(t.ctx, u.ID, pintle.UserUpdate{Extra: map[string]any{name: "x"}})
			if err == nil && updated.Extra[name] != nil {
				changed := maps.Clone(u.Extra)
				changed[name] = "x"
				t.same("Extra with a member "+name, jsonText(updated.Extra), jsonText(changed))
				_, err := t.store.UpdateUser(t.ctx, u.ID, pintle.UserUpdate{Extra: map[string]any{name: nil}})
				t.ok("UpdateUser", err)
			}
			t.stored(u)
		}
	}},
	{"a changed Extra is not kept and what is returned is the caller's", func(t *tester) {
		u := t.withExtra(map[string]any{"tags": []any{"a"}})
		passed := map[string]any{"tags": []any{"b"}}
		updated, err := t.store.UpdateUser(t.ctx, u.ID, pintle.UserUpdate{Extra: passed})
		t.ok("UpdateUser", err)
		u.Extra = map[string]any{"tags": []any{"b"}}
		for _, mine := range []map[string]any{passed, updated.Extra} {
			if tags, ok := mine["tags"].([]any); ok && len(tags) > 0 {
				tags[0] = "spoiled"
			}
			mine["role"] = "admin"
		}
		t.stored(u)
	}},
	{"of 16 members of Extra that are changed at once all are there", func(t *tester) {
		const members = 16
		before := map[string]any{}
		for i := range members {
			before[fmt.Sprintf("member%d", i)] = "before"
		}
		u := t.withExtra(before)
		for _, err := range race(func(i int) error {
			if i >= members {
				return nil
			}
			_, err := t.store.UpdateUser(t.ctx, u.ID, pintle.UserUpdate{Extra: map[string]any{fmt.Sprintf("member%d", i): "after"}})
			return err
		}) {
			t.ok("UpdateUser", err)
		}
		for name := range before {
			u.Extra[name] = "after"
		}
		t.stored(u)
	}},
	{"an error of a transaction undoes a change of Extra", func(t *tester) {
		s := t.transactions()
		u := t.withExtra(map[string]any{"role": "member", "plan": "free"})
		if err := s.InTx(t.ctx, func(tx pintle.Store) error {
			changed := *u
			changed.Extra = maps.Clone(u.Extra)
			t.within(tx).changesExtra(&changed, map[string]any{"role": "admin", "plan": "paid"})
			return errChanged
		}); err == nil {
			t.Error("InTx returned no error")
		}
		t.stored(u)
	}},
}

// withExtra stores a user with these members of Extra, or skips where the store
// does not keep all of them.
func (t *tester) withExtra(extra map[string]any) *pintle.User {
	t.Helper()
	u := newUser()
	u.Extra = maps.Clone(extra)
	u.ID = t.createUser(u).ID
	found, err := t.store.User(t.ctx, u.ID)
	t.ok("User", err)
	for name := range extra {
		if found.Extra[name] == nil {
			t.Skipf("the store keeps no extra field %s", name)
		}
	}
	t.sameUser("User", found, u)
	return u
}

// changesExtra changes members of Extra of a stored user, in the store and in u.
func (t *tester) changesExtra(u *pintle.User, changes map[string]any) {
	t.Helper()
	updated, err := t.store.UpdateUser(t.ctx, u.ID, pintle.UserUpdate{Extra: maps.Clone(changes)})
	t.ok("UpdateUser", err)
	for name, value := range changes {
		if u.Extra[name] = value; value == nil {
			delete(u.Extra, name)
		}
	}
	t.sameUser("UpdateUser returned", updated, u)
	t.stored(u)
}

// stored checks that the store has the user with these members of Extra.
func (t *tester) stored(u *pintle.User) {
	t.Helper()
	found, err := t.store.User(t.ctx, u.ID)
	t.ok("User", err)
	t.sameUser("User", found, u)
}

func (t *tester) sameUser(what string, got, want *pintle.User) {
	t.Helper()
	t.same(what, described(got)+" "+extraText(got), described(want)+" "+extraText(want))
}

func extraText(u *pintle.User) string {
	if u == nil || len(u.Extra) == 0 {
		return "without extra fields"
	}
	return jsonText(u.Extra)
}
