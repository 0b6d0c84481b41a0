package memstore

import (
	"context"
	"slices"
	"time"

	"github.com/pintleauth/pintle/providersession"
)

// providerSessions is the [providersession.Store] of a store, or of its transaction. A
// row is never changed: another one takes its place, and undo puts the first one back.
type providerSessions struct{ records }

var _ providersession.Store = providerSessions{}

// ProviderSessions implements [pintle.Store].
func (r records) ProviderSessions() providersession.Store { return providerSessions{r} }

type providerTables struct {
	signIns   map[providersession.Key]map[providersession.Key]*providersession.Record // by session, and by id
	signInsBy map[providersession.Key]map[providersession.Key]*providersession.Record // by Sid or Sub, and by id
	signInsOf map[string]map[providersession.Key]*providersession.Record              // by user, and by id
	ends      map[providersession.Key]providerEnd                                     // by the id of the end
}

func newProviderTables() providerTables {
	return providerTables{
		signIns:   make(map[providersession.Key]map[providersession.Key]*providersession.Record),
		signInsBy: make(map[providersession.Key]map[providersession.Key]*providersession.Record),
		signInsOf: make(map[string]map[providersession.Key]*providersession.Record),
		ends:      make(map[providersession.Key]providerEnd),
	}
}

// A providerEnd is a call of EndBy that is remembered until a time, in milliseconds.
type providerEnd struct{ before, expires int64 }

// setSignIn puts a record in the place of another. Nil removes it.
func (r records) setSignIn(before, after *providersession.Record) {
	r.placeSignIn(before, after)
	r.undo(func() { r.placeSignIn(after, before) })
}

func (r records) placeSignIn(before, after *providersession.Record) {
	if before != nil {
		id := before.ID()
		dropIn(r.signIns, before.Session, id)
		dropIn(r.signInsOf, before.UserID, id)
		for _, key := range keysOf(before) {
			dropIn(r.signInsBy, key, id)
		}
	}
	if after != nil {
		id := after.ID()
		putIn(r.signIns, after.Session, id, after)
		putIn(r.signInsOf, after.UserID, id, after)
		for _, key := range keysOf(after) {
			putIn(r.signInsBy, key, id, after)
		}
	}
}

// keysOf returns the keys by which a record is found.
func keysOf(r *providersession.Record) (keys []providersession.Key) {
	for _, key := range []providersession.Key{r.Sid, r.Sub} {
		if key != (providersession.Key{}) {
			keys = append(keys, key)
		}
	}
	return keys
}

func putIn[O, K comparable, V any](m map[O]map[K]V, outer O, inner K, value V) {
	if m[outer] == nil {
		m[outer] = make(map[K]V)
	}
	m[outer][inner] = value
}

func dropIn[O, K comparable, V any](m map[O]map[K]V, outer O, inner K) {
	delete(m[outer], inner)
	if len(m[outer]) == 0 {
		delete(m, outer)
	}
}

// copyOf returns a copy of a record as it is stored.
func copyOf(r *providersession.Record) *providersession.Record {
	c := *r
	c.AMR = slices.Clone(r.AMR)
	c.AuthTime, c.Proof, c.Created, c.Expires = whole(r.AuthTime), whole(r.Proof), whole(r.Created), whole(r.Expires)
	return &c
}

// Put implements [providersession.Store].
func (r providerSessions) Put(ctx context.Context, record *providersession.Record, flowBegan time.Time) error {
	put := copyOf(record)
	if err := r.write(ctx); err != nil {
		return err
	}
	defer r.writeDone()
	for _, id := range put.EndIDs() {
		if end, ended := r.ends[id]; ended && end.before > flowBegan.UnixMilli() {
			return providersession.ErrEnded
		}
	}
	before := r.signIns[put.Session][put.ID()]
	if before != nil && before.Role == providersession.Began {
		put.Role = providersession.Began
	}
	r.setSignIn(before, put)
	_, surplus := r.recordsOf(put.Session)
	for _, old := range surplus {
		r.setSignIn(old, nil)
	}
	return nil
}

func (r records) recordsOf(session providersession.Key) (kept, surplus []*providersession.Record) {
	all := make([]*providersession.Record, 0, len(r.signIns[session]))
	for _, record := range r.signIns[session] {
		all = append(all, record)
	}
	return providersession.Sort(all)
}

// Of implements [providersession.Store].
func (r providerSessions) Of(ctx context.Context, session providersession.Key) ([]*providersession.Record, error) {
	if err := r.read(ctx); err != nil {
		return nil, err
	}
	defer r.readDone()
	kept, _ := r.recordsOf(session)
	for i, record := range kept {
		kept[i] = copyOf(record)
	}
	return kept, nil
}

// EndBy implements [providersession.Store].
func (r providerSessions) EndBy(ctx context.Context, sid, sub providersession.Key, before time.Time) ([]*providersession.Record, error) {
	if sid == (providersession.Key{}) && sub == (providersession.Key{}) {
		return nil, providersession.ErrNoKey
	}
	if err := r.write(ctx); err != nil {
		return nil, err
	}
	defer r.writeDone()
	r.rememberEnd(providersession.EndID(sid, sub), before)
	by := sid
	if by == (providersession.Key{}) {
		by = sub
	}
	var ended []*providersession.Record
	for _, record := range r.signInsBy[by] {
		if record.Fits(sid, sub, whole(before)) {
			c := copyOf(record)
			c.Hint = ""
			ended = append(ended, c)
		}
	}
	for _, c := range ended {
		if c.Role == providersession.Began {
			if row := r.sessions.get(sessionKey(c.Session)); row != nil {
				r.deleteSession(row)
			}
			r.forgetSignIns(c.Session)
		} else {
			r.setSignIn(r.signIns[c.Session][c.ID()], nil)
		}
	}
	return ended, nil
}

func (r records) rememberEnd(id providersession.Key, before time.Time) {
	was, there := r.ends[id]
	r.ends[id] = providerEnd{max(was.before, before.UnixMilli()), max(was.expires, time.Now().Add(providersession.Remembered).UnixMilli())}
	r.undo(func() {
		if there {
			r.ends[id] = was
		} else {
			delete(r.ends, id)
		}
	})
}

// Move implements [providersession.Store].
func (r providerSessions) Move(ctx context.Context, session providersession.Key, expires time.Time) error {
	if err := r.write(ctx); err != nil {
		return err
	}
	defer r.writeDone()
	for _, before := range r.signIns[session] {
		moved := *before
		moved.Expires = whole(expires)
		r.setSignIn(before, &moved)
	}
	return nil
}

// Forget implements [providersession.Store].
func (r providerSessions) Forget(ctx context.Context, session providersession.Key) error {
	if err := r.write(ctx); err != nil {
		return err
	}
	defer r.writeDone()
	r.forgetSignIns(session)
	return nil
}

func (r records) forgetSignIns(session providersession.Key) {
	for _, record := range r.signIns[session] {
		r.setSignIn(record, nil)
	}
}

// forgetUser removes the records of a user.
func (r records) forgetUser(userID string) {
	for _, record := range r.signInsOf[userID] {
		r.setSignIn(record, nil)
	}
}

// sweepSignIns removes at most limit records and ends that expired before a time in
// milliseconds, and returns how many it removed.
func (r records) sweepSignIns(end int64, limit int) int {
	n := 0
	for _, theirs := range r.signIns {
		for _, record := range theirs {
			if n >= limit {
				return n
			}
			if record.Expires.UnixMilli() < end {
				r.setSignIn(record, nil)
				n++
			}
		}
	}
	for id, was := range r.ends {
		if n >= limit {
			return n
		}
		if was.expires < end {
			delete(r.ends, id)
			r.undo(func() { r.ends[id] = was })
			n++
		}
	}
	return n
}
