package storetest

import (
	"bytes"
	"math"
	"strings"
	"time"

	"github.com/pintleauth/pintle/accountstore"
)

var flowChecks = []check{
	{"a flow reads back as it was stored, with version 1 and without attempts", func(t *tester) {
		f := newFlow(unique(), signUp)
		f.Version, f.Attempts = 7, 8
		t.flow(t.createFlow(f))
		bare := &accountstore.Flow{ID: hash(), Kind: reset, Subject: unique(), Created: now(), Expires: now().Add(time.Hour)}
		t.flow(t.createFlow(bare))
	}},
	{"the longest texts of a flow are kept", func(t *tester) {
		f := newFlow(strings.Repeat("é", 127)+"x", strings.Repeat("k", 255))
		f.Payload = strings.Repeat("p", 64<<10)
		f = t.createFlow(f)
		t.flow(f)
		f.Payload = strings.Repeat("山", 21845) + "x"
		t.ok("ChangeFlow", t.rows().ChangeFlow(t.ctx, f))
		f.Version++
		t.flow(f)
	}},
	{"texts of a flow are any texts", func(t *tester) {
		rows := t.rows()
		for _, text := range hostile {
			f := newFlow(text, text)
			f.Payload = text
			f = t.createFlow(f)
			t.flow(f)
			t.open(1, text, text)
			t.used(f)
			t.createFlow(f)
			n, err := rows.EndFlows(t.ctx, text, text)
			t.ok("EndFlows", err)
			if n != 1 {
				t.Errorf("EndFlows(%q) removed %d flows, want 1", text, n)
			}
		}
	}},
	{"the times of a flow are kept to the millisecond", func(t *tester) {
		t.rows()
		t.eachInstant(func(_ string, at time.Time) {
			if at.IsZero() {
				return // a flow has both
			}
			f := newFlow(unique(), reset)
			f.Created, f.Expires = at, at
			f = t.createFlow(f)
			t.flow(f)
			f.Expires = at.Add(time.Millisecond)
			for range 2 {
				found, err := t.rows().Flow(t.ctx, f.ID)
				t.ok("Flow", err)
				t.wholeMilliseconds(found.Created, found.Expires)
				t.ok("ChangeFlow", t.rows().ChangeFlow(t.ctx, f))
				f.Version++
				t.flow(f)
			}
		})
	}},
	{"an id and a code may have any bytes, and all of them count", func(t *tester) {
		var flows []*accountstore.Flow
		add := func(id accountstore.Hash) {
			f := newFlow(unique(), reset)
			f.ID, f.Code = id, id
			flows = append(flows, t.createFlow(f))
		}
		for _, b := range []byte{0, ' ', 'a', 'A', '\'', '\\', '\n', 0x80, 0xff} {
			add(accountstore.Hash(bytes.Repeat([]byte{b}, 32)))
		}
		for _, i := range []int{0, 15, 31} {
			id := accountstore.Hash(bytes.Repeat([]byte{'a'}, 32))
			for _, b := range []byte{0, ' ', 'A', 0xff} {
				id[i] = b
				add(id)
			}
		}
		for _, f := range flows {
			t.flow(f)
			t.conflict("CreateFlow a second time", t.rows().CreateFlow(t.ctx, f))
		}
		for i, f := range flows {
			t.used(f)
			for _, left := range flows[i+1:] {
				t.flow(left)
			}
		}
	}},
	{"a second flow with one id is a conflict, and the first stays", func(t *tester) {
		live, dead := newFlow(unique(), reset), newFlow(unique(), reset)
		dead.Expires = now().Add(-time.Hour)
		for _, f := range []*accountstore.Flow{t.createFlow(live), t.createFlow(dead)} {
			second := newFlow(unique(), signUp)
			second.ID = f.ID
			t.conflict("CreateFlow with an id that is taken", t.rows().CreateFlow(t.ctx, second))
			t.flow(f)
			t.open(0, second.Subject, signUp)
		}
	}},
	{"an unknown flow is not found, and none is made", func(t *tester) {
		rows := t.rows()
		t.createFlow(newFlow(unique(), reset))
		for _, id := range []accountstore.Hash{hash(), {}} {
			t.noFlow(id)
			_, err := rows.AttemptFlow(t.ctx, id, 5)
			t.notFound("AttemptFlow", err)
			_, err = rows.AttemptFlow(t.ctx, id, 0)
			t.notFound("AttemptFlow with limit 0", err)
			_, err = rows.UseFlow(t.ctx, id, reset)
			t.notFound("UseFlow", err)
			for _, version := range []int64{0, 1} {
				missing := newFlow(unique(), reset)
				missing.ID, missing.Version = id, version
				t.notFound("ChangeFlow", rows.ChangeFlow(t.ctx, missing))
				t.open(0, missing.Subject, reset)
			}
			t.noFlow(id)
		}
	}},
	{"an expired flow is returned, tried, changed and used as others are", func(t *tester) {
		rows := t.rows()
		f := newFlow(unique(), reset)
		f.Created, f.Expires = now().Add(-2*time.Hour), now().Add(-time.Hour)
		f = t.createFlow(f)
		t.flow(f)
		n, err := rows.AttemptFlow(t.ctx, f.ID, 1)
		t.ok("AttemptFlow", err)
		f.Attempts = n
		t.flow(f)
		f.Payload = "changed"
		t.ok("ChangeFlow", rows.ChangeFlow(t.ctx, f))
		f.Version++
		t.flow(f)
		t.used(f)
		t.createFlow(f)
		ended, err := rows.EndFlows(t.ctx, f.Subject, reset)
		t.ok("EndFlows", err)
		if ended != 1 {
			t.Errorf("EndFlows removed %d flows, want the expired one", ended)
		}
		t.noFlow(f.ID)
	}},
	{"attempts are counted up to the limit, and leave the version", func(t *tester) {
		rows := t.rows()
		f, other := t.createFlow(newFlow(unique(), reset)), t.createFlow(newFlow(unique(), reset))
		for i := range 5 {
			n, err := rows.AttemptFlow(t.ctx, f.ID, 5)
			t.ok("AttemptFlow", err)
			f.Attempts = i + 1
			if n != f.Attempts {
				t.Errorf("AttemptFlow returned %d, want %d", n, f.Attempts)
			}
			t.flow(f)
		}
		for _, limit := range []int{5, 4, 0, -1} {
			_, err := rows.AttemptFlow(t.ctx, f.ID, limit)
			t.conflict("AttemptFlow beyond the limit", err)
			t.flow(f)
		}
		n, err := rows.AttemptFlow(t.ctx, f.ID, 6)
		t.ok("AttemptFlow with a greater limit", err)
		if n != 6 {
			t.Errorf("AttemptFlow returned %d, want 6", n)
		}
		f.Attempts = 6
		t.flow(f)
		t.flow(other)
		_, err = rows.AttemptFlow(t.ctx, other.ID, 0)
		t.conflict("AttemptFlow with limit 0", err)
		t.flow(other)
	}},
	{"a flow is changed in payload, code and expiry only, and its version grows", func(t *tester) {
		rows := t.rows()
		f, other := t.createFlow(newFlow(unique(), reset)), t.createFlow(newFlow(unique(), reset))
		for range 3 {
			n, err := rows.AttemptFlow(t.ctx, f.ID, math.MaxInt32)
			t.ok("AttemptFlow", err)
			change := newFlow(unique(), signUp)
			change.ID, change.Version, change.Attempts = f.ID, f.Version, 99
			change.Created, change.Expires = now().Add(-time.Hour), now().Add(time.Duration(n)*time.Hour)
			if n == 3 {
				change.Payload, change.Code = "", accountstore.Hash{}
			}
			t.ok("ChangeFlow", rows.ChangeFlow(t.ctx, change))
			f.Attempts = n
			f.Version++
			f.Payload, f.Code, f.Expires = change.Payload, change.Code, change.Expires
			t.flow(f)
			t.open(0, change.Subject, signUp)
			t.open(1, f.Subject, reset)
		}
		t.flow(other)
	}},
	{"a change of another version of a flow is a conflict, and changes nothing", func(t *tester) {
		f := t.createFlow(newFlow(unique(), reset))
		for range 2 {
			for _, version := range []int64{0, f.Version - 1, f.Version + 1, -1} {
				change := newFlow(f.Subject, reset)
				change.ID, change.Version = f.ID, version
				t.conflict("ChangeFlow of another version", t.rows().ChangeFlow(t.ctx, change))
				t.flow(f)
			}
			t.ok("ChangeFlow", t.rows().ChangeFlow(t.ctx, f))
			f.Version++
		}
	}},
	{"a flow is used once, and its id is free then", func(t *tester) {
		f, other := t.createFlow(newFlow(unique(), reset)), t.createFlow(newFlow(unique(), reset))
		n, err := t.rows().AttemptFlow(t.ctx, f.ID, 5)
		t.ok("AttemptFlow", err)
		f.Attempts = n
		for range 2 {
			t.used(f)
			f = t.createFlow(f)
			t.flow(f)
		}
		t.flow(other)
	}},
	{"a flow of another kind is not found to be used, and stays", func(t *tester) {
		f := t.createFlow(newFlow(unique(), reset))
		for _, kind := range []string{signUp, "", "Reset", "RESET", "reset ", "réset", "rese", "reset%", f.Subject} {
			_, err := t.rows().UseFlow(t.ctx, f.ID, kind)
			t.notFound("UseFlow of kind "+kind, err)
			t.flow(f)
		}
		t.open(1, f.Subject, reset)
		t.used(f)
	}},
	{"the flows of a subject end that have one of the kinds", func(t *tester) {
		rows := t.rows()
		subject := unique()
		first, second := t.createFlow(newFlow(subject, reset)), t.createFlow(newFlow(subject, reset))
		third, fourth := t.createFlow(newFlow(subject, signUp)), t.createFlow(newFlow(subject, "second"))
		dead := newFlow(subject, reset)
		dead.Expires = now().Add(-time.Hour)
		dead = t.createFlow(dead)
		others := []*accountstore.Flow{t.createFlow(newFlow(subject, "Reset")), t.createFlow(newFlow(subject, "reset "))}
		for _, s := range []string{unique(), strings.ToUpper(subject), subject + " ", subject + "%", ""} {
			others = append(others, t.createFlow(newFlow(s, reset)))
		}
		ends := func(want int, kinds ...string) {
			t.Helper()
			n, err := rows.EndFlows(t.ctx, subject, kinds...)
			t.ok("EndFlows", err)
			if n != want {
				t.Errorf("EndFlows(%q) removed %d flows, want %d", kinds, n, want)
			}
		}
		ends(0)
		ends(0, "", "unknown", "%", subject)
		for _, f := range append([]*accountstore.Flow{first, second, third, fourth, dead}, others...) {
			t.flow(f)
		}
		ends(4, reset, signUp, reset)
		for _, f := range []*accountstore.Flow{first, second, third, dead} {
			t.noFlow(f.ID)
		}
		for _, f := range append([]*accountstore.Flow{fourth}, others...) {
			t.flow(f)
		}
		ends(0, reset, signUp)
		ends(1, "second")
		t.noFlow(fourth.ID)
	}},
	{"the flows of a subject and a kind are counted that expire after a time", func(t *tester) {
		subject, at := unique(), now().Add(123*time.Millisecond)
		add := func(subject, kind string, expires time.Time) *accountstore.Flow {
			f := newFlow(subject, kind)
			f.Expires = expires
			return t.createFlow(f)
		}
		var live []*accountstore.Flow
		for _, after := range []time.Duration{time.Millisecond, time.Second, time.Hour} {
			live = append(live, add(subject, reset, at.Add(after)))
		}
		add(subject, reset, at)
		add(subject, reset, at.Add(-time.Millisecond))
		add(subject, signUp, at.Add(time.Hour))
		add(subject, "Reset", at.Add(time.Hour))
		for _, s := range []string{unique(), strings.ToUpper(subject), subject + " ", ""} {
			add(s, reset, at.Add(time.Hour))
		}
		count := func(subject, kind string, after time.Time, want int) {
			t.Helper()
			n, err := t.rows().CountFlows(t.ctx, subject, kind, after)
			t.ok("CountFlows", err)
			if n != want {
				t.Errorf("CountFlows(%q, %q, %s) = %d, want %d", subject, kind, instant(after), n, want)
			}
		}
		count(subject, reset, at, 3)
		count(subject, reset, at.Add(time.Millisecond), 2)
		count(subject, reset, at.Add(time.Hour), 0)
		count(subject, reset, at.Add(-time.Hour), 5)
		count(subject, signUp, at, 1)
		count(subject, "unknown", at, 0)
		count(subject, "", at, 0)
		count(unique(), reset, at, 0)
		changed := live[0]
		changed.Expires = at.Add(2 * time.Hour)
		t.ok("ChangeFlow", t.rows().ChangeFlow(t.ctx, changed))
		count(subject, reset, at.Add(time.Hour), 1)
		t.used(live[1])
		count(subject, reset, at, 2)
	}},
	{"flows that were passed or returned are the caller's", func(t *tester) {
		rows := t.rows()
		want := newFlow(unique(), reset)
		passed := *want
		t.ok("CreateFlow", rows.CreateFlow(t.ctx, &passed))
		t.same("the flow that was passed to CreateFlow", describedFlow(&passed), describedFlow(want))
		passed.Payload, passed.Subject = "spoiled", "spoiled"
		want.Version = 1
		t.flow(want)
		passed = *want
		t.ok("ChangeFlow", rows.ChangeFlow(t.ctx, &passed))
		t.same("the flow that was passed to ChangeFlow", describedFlow(&passed), describedFlow(want))
		passed.Payload = "spoiled"
		want.Version = 2
		found, err := rows.Flow(t.ctx, want.ID)
		t.ok("Flow", err)
		found.Payload, found.Subject, found.Attempts = "spoiled", "spoiled", 9
		t.flow(want)
		t.used(want)
	}},
}

// used checks that a flow can be used, once, and is returned as it was.
func (t *tester) used(f *accountstore.Flow) {
	t.Helper()
	used, err := t.rows().UseFlow(t.ctx, f.ID, f.Kind)
	t.ok("UseFlow", err)
	t.same("UseFlow", describedFlow(used), describedFlow(f))
	_, err = t.rows().UseFlow(t.ctx, f.ID, f.Kind)
	t.notFound("UseFlow a second time", err)
	t.noFlow(f.ID)
}

// open checks how many flows a subject has of a kind that have not expired.
func (t *tester) open(want int, subject, kind string) {
	t.Helper()
	n, err := t.rows().CountFlows(t.ctx, subject, kind, now())
	t.ok("CountFlows", err)
	if n != want {
		t.Errorf("CountFlows(%q, %q) = %d, want %d", subject, kind, n, want)
	}
}
