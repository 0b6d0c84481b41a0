package storetest

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/providersession"
	"github.com/pintleauth/pintle/store/memstore"
)

// otherSignIns is a store with other sign-ins at providers outside transactions.
type otherSignIns struct {
	*memstore.Store
	signIns providersession.Store
}

func (s otherSignIns) ProviderSessions() providersession.Store { return s.signIns }

// faultySignIns is a good store of sign-ins with one thing wrong.
type faultySignIns struct {
	providersession.Store
	putting func(ctx context.Context, r *providersession.Record, began time.Time) error
	of      func(ctx context.Context, session providersession.Key) ([]*providersession.Record, error)
	endBy   func(ctx context.Context, sid, sub providersession.Key, before time.Time) ([]*providersession.Record, error)
	move    func(ctx context.Context, session providersession.Key, expires time.Time) error
	forget  func(ctx context.Context, session providersession.Key) error
}

func (f *faultySignIns) Put(ctx context.Context, r *providersession.Record, began time.Time) error {
	if f.putting != nil {
		return f.putting(ctx, r, began)
	}
	return f.Store.Put(ctx, r, began)
}

func (f *faultySignIns) Of(ctx context.Context, session providersession.Key) ([]*providersession.Record, error) {
	if f.of != nil {
		return f.of(ctx, session)
	}
	return f.Store.Of(ctx, session)
}

func (f *faultySignIns) EndBy(ctx context.Context, sid, sub providersession.Key, before time.Time) ([]*providersession.Record, error) {
	if f.endBy != nil {
		return f.endBy(ctx, sid, sub, before)
	}
	return f.Store.EndBy(ctx, sid, sub, before)
}

func (f *faultySignIns) Move(ctx context.Context, session providersession.Key, expires time.Time) error {
	if f.move != nil {
		return f.move(ctx, session, expires)
	}
	return f.Store.Move(ctx, session, expires)
}

func (f *faultySignIns) Forget(ctx context.Context, session providersession.Key) error {
	if f.forget != nil {
		return f.forget(ctx, session)
	}
	return f.Store.Forget(ctx, session)
}

// signing is a mutant with a fault in its sign-ins at providers.
func signing(name string, fault func(s *memstore.Store, f *faultySignIns), noticed string) mutant {
	return mutant{name, func(s *memstore.Store) pintle.Store {
		f := &faultySignIns{Store: s.ProviderSessions()}
		fault(s, f)
		return otherSignIns{s, f}
	}, noticed}
}

// putsAltered is a mutant that stores records altered.
func putsAltered(name string, alter func(*providersession.Record), noticed string) mutant {
	return signing(name, func(_ *memstore.Store, f *faultySignIns) {
		f.putting = func(ctx context.Context, r *providersession.Record, began time.Time) error {
			c := *r
			alter(&c)
			return f.Store.Put(ctx, &c, began)
		}
	}, noticed)
}

// endsAltered is a mutant that ends by other keys.
func endsAltered(name string, alter func(sid, sub *providersession.Key, before *time.Time), noticed string) mutant {
	return signing(name, func(_ *memstore.Store, f *faultySignIns) {
		f.endBy = func(ctx context.Context, sid, sub providersession.Key, before time.Time) ([]*providersession.Record, error) {
			alter(&sid, &sub, &before)
			return f.Store.EndBy(ctx, sid, sub, before)
		}
	}, noticed)
}

var none providersession.Key

func signInMutants() []mutant {
	return slices.Concat(putMutants(), endMutants(), keptMutants())
}

func putMutants() []mutant {
	return []mutant{
		putsAltered("loses the hint", func(r *providersession.Record) { r.Hint = "" }, "a record reads back"),
		putsAltered("loses the methods", func(r *providersession.Record) { r.AMR = nil }, "a record reads back"),
		putsAltered("loses the time of the proof", func(r *providersession.Record) { r.Proof = time.Time{} }, "a record reads back"),
		putsAltered("cuts times to seconds", func(r *providersession.Record) { r.Created = r.Created.Truncate(time.Second) }, "a record reads back"),
		putsAltered("knows times that are missing", func(r *providersession.Record) {
			if r.AuthTime.IsZero() {
				r.AuthTime = time.Unix(0, 0)
			}
		}, "a record without what may be missing"),
		putsAltered("joins methods", func(r *providersession.Record) { r.AMR = strings.Split(strings.Join(r.AMR, ","), ",") }, "texts with any characters"),
		putsAltered("trims texts", func(r *providersession.Record) { r.Provider = strings.TrimSpace(r.Provider) }, "texts with any characters"),
		putsAltered("cuts hints", func(r *providersession.Record) { r.Hint = r.Hint[:min(len(r.Hint), 1<<16-1)] }, "a hint of 64 KiB"),
		putsAltered("has one record for a provider", func(r *providersession.Record) { r.Provider, r.ProviderAccountID = "", "" }, "takes the place"),
		putsAltered("has no border between provider and account", func(r *providersession.Record) {
			r.Provider, r.ProviderAccountID = r.Provider+r.ProviderAccountID, ""
		}, "have a border"),
		signing("forgets how the session began", func(_ *memstore.Store, f *faultySignIns) {
			f.putting = func(ctx context.Context, r *providersession.Record, began time.Time) error {
				all, err := f.Store.Of(ctx, r.Session)
				if err != nil {
					return err
				}
				if len(all) == 1 && all[0].ID() == r.ID() {
					if err := f.Store.Forget(ctx, r.Session); err != nil {
						return err
					}
				}
				return f.Store.Put(ctx, r, began)
			}
		}, "with which the session began stays so"),
		signing("keeps the oldest that were linked", func(_ *memstore.Store, f *faultySignIns) {
			f.putting = func(ctx context.Context, r *providersession.Record, began time.Time) error {
				if all, err := f.Store.Of(ctx, r.Session); err != nil || len(all) == providersession.MaxRecords {
					return err
				}
				return f.Store.Put(ctx, r, began)
			}
		}, "the oldest that was linked goes"),
		signing("lists the linked ones first", func(_ *memstore.Store, f *faultySignIns) {
			f.of = func(ctx context.Context, session providersession.Key) ([]*providersession.Record, error) {
				all, err := f.Store.Of(ctx, session)
				slices.Reverse(all)
				return all, err
			}
		}, "a session has four records"),
		signing("refuses no sign-in", func(_ *memstore.Store, f *faultySignIns) {
			f.putting = func(ctx context.Context, r *providersession.Record, _ time.Time) error {
				return f.Store.Put(ctx, r, time.Now().Add(24*time.Hour))
			}
		}, "overtaken by its end"),
		signing("refuses each sign-in after an end", func(_ *memstore.Store, f *faultySignIns) {
			f.putting = func(ctx context.Context, r *providersession.Record, _ time.Time) error {
				return f.Store.Put(ctx, r, time.Time{})
			}
		}, "overtaken by its end"),
		signing("refuses a sign-in and stores it", func(_ *memstore.Store, f *faultySignIns) {
			f.putting = func(ctx context.Context, r *providersession.Record, began time.Time) error {
				if err := f.Store.Put(ctx, r, began); err != nil {
					_ = f.Store.Put(ctx, r, time.Now().Add(24*time.Hour))
					return err
				}
				return nil
			}
		}, "overtaken by its end"),
		signing("looks for ends before it writes only", func(s *memstore.Store, f *faultySignIns) {
			f.putting = func(ctx context.Context, r *providersession.Record, began time.Time) error {
				if err := f.Store.Put(ctx, r, began); err != nil {
					return err
				}
				if err := f.Store.Forget(ctx, r.Session); err != nil {
					return err
				}
				time.Sleep(2 * time.Millisecond) // a round trip
				return f.Store.Put(ctx, r, time.Now().Add(24*time.Hour))
			}
		}, "begins while its provider ends it"),
		signing("keeps what it is given", func(_ *memstore.Store, f *faultySignIns) {
			var mu sync.Mutex
			given := map[providersession.Key]*providersession.Record{}
			f.putting = func(ctx context.Context, r *providersession.Record, began time.Time) error {
				mu.Lock()
				defer mu.Unlock()
				given[r.Session] = r
				return f.Store.Put(ctx, r, began)
			}
			f.of = func(_ context.Context, session providersession.Key) ([]*providersession.Record, error) {
				mu.Lock()
				defer mu.Unlock()
				return []*providersession.Record{given[session]}, nil
			}
		}, "are the caller's"),
	}
}

func endMutants() []mutant {
	return []mutant{
		endsAltered("knows no user of a provider", func(sid, sub *providersession.Key, _ *time.Time) {
			if *sid == none {
				*sid = *sub
			}
		}, "all sessions of a user of theirs"),
		endsAltered("looks at the session only", func(sid, sub *providersession.Key, _ *time.Time) {
			if *sid != none {
				*sub = none
			}
		}, "do not belong together"),
		endsAltered("looks at the user only", func(sid, sub *providersession.Key, _ *time.Time) {
			if *sub != none {
				*sid = none
			}
		}, "do not belong together"),
		endsAltered("ends what begins later", func(_, _ *providersession.Key, before *time.Time) { *before = before.Add(time.Hour) }, "at the given time, or after it, stays"),
		signing("ends nothing without a key", func(_ *memstore.Store, f *faultySignIns) {
			f.endBy = func(ctx context.Context, sid, sub providersession.Key, before time.Time) ([]*providersession.Record, error) {
				if sid == none && sub == none {
					return nil, nil
				}
				return f.Store.EndBy(ctx, sid, sub, before)
			}
		}, "without a key nothing ends"),
		signing("leaves the session", func(_ *memstore.Store, f *faultySignIns) {
			f.endBy = func(ctx context.Context, sid, sub providersession.Key, before time.Time) ([]*providersession.Record, error) {
				return f.withRole(ctx, sid, sub, before, providersession.Linked)
			}
		}, "and with it the one that began with it"),
		signing("ends the session of a linked account", func(s *memstore.Store, f *faultySignIns) {
			f.endBy = func(ctx context.Context, sid, sub providersession.Key, before time.Time) ([]*providersession.Record, error) {
				ended, err := f.Store.EndBy(ctx, sid, sub, before)
				for _, r := range ended {
					_, _ = s.EndUserSessions(ctx, r.UserID, "")
				}
				return ended, err
			}
		}, "goes on without an account that was linked"),
		signing("returns hints", func(_ *memstore.Store, f *faultySignIns) {
			f.endBy = func(ctx context.Context, sid, sub providersession.Key, before time.Time) ([]*providersession.Record, error) {
				ended, err := f.Store.EndBy(ctx, sid, sub, before)
				for _, r := range ended {
					r.Hint = "sealed"
				}
				return ended, err
			}
		}, "a provider ends its session"),
		signing("takes an end back", func(_ *memstore.Store, f *faultySignIns) {
			var mu sync.Mutex
			last := map[providersession.Key]time.Time{}
			f.endBy = func(ctx context.Context, sid, sub providersession.Key, before time.Time) ([]*providersession.Record, error) {
				mu.Lock()
				defer mu.Unlock()
				last[providersession.EndID(sid, sub)] = before
				return f.Store.EndBy(ctx, sid, sub, before)
			}
			f.putting = func(ctx context.Context, r *providersession.Record, began time.Time) error {
				mu.Lock()
				defer mu.Unlock()
				for _, id := range r.EndIDs() {
					if before, ended := last[id]; ended && before.After(began) {
						return providersession.ErrEnded
					}
				}
				return f.Store.Put(ctx, r, time.Now().Add(24*time.Hour))
			}
		}, "does not take back another"),
		signing("ends although the context has ended", func(_ *memstore.Store, f *faultySignIns) {
			f.endBy = func(ctx context.Context, sid, sub providersession.Key, before time.Time) ([]*providersession.Record, error) {
				ended, err := f.Store.EndBy(context.WithoutCancel(ctx), sid, sub, before)
				if ctx.Err() != nil {
					return nil, ctx.Err()
				}
				return ended, err
			}
		}, "whose context has ended does nothing"),
	}
}

// withRole ends records as if they had a role.
func (f *faultySignIns) withRole(ctx context.Context, sid, sub providersession.Key, before time.Time, role providersession.Role) ([]*providersession.Record, error) {
	ended, err := f.Store.EndBy(ctx, newRecordKey(), sub, before)
	if err != nil || sid == none {
		return ended, err
	}
	return []*providersession.Record{{Role: role}}, nil
}

func keptMutants() []mutant {
	return []mutant{
		signing("moves nothing", func(_ *memstore.Store, f *faultySignIns) {
			f.move = func(ctx context.Context, _ providersession.Key, _ time.Time) error { return ctx.Err() }
		}, "takes its records along"),
		signing("finds nothing to move", func(_ *memstore.Store, f *faultySignIns) {
			f.move = func(ctx context.Context, session providersession.Key, expires time.Time) error {
				if all, _ := f.Store.Of(ctx, session); len(all) == 0 {
					return pintle.ErrNotFound
				}
				return f.Store.Move(ctx, session, expires)
			}
		}, "a session without records"),
		signing("forgets nothing", func(_ *memstore.Store, f *faultySignIns) {
			f.forget = func(ctx context.Context, _ providersession.Key) error { return ctx.Err() }
		}, "what is forgotten is gone"),
		{"keeps the records of a deleted session", func(s *memstore.Store) pintle.Store { return &elsewhereSignIns{Store: s} }, "a session that is deleted takes"},
		{"keeps the records of an ended device", func(s *memstore.Store) pintle.Store { return &elsewhereSignIns{Store: s} }, "a device that is ended takes"},
		{"keeps the records of all devices", func(s *memstore.Store) pintle.Store { return &elsewhereSignIns{Store: s} }, "all devices but one take"},
		{"keeps the records of a deleted user", func(s *memstore.Store) pintle.Store { return &elsewhereSignIns{Store: s} }, "a user who is deleted takes"},
		{"sweeps no records", func(s *memstore.Store) pintle.Store { return &elsewhereSignIns{Store: s} }, "expired records are swept"},
		{"forgets ends too soon", func(s *memstore.Store) pintle.Store { return earlySweep{s} }, "ends are forgotten some time after"},
		{"has no records in a transaction", func(s *memstore.Store) pintle.Store { return outsideSignIns{s} }, "what a transaction keeps"},
	}
}

// elsewhereSignIns has its records in another store than its sessions.
type elsewhereSignIns struct {
	*memstore.Store
	once  sync.Once
	other *memstore.Store
}

func (s *elsewhereSignIns) ProviderSessions() providersession.Store {
	s.once.Do(func() { s.other = memstore.New() })
	return s.other.ProviderSessions()
}

type earlySweep struct{ *memstore.Store }

func (s earlySweep) Sweep(ctx context.Context, before time.Time, limit int) (int, error) {
	return s.Store.Sweep(ctx, before.Add(providersession.Remembered/2), limit)
}

type outsideSignIns struct{ *memstore.Store }

func (s outsideSignIns) InTx(ctx context.Context, f func(pintle.Store) error) error {
	return s.Store.InTx(ctx, func(tx pintle.Store) error { return f(withoutSignIns{tx}) })
}

type withoutSignIns struct{ pintle.Store }

func (withoutSignIns) ProviderSessions() providersession.Store { return nil }
