package account

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/internal/address"
	"github.com/pintleauth/pintle/internal/clientaddr"
	"github.com/pintleauth/pintle/internal/userrule"
)

// Activity are the rules for the record of what happens to the accounts: sign-ins, failed
// attempts, changes of passwords and second factors, acts of operators. Users see their own
// on the page "activity"; [Operators.Activity] lists them for operators. The zero value keeps
// them for the recommended times.
type Activity struct {
	// Record is called with each event after it is stored, in the request that caused it,
	// and may be called concurrently: forward it to a system of your own. e.Count is 1 for
	// each of those that are stored as one event; they have one ID. ctx does not end
	// with the request, but after ten seconds. Nil forwards none.
	Record func(ctx context.Context, e *accountstore.Event)

	// Keep is how long an event is kept, KeepFailures an attempt that was refused or that
	// failed, and KeepActs the act of an operator. Zero means 180, 30 and 400 days. A change
	// holds for what is recorded from then on. [pintle.Store].Sweep removes the others.
	//
	// [pintle.Store]: https://pkg.go.dev/github.com/pintleauth/pintle#Store
	Keep, KeepFailures, KeepActs time.Duration

	// Network is what is kept of the address of the client.
	Network Network

	// Off stores no events but the acts of operators, with the requests in which one acts as a
	// user. Record and the log receive all of them.
	Off bool
}

// A Network is what an event has of the address of a client.
type Network int

// What an event has of the address of a client.
const (
	// NetworkPrefix is the network: the first 24 bits of an IPv4 address, and the first 48
	// of an IPv6 address.
	NetworkPrefix Network = iota

	// NetworkAddress is the whole address.
	NetworkAddress

	// NetworkNone is nothing.
	NetworkNone
)

// The outcomes of events. An act of an operator has two: one that it has begun, and one after
// it.
const (
	outcomeOK      = "ok"
	outcomeRefused = "refused" // by a limit, a rule or the application
	outcomeFailed  = "failed"
	outcomeBegun   = "begun"
)

const day = 24 * time.Hour

func (o Activity) check() error {
	if o.Keep < 0 || o.KeepFailures < 0 || o.KeepActs < 0 {
		return errors.New("account: Options.Activity has a negative time: zero is the recommended one, and Off stores no events of users")
	}
	if o.Network < NetworkPrefix || o.Network > NetworkNone {
		return fmt.Errorf("account: Options.Activity.Network is %d: use NetworkPrefix, NetworkAddress or NetworkNone", o.Network)
	}
	return nil
}

// keep is how long an event is kept.
func (o Activity) keep(e *accountstore.Event) time.Duration {
	choose := func(set, otherwise time.Duration) time.Duration {
		if set > 0 {
			return set
		}
		return otherwise
	}
	switch {
	case e.Actor != "":
		return choose(o.KeepActs, 400*day)
	case isFailure(e), e.UserID == "": // any client can cause these
		return choose(o.KeepFailures, 30*day)
	}
	return choose(o.Keep, 180*day)
}

func isFailure(e *accountstore.Event) bool {
	return e.Outcome == outcomeRefused || e.Outcome == outcomeFailed
}

// network returns what is kept of an address.
func (o Activity) network(a netip.Addr) string {
	a = clientaddr.Normal(a)
	bits := 48
	if a.Is4() {
		bits = 24
	}
	switch {
	case !a.IsValid() || o.Network == NetworkNone:
		return ""
	case o.Network == NetworkAddress:
		return a.String()
	}
	prefix, err := a.Prefix(bits)
	if err != nil {
		return "" // unreachable: each address has as many bits
	}
	return prefix.String()
}

// The names of the details of an event. No other text is stored: what a request sends could
// be a password that was typed into the wrong field.
const (
	detailProvider = "provider" // its id
	detailMethods  = "methods"  // words of RFC 8176, with spaces between them
	detailDevice   = "device"   // in the words of Session.Describe
	detailNetwork  = "network"
	detailCode     = "code"     // of an error
	detailMail     = "mail"     // its kind
	detailNumber   = "number"   // of what was ended or removed
	detailReason   = "reason"   // that an operator gave
	detailSession  = "session"  // a keyed hash, by which the events of one session are found
	detailFlow     = "flow"     // the kind of what was begun before, and goes on or ends with the event
	detailRoles    = "roles"    // that a user has from then on, with spaces between them
	detailOperator = "operator" // a name beside the id of the operator: see WithOperatorName
	detailRefused  = "refused"  // how many users of an import were refused
)

// detailNames are the names that an event may have, with the most characters of each.
var detailNames = map[string]int{
	detailProvider: 100, detailMethods: 100, detailDevice: maxDevice, detailNetwork: 64,
	detailSession: 22, detailFlow: 16, detailCode: 64, detailMail: 64, detailNumber: 16, detailRefused: 16, detailOperator: 64, detailReason: userrule.MaxReason, detailRoles: userrule.MaxRoles * (userrule.MaxRole + 1),
}

// An entry is something that is to be recorded.
type entry struct {
	kind, outcome string // an empty outcome is ok

	userID string
	actor  string

	// goneID is the user that the event is about and who no longer exists: a keyed hash of
	// it is stored.
	goneID string

	// address is what was typed: a keyed hash of it is stored if the event has no user.
	address string

	// detail has names and values by turns. Empty values are left out.
	detail []string

	// r is the request, or nil if a program acts.
	r *http.Request
}

// recordTime is how long a record may take.
const recordTime = 10 * time.Second

// record stores an event, logs it and passes it to the application. The record outlives the
// request: a thief who closes the connection is recorded all the same. It is the only function
// that makes events.
func (a *Accounts) record(ctx context.Context, n entry) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTime)
	defer cancel()
	if name, named := ctx.Value(operatorNameKey{}).(string); named && n.actor != "" {
		n.detail = append(slices.Clip(n.detail), detailOperator, name)
	}
	e := a.event(n)
	first := true
	if e.Kind == actingRequest || e.Actor == "" && (isFailure(e) || e.UserID == "" && n.goneID == "" || n.address != "" || unlimited[e.Kind]) {
		first = a.merge(e)
	}
	// Off is for what users do. An act of an operator that is not stored must not happen.
	if !a.o.Activity.Off || e.Actor != "" || e.Kind == actingRequest {
		if err := a.rows.Record(ctx, e); err != nil {
			return fmt.Errorf("account: activity %q not recorded: %w", e.Kind, err)
		}
	}
	if first {
		a.logEvent(ctx, e)
	}
	a.forward(ctx, e)
	return nil
}

// event makes the event of an entry.
func (a *Accounts) event(n entry) *accountstore.Event {
	now, id := a.sequence.next()
	e := &accountstore.Event{
		ID: id, At: now, Kind: n.kind, Outcome: n.outcome, UserID: n.userID, Actor: n.actor, Count: 1, Detail: map[string]string{},
	}
	if e.Outcome == "" {
		e.Outcome = outcomeOK
	}
	for i := 0; i+1 < len(n.detail); i += 2 {
		name := n.detail[i]
		if most, known := detailNames[name]; known && n.detail[i+1] != "" {
			e.Detail[name] = oneLine(n.detail[i+1], most)
		}
	}
	if n.r != nil {
		if network := a.o.Activity.network(a.address(n.r)); network != "" {
			e.Detail[detailNetwork] = network
		}
		if device := a.visitOf(n.r).device(); device != "" {
			e.Detail[detailDevice] = device
		}
		if flow, in := n.r.Context().Value(flowKey{}).(string); in {
			e.Detail[detailFlow] = flow
		}
	}
	switch {
	case n.actor != "" && n.userID != "":
		e.Subject = a.boxes.activitySubject("user", n.userID)
	case n.goneID != "":
		e.Subject = a.boxes.activitySubject("user", n.goneID)
	case n.address != "":
		// What is no address may be a password.
		if email, err := address.Normalize(n.address); err == nil && len(email) <= userrule.MaxAddress {
			// Also computed where it is not kept: the time of the answer would tell whether
			// the address has an account.
			if subject := a.boxes.activitySubject("address", email); n.userID == "" {
				e.Subject = subject
			}
		}
	}
	e.Expires = now.Add(a.o.Activity.keep(e))
	return e
}

// A sequence gives the events of a process times and ids in the order in which they are made.
type sequence struct {
	mu   sync.Mutex
	last int64 // a time in milliseconds
	n    uint16
}

// next returns the time of an event, and an id that no other event has. A clock that is set
// back does not put an event before those of before: the time stays until the clock is there
// again. Of the events of one millisecond the later one has the greater id, unless there are
// more than 65,536.
func (s *sequence) next() (at time.Time, id string) {
	s.mu.Lock()
	if ms := time.Now().UnixMilli(); ms > s.last {
		s.last, s.n = ms, 0
	} else {
		s.n++
	}
	ms, n := s.last, s.n
	s.mu.Unlock()
	var random [12]byte
	_, _ = rand.Read(random[:]) // never fails
	return time.UnixMilli(ms).UTC(), fmt.Sprintf("%012x-%04x-%s", ms, n, base64.RawURLEncoding.EncodeToString(random[:]))
}

// eventID returns an id that begins with a time.
func eventID(at time.Time, distinct []byte) string {
	return fmt.Sprintf("%012x-%s", at.UnixMilli(), base64.RawURLEncoding.EncodeToString(distinct))
}

// activitySubject is a keyed hash of an address or of the id of a user.
func (b *boxes) activitySubject(of, text string) accountstore.Hash {
	return b.activityHash("subject", of, text)
}

func (b *boxes) activityHash(parts ...string) (h accountstore.Hash) {
	mac := hmac.New(sha256.New, []byte(b.secrets[0]))
	mac.Write([]byte("pintle account activity of " + b.tenant + "\x00" + strings.Join(parts, "\x00")))
	mac.Sum(h[:0])
	return h
}

// sessionHandle is the handle of the session of a user that began at a time, or "" if the time is
// not known: a keyed hash of both. A session keeps it when it is renewed or confirmed. Two that
// begin in one second have the same one: sessions have the time in seconds.
func (b *boxes) sessionHandle(userID string, began time.Time) string {
	if userID == "" || began.IsZero() {
		return ""
	}
	h := b.activityHash("session", userID, strconv.FormatInt(began.Unix(), 10))
	return base64.RawURLEncoding.EncodeToString(h[:16])
}

// flowKey is the key of the kind of a flow in the context of a request.
type flowKey struct{}

// inFlow notes the kind of flow that the request begins or continues, for what is recorded of it.
// The events of package pintle have the request as well. The first kind stays: a sign-in that adds
// an app goes on with the flow of the app.
func (v *visit) inFlow(kind string) {
	if _, in := v.r.Context().Value(flowKey{}).(string); !in && kind != "" {
		v.r = v.r.WithContext(context.WithValue(v.r.Context(), flowKey{}, kind))
	}
}

// merged is how many different events a process merges in a minute. Those beyond it are
// one event for each kind and user.
const merged = 256

// A flood has the events of a minute that are merged.
type flood struct {
	mu     sync.Mutex
	minute int64
	ids    map[string]bool
}

// merge gives an event that clients can cause without end the id of those of its minute that are
// the same, so that a flood of them is one event with a count. It reports whether it is the first
// one in this process. If there are too many different ones, an attacker changes address and
// network with each attempt: they lose both, so that the number of events has a bound.
func (a *Accounts) merge(e *accountstore.Event) (first bool) {
	minute := e.At.Truncate(time.Minute)
	session := e.Detail[detailSession]
	if unlimited[e.Kind] {
		session = "" // the end of the other sessions begins this one anew, and may be repeated
	}
	id := func(subject, network string) string {
		h := a.boxes.activityHash("merged", e.Kind, e.Outcome, e.UserID, e.Actor, subject, network,
			e.Detail[detailProvider], e.Detail[detailCode], e.Detail[detailNumber], session, e.Detail[detailFlow], e.Detail[detailReason])
		return eventID(minute, h[:16])
	}
	e.ID = id(string(e.Subject[:]), e.Detail[detailNetwork])
	first, full := a.flood.add(minute.Unix(), e.ID, merged)
	if full {
		e.Subject = accountstore.Hash{}
		delete(e.Detail, detailNetwork)
		delete(e.Detail, detailDevice)
		delete(e.Detail, detailSession)
		delete(e.Detail, detailFlow)
		e.ID = id("many", "many")
		first, _ = a.flood.add(minute.Unix(), e.ID, 2*merged)
	}
	return first
}

// add notes an id of a minute unless as many as most are there.
func (f *flood) add(minute int64, id string, most int) (first, full bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if minute > f.minute || f.ids == nil {
		f.minute, f.ids = minute, map[string]bool{}
	}
	switch {
	case f.ids[id]:
		return false, false
	case len(f.ids) >= most:
		return false, true
	}
	f.ids[id] = true
	return true, false
}

// logEvent writes one line. What is merged into one event is one line of this process.
func (a *Accounts) logEvent(ctx context.Context, e *accountstore.Event) {
	level := slog.LevelInfo
	if isFailure(e) {
		level = slog.LevelWarn
	}
	attrs := []slog.Attr{slog.String("id", e.ID), slog.String("kind", e.Kind), slog.String("outcome", e.Outcome)}
	for _, text := range []struct{ name, value string }{{"user", e.UserID}, {"actor", e.Actor}} {
		if text.value != "" {
			attrs = append(attrs, slog.String(text.name, text.value))
		}
	}
	if e.Subject != (accountstore.Hash{}) {
		attrs = append(attrs, slog.String("subject", base64.RawURLEncoding.EncodeToString(e.Subject[:])))
	}
	for _, name := range sortedNames(e.Detail) {
		attrs = append(attrs, slog.String(name, e.Detail[name]))
	}
	a.log().LogAttrs(ctx, level, "pintle: activity", attrs...)
}

func sortedNames(detail map[string]string) []string {
	names := make([]string, 0, len(detail))
	for name := range detail {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// forward passes an event to the application. One that panics must not stop what is recorded.
func (a *Accounts) forward(ctx context.Context, e *accountstore.Event) {
	if a.o.Activity.Record == nil {
		return
	}
	defer func() {
		if p := recover(); p != nil {
			a.log().ErrorContext(ctx, "pintle: Options.Activity.Record panicked", slog.String("code", codeCallbackFailed), slog.String("kind", e.Kind), slog.Any("panic", p))
		}
	}()
	a.o.Activity.Record(ctx, e)
}

// note records what a user has done, or what has happened to the account. It goes on if the
// record cannot be written, and the log says so: a log that is down must lock no user out.
func (a *Accounts) note(ctx context.Context, n entry) {
	if err := a.record(ctx, n); err != nil {
		a.log().ErrorContext(ctx, "pintle: activity not recorded", slog.String("code", codeActivityNotRecorded), slog.String("kind", n.kind), slog.String("user", n.userID), slog.Any("error", err))
	}
}

// note is [Accounts.note] for something that a user has done in this request.
func (v *visit) note(kind, userID string, detail ...string) {
	v.Accounts.note(v.ctx, entry{kind: kind, userID: userID, detail: append(detail, detailSession, v.handle(userID)), r: v.r})
}

// handle is the handle of the session of the request, if it is one of a user.
func (v *visit) handle(userID string) string {
	if v.session == nil || v.session.Actor != nil || v.session.User.ID != userID {
		return ""
	}
	return v.boxes.sessionHandle(userID, v.session.Authentication.Started)
}

// beginAct records that an operator begins an act on a user, whose id may be empty. If it
// cannot be recorded the act must not happen. finish records how it ended, and returns the
// error of the act.
//
// operator is the id of the operator, also at a command line. The reason is a detail.
func (a *Accounts) beginAct(ctx context.Context, kind, operator, userID string, detail ...string) (finish func(error) error, err error) {
	return a.beginEntry(ctx, entry{kind: kind, userID: userID, actor: operator, detail: detail})
}

// beginEntry is beginAct for an entry, which may be about an address instead of a user.
func (a *Accounts) beginEntry(ctx context.Context, n entry) (finish func(error) error, err error) {
	n.outcome = outcomeBegun
	if err := a.record(ctx, n); err != nil {
		return nil, err
	}
	return func(failed error) error {
		n.outcome = outcomeOK
		if failed != nil {
			n.outcome = outcomeFailed
		}
		if n.userID != "" {
			if _, err := a.store.User(context.WithoutCancel(ctx), n.userID); errors.Is(err, pintle.ErrNotFound) {
				n.userID, n.goneID = "", n.userID // the act has deleted the user
			}
		}
		a.note(ctx, n)
		return failed
	}, nil
}
