package xatastore

import (
	"context"
	"errors"
	"time"
)

// Sweep implements [pintle.Store]. A session that is extended meanwhile
// stays: it is removed only if it has the version it had when it was found to
// have expired.
func (s *Store) Sweep(ctx context.Context, before time.Time, limit int) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	expired := condition{"expires": map[string]any{"$lt": instantText(before)}}
	n, err := s.sweepSessions(ctx, expired, before, limit)
	if err == nil && n < limit {
		var links int
		links, err = s.sweepLinks(ctx, expired, before, limit-n)
		n += links
	}
	return n, fail(ctx, "sweep", err)
}

func (s *Store) sweepSessions(ctx context.Context, expired condition, before time.Time, limit int) (n int, err error) {
	const most = maxOperations / 5 // each has three operations, and seldom more
	for n < limit {
		found, err := s.expiredSessions(ctx, expired, before, min(limit-n, most))
		if err != nil || len(found) == 0 {
			return n, err
		}
		removed, err := s.sweepTogether(ctx, found)
		n += removed
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// expiredSessions returns at most limit sessions that have expired, including
// those without a user.
func (s *Store) expiredSessions(ctx context.Context, expired condition, before time.Time, limit int) (found []foundSession, err error) {
	for r, err := range s.client.query(ctx, s.names.sessions, []string{"*"}, expired) {
		if err != nil {
			return nil, err
		}
		is, err := hasExpired(r, before)
		if err != nil {
			return nil, err
		}
		if !is {
			continue
		}
		if found = append(found, foundSession{record: r}); len(found) == limit {
			break
		}
	}
	return found, nil
}

// hasExpired compares the time again, because the session is then removed.
func hasExpired(r record, before time.Time) (bool, error) {
	c := &reader{record: r}
	at := c.instant("expires")
	return at.Before(before) && !at.IsZero(), c.err
}

// sweepTogether removes sessions in one transaction, or one by one when another
// call changes one of them. It may leave some: another sweep would conflict at
// every one, so it is better to list again what is left.
func (s *Store) sweepTogether(ctx context.Context, found []foundSession) (n int, err error) {
	err = s.removeUnchanged(ctx, found...)
	if err == nil {
		return len(found), nil
	}
	no := refused(err)
	if no == nil {
		return 0, err
	}
	for i := range found {
		other := i + int(random(time.Duration(len(found)-1-i)))
		found[i], found[other] = found[other], found[i]
		removed, err := s.sweepSession(ctx, found[i], no.maybeDone)
		if err != nil || !removed {
			return n, err
		}
		n++
	}
	return n, nil
}

// removeUnchanged removes sessions if none of them was changed or removed since
// they were read.
func (s *Store) removeUnchanged(ctx context.Context, found ...foundSession) error {
	// A removal takes no condition, but a change does, and one that is refused
	// takes the whole transaction with it.
	var operations []operation
	for _, session := range found {
		version, err := session.record.version()
		if err != nil {
			return err
		}
		operations = append(operations, updateVersion(s.names.sessions, session.id(), version, record{"expires": session.record["expires"]}))
	}
	joins, err := s.joinsOf(ctx, found)
	if err != nil {
		return err
	}
	operations = append(operations, joins...)
	for _, session := range found {
		operations = append(operations, remove(s.names.sessions, session.id()))
	}
	_, err = s.client.transaction(ctx, operations...)
	return err
}

// sweepSession removes a session unless another call has changed or removed
// it, and reports whether it did. A missing session is counted if an attempt of
// this call that got no answer may have removed it.
func (s *Store) sweepSession(ctx context.Context, session foundSession, maybeDone bool) (bool, error) {
	err := s.removeUnchanged(ctx, session)
	no := refused(err)
	if no == nil {
		return err == nil, err
	}
	there, look := s.client.read(ctx, s.names.sessions, session.id())
	if look != nil {
		return false, look
	}
	if there == nil {
		return maybeDone || no.maybeDone, nil
	}
	version, err := session.record.version()
	if err != nil {
		return false, err
	}
	if now, err := there.version(); err != nil || now == version {
		return false, errors.Join(no, err) // for another reason, and so again and again
	}
	return false, nil
}

func (s *Store) sweepLinks(ctx context.Context, expired condition, before time.Time, limit int) (n int, err error) {
	for n < limit {
		var ids []string
		for r, err := range s.client.query(ctx, s.names.verifications, []string{"expires"}, expired) {
			if err != nil {
				return n, err
			}
			is, err := hasExpired(r, before)
			if err != nil {
				return n, err
			}
			if !is {
				continue
			}
			if ids = append(ids, r.id()); len(ids) == min(limit-n, maxOperations) {
				break
			}
		}
		if len(ids) == 0 {
			return n, nil
		}
		operations := make([]operation, len(ids))
		for i, id := range ids {
			operations[i] = remove(s.names.verifications, id)
		}
		rows, err := s.client.transaction(ctx, operations...)
		if err != nil {
			return n, err
		}
		for _, row := range rows {
			n += row
		}
	}
	return n, nil
}
