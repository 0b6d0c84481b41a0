package sqlstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/internal/userlist"
)

// A jsonTexts is a JSON object of texts as a column holds it. An empty one is NULL.
type jsonTexts map[string]string

func (t jsonTexts) column() (any, error) {
	if len(t) == 0 {
		return nil, nil // nil is the column's NULL
	}
	text, err := json.Marshal(map[string]string(t))
	return string(text), err
}

// Scan implements [sql.Scanner].
func (t *jsonTexts) Scan(value any) error {
	*t = nil
	text, err := columnText(value)
	if err != nil || text == "" {
		return err
	}
	return decodeJSON(text, (*map[string]string)(t))
}

// Record implements [accountstore.Log], in one statement.
func (r accountRows) Record(ctx context.Context, e *accountstore.Event) error {
	texts := []string{e.ID, e.Kind, e.Outcome, e.UserID, e.Actor}
	for name, text := range e.Detail {
		texts = append(texts, name, text)
	}
	if !storable(texts...) {
		return r.fail(ctx, "record", errNotText)
	}
	detail, err := jsonTexts(e.Detail).column()
	if err != nil {
		return r.fail(ctx, "record", err) // unreachable: texts have a form in JSON
	}
	_, err = r.exec(ctx, r.sql.record, e.ID, e.At.UnixMilli(), e.Kind, e.Outcome, nullable(e.UserID), nullable(e.Actor),
		hashOrNull(e.Subject), detail, max(e.Count, 1), e.Expires.UnixMilli())
	return r.fail(ctx, "record", err)
}

// Activity implements [accountstore.Log], in one statement. The index of the most
// selective condition has the order of the result as well.
func (r accountRows) Activity(ctx context.Context, q accountstore.ActivityQuery) (page []*accountstore.Event, next string, err error) {
	if q.Limit <= 0 || !storable(q.UserID, q.Actor, q.Kind, q.Outcome) {
		return nil, "", ctx.Err()
	}
	q.Limit = min(q.Limit, math.MaxInt32-1) // one more is read
	since, until, id := int64(math.MinInt64), int64(math.MaxInt64), ""
	if !q.Since.IsZero() {
		since = q.Since.UnixMilli()
	}
	if !q.Until.IsZero() {
		until = q.Until.UnixMilli()
	}
	if q.After != "" {
		at, last, err := userlist.ReadEvent(q.After)
		if err == nil && !storable(last) {
			err = errors.New("the list does not continue with this text")
		}
		if err != nil {
			return nil, "", r.fail(ctx, "list activity", err)
		}
		if at.UnixMilli() < until {
			until, id = at.UnixMilli(), last
		}
	}
	find := r.sql.activity
	switch {
	case q.UserID != "":
		find = r.sql.userActivity
	case q.Actor != "":
		find = r.sql.actorActivity
	case q.Kind != "":
		find = r.sql.kindActivity
	}
	err = r.each(ctx, func(scan func(...any) error) error {
		e := &accountstore.Event{}
		var userID, actor sql.NullString
		var at, expires int64
		err := scan(&e.ID, &at, &e.Kind, &e.Outcome, &userID, &actor, (*hashColumn)(&e.Subject), (*jsonTexts)(&e.Detail), &e.Count, &expires)
		e.UserID, e.Actor, e.At, e.Expires = userID.String, actor.String, time.UnixMilli(at).UTC(), time.UnixMilli(expires).UTC()
		page = append(page, e)
		return err
	}, find, q.UserID, q.Actor, q.Kind, q.Outcome, since, until, id, q.Limit+1)
	if err != nil {
		return nil, "", r.fail(ctx, "list activity", err)
	}
	if len(page) > q.Limit { // the next page begins with the one beyond
		page = page[:q.Limit]
		last := page[q.Limit-1]
		next = userlist.OfEvent(last.At, last.ID).Text()
	}
	return page, next, nil
}

// activityRows adds the statements of the security activity.
func (b builder) activityRows(q *queries) {
	t := b.activity
	count := t.columns["count"]
	columns := t.names("", activityColumns...)
	q.record = b.statement("INSERT INTO %s AS t (%s) VALUES (%s) ON CONFLICT (%s) DO UPDATE SET %s = t.%[5]s + $9",
		t.quoted, list(columns), parameters(1, len(columns)), t.columns["id"], count)
	if b.Dialect == MySQL {
		q.record = b.statement("INSERT INTO %s (%s) VALUES (%s) ON DUPLICATE KEY UPDATE %s = %[4]s + $9",
			t.quoted, list(columns), parameters(1, len(columns)), count)
	}
	q.activity, q.userActivity = b.findActivity(""), b.findActivity("user_id")
	q.actorActivity, q.kindActivity = b.findActivity("actor"), b.findActivity("kind")
	user, actor := t.columns["user_id"], t.columns["actor"]
	q.keepActs = b.statement("UPDATE %s SET %s = NULL WHERE %[2]s = $1 AND %s IS NOT NULL", t.quoted, user, actor)
	q.sweepActivity = b.sweepRows(t, "", t.columns["id"])
}

// findActivity finds the events for which a column, if it is not empty, and all others
// that are given have a value. Two conditions for the times are one range of the index.
func (b builder) findActivity(by string) *statement {
	t := b.activity
	conditions := make([]string, 0, 5)
	for i, column := range activityFilters {
		is := fmt.Sprintf("%s = $%d", t.columns[column], i+1)
		if column != by {
			is = fmt.Sprintf("($%d = '' OR %s)", i+1, is)
		}
		conditions = append(conditions, is)
	}
	at, id := t.columns["at"], t.columns["id"]
	return b.statement("SELECT %s FROM %s WHERE %s AND %s >= $5 AND %[4]s <= $6 AND (%[4]s < $6 OR %[5]s < $7) ORDER BY %[4]s DESC, %[5]s DESC LIMIT $8",
		list(t.names("", activityColumns...)), t.quoted, strings.Join(conditions, " AND "), at, id)
}
