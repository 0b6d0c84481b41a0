package redisstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
)

// The set of a subject's flows has an entry for each: its name, a space and its
// kind. The score is when Redis forgets the flow. Adding an entry drops those of
// flows that Redis has forgotten, never moves a score back, and lets the set end
// with the last flow.
var listFlow = redis.NewScript(`
	redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', '(' .. ARGV[3])
	redis.call('ZADD', KEYS[1], 'GT', ARGV[2], ARGV[1])
	local last = redis.call('ZREVRANGE', KEYS[1], 0, 0, 'WITHSCORES')
	redis.call('PEXPIREAT', KEYS[1], string.format('%.0f', tonumber(last[2])))
	return 1`)

func flowEntry(name, kind string) string { return name + " " + kind }

func (a accountStore) listFlow(ctx context.Context, subject, entry string, end time.Time) error {
	return listFlow.Run(ctx, a.client, []string{a.keys.flows(subject)}, entry, end.UnixMilli(), time.Now().UnixMilli()).Err()
}

// ARGV[1] is when Redis forgets the flow, and the rest its fields and their values.
var createFlow = redis.NewScript(`
	if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
	redis.call('HSET', KEYS[1], unpack(ARGV, 2))
	redis.call('PEXPIREAT', KEYS[1], ARGV[1])
	return 1`)

// CreateFlow implements [accountstore.Store]. The flow is in the list of its
// subject before it exists: EndFlows would not find another, and a reset that was
// ended would go on.
func (a accountStore) CreateFlow(ctx context.Context, f *accountstore.Flow) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := storable(f.Kind, f.Subject, f.Payload); err != nil {
		return fmt.Errorf("redisstore: create flow: %w", err)
	}
	name, end := flowName(f.ID), endOf(f.Expires)
	entry := flowEntry(name, f.Kind)
	if err := a.listFlow(ctx, f.Subject, entry, end); err != nil {
		return fail(ctx, "create flow", err)
	}
	created, err := createFlow.Run(ctx, a.client, []string{a.keys.flow(name)},
		end.UnixMilli(),
		"kind", f.Kind,
		"subject", f.Subject,
		"version", 1,
		"payload", f.Payload,
		"code", encodeHash(f.Code),
		"attempts", 0,
		"created", encodeTime(f.Created),
		"expires", encodeTime(f.Expires)).Bool()
	if err == nil && !created {
		err = errors.Join(fmt.Errorf("there is a flow with the id: %w", pintle.ErrConflict), a.unlistFlow(ctx, f.ID, f.Subject, entry))
	}
	return fail(ctx, "create flow", err)
}

// unlistFlow takes a flow out of the list of a subject that it is not about.
func (a accountStore) unlistFlow(ctx context.Context, id accountstore.Hash, subject, entry string) error {
	held, err := a.flow(ctx, id)
	if err == nil && held.Subject == subject && flowEntry(flowName(id), held.Kind) == entry {
		return nil
	}
	if err != nil && !errors.Is(err, pintle.ErrNotFound) {
		return err
	}
	return a.client.ZRem(ctx, a.keys.flows(subject), entry).Err()
}

// Flow implements [accountstore.Store].
func (a accountStore) Flow(ctx context.Context, id accountstore.Hash) (*accountstore.Flow, error) {
	f, err := a.flow(ctx, id)
	return f, a.failRead(ctx, "find flow", err)
}

func (a accountStore) flow(ctx context.Context, id accountstore.Hash) (*accountstore.Flow, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	values, err := a.client.HGetAll(ctx, a.keys.flow(flowName(id))).Result()
	if err != nil {
		return nil, err
	}
	return decodeFlow(id, values)
}

func decodeFlow(id accountstore.Hash, values map[string]string) (*accountstore.Flow, error) {
	if len(values) == 0 {
		return nil, pintle.ErrNotFound
	}
	f := fields{values: values}
	flow := &accountstore.Flow{
		ID: id, Kind: f.text("kind"), Subject: f.text("subject"), Version: f.number("version"), Payload: f.text("payload"),
		Code: f.hash("code"), Attempts: int(f.number("attempts")), Created: f.time("created"), Expires: f.time("expires"),
	}
	if f.err != nil {
		return nil, fmt.Errorf("read flow: %w", f.err)
	}
	return flow, nil
}

// attemptFlow returns the new number, -1 if the limit is reached, and nothing
// without a flow.
var attemptFlow = redis.NewScript(`
	local attempts = redis.call('HGET', KEYS[1], 'attempts')
	if not attempts then return false end
	if tonumber(attempts) >= tonumber(ARGV[1]) then return -1 end
	return redis.call('HINCRBY', KEYS[1], 'attempts', 1)`)

// AttemptFlow implements [accountstore.Store].
func (a accountStore) AttemptFlow(ctx context.Context, id accountstore.Hash, limit int) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	n, err := attemptFlow.Run(ctx, a.client, []string{a.keys.flow(flowName(id))}, limit).Int()
	if err == nil && n < 0 {
		err = fmt.Errorf("the limit is reached: %w", pintle.ErrConflict)
	}
	if err != nil {
		return 0, fail(ctx, "attempt flow", err)
	}
	return n, nil
}

// ARGV[1] is the version, ARGV[2] when Redis forgets the flow, and the rest the
// fields and their values.
var changeFlow = redis.NewScript(`
	local version = redis.call('HGET', KEYS[1], 'version')
	if not version then return false end
	if version ~= ARGV[1] then return 0 end
	redis.call('HSET', KEYS[1], unpack(ARGV, 3))
	redis.call('HINCRBY', KEYS[1], 'version', 1)
	redis.call('PEXPIREAT', KEYS[1], ARGV[2])
	return 1`)

// ChangeFlow implements [accountstore.Store].
func (a accountStore) ChangeFlow(ctx context.Context, f *accountstore.Flow) error {
	if err := storable(f.Payload); err != nil {
		return fmt.Errorf("redisstore: change flow: %w", err)
	}
	before, err := a.flow(ctx, f.ID)
	if err != nil {
		return fail(ctx, "change flow", err)
	}
	name, end := flowName(f.ID), endOf(f.Expires)
	// The list first: a flow is in it as long as it lives.
	if err := a.listFlow(ctx, before.Subject, flowEntry(name, before.Kind), end); err != nil {
		return fail(ctx, "change flow", err)
	}
	changed, err := changeFlow.Run(ctx, a.client, []string{a.keys.flow(name)},
		f.Version, end.UnixMilli(),
		"payload", f.Payload,
		"code", encodeHash(f.Code),
		"expires", encodeTime(f.Expires)).Bool()
	if err == nil && !changed {
		err = fmt.Errorf("the flow has changed: %w", pintle.ErrConflict)
	}
	return fail(ctx, "change flow", err)
}

var useFlow = redis.NewScript(`
	if redis.call('HGET', KEYS[1], 'kind') ~= ARGV[1] then return {} end
	local row = redis.call('HGETALL', KEYS[1])
	redis.call('DEL', KEYS[1])
	return row`)

// UseFlow implements [accountstore.Store].
func (a accountStore) UseFlow(ctx context.Context, id accountstore.Hash, kind string) (*accountstore.Flow, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	name := flowName(id)
	row, err := useFlow.Run(ctx, a.client, []string{a.keys.flow(name)}, kind).StringSlice()
	if err != nil {
		return nil, fail(ctx, "use flow", err)
	}
	values := make(map[string]string, len(row)/2)
	for pair := range slices.Chunk(row, 2) {
		values[pair[0]] = pair[1]
	}
	f, err := decodeFlow(id, values)
	if err != nil {
		return nil, fail(ctx, "use flow", err)
	}
	// The flow is used up. If this fails, an entry without a flow stays until its
	// score is past.
	_ = a.client.ZRem(ctx, a.keys.flows(f.Subject), flowEntry(name, kind)).Err()
	return f, nil
}

var endFlow = redis.NewScript(`
	if redis.call('HGET', KEYS[1], 'subject') ~= ARGV[1] then return 0 end
	return redis.call('DEL', KEYS[1])`)

// EndFlows implements [accountstore.Store].
func (a accountStore) EndFlows(ctx context.Context, subject string, kinds ...string) (int, error) {
	n, err := a.endFlows(ctx, subject, func(kind string) bool { return slices.Contains(kinds, kind) })
	return n, fail(ctx, "end flows", err)
}

// endFlows removes the flows of a subject that are of certain kinds. The entry of a
// flow that does not exist stays: it may be about to be created.
func (a accountStore) endFlows(ctx context.Context, subject string, ofKind func(string) bool) (n int, err error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	list := a.keys.flows(subject)
	entries, err := a.client.ZRange(ctx, list, 0, -1).Result()
	if err != nil {
		return 0, err
	}
	for _, entry := range entries {
		name, kind, _ := strings.Cut(entry, " ")
		if !ofKind(kind) {
			continue
		}
		ended, err := endFlow.Run(ctx, a.client, []string{a.keys.flow(name)}, subject).Bool()
		if err != nil {
			return n, err
		}
		if !ended {
			continue
		}
		n++
		if err := a.client.ZRem(ctx, list, entry).Err(); err != nil {
			return n, err
		}
	}
	return n, nil
}

// CountFlows implements [accountstore.Store]. On a Cluster the flows may be on
// several nodes, which are queried in parallel.
func (a accountStore) CountFlows(ctx context.Context, subject, kind string, after time.Time) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	entries, err := a.client.ZRange(ctx, a.keys.flows(subject), 0, -1).Result()
	if err != nil {
		return 0, fail(ctx, "count flows", err)
	}
	answers, err := a.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for _, entry := range entries {
			if name, of, _ := strings.Cut(entry, " "); of == kind {
				p.HMGet(ctx, a.keys.flow(name), "subject", "kind", "expires")
			}
		}
		return nil
	})
	if err != nil {
		return 0, fail(ctx, "count flows", err)
	}
	n := 0
	for _, answer := range answers {
		var flow struct {
			Subject string `redis:"subject"`
			Kind    string `redis:"kind"`
			Expires int64  `redis:"expires"`
		}
		if err := answer.(*redis.SliceCmd).Scan(&flow); err != nil {
			return 0, fail(ctx, "count flows", err)
		}
		if flow.Subject == subject && flow.Kind == kind && flow.Expires > after.UnixMilli() {
			n++
		}
	}
	return n, nil
}
