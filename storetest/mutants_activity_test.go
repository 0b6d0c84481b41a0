package storetest

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/store/memstore"
)

// recording is a mutant that records in another way.
func recording(name string, record func(ctx context.Context, good accountstore.Store, e *accountstore.Event) error, noticed string) mutant {
	return altering(name, func(good accountstore.Store) accountstore.Store {
		return &faulty{Store: good, record: func(ctx context.Context, e *accountstore.Event) error {
			c := *e
			return record(ctx, good, &c)
		}}
	}, noticed)
}

// asking is a mutant that asks for other events.
func asking(name string, ask func(*accountstore.ActivityQuery), noticed string) mutant {
	return found(name, func(ctx context.Context, good accountstore.Store, q accountstore.ActivityQuery) ([]*accountstore.Event, string, error) {
		ask(&q)
		return good.Activity(ctx, q)
	}, noticed)
}

// found is a mutant that finds other events.
func found(name string, find func(ctx context.Context, good accountstore.Store, q accountstore.ActivityQuery) ([]*accountstore.Event, string, error), noticed string) mutant {
	return altering(name, func(good accountstore.Store) accountstore.Store {
		return &faulty{Store: good, activity: func(ctx context.Context, q accountstore.ActivityQuery) ([]*accountstore.Event, string, error) {
			return find(ctx, good, q)
		}}
	}, noticed)
}

const (
	readsBack = "an event reads back"
	selects   = "a query selects by each"
	isCounted = "an event with the id of another"
)

func activityMutants() []mutant {
	return []mutant{
		recording("an event has no subject", func(ctx context.Context, good accountstore.Store, e *accountstore.Event) error {
			e.Subject = accountstore.Hash{}
			return good.Record(ctx, e)
		}, readsBack),
		recording("an event has no detail", func(ctx context.Context, good accountstore.Store, e *accountstore.Event) error {
			e.Detail = nil
			return good.Record(ctx, e)
		}, readsBack),
		recording("an event has no operator", func(ctx context.Context, good accountstore.Store, e *accountstore.Event) error {
			e.Actor = ""
			return good.Record(ctx, e)
		}, readsBack),
		recording("an event has whole seconds", func(ctx context.Context, good accountstore.Store, e *accountstore.Event) error {
			e.At = e.At.Truncate(time.Second)
			return good.Record(ctx, e)
		}, "the times of an event"),
		recording("an event expires at once", func(ctx context.Context, good accountstore.Store, e *accountstore.Event) error {
			e.Expires = e.At
			return good.Record(ctx, e)
		}, readsBack),
		altering("an event is that of the caller", func(good accountstore.Store) accountstore.Store {
			var mu sync.Mutex
			given := map[string]map[string]string{}
			return &faulty{Store: good, record: func(ctx context.Context, e *accountstore.Event) error {
				mu.Lock()
				defer mu.Unlock()
				given[e.ID] = e.Detail
				return good.Record(ctx, e)
			}, activity: func(ctx context.Context, q accountstore.ActivityQuery) ([]*accountstore.Event, string, error) {
				mu.Lock()
				defer mu.Unlock()
				events, next, err := good.Activity(ctx, q)
				for _, e := range events {
					e.Detail = given[e.ID]
				}
				return events, next, err
			}}
		}, "an event that is recorded is not that of the caller"),
		recording("an event with the id of another is another one", func(ctx context.Context, good accountstore.Store, e *accountstore.Event) error {
			e.ID = unique()
			return good.Record(ctx, e)
		}, isCounted),
		recording("an event with the id of another is counted once", func(ctx context.Context, good accountstore.Store, e *accountstore.Event) error {
			e.Count = 1
			return good.Record(ctx, e)
		}, isCounted),
		recording("a count below one is taken away", func(ctx context.Context, good accountstore.Store, e *accountstore.Event) error {
			if e.Count < 1 {
				return nil
			}
			return good.Record(ctx, e)
		}, isCounted),
		recording("ids of events ignore case", func(ctx context.Context, good accountstore.Store, e *accountstore.Event) error {
			e.ID = strings.ToLower(e.ID)
			return good.Record(ctx, e)
		}, "ids of events differ"),
		altering("events with one id are counted by reading and writing", func(good accountstore.Store) accountstore.Store {
			var mu sync.Mutex
			counts := map[string]int{}
			return &faulty{Store: good, record: func(ctx context.Context, e *accountstore.Event) error {
				mu.Lock()
				before := counts[e.ID]
				mu.Unlock()
				others()
				mu.Lock()
				counts[e.ID] = before + 1
				mu.Unlock()
				return good.Record(ctx, e)
			}, activity: func(ctx context.Context, q accountstore.ActivityQuery) ([]*accountstore.Event, string, error) {
				events, next, err := good.Activity(ctx, q)
				mu.Lock()
				defer mu.Unlock()
				for _, e := range events {
					e.Count = counts[e.ID]
				}
				return events, next, err
			}}
		}, "64 events with one id"),
		found("the oldest events come first", func(ctx context.Context, good accountstore.Store, q accountstore.ActivityQuery) ([]*accountstore.Event, string, error) {
			events, next, err := good.Activity(ctx, q)
			slices.Reverse(events)
			return events, next, err
		}, "the newest events come first"),
		found("events of one millisecond are in any order", func(ctx context.Context, good accountstore.Store, q accountstore.ActivityQuery) ([]*accountstore.Event, string, error) {
			events, next, err := good.Activity(ctx, q)
			slices.SortStableFunc(events, func(a, b *accountstore.Event) int {
				if c := b.At.Compare(a.At); c != 0 {
					return c
				}
				return strings.Compare(a.ID, b.ID)
			})
			return events, next, err
		}, "the newest events come first"),
		found("a page begins with the event before", func(ctx context.Context, good accountstore.Store, q accountstore.ActivityQuery) ([]*accountstore.Event, string, error) {
			events, next, err := good.Activity(ctx, q)
			if next != "" && q.Limit > 1 {
				q.Limit--
				_, next, err = good.Activity(ctx, q)
			}
			return events, next, err
		}, "the newest events come first"),
		found("a page skips the events of the millisecond of the last one", func(ctx context.Context, good accountstore.Store, q accountstore.ActivityQuery) ([]*accountstore.Event, string, error) {
			events, next, err := good.Activity(ctx, q)
			for q.Limit = 1; next != ""; {
				q.After = next
				following, after, err := good.Activity(ctx, q)
				if err != nil || !following[0].At.Equal(events[len(events)-1].At) {
					break
				}
				next = after
			}
			return events, next, err
		}, "the newest events come first"),
		found("a list ends after its first page", func(ctx context.Context, good accountstore.Store, q accountstore.ActivityQuery) ([]*accountstore.Event, string, error) {
			events, _, err := good.Activity(ctx, q)
			return events, "", err
		}, "the newest events come first"),
		found("the last page is followed by an empty one", func(ctx context.Context, good accountstore.Store, q accountstore.ActivityQuery) ([]*accountstore.Event, string, error) {
			if q.After == "the end" {
				return nil, "", nil
			}
			events, next, err := good.Activity(ctx, q)
			if next == "" && len(events) == q.Limit {
				next = "the end"
			}
			return events, next, err
		}, "a page has no more events"),
		asking("a page has one more than the limit", func(q *accountstore.ActivityQuery) { q.Limit++ }, "a page has no more events"),
		asking("a limit below one is none", func(q *accountstore.ActivityQuery) {
			if q.Limit < 1 {
				q.Limit = 100
			}
		}, "a page has no more events"),
		asking("the user is not compared", func(q *accountstore.ActivityQuery) { q.UserID = "" }, selects),
		asking("the operator is not compared", func(q *accountstore.ActivityQuery) { q.Actor = "" }, selects),
		asking("the kind is not compared", func(q *accountstore.ActivityQuery) { q.Kind = "" }, selects),
		asking("the outcome is not compared", func(q *accountstore.ActivityQuery) { q.Outcome = "" }, selects),
		asking("the operator is not compared if there is a user", func(q *accountstore.ActivityQuery) {
			if q.UserID != "" {
				q.Actor = ""
			}
		}, selects),
		asking("the first time is not compared", func(q *accountstore.ActivityQuery) { q.Since = time.Time{} }, selects),
		asking("events of the first millisecond are not found", func(q *accountstore.ActivityQuery) {
			if !q.Since.IsZero() {
				q.Since = q.Since.Add(time.Millisecond)
			}
		}, selects),
		asking("the last time is not compared", func(q *accountstore.ActivityQuery) { q.Until = time.Time{} }, selects),
		asking("the last time is in it", func(q *accountstore.ActivityQuery) {
			if !q.Until.IsZero() {
				q.Until = q.Until.Add(time.Millisecond)
			}
		}, selects),
		asking("a query needs a user or a kind", func(q *accountstore.ActivityQuery) {
			if q.UserID == "" && q.Kind == "" && q.Actor == "" {
				q.Limit = 0
			}
		}, "a query without a field"),
		found("users of events ignore case", func(ctx context.Context, good accountstore.Store, q accountstore.ActivityQuery) ([]*accountstore.Event, string, error) {
			if q.UserID == "" {
				return good.Activity(ctx, q)
			}
			user, limit := strings.ToLower(q.UserID), q.Limit
			q.UserID, q.Limit = "", 10_000
			events, _, err := good.Activity(ctx, q)
			events = slices.DeleteFunc(events, func(e *accountstore.Event) bool { return strings.ToLower(e.UserID) != user })
			return events[:min(len(events), max(limit, 0))], "", err
		}, "are compared byte by byte"),
		recording("long texts of events are cut", func(ctx context.Context, good accountstore.Store, e *accountstore.Event) error {
			detail := map[string]string{}
			for name, text := range e.Detail {
				detail[name] = strings.ToValidUTF8(text[:min(len(text), 200)], "")
			}
			e.Detail = detail
			return good.Record(ctx, e)
		}, "the longest texts of an event"),
		recording("quotes are taken out", func(ctx context.Context, good accountstore.Store, e *accountstore.Event) error {
			e.Outcome = strings.ReplaceAll(e.Outcome, "'", "")
			return good.Record(ctx, e)
		}, "texts of an event may be any text"),
		{"a deleted user's events stay", func(s *memstore.Store) pintle.Store { return newDiary(s, "kept") }, "a deleted user leaves no state"},
		{"acts of operators go with the user", func(s *memstore.Store) pintle.Store { return newDiary(s, "all") }, "a deleted user leaves no events"},
		{"acts of operators name a deleted user", func(s *memstore.Store) pintle.Store { return newDiary(s, "named") }, "a deleted user leaves no events"},
		{"acts go with their operator", func(s *memstore.Store) pintle.Store { return newDiary(s, "operator") }, "an operator who is deleted"},
		{"events without a user go with any user", func(s *memstore.Store) pintle.Store { return newDiary(s, "none") }, "events without a user stay"},
		{"events are not swept", func(s *memstore.Store) pintle.Store { return newDiary(s, "unswept") }, "a sweep removes the events"},
		{"a sweep of events has no limit", func(s *memstore.Store) pintle.Store { return newDiary(s, "limitless") }, "a sweep removes no more events"},
		recording("a record outlives its context", func(ctx context.Context, good accountstore.Store, e *accountstore.Event) error {
			return good.Record(context.WithoutCancel(ctx), e)
		}, "a change of a row whose context has ended"),
	}
}

// A diary is a store that has a fault with events when users are deleted, or in a sweep.
type diary struct {
	*memstore.Store
	fault string
	rows  *diaryRows
}

func newDiary(s *memstore.Store, fault string) *diary {
	return &diary{s, fault, &diaryRows{Store: s.AccountStore()}}
}

func (d *diary) AccountStore() accountstore.Store { return d.rows }

// DeleteUser puts back what went, or takes more.
func (d *diary) DeleteUser(ctx context.Context, id string) error {
	err := d.Store.DeleteUser(ctx, id)
	d.rows.mu.Lock()
	defer d.rows.mu.Unlock()
	for _, e := range d.rows.events {
		switch {
		case d.fault == "kept" && e.UserID == id:
			c := *e
			_ = d.rows.Store.Record(ctx, &c)
		case d.fault == "all" && e.UserID == id && e.Actor != "",
			d.fault == "operator" && e.Actor == id,
			d.fault == "none" && e.UserID == "":
			d.rows.gone = append(d.rows.gone, e.ID)
		case d.fault == "named" && e.UserID == id && e.Actor != "":
			d.rows.named = append(d.rows.named, e)
		}
	}
	return err
}

func (d *diary) Sweep(ctx context.Context, before time.Time, limit int) (int, error) {
	switch d.fault {
	case "limitless":
		limit = 1000
	case "unswept":
		d.rows.mu.Lock()
		defer d.rows.mu.Unlock()
		defer func() {
			for _, e := range d.rows.events {
				_ = d.rows.Store.Record(ctx, e)
			}
		}()
	}
	return d.Store.Sweep(ctx, before, limit)
}

// diaryRows remember the events, hide some and name the user of others.
type diaryRows struct {
	accountstore.Store
	mu     sync.Mutex
	events []*accountstore.Event
	gone   []string
	named  []*accountstore.Event
}

func (r *diaryRows) Record(ctx context.Context, e *accountstore.Event) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := *e
	r.events = append(r.events, &c)
	return r.Store.Record(ctx, e)
}

func (r *diaryRows) Activity(ctx context.Context, q accountstore.ActivityQuery) ([]*accountstore.Event, string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	events, next, err := r.Store.Activity(ctx, q)
	events = slices.DeleteFunc(events, func(e *accountstore.Event) bool { return slices.Contains(r.gone, e.ID) })
	for _, e := range events {
		for _, named := range r.named {
			if named.ID == e.ID {
				e.UserID = named.UserID
			}
		}
	}
	return events, next, err
}
