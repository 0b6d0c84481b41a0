package storetest

import (
	"fmt"
	"strings"
	"time"

	"github.com/pintleauth/pintle"
)

var userUpdateChecks = []check{
	{"7 a new name is returned and stored, and the other fields survive", func(t *tester) {
		u, other := t.someone(), t.someone()
		name := "Augusta Ada King"
		updated, err := t.store.UpdateUser(t.ctx, u.ID, pintle.UserUpdate{Name: &name})
		t.ok("UpdateUser", err)
		u.Name = name
		t.same("UpdateUser returned", described(updated), described(u))
		for _, want := range []*pintle.User{u, other} {
			found, err := t.store.User(t.ctx, want.ID)
			t.ok("User", err)
			t.same("User", described(found), described(want))
		}
	}},
	{"each field is changed alone", func(t *tester) {
		u := t.someone()
		name, email, image := "Grace", unique()+"@example.org", "https://example.org/grace.png"
		verified := now().Add(-time.Hour)
		for _, change := range []pintle.UserUpdate{{Name: &name}, {Email: &email}, {Image: &image}, {EmailVerified: &verified}} {
			apply(u, change)
			updated, err := t.store.UpdateUser(t.ctx, u.ID, change)
			t.ok("UpdateUser", err)
			t.same("UpdateUser returned", described(updated), described(u))
			found, err := t.store.User(t.ctx, u.ID)
			t.ok("User", err)
			t.same("User", described(found), described(u))
		}
	}},
	{"a pointer to the zero value clears a field", func(t *tester) {
		u := t.someone()
		empty, never := "", time.Time{}
		changes := []pintle.UserUpdate{{Name: &empty}, {EmailVerified: &never}, {Image: &empty}}
		if !t.has(AddressRequired) {
			changes = append(changes, pintle.UserUpdate{Email: &empty})
		}
		for _, change := range changes {
			apply(u, change)
			_, err := t.store.UpdateUser(t.ctx, u.ID, change)
			t.ok("UpdateUser", err)
			found, err := t.store.User(t.ctx, u.ID)
			t.ok("User", err)
			t.same("User", described(found), described(u))
		}
	}},
	{"a change of nothing, or to what is there, returns the user", func(t *tester) {
		u := t.someone()
		for _, change := range []pintle.UserUpdate{{}, {Name: &u.Name, Email: &u.Email, EmailVerified: &u.EmailVerified}} {
			updated, err := t.store.UpdateUser(t.ctx, u.ID, change)
			t.ok("UpdateUser", err)
			t.same("UpdateUser returned", described(updated), described(u))
		}
	}},
	{"a user who does not exist is not found, and not created", func(t *tester) {
		gone := newUser()
		for _, change := range []pintle.UserUpdate{{}, {Name: &gone.Name, Email: &gone.Email}} {
			_, err := t.store.UpdateUser(t.ctx, gone.ID, change)
			t.notFound("UpdateUser of an unknown id", err)
		}
		_, err := t.store.User(t.ctx, gone.ID)
		t.notFound("User after UpdateUser of an unknown id", err)
		_, err = t.store.UserByEmail(t.ctx, gone.Email)
		t.notFound("UserByEmail after UpdateUser of an unknown id", err)
	}},
	{"a changed address is the only one the user is found by", func(t *tester) {
		u := t.someone()
		before, after := u.Email, unique()+"@example.org"
		_, err := t.store.UpdateUser(t.ctx, u.ID, pintle.UserUpdate{Email: &after})
		t.ok("UpdateUser", err)
		found, err := t.store.UserByEmail(t.ctx, after)
		t.ok("UserByEmail of the new address", err)
		t.same("the owner of the new address", found.ID, u.ID)
		_, err = t.store.UserByEmail(t.ctx, before)
		t.notFound("UserByEmail of the old address", err)

		heir := newUser()
		heir.Email = before
		t.createUser(heir)
	}},
	{"an address of another user is refused and neither user changes", func(t *tester) {
		u, other := t.someone(), t.someone()
		name := "Changed Too"
		_, err := t.store.UpdateUser(t.ctx, u.ID, pintle.UserUpdate{Name: &name, Email: &other.Email})
		t.conflict("UpdateUser to a taken address", err)
		for _, want := range []*pintle.User{u, other} {
			found, err := t.store.User(t.ctx, want.ID)
			t.ok("User", err)
			t.same("User", described(found), described(want))
			found, err = t.store.UserByEmail(t.ctx, want.Email)
			t.ok("UserByEmail", err)
			t.same("UserByEmail", described(found), described(want))
		}
	}},
	{"an address moves only from the one that was read", func(t *tester) {
		u, other := t.someone(), t.someone()
		before, after, never := u.Email, unique()+"@example.org", "Never"
		for _, not := range []string{"", "x" + u.Email, strings.ToUpper(u.Email), u.Email + " ", other.Email} {
			for _, change := range []pintle.UserUpdate{{Email: &after, IfEmail: &not}, {Name: &never, IfEmail: &not}, {IfEmail: &not}} {
				_, err := t.store.UpdateUser(t.ctx, u.ID, change)
				t.conflict(fmt.Sprintf("UpdateUser if the address is %q", not), err)
			}
		}
		found, err := t.store.User(t.ctx, u.ID)
		t.ok("User", err)
		t.same("User after a change from another address", described(found), described(u))
		_, err = t.store.UserByEmail(t.ctx, after)
		t.notFound("UserByEmail of an address that was not given", err)

		_, err = t.store.UpdateUser(t.ctx, u.ID, pintle.UserUpdate{Email: &other.Email, IfEmail: &before})
		t.conflict("UpdateUser to a taken address", err)
		verified := now()
		updated, err := t.store.UpdateUser(t.ctx, u.ID, pintle.UserUpdate{Email: &after, EmailVerified: &verified, IfEmail: &before})
		t.ok("UpdateUser", err)
		u.Email, u.EmailVerified = after, verified
		t.same("UpdateUser returned", described(updated), described(u))
		_, err = t.store.UserByEmail(t.ctx, before)
		t.notFound("UserByEmail of the old address", err)
		_, err = t.store.UpdateUser(t.ctx, newUser().ID, pintle.UserUpdate{Email: &before, IfEmail: &before})
		t.notFound("UpdateUser of an unknown id", err)
	}},
	{"a user without an address is one whose address is empty", func(t *tester) {
		t.limited(AddressRequired)
		u := newUser()
		u.Email, u.EmailVerified = "", time.Time{}
		u = t.createUser(u)
		empty, address := "", unique()+"@example.org"
		_, err := t.store.UpdateUser(t.ctx, u.ID, pintle.UserUpdate{Email: &address, IfEmail: &empty})
		t.ok("UpdateUser", err)
		_, err = t.store.UpdateUser(t.ctx, u.ID, pintle.UserUpdate{Email: &empty, IfEmail: &empty})
		t.conflict("UpdateUser once the user has an address", err)
	}},
	{"extra fields change only with the address that was read", func(t *tester) {
		u := newUser()
		u.Extra = map[string]any{"role": "admin"}
		created := t.createUser(u)
		if len(created.Extra) == 0 {
			t.Skip("the store keeps no extra fields")
		}
		other := unique() + "@example.org"
		_, err := t.store.UpdateUser(t.ctx, created.ID, pintle.UserUpdate{Extra: map[string]any{"role": "none"}, IfEmail: &other})
		t.conflict("UpdateUser", err)
		updated, err := t.store.UpdateUser(t.ctx, created.ID, pintle.UserUpdate{Extra: map[string]any{"role": "none"}, IfEmail: &u.Email})
		t.ok("UpdateUser", err)
		t.same("Extra", jsonText(updated.Extra), `{"role":"none"}`)
	}},
	{"extra fields survive an update", func(t *tester) {
		u := newUser()
		u.Extra = map[string]any{"role": "admin"}
		created := t.createUser(u)
		if len(created.Extra) == 0 {
			t.Skip("the store keeps no extra fields")
		}
		name := "Grace"
		updated, err := t.store.UpdateUser(t.ctx, created.ID, pintle.UserUpdate{Name: &name})
		t.ok("UpdateUser", err)
		t.same("Extra", jsonText(updated.Extra), `{"role":"admin"}`)
	}},
	{"the time of verification keeps its milliseconds and its instant", func(t *tester) {
		t.limited(WholeSeconds)
		u := t.someone()
		t.eachTime(func(what string, at time.Time) {
			updated, err := t.store.UpdateUser(t.ctx, u.ID, pintle.UserUpdate{EmailVerified: &at})
			t.ok("UpdateUser", err)
			t.same(what, instant(updated.EmailVerified), instant(at))
		})
	}},
}

// apply makes the change to u that a store has to make.
func apply(u *pintle.User, change pintle.UserUpdate) {
	if change.Name != nil {
		u.Name = *change.Name
	}
	if change.Email != nil {
		u.Email = *change.Email
	}
	if change.EmailVerified != nil {
		u.EmailVerified = *change.EmailVerified
	}
	if change.Image != nil {
		u.Image = *change.Image
	}
}
