package storetest

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/pintleauth/pintle/accountstore"
)

var factorChecks = []check{
	{"a factor reads back as it was stored, with version 1", func(t *tester) {
		id := unique()
		f := newFactor(id, totp)
		f.Version = 7
		t.addFactor(f)
		f.Version = 1
		t.factors(id, f)
	}},
	{"a factor without anything in it reads back as such", func(t *tester) {
		id := unique()
		f := &accountstore.Factor{UserID: id, Kind: password}
		t.factors(id, t.addFactor(f))
	}},
	{"a user without factors has none", func(t *tester) {
		t.addFactor(newFactor(unique(), password))
		for _, id := range []string{unique(), ""} {
			t.factors(id)
		}
	}},
	{"the longest texts of a factor, the least step and the greatest step are kept", func(t *tester) {
		f := newFactor(strings.Repeat("é", 127)+"x", strings.Repeat("k", 255))
		f.ID = strings.Repeat("山", 85)
		f.Secret, f.Name = strings.Repeat("s", 64<<10), strings.Repeat("山", 666)+"xy"
		f.Step = math.MinInt64
		t.factors(f.UserID, t.addFactor(f))
		f.Version, f.Step = 1, math.MaxInt64
		f.Secret = strings.Repeat("山", 21845) + "x"
		t.ok("ReplaceFactor", t.rows().ReplaceFactor(t.ctx, f))
		f.Version = 2
		t.factors(f.UserID, f)
	}},
	{"texts of a factor are any texts", func(t *tester) {
		for _, text := range hostile {
			f := newFactor(text, text)
			f.ID, f.Secret, f.Name = text, text, text
			f = t.addFactor(f)
			t.factors(text, f)
			t.ok("AdvanceFactor", t.rows().AdvanceFactor(t.ctx, text, text, text, f.Step+1, f.LastUsed))
			f.Step++
			t.ok("ReplaceFactor", t.rows().ReplaceFactor(t.ctx, f))
			f.Version++
			t.factors(text, f)
			t.ok("DeleteFactor", t.rows().DeleteFactor(t.ctx, text, text, text))
			t.factors(text)
		}
	}},
	{"the times of a factor are kept to the millisecond", func(t *tester) {
		t.rows()
		t.eachInstant(func(_ string, at time.Time) {
			f := newFactor(unique(), password)
			f.Created, f.LastUsed, f.Expires = at, at, at
			f = t.addFactor(f)
			t.factors(f.UserID, f)
			t.ok("AdvanceFactor", t.rows().AdvanceFactor(t.ctx, f.UserID, f.Kind, f.ID, f.Step+1, at))
			f.Step++
			t.factors(f.UserID, f)
			t.wholeFactor(f.UserID)
			f.Created = now()
			t.ok("ReplaceFactor", t.rows().ReplaceFactor(t.ctx, f))
			f.Created = at
			f.Version++
			t.factors(f.UserID, f)
			t.wholeFactor(f.UserID)
		})
	}},
	{"expired factors are listed with the others", func(t *tester) {
		id := unique()
		live, dead := newFactor(id, device), newFactor(id, device)
		dead.Expires, dead.Created = now().Add(-time.Hour), live.Created.Add(-24*time.Hour)
		t.addFactor(live)
		t.addFactor(dead)
		live.Version, dead.Version = 1, 1
		t.factors(id, dead, live)
	}},
	{"factors are in the order of their creation, of their kinds and of their ids, byte by byte", func(t *tester) {
		id, first := unique(), now()
		var want []*accountstore.Factor
		for _, at := range []time.Time{first, first.Add(time.Millisecond), first.Add(time.Second)} {
			for _, kind := range []string{"Totp", device, password, "pässword", recovery, totp} {
				for _, name := range []string{"", "-", "B", "a", "a-", "aa", "b", "é", "山"} {
					f := newFactor(id, kind)
					f.ID, f.Created = fmt.Sprint(name, at.Sub(first).Milliseconds()), at
					want = append(want, f)
				}
			}
		}
		slices.SortFunc(want, func(a, b *accountstore.Factor) int {
			if c := a.Created.Compare(b.Created); c != 0 {
				return c
			}
			if c := strings.Compare(a.Kind, b.Kind); c != 0 {
				return c
			}
			return strings.Compare(a.ID, b.ID)
		})
		for i := range want { // 7 and the number of them have no common divisor
			t.addFactor(want[i*7%len(want)])
		}
		for _, f := range want {
			f.Version = 1
		}
		t.factors(id, want...)
	}},
	{"a second factor of one user, kind and id is a conflict, and the first stays", func(t *tester) {
		id := unique()
		f := t.addFactor(newFactor(id, password))
		second := newFactor(id, password)
		second.ID = f.ID
		t.conflict("AddFactor", t.rows().AddFactor(t.ctx, second))
		t.factors(id, f)
		expired := newFactor(unique(), device)
		expired.Expires = now().Add(-time.Hour)
		expired = t.addFactor(expired)
		t.conflict("AddFactor in the place of an expired one", t.rows().AddFactor(t.ctx, expired))
		t.factors(expired.UserID, expired)
	}},
	{"factors that differ in their user, their kind or their id are different", func(t *tester) {
		rows, created := t.rows(), now()
		texts := similar()
		var all []*accountstore.Factor
		add := func(userID, kind, id string) {
			f := newFactor(userID, kind)
			f.ID, f.Created = id, created.Add(time.Duration(len(all))*time.Millisecond)
			all = append(all, t.addFactor(f))
		}
		for _, text := range texts {
			add(text, "k", "i") // a user each
			add("u"+texts[0], text, "i")
			add("u"+texts[0], "k", text)
		}
		// Texts that are one text if a store joins them without care.
		add("u"+texts[0], "a", "b:c")
		add("u"+texts[0], "a:b", "c")
		add("u"+texts[0]+":a", "b", "c")
		add("u"+texts[0], "ab", "c")
		add("u"+texts[0], "a", "bc")
		check := func() {
			t.Helper()
			of := map[string][]*accountstore.Factor{}
			for _, f := range all {
				of[f.UserID] = append(of[f.UserID], f)
			}
			for userID, factors := range of {
				t.factors(userID, factors...)
			}
		}
		check()
		for i, f := range all {
			f.Name = fmt.Sprint(i)
			t.ok("ReplaceFactor", rows.ReplaceFactor(t.ctx, f))
			f.Version++
			f.Step += int64(i + 1)
			t.ok("AdvanceFactor", rows.AdvanceFactor(t.ctx, f.UserID, f.Kind, f.ID, f.Step, f.LastUsed))
		}
		check()
		for len(all) > 0 {
			f := all[0]
			all = all[1:]
			t.ok("DeleteFactor", rows.DeleteFactor(t.ctx, f.UserID, f.Kind, f.ID))
			t.notFound("DeleteFactor a second time", rows.DeleteFactor(t.ctx, f.UserID, f.Kind, f.ID))
			if len(all)%5 == 0 {
				check()
			}
		}
	}},
	{"a factor is replaced but for its creation, and its version grows", func(t *tester) {
		id := unique()
		f, other := t.addFactor(newFactor(id, totp)), t.addFactor(newFactor(unique(), totp))
		for version := range int64(3) {
			change := newFactor(id, totp)
			change.ID, change.Version, change.Created = f.ID, version+1, now().Add(-time.Hour)
			change.Step, change.Name, change.LastUsed, change.Expires = f.Step+version, "changed", now().Add(time.Hour), now().Add(2*time.Hour)
			if version == 2 {
				change.Secret, change.Name, change.LastUsed, change.Expires = "", "", time.Time{}, time.Time{}
			}
			t.ok("ReplaceFactor", t.rows().ReplaceFactor(t.ctx, change))
			change.Created, change.Version = f.Created, version+2
			t.factors(id, change)
		}
		t.factors(other.UserID, other)
	}},
	{"a replacement of another version is a conflict, and replaces nothing", func(t *tester) {
		id := unique()
		f := t.addFactor(newFactor(id, password))
		for range 2 {
			for _, version := range []int64{0, f.Version - 1, f.Version + 1, -1} {
				change := newFactor(id, password)
				change.ID, change.Version = f.ID, version
				t.conflict("ReplaceFactor of another version", t.rows().ReplaceFactor(t.ctx, change))
				t.factors(id, f)
			}
			t.ok("ReplaceFactor", t.rows().ReplaceFactor(t.ctx, f))
			f.Version++
		}
	}},
	{"a factor that is missing is not found, and none is made", func(t *tester) {
		rows := t.rows()
		f := t.addFactor(newFactor(unique(), totp))
		for _, at := range [][3]string{
			{unique(), f.Kind, f.ID},
			{f.UserID, password, f.ID},
			{f.UserID, f.Kind, unique()},
			{f.UserID, f.Kind, ""},
			{f.UserID, f.ID, f.Kind},
			{f.UserID, "", f.ID},
			{"", f.Kind, f.ID},
			{f.UserID, f.Kind, strings.ToUpper(f.ID)},
			{f.UserID, f.Kind, f.ID + " "},
			{f.UserID + " ", f.Kind, f.ID},
		} {
			for _, version := range []int64{0, 1} {
				missing := newFactor(at[0], at[1])
				missing.ID, missing.Version = at[2], version
				t.notFound("ReplaceFactor", rows.ReplaceFactor(t.ctx, missing))
			}
			t.notFound("AdvanceFactor", rows.AdvanceFactor(t.ctx, at[0], at[1], at[2], math.MaxInt64, now()))
			t.notFound("DeleteFactor", rows.DeleteFactor(t.ctx, at[0], at[1], at[2]))
			if at[0] != f.UserID {
				t.factors(at[0])
			}
		}
		t.factors(f.UserID, f)
	}},
	{"a step only goes forward, and leaves the version", func(t *tester) {
		rows := t.rows()
		id := unique()
		f, other := newFactor(id, totp), newFactor(id, totp)
		f.Step, f.LastUsed = 0, time.Time{}
		other.Created = f.Created.Add(time.Second)
		f, other = t.addFactor(f), t.addFactor(other)
		for _, step := range []int64{1, 2, 57_000_000, 1 << 40, math.MaxInt64} {
			f.Step, f.LastUsed = step, f.LastUsed.Add(time.Second)
			if step == 1 {
				f.LastUsed = now().Add(123 * time.Millisecond)
			}
			t.ok("AdvanceFactor", rows.AdvanceFactor(t.ctx, id, totp, f.ID, step, f.LastUsed))
			t.factors(id, f, other)
			for _, old := range []int64{step, step - 1, 0, -1} {
				t.conflict("AdvanceFactor to a step that is not greater", rows.AdvanceFactor(t.ctx, id, totp, f.ID, old, now().Add(time.Hour)))
			}
			t.factors(id, f, other)
		}
		t.ok("ReplaceFactor of the version before", rows.ReplaceFactor(t.ctx, f))
		f.Version++
		t.factors(id, f, other)
	}},
	{"a code that was accepted stays used when its factor is replaced", func(t *tester) {
		rows := t.rows()
		f := newFactor(unique(), totp)
		f.Step = math.MinInt64
		f = t.addFactor(f)
		for _, step := range []int64{-10, -9, 0, 9, 10, 57_000_000, math.MaxInt64 - 1, math.MaxInt64} {
			before := f.Step
			f.Step = step
			t.ok("AdvanceFactor", rows.AdvanceFactor(t.ctx, f.UserID, f.Kind, f.ID, step, f.LastUsed))
			for _, read := range []int64{before, step - 1, math.MinInt64} {
				change := *f
				change.Step, change.Name = read, fmt.Sprint("read at step ", read)
				t.ok("ReplaceFactor", rows.ReplaceFactor(t.ctx, &change))
				f.Version, f.Name = change.Version+1, change.Name
				t.factors(f.UserID, f)
				t.conflict("AdvanceFactor to the step of before", rows.AdvanceFactor(t.ctx, f.UserID, f.Kind, f.ID, step, f.LastUsed))
			}
		}
	}},
	{"a factor is deleted once, and may be stored again", func(t *tester) {
		rows := t.rows()
		id := unique()
		f, kept := newFactor(id, recovery), newFactor(id, recovery)
		kept.Created = f.Created.Add(time.Second)
		kept = t.addFactor(kept)
		for range 2 {
			t.factors(id, t.addFactor(f), kept)
			t.ok("DeleteFactor", rows.DeleteFactor(t.ctx, id, f.Kind, f.ID))
			t.notFound("DeleteFactor a second time", rows.DeleteFactor(t.ctx, id, f.Kind, f.ID))
			t.factors(id, kept)
		}
	}},
	{"the factors of some kinds are deleted, but for exceptions", func(t *tester) {
		rows := t.rows()
		id, other := unique(), unique()
		shared := unique()
		created := now()
		var all []*accountstore.Factor
		for i, kind := range []string{password, totp, device, device, device, recovery, "Device"} {
			f := newFactor(id, kind)
			f.Created = created.Add(time.Duration(i) * time.Millisecond)
			if i == 2 || i == 1 {
				f.ID = shared // an exception is one in every kind
			}
			all = append(all, t.addFactor(f))
		}
		theirs := t.addFactor(newFactor(other, device))
		deletes := func(want int, kinds, except []string) {
			t.Helper()
			n, err := rows.DeleteFactors(t.ctx, id, kinds, except)
			t.ok("DeleteFactors", err)
			if n != want {
				t.Errorf("DeleteFactors(%q, except %q) removed %d factors, want %d", kinds, except, n, want)
			}
		}
		deletes(0, nil, nil)
		deletes(0, []string{}, []string{shared})
		deletes(0, []string{"", "unknown", "DEVICE", "device ", shared}, nil)
		deletes(0, []string{device}, []string{all[2].ID, all[3].ID, all[4].ID})
		t.factors(id, all...)
		deletes(2, []string{device, totp}, []string{shared, unique(), ""})
		t.factors(id, all[0], all[1], all[2], all[5], all[6])
		deletes(3, []string{device, password, totp, device}, nil)
		t.factors(id, all[5], all[6])
		deletes(0, []string{device, password, totp}, nil)
		deletes(2, []string{recovery, "Device"}, []string{})
		t.factors(id)
		t.factors(other, theirs)
	}},
	{"many factors of a user are listed, and deleted", func(t *tester) {
		rows := t.rows()
		id := unique()
		var ids []string
		for range 300 {
			ids = append(ids, t.addFactor(newFactor(id, device)).ID)
		}
		found, err := rows.Factors(t.ctx, id)
		t.ok("Factors", err)
		if len(found) != len(ids) {
			t.Errorf("Factors returned %d factors, want %d", len(found), len(ids))
		}
		n, err := rows.DeleteFactors(t.ctx, id, []string{device}, ids[100:])
		t.ok("DeleteFactors", err)
		if n != 100 {
			t.Errorf("DeleteFactors removed %d factors, want 100", n)
		}
	}},
	{"factors that were passed or returned are the caller's", func(t *tester) {
		rows := t.rows()
		want := newFactor(unique(), totp)
		passed := *want
		t.ok("AddFactor", rows.AddFactor(t.ctx, &passed))
		t.same("the factor that was passed to AddFactor", describedFactor(&passed), describedFactor(want))
		passed.Secret = "spoiled"
		want.Version = 1
		t.factors(want.UserID, want)
		passed = *want
		t.ok("ReplaceFactor", rows.ReplaceFactor(t.ctx, &passed))
		t.same("the factor that was passed to ReplaceFactor", describedFactor(&passed), describedFactor(want))
		passed.Secret = "spoiled"
		want.Version = 2
		found, err := rows.Factors(t.ctx, want.UserID)
		t.ok("Factors", err)
		for _, f := range found {
			f.Secret, f.Step = "spoiled", 0
		}
		t.factors(want.UserID, want)
	}},
}

// wholeFactor checks that the times of a user's factors have whole milliseconds.
func (t *tester) wholeFactor(userID string) {
	t.Helper()
	found, err := t.rows().Factors(t.ctx, userID)
	t.ok("Factors", err)
	for _, f := range found {
		t.wholeMilliseconds(f.Created, f.LastUsed, f.Expires)
	}
}
