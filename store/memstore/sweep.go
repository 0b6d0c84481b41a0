package memstore

import (
	"context"
	"time"
)

// Sweep implements [pintle.Store]. It looks at every session, mail link,
// flow, factor, event and sign-in at a provider while all other calls wait: about ten milliseconds for 100,000 of
// them.
func (r records) Sweep(ctx context.Context, before time.Time, limit int) (int, error) {
	if err := r.write(ctx); err != nil {
		return 0, err
	}
	defer r.writeDone()
	n, end := 0, before.UnixMilli()
	for row := range r.sessions.all() {
		if n >= limit {
			return n, nil
		}
		if row.expires < end {
			r.deleteSession(row)
			n++
		}
	}
	for key, expires := range r.verifications {
		if n >= limit {
			return n, nil
		}
		if expires < end {
			r.deleteVerification(key, expires)
			n++
		}
	}
	n += r.sweepAccountRows(end, limit-n)
	n += r.sweepSignIns(end, limit-n)
	n += r.sweepEvents(end, limit-n)
	return n + r.sweepOrphans(end, limit-n), nil
}
