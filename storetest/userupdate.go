package storetest

import (
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
