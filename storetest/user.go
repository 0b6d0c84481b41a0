package storetest

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/uuid"
)

var userChecks = []check{
	{"2, 3 a created user is found by the id that was returned", func(t *tester) {
		u := newUser()
		created := t.createUser(u)
		u.ID = created.ID
		t.same("CreateUser returned", described(created), described(u))
		found, err := t.store.User(t.ctx, created.ID)
		t.ok("User", err)
		t.same("User", described(found), described(u))
	}},
	{"3 an unknown id is not found", func(t *tester) {
		t.someone()
		for _, id := range []string{uuid.New(), unique(), "0", "-1", "99999999999999999999", ""} {
			_, err := t.store.User(t.ctx, id)
			t.notFound("User("+id+")", err)
		}
	}},
	{"an id is found as it was returned, and not in another form", func(t *tester) {
		u := t.someone()
		for _, id := range []string{" " + u.ID, u.ID + " ", "0" + u.ID, "+" + u.ID, u.ID + ".0", "{" + u.ID + "}"} {
			_, err := t.store.User(t.ctx, id)
			t.notFound("User("+id+")", err)
		}
		if upper := strings.ToUpper(u.ID); upper != u.ID {
			_, err := t.store.User(t.ctx, upper)
			t.notFound("User("+upper+")", err)
		}
	}},
	{"4 a user is found by address", func(t *tester) {
		u, other := t.someone(), t.someone()
		_, err := t.store.UserByEmail(t.ctx, unique()+"@example.org")
		t.notFound("UserByEmail of an unknown address", err)
		for _, want := range []*pintle.User{u, other} {
			found, err := t.store.UserByEmail(t.ctx, want.Email)
			t.ok("UserByEmail", err)
			t.same("UserByEmail", described(found), described(want))
		}
	}},
	{"an address is found exactly, in its case and with its accents", func(t *tester) {
		u := newUser()
		u.Email = "jose." + unique() + "@example.org"
		t.createUser(u)
		for _, email := range []string{
			strings.ToUpper(u.Email), "J" + u.Email[1:], strings.Replace(u.Email, "jose", "josé", 1),
			strings.Replace(u.Email, "jose", "jose\u0301", 1), u.Email + " ", " " + u.Email, u.Email + "\n",
			strings.Replace(u.Email, "jose", "jos_", 1), "%", strings.Replace(u.Email, "o", "\uff4f", 1),
		} {
			_, err := t.store.UserByEmail(t.ctx, email)
			t.notFound("UserByEmail("+email+")", err)
		}
	}},
	{"addresses that differ in an accent belong to different users", func(t *tester) {
		t.limited(LooseUniqueness)
		rest := "." + unique() + "@example.org"
		var ids []string
		for _, email := range []string{"jose" + rest, "josé" + rest, "jose\u0301" + rest, "Jose" + rest} {
			u := newUser()
			u.Email = email
			ids = append(ids, t.createUser(u).ID)
			found, err := t.store.UserByEmail(t.ctx, email)
			t.ok("UserByEmail("+email+")", err)
			t.same("the owner of "+email, found.ID, ids[len(ids)-1])
		}
	}},
	{"a second user with one address is refused and the first stays", func(t *tester) {
		u := t.someone()
		second := newUser()
		second.Email, second.Name = u.Email, "Another User"
		_, err := t.store.CreateUser(t.ctx, second)
		t.conflict("CreateUser with a taken address", err)
		found, err := t.store.UserByEmail(t.ctx, u.Email)
		t.ok("UserByEmail", err)
		t.same("the owner of the address", described(found), described(u))
		_, err = t.store.User(t.ctx, second.ID)
		t.notFound("User of the refused id", err)
	}},
	{"users without an address do not collide, and none is found by an empty address", func(t *tester) {
		t.limited(AddressRequired)
		var ids [2]string
		for i := range ids {
			u := newUser()
			u.Email, u.EmailVerified = "", time.Time{}
			ids[i] = t.createUser(u).ID
			found, err := t.store.User(t.ctx, ids[i])
			t.ok("User", err)
			t.same("the address", found.Email, "")
		}
		if ids[0] == ids[1] {
			t.Errorf("both users have the id %q", ids[0])
		}
		_, err := t.store.UserByEmail(t.ctx, "")
		t.notFound(`UserByEmail("")`, err)
	}},
	{"fields that are not known stay so", func(t *tester) {
		u := &pintle.User{ID: uuid.New(), Email: unique() + "@example.org"}
		created := t.createUser(u)
		u.ID = created.ID
		t.same("CreateUser returned", described(created), described(u))
		found, err := t.store.User(t.ctx, u.ID)
		t.ok("User", err)
		t.same("User", described(found), described(u))
		if len(found.Extra) > 0 {
			t.Errorf("User returned the extra fields %v: want none", found.Extra)
		}
	}},
	{"names keep quotes, emoji, line breaks and every script", func(t *tester) {
		for _, name := range []string{`O'Brien "Bob" \ ` + "`x`", "👩🏽‍💻 Zoë", "line\nbreak\ttab", "Дмитрий 山田 עברית", "  spaces  ", "null", "%s %d"} {
			u := newUser()
			u.Name = name
			u.ID = t.createUser(u).ID
			found, err := t.store.User(t.ctx, u.ID)
			t.ok("User", err)
			t.same("the name", found.Name, name)
		}
	}},
	{"an image may be a data URI of 16 KB", func(t *tester) {
		t.limited(NarrowColumns)
		u := newUser()
		u.Image = "data:image/png;base64," + strings.Repeat("iVBORw0KGgo/", 16<<10/12)
		u.ID = t.createUser(u).ID
		found, err := t.store.User(t.ctx, u.ID)
		t.ok("User", err)
		t.same("the image", found.Image, u.Image)
	}},
	{"the time of verification keeps its milliseconds and its instant", func(t *tester) {
		t.limited(WholeSeconds)
		t.eachTime(func(what string, at time.Time) {
			u := newUser()
			u.EmailVerified = at
			created := t.createUser(u)
			t.same(what+", CreateUser returned", instant(created.EmailVerified), instant(at))
			found, err := t.store.User(t.ctx, created.ID)
			t.ok("User", err)
			t.same(what, instant(found.EmailVerified), instant(at))
		})
	}},
	{"extra fields read back as they were returned, with all their digits", func(t *tester) {
		u := newUser()
		u.Extra = map[string]any{
			"role": "admin", "phone": `+44 "20"`, "age": json.Number("36"), "badge": json.Number("9007199254740993"),
			"active": true, "nickname": nil, "tags": []any{"a", map[string]any{"b": "c"}},
		}
		want := jsonText(u.Extra)
		created := t.createUser(u)
		found, err := t.store.User(t.ctx, created.ID)
		t.ok("User", err)
		t.same("what User has, compared with what CreateUser returned", jsonText(found.Extra), jsonText(created.Extra))
		if len(created.Extra) == 0 {
			t.Skip("the store keeps no extra fields")
		}
		t.same("Extra", jsonText(found.Extra), want)
	}},
	{"what is passed in is not kept and what is returned is the caller's", func(t *tester) {
		u := newUser()
		u.Extra = map[string]any{"role": "reader", "tags": []any{"a"}}
		passed := *u
		created := t.createUser(&passed)
		before, err := t.store.User(t.ctx, created.ID)
		t.ok("User", err)
		want := described(before) + jsonText(before.Extra)
		spoil := func(u *pintle.User) {
			u.Name, u.Email, u.Image = "Mallory", "mallory@example.org", ""
			if u.Extra != nil {
				if tags, ok := u.Extra["tags"].([]any); ok {
					tags[0] = "spoiled"
				}
				u.Extra["role"] = "admin"
			}
		}
		for _, mine := range []*pintle.User{&passed, created, before} {
			spoil(mine)
		}
		found, err := t.store.User(t.ctx, created.ID)
		t.ok("User", err)
		t.same("after the caller changed its values, User", described(found)+jsonText(found.Extra), want)
	}},
}

// eachTime calls f with times that go wrong: fractions, other zones, the hour
// that exists twice, and the years after 32-bit seconds.
func (t *tester) eachTime(f func(what string, at time.Time)) {
	t.Helper()
	east := time.FixedZone("east", 5*3600+30*60)
	base := now().Add(time.Hour)
	f("milliseconds", base.Add(123*time.Millisecond))
	f("a trailing zero", base.Add(100*time.Millisecond))
	f("no fraction", base)
	f("999 ms", base.Add(999*time.Millisecond))
	f("another zone", base.Add(7*time.Millisecond).In(east))
	f("the hour that is there twice", time.Date(2031, 10, 26, 1, 30, 0, int(time.Millisecond), time.UTC))
	f("the year 2037", time.Date(2037, 12, 31, 23, 59, 59, 0, time.UTC))
	if !t.has(NarrowColumns) {
		f("the year 2100", time.Date(2100, 2, 28, 23, 59, 59, 0, time.UTC))
	}
}
