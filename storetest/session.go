package storetest

import (
	"strings"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/uuid"
)

var sessionChecks = []check{
	{"5, 6 a session is found by its token, with its user", func(t *tester) {
		u, other := t.someone(), t.someone()
		mine, theirs := t.createSession(newSession(u.ID)), t.createSession(newSession(other.ID))
		t.live(mine, u)
		t.live(theirs, other)
	}},
	{"6 an unknown token is not found", func(t *tester) {
		s := t.createSession(newSession(t.someone().ID))
		for _, token := range []string{uuid.New(), unique(), "", "%", "_", s.Token[1:], s.Token[:len(s.Token)-1]} {
			t.ended(token)
		}
	}},
	{"a token is found exactly, in its case", func(t *tester) {
		u := t.someone()
		s := newSession(u.ID)
		s.Token = "AbC-" + s.Token
		t.createSession(s)
		t.live(s, u)
		for _, token := range []string{strings.ToLower(s.Token), strings.ToUpper(s.Token), "ÁbC-" + s.Token[4:], s.Token + " ", " " + s.Token, s.Token + "\x00", s.Token + "\n"} {
			t.ended(token)
		}
	}},
	{"tokens of every length and alphabet are kept", func(t *tester) {
		u := t.someone()
		for _, token := range []string{uuid.New(), unique() + "-_" + unique(), "a+/=" + unique(), strings.Repeat("x", 150) + unique(), "héllo " + unique()} {
			s := newSession(u.ID)
			s.Token = token
			t.createSession(s)
			t.live(s, u)
		}
	}},
	{"an expired session is returned unchanged, as often as it is asked for", func(t *tester) {
		u := t.someone()
		s := newSession(u.ID)
		s.Created, s.Expires = now().Add(-8*24*time.Hour), now().Add(-time.Hour)
		t.createSession(s)
		t.live(s, u)
		t.live(s, u)
	}},
	{"a second session with one token is refused and the first stays", func(t *tester) {
		u, other := t.someone(), t.someone()
		s := t.createSession(newSession(u.ID))
		taken := newSession(other.ID)
		taken.Token, taken.Expires = s.Token, s.Expires.Add(time.Hour)
		t.conflict("CreateSession with a taken token", t.sessions().CreateSession(t.ctx, taken))
		t.live(s, u)
	}},
	{"a session of a user who does not exist is not found, and leaves nothing", func(t *tester) {
		for _, id := range t.noUsers() {
			s := newSession(id)
			t.notFound("CreateSession", t.sessions().CreateSession(t.ctx, s))
			t.noSession(s)
		}
	}},
	{"the session's user is the user as changed since", func(t *tester) {
		u := t.someone()
		s := t.createSession(newSession(u.ID))
		t.live(s, u)
		u.Name = "Augusta Ada King"
		_, err := t.store.UpdateUser(t.ctx, u.ID, pintle.UserUpdate{Name: &u.Name})
		t.ok("UpdateUser", err)
		t.live(s, u)
	}},
	{"the time of sign-in is kept, or unknown", func(t *tester) {
		u := t.someone()
		s := newSession(u.ID)
		s.Created = now().Add(-time.Hour)
		t.createSession(s)
		found := t.live(s, u)
		if found.Created.IsZero() {
			t.Skip("the store does not keep it")
		}
		t.same("Created", instant(found.Created), instant(s.Created))

		unknown := newSession(u.ID)
		unknown.Created = time.Time{}
		t.createSession(unknown)
		t.same("Created of a session without", instant(t.live(unknown, u).Created), "never")
	}},
	{"times keep their milliseconds and their instant", func(t *tester) {
		t.limited(WholeSeconds)
		u := t.someone()
		t.eachTime(func(what string, at time.Time) {
			s := newSession(u.ID)
			s.Expires = at
			t.createSession(s)
			t.same(what, instant(t.live(s, u).Expires), instant(at))
		})
	}},
	{"data reads back as JSON does, or the store has no room for any", func(t *tester) {
		u := t.someone()
		s := newSession(u.ID)
		s.Data = map[string]any{"role": "admin", "visits": 3, "share": 0.5, "nested": map[string]any{"a": []any{"x", nil, true, "é👍'\"\\"}}}
		want := jsonText(s.Data)
		t.createSession(s)
		found := t.live(s, u)
		if len(found.Data) == 0 {
			t.Skip("the store keeps no data")
		}
		t.same("Data", jsonText(found.Data), want)
	}},
	{"a session has an id, which is not its token and stays", func(t *tester) {
		u := t.someone()
		seen := map[string]bool{}
		for range 3 {
			s := t.createSession(newSession(u.ID))
			id := t.live(s, u).ID
			if id == "" || id == s.Token || seen[id] {
				t.Errorf("a session has the id %q, which is empty, its token or another's", id)
			}
			seen[id] = true
			s.Expires = s.Expires.Add(time.Hour)
			t.ok("UpdateSession", t.sessions().UpdateSession(t.ctx, s.Token, pintle.SessionUpdate{Expires: s.Expires}))
			t.same("the id after UpdateSession", t.live(s, u).ID, id)
			if lister := t.store; t.can.SessionList {
				found := false
				for listed, err := range lister.UserSessions(t.ctx, u.ID) {
					t.ok("UserSessions", err)
					found = found || listed.ID == id
				}
				if !found {
					t.Errorf("UserSessions yields no session with the id %q", id)
				}
			}
			if _, _, err := t.sessions().SessionAndUser(t.ctx, id); err == nil {
				t.Error("the id of a session signs in")
			}
			deleted, err := t.sessions().DeleteSession(t.ctx, s.Token)
			t.ok("DeleteSession", err)
			t.same("the id that DeleteSession returned", deleted.ID, id)
			t.createSession(newSession(u.ID))
		}
	}},
	{"handles are for lists only", func(t *tester) {
		u := t.someone()
		s := t.createSession(newSession(u.ID))
		t.same("Handle", t.live(s, u).Handle, "")
	}},
	{"11 a deleted session is returned and is gone", func(t *tester) {
		u := t.someone()
		s, other := t.createSession(newSession(u.ID)), t.createSession(newSession(u.ID))
		deleted, err := t.sessions().DeleteSession(t.ctx, s.Token)
		t.ok("DeleteSession", err)
		t.same("DeleteSession returned", describedSession(deleted), describedSession(s))
		t.ended(s.Token)
		t.live(other, u)
	}},
	{"11 a session that was deleted, or never was, is not found to be deleted", func(t *tester) {
		s := t.createSession(newSession(t.someone().ID))
		_, err := t.sessions().DeleteSession(t.ctx, s.Token)
		t.ok("DeleteSession", err)
		for _, token := range []string{s.Token, uuid.New(), ""} {
			t.deletesNothing(token)
		}
	}},
	{"a deleted session's token is free", func(t *tester) {
		u, other := t.someone(), t.someone()
		s := t.createSession(newSession(u.ID))
		_, err := t.sessions().DeleteSession(t.ctx, s.Token)
		t.ok("DeleteSession", err)
		again := newSession(other.ID)
		again.Token = s.Token
		t.createSession(again)
		t.live(again, other)
	}},
	{"sessions that were passed or returned are the caller's", func(t *tester) {
		u := t.someone()
		s := newSession(u.ID)
		s.Data = map[string]any{"tags": []any{"a"}}
		passed := *s
		t.createSession(&passed)
		first := t.live(s, u)
		want := describedSession(first) + jsonText(first.Data)
		for _, mine := range []*pintle.StoredSession{&passed, first} {
			mine.UserID, mine.Expires = "spoiled", time.Time{}
			if tags, ok := mine.Data["tags"].([]any); ok {
				tags[0] = "spoiled"
			}
		}
		again := t.live(s, u)
		t.same("after the caller changed its values, SessionAndUser", describedSession(again)+jsonText(again.Data), want)
	}},
}

// live checks that a session is found with its user, and returns it as found.
func (t *tester) live(want *pintle.StoredSession, owner *pintle.User) *pintle.StoredSession {
	t.Helper()
	s, u, err := t.sessions().SessionAndUser(t.ctx, want.Token)
	t.ok("SessionAndUser", err)
	t.same("SessionAndUser", describedSession(s), describedSession(want))
	t.same("the session's user", described(u), described(owner))
	if s == nil || u == nil {
		t.FailNow()
	}
	return s
}

// noSession checks that there is no row of a session, with or without a user.
func (t *tester) noSession(s *pintle.StoredSession) {
	t.Helper()
	t.ended(s.Token)
	t.deletesNothing(s.Token)
}

// deletesNothing checks that there is no session to delete.
func (t *tester) deletesNothing(token string) {
	t.Helper()
	deleted, err := t.sessions().DeleteSession(t.ctx, token)
	t.notFound("DeleteSession", err)
	if deleted != nil {
		t.Errorf("DeleteSession of what is not there returned %s", describedSession(deleted))
	}
}

// ended checks that a token has no session.
func (t *tester) ended(token string) {
	t.Helper()
	_, _, err := t.sessions().SessionAndUser(t.ctx, token)
	t.notFound("SessionAndUser("+token+")", err)
}
