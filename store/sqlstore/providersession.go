package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/providersession"
)

// providerSessions is the [providersession.Store] of a store, or of its transaction.
//
// A sign-in writes the rows of all ends that would find it, and an end writes its row
// before it looks for sign-ins. So one waits for the other, and sees what it did.
type providerSessions struct{ records }

var _ providersession.Store = providerSessions{}

// ProviderSessions implements [pintle.Store]. It is nil for shared tables without
// [Layout.AccountTables].
func (r records) ProviderSessions() providersession.Store {
	if r.tables.signIns == nil {
		return nil
	}
	return providerSessions{r}
}

// keyOrNull is what a column holds as a key that may be missing.
func keyOrNull(k providersession.Key) any {
	if k == (providersession.Key{}) {
		return nil
	}
	return k[:]
}

// Put implements [providersession.Store].
func (p providerSessions) Put(ctx context.Context, r *providersession.Record, flowBegan time.Time) error {
	if !storable(append(slices.Clone(r.AMR), r.UserID, r.Provider, r.ProviderAccountID, string(r.Role), r.ACR, r.Hint)...) {
		return p.fail(ctx, "put sign-in", errNotText)
	}
	refused, err := false, p.makeEnds(ctx, r)
	if err == nil {
		// A refusal is no error in the transaction: taking back the rows that others
		// wait for makes MySQL give up transactions.
		err = p.inOneStep(ctx, "put sign-in", func(in records) (err error) {
			refused, err = providerSessions{in}.put(ctx, r, flowBegan)
			return in.fail(ctx, "put sign-in", err)
		})
	}
	switch {
	case err != nil:
		return p.fail(ctx, "put sign-in", err)
	case refused:
		return providersession.ErrEnded
	case r.Role == providersession.Began:
		return nil
	}
	return p.fail(ctx, "put sign-in", p.trim(ctx, r.Session))
}

// trim removes the records of a session that Of does not return.
func (p providerSessions) trim(ctx context.Context, session providersession.Key) error {
	_, surplus, err := p.of(ctx, session)
	for _, old := range surplus {
		if err == nil {
			id := old.ID()
			_, err = p.exec(ctx, p.sql.dropSignIn, id[:])
		}
	}
	return err
}

// put reports whether the sign-in is refused.
func (p providerSessions) put(ctx context.Context, r *providersession.Record, flowBegan time.Time) (refused bool, err error) {
	ended, err := p.lockEnds(ctx, r.EndIDs())
	if err != nil || ended > flowBegan.UnixMilli() {
		return true, err
	}
	amr, err := jsonList[string](r.AMR).column()
	if err != nil {
		return true, err // unreachable: texts have a form in JSON
	}
	id := r.ID()
	_, err = p.exec(ctx, p.sql.putSignIn, id[:], r.Session[:], r.UserID, r.Provider, r.ProviderAccountID, keyOrNull(r.Sid), keyOrNull(r.Sub),
		string(r.Role), nullable(r.ACR), amr, milliseconds(r.AuthTime), milliseconds(r.Proof), nullable(r.Hint), r.Created.UnixMilli(), r.Expires.UnixMilli())
	return false, err
}

// makeEnds makes the rows of ends that are missing where lockEnds does not: in MySQL,
// transactions that make rows and wait for those of others are given up too often.
func (p providerSessions) makeEnds(ctx context.Context, r *providersession.Record) error {
	ids := r.EndIDs()
	if p.dialect.returning() || len(ids) == 0 {
		return nil
	}
	s, args := p.endRows(ids)
	_, err := p.exec(ctx, s, args...)
	return err
}

// endRows returns the statement that makes and locks the rows of ends, for one end or for
// three.
func (p providerSessions) endRows(ids []providersession.Key) (s *statement, args []any) {
	for _, id := range ids {
		args = append(args, id[:])
	}
	return p.sql.lockEnds[min(len(ids), 2)-1], append(args, time.Now().Add(providersession.Remembered).UnixMilli())
}

// lockEnds locks the rows of ends until the transaction ends, and returns the time of the
// last of them.
func (p providerSessions) lockEnds(ctx context.Context, ids []providersession.Key) (last int64, err error) {
	if len(ids) == 0 {
		return 0, nil
	}
	if !p.dialect.returning() {
		return p.lockedEnds(ctx, ids)
	}
	s, args := p.endRows(ids)
	err = p.each(ctx, func(scan func(...any) error) error {
		var ended int64
		err := scan(&ended)
		last = max(last, ended)
		return err
	}, s, args...)
	return last, err
}

// lockedEnds locks and reads the rows that makeEnds has made, one by one: to find several,
// MySQL may read the whole table, and lock it.
func (p providerSessions) lockedEnds(ctx context.Context, ids []providersession.Key) (last int64, err error) {
	for _, id := range ids {
		var ended int64
		if err := p.one(ctx, []any{&ended}, p.sql.lockedEnd, id[:]); err != nil {
			return 0, err
		}
		last = max(last, ended)
	}
	return last, nil
}

// Of implements [providersession.Store].
func (p providerSessions) Of(ctx context.Context, session providersession.Key) ([]*providersession.Record, error) {
	kept, _, err := p.of(ctx, session)
	return kept, p.fail(ctx, "list sign-ins", err)
}

func (p providerSessions) of(ctx context.Context, session providersession.Key) (kept, surplus []*providersession.Record, err error) {
	found, err := p.find(ctx, p.sql.signIns, session[:])
	if err != nil {
		return nil, nil, err
	}
	kept, surplus = providersession.Sort(found)
	return kept, surplus, nil
}

func (p providerSessions) find(ctx context.Context, s *statement, args ...any) (found []*providersession.Record, err error) {
	err = p.again(ctx, func(r records) error {
		found = nil
		return r.each(ctx, func(scan func(...any) error) error {
			row := &providersession.Record{}
			var acr, hint sql.NullString
			var amr jsonList[string]
			var authTime, proof, created, expires instant
			err := scan((*hashColumn)(&row.Session), &row.UserID, &row.Provider, &row.ProviderAccountID, (*hashColumn)(&row.Sid), (*hashColumn)(&row.Sub),
				&row.Role, &acr, &amr, &authTime, &proof, &hint, &created, &expires)
			row.ACR, row.AMR, row.Hint = acr.String, amr, hint.String
			row.AuthTime, row.Proof, row.Created, row.Expires = authTime.Time, proof.Time, created.Time, expires.Time
			found = append(found, row)
			return err
		}, s, args...)
	})
	return found, err
}

// EndBy implements [providersession.Store].
func (p providerSessions) EndBy(ctx context.Context, sid, sub providersession.Key, before time.Time) (ended []*providersession.Record, err error) {
	if sid == (providersession.Key{}) && sub == (providersession.Key{}) {
		return nil, providersession.ErrNoKey
	}
	ended, err = p.endBy(ctx, sid, sub, before)
	if err != nil {
		return nil, p.fail(ctx, "end sign-ins", err)
	}
	return ended, nil
}

// endBy first remembers the end, outside a transaction if the caller has none: sign-ins
// that come later are refused, those that came before have a row, and each session ends
// in a short transaction. If it breaks off, the next call finds the rest.
func (p providerSessions) endBy(ctx context.Context, sid, sub providersession.Key, before time.Time) ([]*providersession.Record, error) {
	end := providersession.EndID(sid, sub)
	if _, err := p.exec(ctx, p.sql.rememberEnd, end[:], before.UnixMilli(), time.Now().Add(providersession.Remembered).UnixMilli()); err != nil {
		return nil, err
	}
	by := p.sql.signInsBy
	if p.tx && p.dialect == MySQL {
		by = p.sql.lockSignInsBy
	}
	find, args := by[2], []any{before.UnixMilli(), sid[:], sub[:]}
	switch {
	case sub == providersession.Key{}:
		find, args = by[0], args[:2]
	case sid == providersession.Key{}:
		find, args = by[1], []any{before.UnixMilli(), sub[:]}
	}
	ended, err := p.find(ctx, find, args...)
	if err != nil {
		return nil, err
	}
	// In one order, so that two calls that end the same sessions do not wait for one
	// another.
	slices.SortFunc(ended, func(a, b *providersession.Record) int { return slices.Compare(a.Session[:], b.Session[:]) })
	for _, r := range ended {
		if err := p.end(ctx, r); err != nil {
			return nil, err
		}
		r.Hint = ""
	}
	return ended, nil
}

// end removes a record, and the session that began with it.
func (p providerSessions) end(ctx context.Context, r *providersession.Record) error {
	if r.Role != providersession.Began {
		id := r.ID()
		_, err := p.exec(ctx, p.sql.dropSignIn, id[:])
		return err
	}
	if err := p.EndSession(ctx, r.UserID, handles.EncodeToString(r.Session[:])); err != nil && !errors.Is(err, pintle.ErrNotFound) {
		return err
	}
	return p.forgetSignIns(ctx, r.Session) // also if the session is one in a token
}

// Move implements [providersession.Store].
func (p providerSessions) Move(ctx context.Context, session providersession.Key, expires time.Time) error {
	_, err := p.exec(ctx, p.sql.moveSignIns, session[:], expires.UnixMilli())
	return p.fail(ctx, "move sign-ins", err)
}

// Forget implements [providersession.Store].
func (p providerSessions) Forget(ctx context.Context, session providersession.Key) error {
	return p.fail(ctx, "forget sign-ins", p.forgetSignIns(ctx, session))
}

// forgetSignIns removes the records of a session.
func (r records) forgetSignIns(ctx context.Context, session providersession.Key) error {
	if r.tables.signIns == nil {
		return nil
	}
	_, err := r.exec(ctx, r.sql.dropSignIns, session[:])
	return err
}

// forgetUserSignIns removes the records of the sessions of a user, but one.
func (r records) forgetUserSignIns(ctx context.Context, userID, except string) error {
	if r.tables.signIns == nil {
		return nil
	}
	keep := providersession.KeyOf(except) // no session has the empty token
	_, err := r.exec(ctx, r.sql.dropUserSignIns, userID, keep[:])
	return err
}

// signInRows adds the statements for sign-ins at providers.
func (b builder) signInRows(q *queries) {
	t := b.signIns
	c := func(column string) string { return t.columns[column] }
	columns := list(t.names("", signInColumns[1:]...))
	put := fmt.Sprintf("INSERT INTO %s AS t (%s) VALUES (%s) ON CONFLICT (%s) DO UPDATE SET ", t.quoted, list(t.names("", signInColumns...)), parameters(1, len(signInColumns)), c("id"))
	role := "t." + c("role")
	if b.Dialect == MySQL {
		put = fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s) ON DUPLICATE KEY UPDATE ", t.quoted, list(t.names("", signInColumns...)), parameters(1, len(signInColumns)))
		role = c("role")
	}
	// In the place of another record. Session, user and account are the same.
	changes := []string{fmt.Sprintf("%s = CASE WHEN %s = '%s' THEN %[2]s ELSE $8 END", c("role"), role, providersession.Began)}
	for i, column := range signInColumns {
		if strings.HasPrefix(column, "key_") || i >= 8 {
			changes = append(changes, fmt.Sprintf("%s = $%d", c(column), i+1))
		}
	}
	q.putSignIn = b.Dialect.statement(put + list(changes))
	q.signIns = b.statement("SELECT %s FROM %s WHERE %s = $1", columns, t.quoted, c("session"))
	q.dropSignIn = b.statement("DELETE FROM %s WHERE %s = $1", t.quoted, c("id"))
	q.dropSignIns = b.statement("DELETE FROM %s WHERE %s = $1", t.quoted, c("session"))
	q.dropUserSignIns = b.statement("DELETE FROM %s WHERE %s = $1 AND %s <> $2", t.quoted, c("user_id"), c("session"))
	q.moveSignIns = b.statement("UPDATE %s SET %s = $2 WHERE %s = $1", t.quoted, c("expires"), c("session"))
	for i, condition := range []string{
		fmt.Sprintf("%s = $2", c("key_sid")), fmt.Sprintf("%s = $2", c("key_sub")), fmt.Sprintf("%s = $2 AND %s = $3", c("key_sid"), c("key_sub")),
	} {
		by := fmt.Sprintf("SELECT %s FROM %s WHERE %s < $1 AND %s", columns, t.quoted, c("created"), condition)
		q.signInsBy[i] = b.Dialect.statement(by)
		if b.Dialect == MySQL {
			// In a transaction, only a read that locks sees what was committed while it
			// waited.
			q.lockSignInsBy[i] = b.Dialect.statement(by + b.locked())
		}
	}
	b.endRows(q)
	q.sweepSignIns = b.sweepRows(t, "", c("id"))
	q.sweepEnds = b.sweepRows(b.ends, "", b.ends.columns["id"])
}

func (b builder) endRows(q *queries) {
	t := b.ends
	id, ended, expires := t.columns["id"], t.columns["ended"], t.columns["expires"]
	columns := list([]string{id, ended, expires})
	later := map[Dialect]string{PostgreSQL: "GREATEST", MySQL: "GREATEST", SQLite: "MAX"}[b.Dialect]
	target, conflict, row := t.quoted+" AS t", fmt.Sprintf("ON CONFLICT (%s) DO UPDATE SET ", id), "t."
	if b.Dialect == MySQL {
		target, conflict, row = t.quoted, "ON DUPLICATE KEY UPDATE ", ""
	}
	forward := func(column string, n int) string {
		return fmt.Sprintf("%s = %s(%s%[1]s, $%[4]d)", column, later, row, n)
	}
	q.rememberEnd = b.statement("INSERT INTO %s (%s) VALUES ($1, $2, $3) %s%s, %s", target, columns, conflict, forward(ended, 2), forward(expires, 3))
	if !b.Dialect.returning() {
		q.lockedEnd = b.statement("SELECT %s FROM %s WHERE %s = $1%s", ended, t.quoted, id, b.locked())
	}
	for i, n := range []int{1, 3} {
		rows := make([]string, n)
		for k := range rows {
			rows[k] = fmt.Sprintf("($%d, 0, $%d)", k+1, n+1)
		}
		text := fmt.Sprintf("INSERT INTO %s (%s) VALUES %s %s%s", target, columns, list(rows), conflict, forward(expires, n+1))
		if b.Dialect.returning() {
			text += " RETURNING " + ended
		}
		q.lockEnds[i] = b.Dialect.statement(text)
	}
}
