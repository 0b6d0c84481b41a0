package memstore

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/internal/userlist"
)

// An eventList has events by their ids, and in the order of their times.
type eventList struct {
	byID  map[string]*accountstore.Event
	order []*accountstore.Event // the oldest first
}

func newestLast(a, b *accountstore.Event) int {
	return cmp.Or(cmp.Compare(a.At.UnixMilli(), b.At.UnixMilli()), cmp.Compare(a.ID, b.ID))
}

// place returns where an event is in the order, or would be.
func (l *eventList) place(e *accountstore.Event) int {
	i, _ := slices.BinarySearchFunc(l.order, e, newestLast)
	return i
}

// setEvent puts an event in the place of another. Nil removes it.
func (r records) setEvent(id string, e *accountstore.Event) {
	before := r.events.byID[id]
	r.placeEvent(id, e)
	r.undo(func() { r.placeEvent(id, before) })
}

func (r records) placeEvent(id string, e *accountstore.Event) {
	l := r.events
	if before := l.byID[id]; before != nil {
		i := l.place(before)
		if e != nil { // an event keeps its time
			l.byID[id], l.order[i] = e, e
			return
		}
		delete(l.byID, id)
		l.order = slices.Delete(l.order, i, i+1)
		return
	}
	if e != nil {
		l.byID[id] = e
		l.order = slices.Insert(l.order, l.place(e), e)
	}
}

// Record implements [accountstore.Log].
func (r accountRows) Record(ctx context.Context, e *accountstore.Event) error {
	if err := r.write(ctx); err != nil {
		return err
	}
	defer r.writeDone()
	c := *e
	if before := r.events.byID[e.ID]; before != nil {
		c = *before
		c.Count += max(e.Count, 1)
	} else {
		c.At, c.Expires, c.Detail, c.Count = whole(e.At), whole(e.Expires), maps.Clone(e.Detail), max(e.Count, 1)
	}
	r.setEvent(e.ID, &c)
	return nil
}

// Activity implements [accountstore.Log].
func (r accountRows) Activity(ctx context.Context, q accountstore.ActivityQuery) (page []*accountstore.Event, next string, err error) {
	var after accountstore.Event
	if q.After != "" {
		if after.At, after.ID, err = userlist.ReadEvent(q.After); err != nil {
			return nil, "", fmt.Errorf("memstore: list activity: %w", err)
		}
	}
	if err := r.read(ctx); err != nil {
		return nil, "", err
	}
	defer r.readDone()
	end := len(r.events.order)
	if q.After != "" {
		end = r.events.place(&after)
	}
	for _, e := range slices.Backward(r.events.order[:end]) {
		if q.Limit <= 0 || !q.Since.IsZero() && e.At.UnixMilli() < q.Since.UnixMilli() {
			break
		}
		if !q.Selects(e) {
			continue
		}
		if len(page) == q.Limit {
			last := page[q.Limit-1]
			return page, userlist.OfEvent(last.At, last.ID).Text(), nil
		}
		c := *e
		c.Detail = maps.Clone(e.Detail)
		page = append(page, &c)
	}
	return page, "", nil
}

// forgetEvents removes the events of a user, and the user from the acts of operators.
func (r records) forgetEvents(userID string) {
	if userID == "" {
		return
	}
	for id, e := range r.events.byID {
		switch {
		case e.UserID != userID:
		case e.Actor == "":
			r.setEvent(id, nil)
		default:
			c := *e
			c.UserID = ""
			r.setEvent(id, &c)
		}
	}
}

// sweepEvents removes at most limit events that expired before a time in milliseconds,
// and returns how many it removed.
func (r records) sweepEvents(end int64, limit int) int {
	n := 0
	for id, e := range r.events.byID {
		if n >= limit {
			break
		}
		if e.Expires.UnixMilli() < end {
			r.setEvent(id, nil)
			n++
		}
	}
	return n
}
