package storetest

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/uuid"
)

var sessionListerChecks = []check{
	{"the sessions of a user are listed newest first, without those that expired", func(t *tester) {
		t.lister()
		u, other := t.someone(), t.someone()
		devices := t.devices(u, 3)
		t.devices(other, 2)
		old := newSession(u.ID)
		old.Created, old.Expires = now().Add(-48*time.Hour), now().Add(-time.Minute)
		t.createSession(old)

		listed := t.listed(u.ID)
		if len(listed) != len(devices) {
			t.Fatalf("UserSessions yielded %d sessions, want %d", len(listed), len(devices))
		}
		for i, s := range listed {
			want := devices[len(devices)-1-i]
			t.same("UserSessions", instant(s.Expires)+" "+s.UserID, instant(want.Expires)+" "+u.ID)
			if s.Token != "" && s.Token != want.Token {
				t.Errorf("UserSessions yielded the token %q, want none or %q", s.Token, want.Token)
			}
		}
	}},
	{"a user without sessions has none, nor has an unknown user", func(t *tester) {
		t.lister()
		t.devices(t.someone(), 1)
		for _, id := range []string{t.someone().ID, uuid.New(), ""} {
			if listed := t.listed(id); len(listed) != 0 {
				t.Errorf("UserSessions(%q) yielded %d sessions, want none", id, len(listed))
			}
		}
	}},
	{"a loop may stop early, and the store works on", func(t *tester) {
		u := t.someone()
		devices := t.devices(u, 3)
		for s, err := range t.lister().UserSessions(t.ctx, u.ID) {
			t.ok("UserSessions", err)
			if s == nil {
				t.Fatal("UserSessions yielded nil and no error")
			}
			break
		}
		t.live(devices[0], u)
	}},
	{"a handle is no token, and each session has its own", func(t *tester) {
		t.lister()
		u := t.someone()
		devices := t.devices(u, 3)
		seen := map[string]bool{}
		for _, s := range t.listed(u.ID) {
			if s.Handle == "" || seen[s.Handle] {
				t.Errorf("UserSessions yielded the handle %q: want a different one for each", s.Handle)
			}
			seen[s.Handle] = true
			for _, d := range devices {
				if s.Handle == d.Token {
					t.Error("a handle is the token: any reader of the list can use the session")
				}
			}
			t.ended(s.Handle)
			t.deletesNothing(s.Handle)
		}
		again := t.listed(u.ID)
		if len(again) != len(seen) {
			t.Fatalf("UserSessions yielded %d sessions, want %d", len(again), len(seen))
		}
		for _, s := range again {
			if !seen[s.Handle] {
				t.Errorf("the handle %q is new: want the same as before", s.Handle)
			}
		}
	}},
	{"a session can be told from the others, by its token or by the hash of it", func(t *tester) {
		t.lister()
		u := t.someone()
		known := map[string]bool{}
		for _, d := range t.devices(u, 3) {
			hash := sha256.Sum256([]byte(d.Token))
			known[d.Token], known[base64.RawURLEncoding.EncodeToString(hash[:])] = true, true
		}
		for _, s := range t.listed(u.ID) {
			if !known[cmp.Or(s.Token, s.Handle)] {
				t.Errorf("UserSessions yielded the token %q and the handle %q: want the token, or as the handle its SHA-256 in base64url without padding", s.Token, s.Handle)
			}
		}
	}},
	{"the handle ends the session it was listed with, once", func(t *tester) {
		u := t.someone()
		devices := t.devices(u, 3)
		handle := t.listed(u.ID)[0].Handle
		t.ok("EndSession", t.lister().EndSession(t.ctx, u.ID, handle))
		t.ended(devices[2].Token)
		t.live(devices[0], u)
		t.live(devices[1], u)
		t.notFound("EndSession a second time", t.lister().EndSession(t.ctx, u.ID, handle))
	}},
	{"a user does not end the session of another", func(t *tester) {
		u, other := t.someone(), t.someone()
		device := t.devices(u, 1)[0]
		handle := t.listed(u.ID)[0].Handle
		for _, id := range []string{other.ID, uuid.New(), ""} {
			t.notFound("EndSession by another user", t.lister().EndSession(t.ctx, id, handle))
		}
		t.live(device, u)
	}},
	{"what is no handle ends nothing", func(t *tester) {
		u := t.someone()
		device := t.devices(u, 1)[0]
		handle := t.listed(u.ID)[0].Handle
		for _, wrong := range []string{"", device.Token, unique(), handle + "A", handle[1:], "%", "*"} {
			t.notFound("EndSession("+wrong+")", t.lister().EndSession(t.ctx, u.ID, wrong))
		}
		t.live(device, u)
	}},
	{"all sessions of a user end but the one to keep", func(t *tester) {
		s := t.lister()
		u, other := t.someone(), t.someone()
		devices, theirs := t.devices(u, 4), t.devices(other, 1)[0]
		n, err := s.EndUserSessions(t.ctx, u.ID, devices[1].Token)
		t.ok("EndUserSessions", err)
		if n != 3 {
			t.Errorf("EndUserSessions removed %d sessions, want 3", n)
		}
		for _, i := range []int{0, 2, 3} {
			t.ended(devices[i].Token)
		}
		t.live(devices[1], u)
		t.live(theirs, other)
	}},
	{"all sessions of a user end when none is to be kept", func(t *tester) {
		s := t.lister()
		u, other := t.someone(), t.someone()
		for _, except := range []string{"", unique(), t.devices(other, 1)[0].Token} {
			devices := t.devices(u, 2)
			n, err := s.EndUserSessions(t.ctx, u.ID, except)
			t.ok("EndUserSessions", err)
			if n != 2 {
				t.Errorf("EndUserSessions removed %d sessions, want 2", n)
			}
			for _, d := range devices {
				t.ended(d.Token)
			}
		}
		if listed := t.listed(other.ID); len(listed) != 1 {
			t.Errorf("another user has %d sessions left, want 1", len(listed))
		}
		for _, id := range []string{u.ID, uuid.New(), ""} {
			n, err := s.EndUserSessions(t.ctx, id, "")
			t.ok("EndUserSessions", err)
			if n != 0 {
				t.Errorf("EndUserSessions(%q) removed %d sessions, want 0", id, n)
			}
		}
	}},
}

// devices signs a user in n times, an hour apart, and returns the sessions in
// the order in which that happened.
func (t *tester) devices(u *pintle.User, n int) []*pintle.StoredSession {
	t.Helper()
	var sessions []*pintle.StoredSession
	for i := range n {
		s := newSession(u.ID)
		s.Created = now().Add(time.Duration(i-n) * time.Hour)
		s.Expires = s.Created.Add(7 * 24 * time.Hour)
		sessions = append(sessions, t.createSession(s))
	}
	return sessions
}

func (t *tester) listed(userID string) []*pintle.StoredSession {
	t.Helper()
	var sessions []*pintle.StoredSession
	for s, err := range t.lister().UserSessions(t.ctx, userID) {
		t.ok("UserSessions", err)
		if s == nil {
			t.Fatal("UserSessions yielded nil and no error")
		}
		sessions = append(sessions, s)
	}
	return sessions
}
