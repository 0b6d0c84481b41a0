package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/uuid"
	"github.com/pintleauth/pintle/providersession"
)

// providerSessionChecks are those of the sign-ins at providers. A store without a
// [providersession.Store] skips them.
var providerSessionChecks = []check{
	{"a record reads back as it was stored", func(t *tester) {
		r := newRecord(t.signedIn())
		t.put(r)
		t.records(r.Session, r)
	}},
	{"a record without what may be missing reads back as it was stored", func(t *tester) {
		r := &providersession.Record{Session: newRecordKey(), UserID: uuid.New(), Provider: "github", Role: providersession.Linked, Created: now(), Expires: later()}
		t.put(r)
		t.records(r.Session, r)
	}},
	// RPT-82
	{"texts with any characters read back as they were stored", func(t *tester) {
		for _, text := range []string{`'"$1{}[]%_\`, "$where", `{"$ne":null}`, "Zoë 山田 🔑\n", strings.Repeat("x", 255), " ", "NULL"} {
			r := newRecord(newSession(uuid.New()))
			r.UserID, r.Provider, r.ProviderAccountID, r.ACR, r.AMR, r.Hint = text, text, text, text, []string{text[:min(len(text), 32)], ",", ""}, text
			if strings.Contains(text, "Zoë") {
				r.AMR[0] = "Zoë"
			}
			t.put(r)
			t.records(r.Session, r)
		}
	}},
	{"a hint of 64 KiB reads back as it was stored", func(t *tester) {
		r := newRecord(newSession(uuid.New()))
		r.Hint = strings.Repeat("0123456789abcdef", 4096)
		t.put(r)
		t.records(r.Session, r)
	}},
	{"a session without records has none", func(t *tester) {
		s := t.providers()
		t.put(newRecord(newSession(uuid.New())))
		t.records(newRecordKey())
		t.ok("Move", s.Move(t.ctx, newRecordKey(), later()))
		t.ok("Forget", s.Forget(t.ctx, newRecordKey()))
	}},
	{"a record takes the place of that of the same session and account", func(t *tester) {
		session := newSession(uuid.New())
		first, other, elsewhere := newRecord(session), newRecord(session), newRecord(newSession(session.UserID))
		other.Role, other.Provider, other.ProviderAccountID = providersession.Linked, "oidc", first.ProviderAccountID
		elsewhere.Provider, elsewhere.ProviderAccountID = first.Provider, first.ProviderAccountID
		second := newRecord(session)
		second.Provider, second.ProviderAccountID, second.Created = first.Provider, first.ProviderAccountID, first.Created.Add(time.Minute)
		second.ACR, second.AMR, second.AuthTime, second.Proof = "", nil, time.Time{}, time.Time{}
		for _, r := range []*providersession.Record{first, other, elsewhere, second} {
			t.put(r)
		}
		t.records(recordOf(session), second, other)
		t.records(elsewhere.Session, elsewhere)
		t.endedBy(first.Sid, providersession.Key{}, future())
		t.endedBy(second.Sid, providersession.Key{}, future(), second)
	}},
	{"the names of provider and account have a border", func(t *tester) {
		session := newSession(uuid.New())
		a, b := newRecord(session), newRecord(session)
		a.Provider, a.ProviderAccountID = "a", "bc"
		b.Provider, b.ProviderAccountID, b.Role, b.Created = "ab", "c", providersession.Linked, a.Created.Add(time.Second)
		t.put(a)
		t.put(b)
		t.records(a.Session, a, b)
	}},
	{"a record with which the session began stays so", func(t *tester) {
		s := t.signedIn()
		r := newRecord(s)
		t.put(r)
		again := *r
		again.Role, again.Sid = providersession.Linked, newRecordKey()
		t.put(&again)
		again.Role = providersession.Began
		t.records(r.Session, &again)
	}},
	{"a session has four records, and the oldest that was linked goes", func(t *tester) {
		session := newSession(uuid.New())
		began := newRecord(session)
		began.Created = began.Created.Add(-time.Hour)
		t.put(began)
		kept := []*providersession.Record{began}
		for i := range 5 {
			r := newRecord(session)
			r.Role, r.Created = providersession.Linked, now().Add(time.Duration(i)*time.Second)
			t.put(r)
			kept = append(kept, r)
			if len(kept) > providersession.MaxRecords {
				gone := kept[1]
				kept = slices.Delete(kept, 1, 2)
				t.endedBy(gone.Sid, gone.Sub, future())
			}
			t.records(began.Session, kept...)
		}
	}},
	{"a provider ends its session, and with it the one that began with it", func(t *tester) {
		s, other := t.signedIn(), t.signedIn()
		r, o := newRecord(s), newRecord(other)
		o.Sub, o.Provider = r.Sub, r.Provider // of one user there
		t.put(r)
		t.put(o)
		t.endedBy(r.Sid, providersession.Key{}, future(), r)
		t.noSession(s)
		t.records(r.Session)
		t.stays(other)
		t.records(o.Session, o)
		t.endedBy(r.Sid, providersession.Key{}, future())
	}},
	{"a provider ends all sessions of a user of theirs, and no other user's", func(t *tester) {
		sessions := []*pintle.StoredSession{t.signedIn(), t.signedIn(), t.signedIn()}
		var records []*providersession.Record
		for _, s := range sessions {
			r := newRecord(s)
			if len(records) == 1 {
				r.Sub = records[0].Sub
			}
			records = append(records, r)
			t.put(r)
		}
		t.endedBy(providersession.Key{}, records[0].Sub, future(), records[:2]...)
		t.noSession(sessions[0])
		t.noSession(sessions[1])
		t.stays(sessions[2])
		t.records(records[2].Session, records[2])
	}},
	{"a session and a user that do not belong together end nothing", func(t *tester) {
		s := t.signedIn()
		r := newRecord(s)
		t.put(r)
		t.endedBy(r.Sid, newRecordKey(), future())
		t.endedBy(newRecordKey(), r.Sub, future())
		t.endedBy(r.Sub, r.Sid, future()) // each in the place of the other
		t.stays(s)
		t.records(r.Session, r)
		t.endedBy(r.Sid, r.Sub, future(), r)
		t.noSession(s)
	}},
	{"without a key nothing ends", func(t *tester) {
		s := t.signedIn()
		r := newRecord(s)
		r.Sid, r.Sub = providersession.Key{}, providersession.Key{}
		t.put(r)
		if ended, err := t.providers().EndBy(t.ctx, providersession.Key{}, providersession.Key{}, future()); !errors.Is(err, providersession.ErrNoKey) || len(ended) > 0 {
			t.Errorf("EndBy without a key returned %d records, %v, want ErrNoKey", len(ended), err)
		}
		t.stays(s)
		t.records(r.Session, r)
		t.put(r)
	}},
	{"a record without a key is not found by none", func(t *tester) {
		s := t.signedIn()
		r := newRecord(s)
		r.Sid = providersession.Key{}
		t.put(r)
		t.endedBy(newRecordKey(), providersession.Key{}, future())
		t.endedBy(newRecordKey(), r.Sub, future())
		t.stays(s)
		t.endedBy(providersession.Key{}, r.Sub, future(), r)
		t.noSession(s)
	}},
	{"a sign-in at the given time, or after it, stays", func(t *tester) {
		s, next := t.signedIn(), t.signedIn()
		r, n := newRecord(s), newRecord(next)
		r.Created = now()
		n.Sid, n.Created = r.Sid, r.Created.Add(time.Millisecond)
		t.put(r)
		t.put(n)
		t.endedBy(r.Sid, providersession.Key{}, r.Created)
		t.stays(s)
		t.endedBy(r.Sid, providersession.Key{}, n.Created, r)
		t.noSession(s)
		t.stays(next)
		t.records(n.Session, n)
	}},
	// RPT-26
	{"a session goes on without an account that was linked", func(t *tester) {
		s := t.signedIn()
		began, linked := newRecord(s), newRecord(s)
		linked.Role, linked.Created = providersession.Linked, began.Created.Add(time.Second)
		t.put(began)
		t.put(linked)
		t.endedBy(linked.Sid, providersession.Key{}, future(), linked)
		t.stays(s)
		t.records(began.Session, began)
	}},
	{"what else is kept of a session that is ended is forgotten", func(t *tester) {
		s := t.signedIn()
		began, linked := newRecord(s), newRecord(s)
		linked.Role, linked.Created = providersession.Linked, began.Created.Add(time.Second)
		t.put(began)
		t.put(linked)
		t.endedBy(began.Sid, providersession.Key{}, future(), began)
		t.noSession(s)
		t.records(began.Session)
		t.endedBy(linked.Sid, providersession.Key{}, future())
	}},
	{"the record of a session that the store does not have is ended", func(t *tester) {
		r := newRecord(newSession(uuid.New()))
		t.put(r)
		t.endedBy(r.Sid, providersession.Key{}, future(), r)
		t.records(r.Session)
	}},
	// RPT-22
	{"a sign-in that is overtaken by its end is refused", func(t *tester) {
		for _, by := range []struct {
			name     string
			sid, sub bool
		}{{"session", true, false}, {"user", false, true}, {"session and user", true, true}} {
			r := newRecord(newSession(uuid.New()))
			var sid, sub providersession.Key
			if by.sid {
				sid = r.Sid
			}
			if by.sub {
				sub = r.Sub
			}
			ended := now()
			t.endedBy(sid, sub, ended)
			t.refused(r, ended.Add(-time.Millisecond))
			t.refused(r, ended.Add(-time.Hour))
			r.Role = providersession.Linked
			t.refused(r, ended.Add(-time.Millisecond))
			r.Role = providersession.Began
			t.ok("Put of a sign-in that began later, after an end by "+by.name, t.providers().Put(t.ctx, r, ended))
			t.records(r.Session, r)
		}
	}},
	{"a sign-in is refused for the end of its session only", func(t *tester) {
		r := newRecord(newSession(uuid.New()))
		t.endedBy(r.Sid, newRecordKey(), now())
		t.endedBy(newRecordKey(), r.Sub, now())
		t.endedBy(newRecordKey(), providersession.Key{}, now())
		t.endedBy(providersession.Key{}, newRecordKey(), now())
		t.endedBy(r.Sub, providersession.Key{}, now())
		t.endedBy(providersession.Key{}, r.Sid, now())
		t.ok("Put", t.providers().Put(t.ctx, r, now().Add(-time.Hour)))
		t.records(r.Session, r)
	}},
	{"an end with an earlier time does not take back another", func(t *tester) {
		r := newRecord(newSession(uuid.New()))
		ended := now()
		t.endedBy(r.Sid, providersession.Key{}, ended)
		t.endedBy(r.Sid, providersession.Key{}, ended.Add(-time.Hour))
		t.refused(r, ended.Add(-time.Minute))
	}},
	{"a refused sign-in leaves the record that was there", func(t *tester) {
		r := newRecord(newSession(uuid.New()))
		r.Created = future()
		t.put(r)
		ended := now()
		again := *r
		again.Sid = newRecordKey()
		t.endedBy(again.Sid, providersession.Key{}, ended)
		if err := t.providers().Put(t.ctx, &again, ended.Add(-time.Minute)); !errors.Is(err, providersession.ErrEnded) {
			t.Errorf("Put returned %v, want ErrEnded", err)
		}
		t.endedBy(again.Sid, providersession.Key{}, future())
	}},
	{"a session that is extended takes its records along", func(t *tester) {
		session := newSession(uuid.New())
		a, b, other := newRecord(session), newRecord(session), newRecord(newSession(uuid.New()))
		b.Role, b.Created = providersession.Linked, a.Created.Add(time.Second)
		for _, r := range []*providersession.Record{a, b, other} {
			t.put(r)
		}
		expires := later().Add(123 * time.Millisecond)
		t.ok("Move", t.providers().Move(t.ctx, a.Session, expires))
		t.ok("Move to where it is", t.providers().Move(t.ctx, a.Session, expires))
		a.Expires, b.Expires = expires, expires
		t.records(a.Session, a, b)
		t.records(other.Session, other)
		t.endedBy(b.Sid, b.Sub, future(), b)
	}},
	{"what is forgotten is gone, and no more", func(t *tester) {
		session := newSession(uuid.New())
		a, b, other := newRecord(session), newRecord(session), newRecord(newSession(session.UserID))
		b.Role = providersession.Linked
		for _, r := range []*providersession.Record{a, b, other} {
			t.put(r)
		}
		t.ok("Forget", t.providers().Forget(t.ctx, a.Session))
		t.records(a.Session)
		t.records(other.Session, other)
		t.endedBy(a.Sid, providersession.Key{}, future())
	}},
	{"a session that is deleted takes its records along", func(t *tester) {
		s, other := t.signedIn(), t.signedIn()
		r, o := newRecord(s), newRecord(other)
		t.put(r)
		t.put(o)
		_, err := t.sessions().DeleteSession(t.ctx, s.Token)
		t.ok("DeleteSession", err)
		t.records(r.Session)
		t.endedBy(r.Sid, providersession.Key{}, future())
		t.records(o.Session, o)
	}},
	{"a device that is ended takes its records along", func(t *tester) {
		u := t.someone()
		s := t.createSession(newSession(u.ID))
		t.lister()
		handle := t.listed(u.ID)[0].Handle
		other := t.createSession(newSession(u.ID))
		r, o := newRecord(s), newRecord(other)
		t.put(r)
		t.put(o)
		t.ok("EndSession", t.store.EndSession(t.ctx, u.ID, handle))
		t.records(r.Session)
		t.records(o.Session, o)
		t.stays(other)
	}},
	{"all devices but one take their records along", func(t *tester) {
		u, other := t.someone(), t.signedIn()
		sessions := []*pintle.StoredSession{t.createSession(newSession(u.ID)), t.createSession(newSession(u.ID)), t.createSession(newSession(u.ID)), other}
		var records []*providersession.Record
		for _, s := range sessions {
			records = append(records, newRecord(s))
			t.put(records[len(records)-1])
		}
		_, err := t.lister().EndUserSessions(t.ctx, u.ID, sessions[1].Token)
		t.ok("EndUserSessions", err)
		t.records(records[0].Session)
		t.records(records[1].Session, records[1])
		t.records(records[2].Session)
		t.records(records[3].Session, records[3])
		_, err = t.lister().EndUserSessions(t.ctx, u.ID, "")
		t.ok("EndUserSessions", err)
		t.records(records[1].Session)
		t.records(records[3].Session, records[3])
	}},
	{"a user who is deleted takes their records along, also those of sessions in tokens", func(t *tester) {
		s, other := t.signedIn(), t.signedIn()
		r, token, o := newRecord(s), newRecord(newSession(s.UserID)), newRecord(other)
		for _, r := range []*providersession.Record{r, token, o} {
			t.put(r)
		}
		t.ok("DeleteUser", t.deleter().DeleteUser(t.ctx, s.UserID))
		t.records(r.Session)
		t.records(token.Session)
		t.endedBy(r.Sid, providersession.Key{}, future())
		t.records(o.Session, o)
		t.stays(other)
	}},
	// RPT-84
	{"expired records are swept, the others stay", func(t *tester) {
		s := t.sweeper()
		for range 3 {
			r := newRecord(newSession(uuid.New()))
			r.Expires = now().Add(-time.Hour)
			t.put(r)
		}
		kept := newRecord(newSession(uuid.New()))
		t.put(kept)
		ended := newRecord(newSession(uuid.New()))
		t.endedBy(ended.Sid, providersession.Key{}, now())
		for _, want := range []int{2, 1, 0} {
			n, err := s.Sweep(t.ctx, time.Now(), 2)
			t.ok("Sweep", err)
			if n != want {
				t.Errorf("Sweep of at most 2 removed %d rows, want %d", n, want)
			}
		}
		t.records(kept.Session, kept)
		t.refused(ended, now().Add(-time.Minute))
	}},
	{"ends are forgotten some time after the last sign-in that began before them", func(t *tester) {
		s := t.sweeper()
		r := newRecord(newSession(uuid.New()))
		t.put(r)
		t.ok("Forget", t.providers().Forget(t.ctx, r.Session))
		t.endedBy(r.Sid, providersession.Key{}, now())
		_, err := s.Sweep(t.ctx, time.Now().Add(providersession.Remembered-time.Minute), 1000)
		t.ok("Sweep", err)
		t.refused(r, now().Add(-time.Minute))
		_, err = s.Sweep(t.ctx, time.Now().Add(providersession.Remembered+time.Minute), 1000)
		t.ok("Sweep", err)
		t.ok("Put", t.providers().Put(t.ctx, r, now().Add(-time.Minute)))
	}},
	{"records that are given and returned are the caller's", func(t *tester) {
		r := newRecord(newSession(uuid.New()))
		want := *r
		want.AMR = slices.Clone(r.AMR)
		t.put(r)
		r.AMR[0], r.Hint, r.Sid = "changed", "changed", newRecordKey()
		found, err := t.providers().Of(t.ctx, want.Session)
		t.ok("Of", err)
		for _, f := range found {
			f.AMR[0], f.Role, f.Sub = "changed", providersession.Linked, newRecordKey()
		}
		t.records(want.Session, &want)
	}},
	{"what a transaction keeps is there afterwards, and not if it failed", func(t *tester) {
		s := t.transactions()
		t.providers()
		kept, ended, moved := t.signedIn(), t.signedIn(), t.signedIn()
		k, e, m := newRecord(kept), newRecord(ended), newRecord(moved)
		until := later().Add(time.Hour)
		for _, fails := range []bool{true, false} {
			if fails {
				t.put(e)
				t.put(m)
			}
			err := s.InTx(t.ctx, func(tx pintle.Store) error {
				in := t.within(tx)
				if tx.ProviderSessions() == nil {
					t.Fatal("the store of a transaction has no ProviderSessions")
				}
				in.put(k)
				in.records(k.Session, k)
				in.endedBy(e.Sid, providersession.Key{}, future(), e)
				in.noSession(ended)
				t.ok("Move", tx.ProviderSessions().Move(t.ctx, m.Session, until))
				if fails {
					return errChanged
				}
				return nil
			})
			if fails {
				if !errors.Is(err, errChanged) {
					t.Errorf("InTx returned %v, want the error of its function", err)
				}
				t.records(k.Session)
				t.stays(ended)
				t.records(e.Session, e)
				t.records(m.Session, m)
				t.put(e) // the end is taken back, too
				continue
			}
			t.ok("InTx", err)
			m.Expires = until
			t.records(k.Session, k)
			t.noSession(ended)
			t.records(e.Session)
			t.records(m.Session, m)
			t.refused(e, now().Add(-time.Minute))
		}
	}},
}

var providerSessionRaceChecks = []check{
	// RPT-81
	{"a session that begins while its provider ends it has a record or is refused", func(t *tester) {
		t.providers()
		t.sessions()
		u := t.someone()
		for range rounds {
			sid, sub := newRecordKey(), newRecordKey()
			sessions := make([]*pintle.StoredSession, writers)
			for i := range sessions {
				sessions[i] = newSession(u.ID)
			}
			began, ended := now().Add(-time.Minute), future()
			for _, err := range race(func(i int) error {
				if i%16 == 8 {
					_, err := t.store.ProviderSessions().EndBy(t.ctx, sid, providersession.Key{}, ended)
					return err
				}
				if i%16 == 12 {
					_, err := t.store.ProviderSessions().EndBy(t.ctx, providersession.Key{}, sub, ended)
					return err
				}
				if err := t.store.CreateSession(t.ctx, sessions[i]); err != nil {
					return err
				}
				r := newRecord(sessions[i])
				r.Sid, r.Sub = sid, sub
				if i%2 == 1 {
					r.Sid = newRecordKey() // which the end of the user finds
				}
				err := t.store.ProviderSessions().Put(t.ctx, r, began)
				if errors.Is(err, providersession.ErrEnded) {
					_, err = t.store.DeleteSession(t.ctx, sessions[i].Token)
				}
				if errors.Is(err, pintle.ErrNotFound) {
					return nil // the end came first
				}
				return err
			}) {
				t.ok("CreateSession, Put, DeleteSession or EndBy", err)
			}
			for _, s := range sessions {
				t.ended(s.Token)
				t.records(recordOf(s))
			}
		}
	}},
	{"a session that begins in a transaction while its provider ends it has a record or is refused", func(t *tester) {
		s := t.transactions()
		t.providers()
		u := t.someone()
		sid, began, ended := newRecordKey(), now().Add(-time.Minute), future()
		sessions := make([]*pintle.StoredSession, writers)
		for i := range sessions {
			sessions[i] = newSession(u.ID)
		}
		for _, err := range race(func(i int) error {
			if i%16 == 8 {
				_, err := t.store.ProviderSessions().EndBy(t.ctx, sid, providersession.Key{}, ended)
				return err
			}
			err := s.InTx(t.ctx, func(tx pintle.Store) error {
				if err := tx.CreateSession(t.ctx, sessions[i]); err != nil {
					return err
				}
				r := newRecord(sessions[i])
				r.Sid = sid
				return tx.ProviderSessions().Put(t.ctx, r, began)
			})
			if errors.Is(err, providersession.ErrEnded) || errors.Is(err, pintle.ErrConflict) {
				return nil // a transaction that lost a race signs in again
			}
			return err
		}) {
			t.ok("InTx or EndBy", err)
		}
		for _, s := range sessions {
			t.ended(s.Token)
			t.records(recordOf(s))
		}
	}},
	{"a session that is extended and deleted while its provider ends it is gone", func(t *tester) {
		for range rounds {
			s := t.signedIn()
			r := newRecord(s)
			t.put(r)
			for _, err := range race(func(i int) error {
				var err error
				switch i % 4 {
				case 0:
					err = t.store.UpdateSession(t.ctx, s.Token, pintle.SessionUpdate{Expires: later()})
				case 1:
					err = t.store.ProviderSessions().Move(t.ctx, r.Session, later())
				case 2:
					_, err = t.store.DeleteSession(t.ctx, s.Token)
				default:
					_, err = t.store.ProviderSessions().EndBy(t.ctx, r.Sid, r.Sub, future())
				}
				if errors.Is(err, pintle.ErrNotFound) {
					return nil
				}
				return err
			}) {
				t.ok("UpdateSession, Move, DeleteSession or EndBy", err)
			}
			t.noSession(s)
			t.records(r.Session)
		}
	}},
	{"64 accounts that are linked at once leave four records", func(t *tester) {
		session := newSession(uuid.New())
		began := newRecord(session)
		t.put(began)
		for _, err := range race(func(i int) error {
			r := newRecord(session)
			r.Role = providersession.Linked
			return t.store.ProviderSessions().Put(t.ctx, r, now())
		}) {
			t.ok("Put", err)
		}
		found, err := t.providers().Of(t.ctx, began.Session)
		t.ok("Of", err)
		if len(found) != providersession.MaxRecords || found[0].Role != providersession.Began {
			t.Errorf("Of returned %d records, want %d, and the one with which the session began first", len(found), providersession.MaxRecords)
		}
	}},
}

var providerSessionCancelledChecks = []check{
	{"a call for sign-ins at providers whose context has ended does nothing", func(t *tester) {
		s := t.signedIn()
		r := newRecord(s)
		t.put(r)
		ctx, p := ended(t.ctx), t.providers()
		t.noAnswer("Put", p.Put(ctx, newRecord(newSession(uuid.New())), now()))
		_, err := p.Of(ctx, r.Session)
		t.noAnswer("Of", err)
		_, err = p.EndBy(ctx, r.Sid, r.Sub, future())
		t.noAnswer("EndBy", err)
		t.noAnswer("Move", p.Move(ctx, r.Session, later()))
		t.noAnswer("Forget", p.Forget(ctx, r.Session))
		t.stays(s)
		t.records(r.Session, r)
		t.ok("Put", p.Put(context.WithoutCancel(ctx), r, now().Add(-time.Hour)))
	}},
}

// providers skips a check of sign-ins at providers if the store has no room for them.
func (t *tester) providers() providersession.Store {
	t.Helper()
	p := t.store.ProviderSessions()
	if p == nil {
		t.Skipf("%T has no ProviderSessions", t.store)
	}
	return p
}

// signedIn returns a session of a new user.
func (t *tester) signedIn() *pintle.StoredSession {
	t.Helper()
	t.providers()
	return t.createSession(newSession(t.someone().ID))
}

// stays checks that a session is there.
func (t *tester) stays(s *pintle.StoredSession) {
	t.Helper()
	if _, _, err := t.sessions().SessionAndUser(t.ctx, s.Token); err != nil {
		t.Errorf("SessionAndUser: %v, want the session", err)
	}
}

func newRecordKey() providersession.Key { return providersession.Key(newKey()) }

// future is a time after the sign-ins of a check.
func future() time.Time { return now().Add(time.Hour) }

// recordOf is how records name a session.
func recordOf(s *pintle.StoredSession) providersession.Key { return providersession.KeyOf(s.Token) }

// newRecord has a value in every field.
func newRecord(s *pintle.StoredSession) *providersession.Record {
	return &providersession.Record{
		Session: recordOf(s), UserID: s.UserID, Provider: "keycloak", ProviderAccountID: unique(),
		Sid: newRecordKey(), Sub: newRecordKey(), Role: providersession.Began,
		ACR: "phr", AMR: []string{"hwk", "pin"}, AuthTime: now().Add(-time.Minute),
		Proof: now().Add(7 * time.Millisecond), Hint: "sealed " + unique(), Created: now().Add(123 * time.Millisecond), Expires: s.Expires.Add(999 * time.Millisecond),
	}
}

// put stores a record of a sign-in that no end has overtaken.
func (t *tester) put(r *providersession.Record) {
	t.Helper()
	t.ok("Put", t.providers().Put(t.ctx, r, now().Add(-time.Minute)))
}

// refused checks that a sign-in that began at a time is refused and leaves nothing.
func (t *tester) refused(r *providersession.Record, began time.Time) {
	t.Helper()
	if err := t.providers().Put(t.ctx, r, began); !errors.Is(err, providersession.ErrEnded) {
		t.Errorf("Put of a sign-in that its end has overtaken returned %v, want ErrEnded", err)
	}
	t.records(r.Session)
}

// records checks what is kept of a session, in order.
func (t *tester) records(session providersession.Key, want ...*providersession.Record) {
	t.Helper()
	found, err := t.providers().Of(t.ctx, session)
	t.ok("Of", err)
	t.same("Of", describedRecords(found, true), describedRecords(want, true))
}

// endedBy checks what a call of EndBy ends, in any order.
func (t *tester) endedBy(sid, sub providersession.Key, before time.Time, want ...*providersession.Record) {
	t.Helper()
	found, err := t.providers().EndBy(t.ctx, sid, sub, before)
	t.ok("EndBy", err)
	for _, r := range found {
		if r.Hint != "" {
			t.Error("EndBy returned a hint")
		}
	}
	byID := func(a, b *providersession.Record) int {
		return strings.Compare(a.Hint+a.ProviderAccountID, b.Hint+b.ProviderAccountID)
	}
	slices.SortFunc(found, byID)
	want = slices.Clone(want)
	slices.SortFunc(want, func(a, b *providersession.Record) int {
		return strings.Compare(a.ProviderAccountID, b.ProviderAccountID)
	})
	t.same("EndBy", describedRecords(found, false), describedRecords(want, false))
}

func describedRecords(records []*providersession.Record, hints bool) string {
	texts := make([]string, len(records))
	for i, r := range records {
		texts[i] = fmt.Sprintf("%x of %q at %q %q: sid %x, sub %x, %s, acr %q, amr %q at %s, proven %s, from %s to %s",
			r.Session[:4], r.UserID, r.Provider, r.ProviderAccountID, r.Sid[:4], r.Sub[:4], r.Role, r.ACR, r.AMR, instant(r.AuthTime), instant(r.Proof), instant(r.Created), instant(r.Expires))
		if hints {
			texts[i] += fmt.Sprintf(", hint %q", r.Hint)
		}
	}
	return strings.Join(texts, "\n     ")
}
