package storetest

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/pintleauth/pintle/accountstore"
)

// newEvent has a value in every field but Actor, and a kind of its own.
func newEvent(userID string) *accountstore.Event {
	return &accountstore.Event{
		ID:      unique(),
		At:      now().Add(-time.Hour + 123*time.Millisecond),
		Kind:    unique(),
		Outcome: "ok",
		UserID:  userID,
		Subject: hash(),
		Detail:  map[string]string{"device": "Zoë's 🔑", "methods": "pwd otp", "network": "192.0.2.0/24"},
		Count:   1,
		Expires: now().Add(180*24*time.Hour + 999*time.Millisecond),
	}
}

// someEvents returns as many events of a user, the newest first.
func someEvents(userID string, n int) []*accountstore.Event {
	events := make([]*accountstore.Event, n)
	for i := range events {
		events[i] = newEvent(userID)
		events[i].At = events[i].At.Add(time.Duration(-i) * time.Minute)
	}
	return events
}

func describedEvent(e *accountstore.Event) string {
	detail, _ := json.Marshal(e.Detail)
	if len(e.Detail) == 0 {
		detail = nil
	}
	return fmt.Sprintf("event %q: %q %q of %q by %q at %s, subject %x, %d times, expires %s, detail %s",
		e.ID, e.Kind, e.Outcome, e.UserID, e.Actor, instant(e.At), e.Subject, e.Count, instant(e.Expires), detail)
}

func (t *tester) record(events ...*accountstore.Event) {
	t.Helper()
	for _, e := range events {
		t.ok("Record", t.rows().Record(t.ctx, e))
	}
}

// activity checks that a query selects these events, in this order, in pages of each size.
func (t *tester) activity(q accountstore.ActivityQuery, want ...*accountstore.Event) {
	t.Helper()
	lines := func(events []*accountstore.Event) string {
		var b strings.Builder
		for _, e := range events {
			b.WriteString("\n\t" + describedEvent(e))
		}
		return b.String()
	}
	for _, limit := range []int{1000, 3} {
		q.Limit = limit
		t.same(fmt.Sprintf("Activity of %+v", q), lines(t.events(q)), lines(want))
	}
}

// events returns all events of a query, which it reads in pages.
func (t *tester) events(q accountstore.ActivityQuery) (all []*accountstore.Event) {
	t.Helper()
	for {
		page, next, err := t.rows().Activity(t.ctx, q)
		t.ok("Activity", err)
		if len(page) > q.Limit || next != "" && len(page) == 0 {
			t.Fatalf("Activity with the limit %d returned %d events and the text %q", q.Limit, len(page), next)
		}
		all = append(all, page...)
		if next == "" {
			return all
		}
		if q.After == next || len(all) > 1_000_000 {
			t.Fatalf("Activity does not come to an end: it goes on with %q", next)
		}
		q.After = next
	}
}

// activityChecks are promises of [accountstore.Log]. The store may have events of other
// checks: each check looks at users or kinds that are its own.
var activityChecks = []check{
	{"an event reads back as it was recorded", func(t *tester) {
		e := newEvent(unique())
		e.Actor = unique()
		t.record(e)
		t.activity(accountstore.ActivityQuery{UserID: e.UserID}, e)
		t.activity(accountstore.ActivityQuery{Actor: e.Actor}, e)
		t.activity(accountstore.ActivityQuery{Kind: e.Kind}, e)
		bare := &accountstore.Event{ID: unique(), At: now(), Kind: unique(), Outcome: "failed", Count: 3, Expires: now().Add(time.Hour)}
		t.record(bare)
		t.activity(accountstore.ActivityQuery{Kind: bare.Kind}, bare)
	}},
	{"an event that is recorded is not that of the caller", func(t *tester) {
		e := newEvent(unique())
		t.record(e)
		e.Detail["device"] = "changed"
		found, _, err := t.rows().Activity(t.ctx, accountstore.ActivityQuery{UserID: e.UserID, Limit: 1})
		t.ok("Activity", err)
		if len(found) != 1 || found[0].Detail["device"] != "Zoë's 🔑" {
			t.Fatalf("the event changed with that of the caller: %+v", found)
		}
		found[0].Detail["device"], found[0].Count = "changed", 7
		e.Detail["device"] = "Zoë's 🔑"
		t.activity(accountstore.ActivityQuery{UserID: e.UserID}, e)
	}},
	{"the times of an event are kept to the millisecond", func(t *tester) {
		t.rows()
		t.eachInstant(func(_ string, at time.Time) {
			if at.IsZero() {
				return
			}
			e := newEvent(unique())
			e.At = at
			t.record(e)
			found, _, err := t.rows().Activity(t.ctx, accountstore.ActivityQuery{UserID: e.UserID, Limit: 1})
			t.ok("Activity", err)
			if len(found) != 1 || !found[0].At.Equal(at.Truncate(time.Millisecond)) {
				t.Fatalf("an event of %s reads back as %+v", instant(at), found)
			}
			t.wholeMilliseconds(found[0].At, found[0].Expires)
		})
	}},
	{"an event with the id of another is counted, and changes nothing else", func(t *tester) {
		first := newEvent(unique())
		first.Count = 2
		t.record(first)
		for _, count := range []int{1, 3, 0, -5} {
			again := newEvent(unique())
			again.ID, again.Count, again.Actor, again.At = first.ID, count, unique(), first.At.Add(time.Second)
			t.record(again)
			t.activity(accountstore.ActivityQuery{UserID: again.UserID})
			t.activity(accountstore.ActivityQuery{Kind: again.Kind})
			t.activity(accountstore.ActivityQuery{Actor: again.Actor})
			first.Count += max(count, 1)
			t.activity(accountstore.ActivityQuery{UserID: first.UserID}, first)
			t.activity(accountstore.ActivityQuery{Kind: first.Kind}, first)
		}
		bare := newEvent(unique())
		bare.Count = 0
		t.record(bare)
		bare.Count = 1
		t.activity(accountstore.ActivityQuery{UserID: bare.UserID}, bare)
	}},
	{"ids of events differ in every letter", func(t *tester) {
		user, id := unique(), unique()
		var events []*accountstore.Event
		for i, id := range []string{id + "a", id + "A", id + "-", id + "_", id, strings.Repeat("x", 64-len(id)) + id} {
			e := newEvent(user)
			e.ID, e.At = id, e.At.Add(time.Duration(-i)*time.Second)
			events = append(events, e)
		}
		t.record(events...)
		t.activity(accountstore.ActivityQuery{UserID: user}, events...)
	}},
	{"the newest events come first, and those of one millisecond in the order of their ids", func(t *tester) {
		user := unique()
		events := someEvents(user, 12)
		for i, end := range []string{"z", "b", "a", "_", "Z", "B", "A", "9", "0", "-"} { // from the greatest on
			events[i+1].ID, events[i+1].At = unique()[:8]+end, events[1].At
		}
		for _, e := range events[1:11] {
			e.ID = strings.Repeat("i", 20) + e.ID[8:]
		}
		prefix := unique()
		for _, e := range events[1:11] {
			e.ID = prefix + e.ID
		}
		shuffled := slices.Clone(events)
		slices.Reverse(shuffled[:6])
		shuffled[2], shuffled[9] = shuffled[9], shuffled[2]
		t.record(shuffled...)
		t.activity(accountstore.ActivityQuery{UserID: user}, events...)
		for _, limit := range []int{1, 2, 4, 11, 12} {
			got := t.events(accountstore.ActivityQuery{UserID: user, Limit: limit})
			if !slices.EqualFunc(got, events, func(a, b *accountstore.Event) bool { return a.ID == b.ID }) {
				t.Errorf("the pages of %d have %v, want %v", limit, got, events)
			}
		}
	}},
	{"a page has no more events than its limit", func(t *tester) {
		user := unique()
		events := someEvents(user, 7)
		t.record(events...)
		for _, limit := range []int{1, 6, 7, 8, math.MaxInt} {
			page, next, err := t.rows().Activity(t.ctx, accountstore.ActivityQuery{UserID: user, Limit: limit})
			t.ok("Activity", err)
			if len(page) != min(limit, 7) || (next != "") != (limit < 7) {
				t.Errorf("Activity with the limit %d returned %d of 7 events and the text %q", limit, len(page), next)
			}
		}
		for _, limit := range []int{0, -1, math.MinInt32} {
			page, next, err := t.rows().Activity(t.ctx, accountstore.ActivityQuery{UserID: user, Limit: limit})
			t.ok("Activity", err)
			if len(page) > 0 || next != "" {
				t.Errorf("Activity with the limit %d returned %d events and the text %q", limit, len(page), next)
			}
		}
	}},
	{"a query selects by each of its fields and by all of them", func(t *tester) {
		user, other, operator, kind := unique(), unique(), unique(), unique()
		events := someEvents(user, 6)
		events[1].Kind, events[2].Kind, events[3].Kind = kind, kind, kind
		events[2].Outcome, events[4].Outcome = "failed", "failed"
		events[3].Actor, events[5].Actor = operator, operator
		elsewhere := newEvent(other)
		elsewhere.At, elsewhere.Kind, elsewhere.Actor, elsewhere.Outcome = events[5].At.Add(-time.Hour), kind, operator, "failed"
		noUser := newEvent("")
		noUser.At, noUser.Kind, noUser.Outcome = elsewhere.At.Add(-time.Hour), kind, "failed"
		t.record(append(slices.Clone(events), elsewhere, noUser)...)
		for _, c := range []struct {
			q    accountstore.ActivityQuery
			want []*accountstore.Event
		}{
			{accountstore.ActivityQuery{UserID: user}, events},
			{accountstore.ActivityQuery{UserID: other}, []*accountstore.Event{elsewhere}},
			{accountstore.ActivityQuery{Actor: operator}, []*accountstore.Event{events[3], events[5], elsewhere}},
			{accountstore.ActivityQuery{Kind: kind}, []*accountstore.Event{events[1], events[2], events[3], elsewhere, noUser}},
			{accountstore.ActivityQuery{UserID: user, Outcome: "failed"}, []*accountstore.Event{events[2], events[4]}},
			{accountstore.ActivityQuery{Kind: kind, Outcome: "failed"}, []*accountstore.Event{events[2], elsewhere, noUser}},
			{accountstore.ActivityQuery{Actor: operator, Kind: kind}, []*accountstore.Event{events[3], elsewhere}},
			{accountstore.ActivityQuery{UserID: user, Actor: operator}, []*accountstore.Event{events[3], events[5]}},
			{accountstore.ActivityQuery{UserID: user, Actor: operator, Kind: kind, Outcome: "ok"}, []*accountstore.Event{events[3]}},
			{accountstore.ActivityQuery{UserID: user, Kind: unique()}, nil},
			{accountstore.ActivityQuery{UserID: user, Since: events[2].At}, events[:3]},
			{accountstore.ActivityQuery{UserID: user, Since: events[2].At.Add(time.Millisecond)}, events[:2]},
			{accountstore.ActivityQuery{UserID: user, Until: events[2].At}, events[3:]},
			{accountstore.ActivityQuery{UserID: user, Until: events[2].At.Add(time.Millisecond)}, events[2:]},
			{accountstore.ActivityQuery{UserID: user, Since: events[3].At, Until: events[1].At}, events[2:4]},
			{accountstore.ActivityQuery{Kind: kind, Since: elsewhere.At}, []*accountstore.Event{events[1], events[2], events[3], elsewhere}},
		} {
			t.activity(c.q, c.want...)
		}
	}},
	{"a query without a field selects all events, of a time for example", func(t *tester) {
		var events []*accountstore.Event
		for i := range 3 {
			e := newEvent([]string{unique(), "", unique()}[i])
			e.At = time.Date(1999, 1, 2, 3, 4, 5, i*int(time.Millisecond), time.UTC)
			events = append([]*accountstore.Event{e}, events...)
		}
		t.record(events...)
		q := accountstore.ActivityQuery{Since: events[2].At, Until: events[0].At.Add(time.Millisecond)}
		found, _, err := t.rows().Activity(t.ctx, accountstore.ActivityQuery{Since: q.Since, Until: q.Until, Limit: 1000})
		t.ok("Activity", err)
		found = slices.DeleteFunc(found, func(e *accountstore.Event) bool { // of another run of this check
			return !slices.ContainsFunc(events, func(of *accountstore.Event) bool { return of.ID == e.ID })
		})
		if len(found) != 3 || found[0].ID != events[0].ID || found[2].ID != events[2].ID {
			t.Errorf("all events of a time are %v, want %v", found, events)
		}
	}},
	{"users, operators, kinds and outcomes of events are compared byte by byte", func(t *tester) {
		names := similar()
		for i, name := range names {
			for _, e := range []*accountstore.Event{{UserID: name}, {Actor: name}, {Kind: name}, {Outcome: name}} {
				e.ID, e.At, e.Expires = unique(), now().Add(time.Duration(-i)*time.Second), now().Add(time.Hour)
				if e.Kind == "" {
					e.Kind = names[0] + "kind"
				}
				t.record(e)
			}
		}
		for i, name := range names {
			for what, q := range map[string]accountstore.ActivityQuery{
				"user": {UserID: name}, "operator": {Actor: name}, "kind": {Kind: name}, "outcome": {Kind: names[0] + "kind", Outcome: name},
			} {
				q.Limit = 1000
				found, _, err := t.rows().Activity(t.ctx, q)
				t.ok("Activity", err)
				if len(found) != 1 {
					t.Errorf("there are %d events of the %s %d, %q, want 1", len(found), what, i, name)
				}
			}
		}
	}},
	{"SH-73 texts of an event may be any text", func(t *tester) {
		for _, text := range hostile {
			e := newEvent(text)
			e.Detail = map[string]string{text: text, "other": text + text}
			e.Outcome = text
			t.record(e)
			t.activity(accountstore.ActivityQuery{UserID: text, Kind: e.Kind}, e)
			t.activity(accountstore.ActivityQuery{Kind: e.Kind, Outcome: text}, e)
			page, _, err := t.rows().Activity(t.ctx, accountstore.ActivityQuery{Kind: unique(), After: text, Limit: 10})
			if err == nil && len(page) > 0 {
				t.Errorf("a list that continues with %q returned %v", text, page)
			}
			t.activity(accountstore.ActivityQuery{Kind: e.Kind, Actor: text})
		}
	}},
	{"the longest texts of an event are kept", func(t *tester) {
		e := newEvent(strings.Repeat("é", 127) + "x")
		e.Actor, e.Detail = strings.Repeat("o", 255), map[string]string{}
		for i := range 32 {
			e.Detail[fmt.Sprintf("%030d", i)] = strings.Repeat("山", 75)
		}
		t.record(e)
		t.activity(accountstore.ActivityQuery{UserID: e.UserID, Actor: e.Actor}, e)
	}},
	// AC-92
	{"a deleted user leaves no events but the acts of operators, which do not name the user", func(t *tester) {
		s := t.deleter()
		t.rows()
		u, operator, other := t.someone().ID, unique(), t.someone().ID
		events := someEvents(u, 4)
		kept := someEvents(other, 2)
		events[1].Actor, events[3].Actor, kept[1].Actor = operator, operator, operator
		for _, e := range kept {
			e.At = e.At.Add(-time.Hour)
		}
		t.record(append(slices.Clone(events), kept...)...)
		t.ok("DeleteUser", s.DeleteUser(t.ctx, u))
		t.activity(accountstore.ActivityQuery{UserID: u})
		t.activity(accountstore.ActivityQuery{Kind: events[0].Kind})
		t.activity(accountstore.ActivityQuery{Kind: events[2].Kind})
		acts := []*accountstore.Event{events[1], events[3]}
		for _, e := range acts {
			e.UserID = ""
			t.activity(accountstore.ActivityQuery{Kind: e.Kind}, e)
		}
		t.activity(accountstore.ActivityQuery{Actor: operator}, append(acts, kept[1])...)
		t.activity(accountstore.ActivityQuery{UserID: other}, kept...)
	}},
	{"an operator who is deleted stays in the acts on other users", func(t *tester) {
		s := t.deleter()
		t.rows()
		operator, user := t.someone().ID, unique()
		act := newEvent(user)
		act.Actor = operator
		t.record(act)
		t.ok("DeleteUser", s.DeleteUser(t.ctx, operator))
		t.activity(accountstore.ActivityQuery{Actor: operator}, act)
		t.activity(accountstore.ActivityQuery{UserID: user}, act)
	}},
	{"events without a user stay when a user is deleted or created", func(t *tester) {
		s := t.deleter()
		t.rows()
		e := newEvent("")
		t.record(e)
		t.ok("DeleteUser", s.DeleteUser(t.ctx, t.someone().ID))
		t.activity(accountstore.ActivityQuery{Kind: e.Kind}, e)
		t.notFound("DeleteUser", s.DeleteUser(t.ctx, ""))
		t.activity(accountstore.ActivityQuery{Kind: e.Kind}, e)
	}},
	// AC-181
	{"a sweep removes the events that have expired before its time, and no others", func(t *tester) {
		s := t.sweeper()
		t.rows()
		id, at := unique(), now().Add(-time.Hour)
		var left []*accountstore.Event
		for i, expires := range []time.Time{at.Add(-24 * time.Hour), at.Add(-time.Millisecond), at, at.Add(time.Millisecond), now().Add(time.Hour), accountstore.Forever} {
			e := newEvent(id)
			e.At, e.Expires = e.At.Add(time.Duration(-i)*time.Second), expires
			t.record(e)
			if i > 1 {
				left = append(left, e)
			}
		}
		for _, want := range []int{2, 0} {
			n, err := s.Sweep(t.ctx, at, 1000)
			t.ok("Sweep", err)
			if n != want {
				t.Errorf("Sweep removed %d rows, want %d", n, want)
			}
		}
		t.activity(accountstore.ActivityQuery{UserID: id}, left...)
	}},
	{"a sweep removes no more events than its limit", func(t *tester) {
		s := t.sweeper()
		id := unique()
		for _, e := range someEvents(id, 5) {
			e.Expires = now().Add(-2 * time.Hour)
			t.record(e)
		}
		for _, want := range []int{2, 2, 1} {
			n, err := s.Sweep(t.ctx, now().Add(-time.Hour), 2)
			t.ok("Sweep", err)
			if n != want {
				t.Errorf("Sweep of at most 2 events removed %d, want %d", n, want)
			}
		}
	}},
	// AC-178
	{"64 events with one id are one with their count", func(t *tester) {
		t.rows()
		e := newEvent(unique())
		for _, err := range race(func(int) error {
			c := *e
			return t.rows().Record(t.ctx, &c)
		}) {
			t.ok("Record", err)
		}
		e.Count = writers
		t.activity(accountstore.ActivityQuery{UserID: e.UserID}, e)
		t.activity(accountstore.ActivityQuery{Kind: e.Kind}, e)
	}},
}
