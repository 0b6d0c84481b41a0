package redisstore

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/internal/userlist"
)

// An eventList is where events are: those of a user, and all of them for operators. It
// has three keys. Their names have one tag in braces, so that they are on one node of a
// Cluster and a script may use them together.
type eventList struct {
	rows string // a hash: the row of an event by its id, and its count by countField
	at   string // a sorted set: the ids by the times
	ends string // a sorted set: the ids by when they are forgotten
}

func (l eventList) keys() []string { return []string{l.rows, l.at, l.ends} }

// countField is the field of a count. No id has a plus sign.
func countField(id string) string { return "+" + id }

// An eventRow is an event without its id and its count. Times are in milliseconds.
type eventRow struct {
	At      int64             `json:"at"`
	Kind    string            `json:"kind"`
	Outcome string            `json:"outcome"`
	UserID  string            `json:"userId,omitempty"`
	Actor   string            `json:"actor,omitempty"`
	Subject string            `json:"subject,omitempty"`
	Detail  map[string]string `json:"detail,omitempty"`
	Expires int64             `json:"expires"`
}

func decodeEvent(id, text, count string) (*accountstore.Event, error) {
	var row eventRow
	if err := json.Unmarshal([]byte(text), &row); err != nil {
		return nil, fmt.Errorf("read event: %w", err)
	}
	n, err := strconv.Atoi(count)
	if err != nil {
		return nil, fmt.Errorf("read event: %w", err)
	}
	subject, err := decodeHash(row.Subject)
	if err != nil {
		return nil, fmt.Errorf("read event: %w", err)
	}
	return &accountstore.Event{
		ID: id, At: ofMillis(&row.At), Kind: row.Kind, Outcome: row.Outcome, UserID: row.UserID, Actor: row.Actor,
		Subject: subject, Detail: row.Detail, Count: n, Expires: ofMillis(&row.Expires),
	}, nil
}

// record adds an event to a list, or to the count of the one that has the id, and returns the
// row that is there. It forgets a hundred events whose time is over, and lets the list end
// with the last of its events.
var record = redis.NewScript(`
	local id, row, count, at, forget, now = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
	if redis.call('HSETNX', KEYS[1], id, row) == 1 then
		redis.call('ZADD', KEYS[2], at, id)
		redis.call('ZADD', KEYS[3], forget, id)
	end
	redis.call('HINCRBY', KEYS[1], '+' .. id, count)
	local there = redis.call('HGET', KEYS[1], id)
	for _, old in ipairs(redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', '(' .. now, 'LIMIT', 0, 100)) do
		redis.call('HDEL', KEYS[1], old, '+' .. old)
		redis.call('ZREM', KEYS[2], old)
		redis.call('ZREM', KEYS[3], old)
	end
	local last = redis.call('ZREVRANGE', KEYS[3], 0, 0, 'WITHSCORES')
	for _, key in ipairs(KEYS) do
		redis.call('PEXPIREAT', key, string.format('%.0f', tonumber(last[2])))
	end
	return there`)

// Record implements [accountstore.Log]. An event of a user is in two lists, which may be on
// two nodes. The list of the user is the second: what is in the first alone could not be
// found by a deletion of the user that is repeated.
func (a accountStore) Record(ctx context.Context, e *accountstore.Event) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	texts := append(slices.Collect(maps.Values(e.Detail)), e.ID, e.Kind, e.Outcome, e.UserID, e.Actor)
	if err := storable(slices.AppendSeq(texts, maps.Keys(e.Detail))...); err != nil {
		return fmt.Errorf("redisstore: record: %w", err)
	}
	row := eventRow{
		At: e.At.UnixMilli(), Kind: e.Kind, Outcome: e.Outcome, UserID: e.UserID, Actor: e.Actor,
		Subject: encodeHash(e.Subject), Detail: e.Detail, Expires: e.Expires.UnixMilli(),
	}
	there, err := a.recordIn(ctx, a.keys.allEvents(), e, row)
	switch {
	case err != nil:
	case there.UserID != "":
		_, err = a.recordIn(ctx, a.keys.events(there.UserID), e, there)
	case there.Subject != "":
		// The time of a wrong password would otherwise tell that an address has no account.
		_, err = a.recordIn(ctx, a.keys.subjectEvents(there.Subject), e, there)
	}
	return fail(ctx, "record", err)
}

// recordIn records the row of an event in a list, and returns the row that is there with
// its id.
func (a accountStore) recordIn(ctx context.Context, list eventList, e *accountstore.Event, row eventRow) (there eventRow, err error) {
	text, err := json.Marshal(row)
	if err != nil {
		return row, err
	}
	held, err := record.Run(ctx, a.client, list.keys(),
		e.ID, text, max(e.Count, 1), row.At, endOf(ofMillis(&row.Expires)).UnixMilli(), time.Now().UnixMilli()).Text()
	if err != nil {
		return row, err
	}
	return there, json.Unmarshal([]byte(held), &there)
}

// eventPage is how many events are read at a time if not all of them are asked for.
const eventPage = 200

// Activity implements [accountstore.Log]. The events of a user and all events are in the
// order of their times. Further conditions are compared here, so a query for an operator
// or a kind reads what lies between.
func (a accountStore) Activity(ctx context.Context, q accountstore.ActivityQuery) (page []*accountstore.Event, next string, err error) {
	if q.Limit <= 0 {
		return nil, "", ctx.Err()
	}
	list := a.keys.allEvents()
	if q.UserID != "" {
		list = a.keys.events(q.UserID)
	}
	from := accountstore.Event{At: accountstore.Forever}
	if q.After != "" {
		if from.At, from.ID, err = userlist.ReadEvent(q.After); err != nil {
			return nil, "", fail(ctx, "list activity", err)
		}
	}
	if !q.Until.IsZero() && q.Until.UnixMilli() <= from.At.UnixMilli() {
		from = accountstore.Event{At: q.Until} // no id is less than the empty one
	}
	for {
		ids, more, err := a.eventIDs(ctx, list, &from, q.Since, eventPage)
		if err != nil {
			return nil, "", a.failRead(ctx, "list activity", err)
		}
		events, err := a.readEvents(ctx, list, ids)
		if err != nil {
			return nil, "", a.failRead(ctx, "list activity", err)
		}
		for _, e := range events {
			if !q.Selects(e) {
				continue
			}
			if len(page) == q.Limit {
				last := page[q.Limit-1]
				return page, userlist.OfEvent(last.At, last.ID).Text(), nil
			}
			page = append(page, e)
		}
		if !more {
			return page, "", nil
		}
	}
}

// eventIDs returns the ids of a list that come after a place in the order, moves the place
// behind them, and reports whether there may be more.
func (a accountStore) eventIDs(ctx context.Context, list eventList, from *accountstore.Event, since time.Time, page int) (ids []string, more bool, err error) {
	newest := &redis.ZRangeBy{Max: strconv.FormatInt(from.At.UnixMilli(), 10), Min: "-inf"}
	if !since.IsZero() {
		newest.Min = strconv.FormatInt(since.UnixMilli(), 10)
	}
	for {
		newest.Count = int64(page)
		entries, err := a.client.ZRevRangeByScoreWithScores(ctx, list.at, newest).Result()
		if err != nil {
			return nil, false, err
		}
		at := from.At.UnixMilli()
		for _, entry := range entries {
			id, is := entry.Member.(string)
			if is && (int64(entry.Score) < at || id < from.ID) {
				ids = append(ids, id)
			}
		}
		more := len(entries) == page
		if len(ids) > 0 {
			last := entries[len(entries)-1]
			from.At, from.ID = time.UnixMilli(int64(last.Score)), ids[len(ids)-1]
		}
		if len(ids) > 0 || !more {
			return ids, more, nil
		}
		page *= 2 // all of them are of one millisecond, and were returned before
	}
}

// readEvents returns the events with some ids that are still there.
func (a accountStore) readEvents(ctx context.Context, list eventList, ids []string) ([]*accountstore.Event, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	fields := make([]string, 0, 2*len(ids))
	for _, id := range ids {
		fields = append(fields, id, countField(id))
	}
	values, err := a.client.HMGet(ctx, list.rows, fields...).Result()
	if err != nil {
		return nil, err
	}
	events := make([]*accountstore.Event, 0, len(ids))
	for i, id := range ids {
		row, is := values[2*i].(string)
		count, counted := values[2*i+1].(string)
		if !is || !counted {
			continue // it was forgotten meanwhile
		}
		e, err := decodeEvent(id, row, count)
		if err != nil {
			return nil, err
		}
		events = append(events, e)
	}
	return events, nil
}

// dropEvents removes events from a list.
var dropEvents = redis.NewScript(`
	for _, id in ipairs(ARGV) do
		redis.call('HDEL', KEYS[1], id, '+' .. id)
		redis.call('ZREM', KEYS[2], id)
		redis.call('ZREM', KEYS[3], id)
	end
	return 1`)

// replaceEvent replaces the row of an event that is there.
var replaceEvent = redis.NewScript(`
	if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return 0 end
	redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
	return 1`)

// forgetEvents removes the events of a user, and the user from the acts of operators. The
// list of the user goes last: what broke off can be repeated.
func (a accountStore) forgetEvents(ctx context.Context, userID string) error {
	if userID == "" {
		return nil
	}
	list, all := a.keys.events(userID), a.keys.allEvents()
	rows, err := a.client.HGetAll(ctx, list.rows).Result()
	if err != nil {
		return err
	}
	var gone []any
	for id, text := range rows {
		if strings.HasPrefix(id, "+") {
			continue
		}
		var row eventRow
		if err := json.Unmarshal([]byte(text), &row); err != nil || row.Actor == "" {
			gone = append(gone, id)
			continue
		}
		row.UserID = ""
		kept, err := json.Marshal(row)
		if err == nil {
			err = replaceEvent.Run(ctx, a.client, all.keys(), id, kept).Err()
		}
		if err != nil {
			return err
		}
	}
	for some := range slices.Chunk(gone, 1000) {
		if err := dropEvents.Run(ctx, a.client, all.keys(), some...).Err(); err != nil {
			return err
		}
	}
	return a.client.Del(ctx, list.keys()...).Err()
}
