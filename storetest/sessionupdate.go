package storetest

import (
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/uuid"
)

var sessionUpdateChecks = []check{
	{"8 a session is extended to exactly the new instant, and others are not", func(t *tester) {
		u := t.someone()
		s, other := t.createSession(newSession(u.ID)), t.createSession(newSession(u.ID))
		s.Expires = now().Add(30 * 24 * time.Hour)
		t.ok("UpdateSession", t.sessions().UpdateSession(t.ctx, s.Token, pintle.SessionUpdate{Expires: s.Expires}))
		t.live(s, u)
		t.live(other, u)
	}},
	{"times keep their milliseconds and their instant", func(t *tester) {
		t.limited(WholeSeconds)
		u := t.someone()
		s := t.createSession(newSession(u.ID))
		t.eachTime(func(what string, at time.Time) {
			s.Expires = at
			t.ok(what, t.sessions().UpdateSession(t.ctx, s.Token, pintle.SessionUpdate{Expires: at}))
			t.same(what, instant(t.live(s, u).Expires), instant(at))
		})
	}},
	{"an update of nothing, or to what is there, is no error", func(t *tester) {
		u := t.someone()
		s := t.createSession(newSession(u.ID))
		for _, change := range []pintle.SessionUpdate{{}, {Expires: s.Expires}, {Data: map[string]any{"a": "b"}}, {Data: map[string]any{"a": "b"}}} {
			t.ok("UpdateSession", t.sessions().UpdateSession(t.ctx, s.Token, change))
			t.live(s, u)
		}
	}},
	{"fields that are not given stay as they are", func(t *tester) {
		u := t.someone()
		s := newSession(u.ID)
		s.Data = map[string]any{"role": "reader"}
		t.createSession(s)
		if len(t.live(s, u).Data) == 0 {
			t.Skip("the store keeps no data")
		}
		s.Expires = s.Expires.Add(time.Hour)
		t.ok("UpdateSession", t.sessions().UpdateSession(t.ctx, s.Token, pintle.SessionUpdate{Expires: s.Expires}))
		found := t.live(s, u)
		t.same("Data after the end was moved", jsonText(found.Data), `{"role":"reader"}`)
		t.ok("UpdateSession", t.sessions().UpdateSession(t.ctx, s.Token, pintle.SessionUpdate{Data: map[string]any{"theme": "dark"}}))
		found = t.live(s, u)
		t.same("Data after it was replaced", jsonText(found.Data), `{"theme":"dark"}`)
		if !found.Created.IsZero() {
			t.same("Created", instant(found.Created), instant(s.Created))
		}
	}},
	{"an update of a session that was ended does not bring it back", func(t *tester) {
		s := t.createSession(newSession(t.someone().ID))
		_, err := t.sessions().DeleteSession(t.ctx, s.Token)
		t.ok("DeleteSession", err)
		for _, change := range []pintle.SessionUpdate{{}, {Expires: s.Expires}, {Data: map[string]any{"a": "b"}}} {
			t.notFound("UpdateSession of an ended session", t.sessions().UpdateSession(t.ctx, s.Token, change))
		}
		t.ended(s.Token)
		t.notFound("UpdateSession of one that never was", t.sessions().UpdateSession(t.ctx, uuid.New(), pintle.SessionUpdate{Expires: s.Expires}))
	}},
	{"data that was passed is the caller's", func(t *tester) {
		u := t.someone()
		s := t.createSession(newSession(u.ID))
		data := map[string]any{"tags": []any{"a"}}
		t.ok("UpdateSession", t.sessions().UpdateSession(t.ctx, s.Token, pintle.SessionUpdate{Data: data}))
		found := t.live(s, u)
		if len(found.Data) == 0 {
			t.Skip("the store keeps no data")
		}
		data["tags"].([]any)[0] = "spoiled"
		data["role"] = "admin"
		t.same("Data", jsonText(t.live(s, u).Data), `{"tags":["a"]}`)
	}},
}
