package xatastore_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/xatatest"
	"github.com/pintleauth/pintle/store/xatastore"
)

// once returns a fault for the first request for which which returns true.
func once(which func(*http.Request) bool, f xatatest.Fault) func(*http.Request) *xatatest.Fault {
	var done atomic.Bool
	return func(r *http.Request) *xatatest.Fault {
		if which(r) && done.CompareAndSwap(false, true) {
			return &f
		}
		return nil
	}
}

func always(f xatatest.Fault) func(*http.Request) *xatatest.Fault {
	return func(*http.Request) *xatatest.Fault { return &f }
}

func anyRequest(*http.Request) bool { return true }

// writes reports whether a request changes anything.
func writes(r *http.Request) bool {
	return r.Method != http.MethodGet && !strings.HasSuffix(r.URL.Path, "/query")
}

func TestABusyServiceIsLeftAloneForAsLongAsItAsks(t *testing.T) {
	for _, tt := range []struct {
		name   string
		status int
		header func() (name, value string)
		least  time.Duration
		most   time.Duration
	}{
		{"seconds", 429, func() (string, string) { return "Retry-After", "2" }, 2 * time.Second, 2200 * time.Millisecond},
		{"a date", 429, func() (string, string) {
			return "Retry-After", time.Now().Add(5 * time.Second).UTC().Format(http.TimeFormat)
		}, 4 * time.Second, 5200 * time.Millisecond},
		{"Xata's own header", 429, func() (string, string) { return "X-RateLimit-Reset", "3" }, 3 * time.Second, 3200 * time.Millisecond},
		{"a failure that says when it ends", 503, func() (string, string) { return "Retry-After", "1" }, time.Second, 1200 * time.Millisecond},
		{"nothing", 429, func() (string, string) { return "X-Other", "" }, 10 * time.Millisecond, 200 * time.Millisecond},
		{"nonsense", 429, func() (string, string) { return "Retry-After", "soon" }, 10 * time.Millisecond, 200 * time.Millisecond},
		{"a time in the past", 429, func() (string, string) { return "Retry-After", "Sun, 06 Nov 1994 08:49:37 GMT" }, 0, 200 * time.Millisecond},
		{"less than nothing", 429, func() (string, string) { return "Retry-After", "-5" }, 0, 200 * time.Millisecond},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				db, o := newDatabase(t, xatastore.Schema(""))
				name, value := tt.header()
				db.Fault = once(anyRequest, xatatest.Fault{Status: tt.status, Header: map[string]string{name: value}})
				began := time.Now()
				_, err := newStore(t, o).UserByEmail(t.Context(), "ada@example.org")
				if !errors.Is(err, pintle.ErrNotFound) {
					t.Errorf("UserByEmail() = %v, want pintle.ErrNotFound", err)
				}
				if took := time.Since(began); took < tt.least || took > tt.most {
					t.Errorf("it took %s, want between %s and %s", took, tt.least, tt.most)
				}
				if n := db.Requests(); n != 2 {
					t.Errorf("%d requests, want 2", n)
				}
			})
		})
	}
}

func TestRequestsAreNotRepeatedForEver(t *testing.T) {
	for _, tt := range []struct {
		name    string
		retries int
		fault   xatatest.Fault
		want    int
	}{
		{"three times by default", 0, xatatest.Fault{Status: 503}, 4},
		{"once", 1, xatatest.Fault{Status: 500}, 2},
		{"never", -1, xatatest.Fault{Status: 429}, 1},
		{"what is not JSON", 2, xatatest.Fault{Status: 200, Body: "<html>"}, 3},
		{"what is cut off", 2, xatatest.Fault{Cut: true}, 3},
		{"nothing at all", 2, xatatest.Fault{Status: 200}, 3},
		{"not when the service wants to be left alone for an hour", 0, xatatest.Fault{Status: 429, Header: map[string]string{"Retry-After": "3600"}}, 1},
		{"not what is refused", 0, xatatest.Fault{Status: 400}, 1},
		{"not without the right key", 0, xatatest.Fault{Status: 401}, 1},
		{"not what is too long", 0, xatatest.Fault{Status: 200, Body: strings.Repeat(" ", 17<<20)}, 1},
		{"not what is whole and something else", 0, xatatest.Fault{Status: 200, Body: `[1]`}, 1},
		{"not what does not say whether it is all", 0, xatatest.Fault{Status: 200, Body: `{}`}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				db, o := newDatabase(t, xatastore.Schema(""))
				db.Fault, o.Retries = always(tt.fault), tt.retries
				began := time.Now()
				_, err := newStore(t, o).UserByEmail(t.Context(), "ada@example.org")
				if err == nil || errors.Is(err, pintle.ErrNotFound) || errors.Is(err, pintle.ErrConflict) {
					t.Errorf("UserByEmail() = %v, want an error that is no answer", err)
				}
				if n := db.Requests(); n != tt.want {
					t.Errorf("%d requests, want %d", n, tt.want)
				}
				if took := time.Since(began); took > 5*time.Second {
					t.Errorf("it took %s", took)
				}
				if tt.fault.Status >= 400 {
					if e, ok := errors.AsType[*xatastore.Error](err); !ok || e.Status != tt.fault.Status {
						t.Errorf("the error is %v, want an *Error with status %d", err, tt.fault.Status)
					}
				}
			})
		})
	}
}

func TestARequestToASlowServiceEndsWithItsTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db, o := newDatabase(t, xatastore.Schema(""))
		db.Fault = always(xatatest.Fault{Delay: time.Hour})
		o.Timeout, o.Retries = 2*time.Second, 1
		began := time.Now()
		_, err := newStore(t, o).UserByEmail(t.Context(), "ada@example.org")
		if err == nil || !strings.Contains(err.Error(), "no answer within 2s") || errors.Is(err, pintle.ErrNotFound) {
			t.Errorf("UserByEmail() = %v, want that there was no answer", err)
		}
		if took := time.Since(began); took < 4*time.Second || took > 5*time.Second {
			t.Errorf("it took %s, want twice 2s", took)
		}
	})
}

func TestTheTimeoutIsTenSecondsByDefault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db, o := newDatabase(t, xatastore.Schema(""))
		db.Fault = always(xatatest.Fault{Delay: time.Hour})
		o.Retries = -1
		began := time.Now()
		_, err := newStore(t, o).User(t.Context(), "1")
		if took := time.Since(began); err == nil || took != 10*time.Second {
			t.Errorf("User() = %v after %s", err, took)
		}
	})
}

func TestACallEndsWithinTheTimeOfASignIn(t *testing.T) {
	for name, f := range map[string]xatatest.Fault{
		"for answers": {Delay: time.Hour},
		"for pauses":  {Status: 429, Header: map[string]string{"Retry-After": "14"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				db, o := newDatabase(t, xatastore.Schema(""))
				db.Fault, o.Retries = always(f), 100
				began := time.Now()
				if _, err := newStore(t, o).User(t.Context(), "1"); err == nil || errors.Is(err, pintle.ErrNotFound) {
					t.Errorf("User() = %v", err)
				}
				if took := time.Since(began); took > 40*time.Second || db.Requests() != 3 {
					t.Errorf("it took %s and %d requests", took, db.Requests())
				}
			})
		})
	}
}

func TestACallEndsWithItsContext(t *testing.T) {
	t.Run("before the end of a pause", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			db, o := newDatabase(t, xatastore.Schema(""))
			db.Fault = always(xatatest.Fault{Status: 429, Header: map[string]string{"Retry-After": "20"}})
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Second, cancel)
			began := time.Now()
			_, err := newStore(t, o).User(ctx, "1")
			if !errors.Is(err, context.Canceled) {
				t.Errorf("User() = %v, want context.Canceled", err)
			}
			if took := time.Since(began); took != time.Second {
				t.Errorf("it took %s, want 1s", took)
			}
		})
	})
	t.Run("in the midst of an answer", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			db, o := newDatabase(t, xatastore.Schema(""))
			db.Fault = always(xatatest.Fault{Delay: time.Hour})
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			began := time.Now()
			_, err := newStore(t, o).User(ctx, "1")
			if !errors.Is(err, context.DeadlineExceeded) || db.Requests() != 1 {
				t.Errorf("User() = %v after %d requests, want the context's end after one", err, db.Requests())
			}
			if took := time.Since(began); took != time.Second {
				t.Errorf("it took %s, want 1s", took)
			}
		})
	})
	t.Run("a pause that ends too late does not begin", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			db, o := newDatabase(t, xatastore.Schema(""))
			db.Fault = always(xatatest.Fault{Status: 429, Header: map[string]string{"Retry-After": "20"}})
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			began := time.Now()
			_, err := newStore(t, o).User(ctx, "1")
			if e, ok := errors.AsType[*xatastore.Error](err); !ok || e.Status != 429 {
				t.Errorf("User() = %v, want the service's answer", err)
			}
			if took := time.Since(began); took > 0 {
				t.Errorf("it took %s, want no time", took)
			}
		})
	})
}

// everything is a user with one of each, as the changes below find them.
type everything struct {
	store   *xatastore.Store
	user    *pintle.User
	account pintle.Account
	session pintle.StoredSession
	passkey pintle.Passkey
	link    pintle.Verification
}

func newEverything(t *testing.T, s *xatastore.Store) *everything {
	t.Helper()
	e := &everything{store: s}
	ctx := t.Context()
	var err error
	if e.user, err = s.CreateUser(ctx, &pintle.User{Name: "Ada", Email: "ada@example.org"}); err != nil {
		t.Fatal(err)
	}
	e.account = pintle.Account{UserID: e.user.ID, Type: pintle.TypeOAuth, Provider: "github", ProviderAccountID: "1"}
	e.session = pintle.StoredSession{Token: "token", UserID: e.user.ID, Expires: time.Now().Add(time.Hour).UTC().Truncate(time.Millisecond)}
	e.passkey = pintle.Passkey{CredentialID: "AAAA", UserID: e.user.ID, ProviderAccountID: "AAAA", PublicKey: "key", Counter: 7, DeviceType: "singleDevice"}
	e.link = pintle.Verification{Identifier: "ada@example.org", Token: "hash", Expires: e.session.Expires}
	for _, err := range []error{
		s.LinkAccount(ctx, &e.account), s.CreateSession(ctx, &e.session), s.CreatePasskey(ctx, &e.passkey), s.CreateVerification(ctx, &e.link),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return e
}

// A change is an operation and what is to be seen of it afterwards.
type change struct {
	name string
	do   func(context.Context, *everything) error
	seen func(context.Context, *everything) error

	// unknowable is an operation that must not say that it succeeded when it
	// cannot know: what it changes may be done once.
	unknowable bool
}

func expect(ok bool, what string, args ...any) error {
	if ok {
		return nil
	}
	return fmt.Errorf(what, args...)
}

var changes = []change{
	{
		name: "CreateUser",
		do: func(ctx context.Context, e *everything) error {
			_, err := e.store.CreateUser(ctx, &pintle.User{Name: "Bob", Email: "bob@example.org"})
			return err
		},
		seen: func(ctx context.Context, e *everything) error {
			_, err := e.store.UserByEmail(ctx, "bob@example.org")
			return err
		},
	},
	{
		name: "UpdateUser",
		do: func(ctx context.Context, e *everything) error {
			email := "augusta@example.org"
			_, err := e.store.UpdateUser(ctx, e.user.ID, pintle.UserUpdate{Email: &email})
			return err
		},
		seen: func(ctx context.Context, e *everything) error {
			_, err := e.store.UserByEmail(ctx, "augusta@example.org")
			return err
		},
	},
	{
		name: "UpdateUser, a member of Extra",
		do: func(ctx context.Context, e *everything) error {
			_, err := e.store.UpdateUser(ctx, e.user.ID, pintle.UserUpdate{Extra: map[string]any{"role": "member"}})
			return err
		},
		seen: func(ctx context.Context, e *everything) error {
			u, err := e.store.User(ctx, e.user.ID)
			return errors.Join(err, expect(err != nil || u.Extra["role"] == "member", "the user is %v", u))
		},
	},
	{
		name: "LinkAccount",
		do: func(ctx context.Context, e *everything) error {
			a := e.account
			a.ProviderAccountID = "2"
			return e.store.LinkAccount(ctx, &a)
		},
		seen: func(ctx context.Context, e *everything) error {
			accounts, err := e.store.UserAccounts(ctx, e.user.ID)
			return errors.Join(err, expect(len(accounts) == 2, "%d accounts, want 2", len(accounts)))
		},
	},
	{
		name: "UpdateAccount",
		do: func(ctx context.Context, e *everything) error {
			a := e.account
			a.AccessToken = "new"
			return e.store.UpdateAccount(ctx, &a)
		},
		seen: func(ctx context.Context, e *everything) error {
			a, err := e.store.Account(ctx, "github", "1")
			return errors.Join(err, expect(err != nil || a.AccessToken == "new", "the token is %v", a))
		},
	},
	{
		name: "UnlinkAccount",
		do: func(ctx context.Context, e *everything) error {
			return e.store.UnlinkAccount(ctx, e.user.ID, "github", "1", nil)
		},
		seen: func(ctx context.Context, e *everything) error {
			_, err := e.store.Account(ctx, "github", "1")
			return expect(errors.Is(err, pintle.ErrNotFound), "the account: %v", err)
		},
	},
	{
		name: "UnlinkAccount that keeps another",
		do: func(ctx context.Context, e *everything) error {
			kept := e.account
			kept.ProviderAccountID = "2"
			if err := e.store.LinkAccount(ctx, &kept); err != nil && !errors.Is(err, pintle.ErrConflict) {
				return err
			}
			return e.store.UnlinkAccount(ctx, e.user.ID, "github", "1", []*pintle.Account{&kept})
		},
		seen: func(ctx context.Context, e *everything) error {
			_, err := e.store.Account(ctx, "github", "1")
			_, left := e.store.Account(ctx, "github", "2")
			return errors.Join(left, expect(errors.Is(err, pintle.ErrNotFound), "the account: %v", err))
		},
	},
	{
		name: "CreateSession",
		do: func(ctx context.Context, e *everything) error {
			s := e.session
			s.Token = "another"
			return e.store.CreateSession(ctx, &s)
		},
		seen: func(ctx context.Context, e *everything) error {
			_, _, err := e.store.SessionAndUser(ctx, "another")
			return err
		},
	},
	{
		name: "UpdateSession",
		do: func(ctx context.Context, e *everything) error {
			return e.store.UpdateSession(ctx, "token", pintle.SessionUpdate{Expires: e.session.Expires.Add(time.Hour)})
		},
		seen: func(ctx context.Context, e *everything) error {
			s, _, err := e.store.SessionAndUser(ctx, "token")
			return errors.Join(err, expect(err != nil || s.Expires.Equal(e.session.Expires.Add(time.Hour)), "the end is %v", s))
		},
	},
	{
		name: "DeleteSession",
		do: func(ctx context.Context, e *everything) error {
			_, err := e.store.DeleteSession(ctx, "token")
			if errors.Is(err, pintle.ErrNotFound) {
				return nil // an attempt without an answer has removed it
			}
			return err
		},
		seen: func(ctx context.Context, e *everything) error {
			_, _, err := e.store.SessionAndUser(ctx, "token")
			return expect(errors.Is(err, pintle.ErrNotFound), "the session: %v", err)
		},
	},
	{
		name: "EndUserSessions",
		do: func(ctx context.Context, e *everything) error {
			_, err := e.store.EndUserSessions(ctx, e.user.ID, "")
			return err
		},
		seen: func(ctx context.Context, e *everything) error {
			_, _, err := e.store.SessionAndUser(ctx, "token")
			return expect(errors.Is(err, pintle.ErrNotFound), "the session: %v", err)
		},
	},
	{
		name: "CreateVerification",
		do: func(ctx context.Context, e *everything) error {
			v := e.link
			v.Token = "another"
			return e.store.CreateVerification(ctx, &v)
		},
		seen: func(ctx context.Context, e *everything) error {
			_, err := e.store.UseVerification(ctx, e.link.Identifier, "another")
			return err
		},
	},
	{
		name: "UseVerification",
		do: func(ctx context.Context, e *everything) error {
			_, err := e.store.UseVerification(ctx, e.link.Identifier, e.link.Token)
			return err
		},
		seen: func(ctx context.Context, e *everything) error {
			_, err := e.store.UseVerification(ctx, e.link.Identifier, e.link.Token)
			return expect(errors.Is(err, pintle.ErrNotFound), "the link a second time: %v", err)
		},
		unknowable: true,
	},
	{
		name: "CreatePasskey",
		do: func(ctx context.Context, e *everything) error {
			a := e.passkey
			a.CredentialID = "BBBB"
			return e.store.CreatePasskey(ctx, &a)
		},
		seen: func(ctx context.Context, e *everything) error {
			_, err := e.store.Passkey(ctx, "BBBB")
			return err
		},
	},
	{
		name: "UsePasskey",
		do: func(ctx context.Context, e *everything) error {
			a := e.passkey
			a.Counter = 8
			return e.store.UsePasskey(ctx, &a, 7)
		},
		seen: func(ctx context.Context, e *everything) error {
			a, err := e.store.Passkey(ctx, "AAAA")
			return errors.Join(err, expect(err != nil || a.Counter == 8, "the passkey is %v", a))
		},
		unknowable: true,
	},
	{
		name: "RenamePasskey",
		do: func(ctx context.Context, e *everything) error {
			return e.store.RenamePasskey(ctx, e.user.ID, "AAAA", "the blue one")
		},
		seen: func(ctx context.Context, e *everything) error {
			a, err := e.store.Passkey(ctx, "AAAA")
			return errors.Join(err, expect(err != nil || a.Name == "the blue one", "the passkey is %v", a))
		},
	},
	{
		name: "DeletePasskey",
		do: func(ctx context.Context, e *everything) error {
			return e.store.DeletePasskey(ctx, e.user.ID, "AAAA")
		},
		seen: func(ctx context.Context, e *everything) error {
			_, err := e.store.Passkey(ctx, "AAAA")
			return expect(errors.Is(err, pintle.ErrNotFound), "the passkey: %v", err)
		},
	},
	{
		name: "DeleteUser",
		do:   func(ctx context.Context, e *everything) error { return e.store.DeleteUser(ctx, e.user.ID) },
		seen: func(ctx context.Context, e *everything) error {
			_, err := e.store.User(ctx, e.user.ID)
			_, _, ended := e.store.SessionAndUser(ctx, "token")
			return expect(errors.Is(err, pintle.ErrNotFound) && errors.Is(ended, pintle.ErrNotFound), "the user: %v, the session: %v", err, ended)
		},
	},
	{
		name: "Sweep",
		do: func(ctx context.Context, e *everything) error {
			n, err := e.store.Sweep(ctx, e.session.Expires.Add(time.Hour), 100)
			return errors.Join(err, expect(err != nil || n == 2, "%d rows were removed, want 2", n))
		},
		seen: func(ctx context.Context, e *everything) error {
			_, _, err := e.store.SessionAndUser(ctx, "token")
			_, used := e.store.UseVerification(ctx, e.link.Identifier, e.link.Token)
			return expect(errors.Is(err, pintle.ErrNotFound) && errors.Is(used, pintle.ErrNotFound), "the session: %v, the link: %v", err, used)
		},
	},
}

// A request that was not carried out is repeated; one that was is not done
// twice, and succeeds all the same.
func TestAChangeIsMadeOnce(t *testing.T) {
	faults := []struct {
		name  string
		fault xatatest.Fault
	}{
		{"after an attempt for which the service was too busy", xatatest.Fault{Status: 429}},
		{"after an attempt that failed", xatatest.Fault{Status: 503}},
		{"after an attempt whose answer took too long", xatatest.Fault{Delay: time.Minute}},
		{"after an attempt that was carried out and then failed", xatatest.Fault{Status: 502, Lost: true}},
		{"after an attempt whose answer was lost", xatatest.Fault{Status: 200, Body: `{"id":`, Lost: true}},
		{"after an attempt whose answer was cut off", xatatest.Fault{Cut: true}},
	}
	for _, c := range changes {
		for _, f := range faults {
			t.Run(c.name+" "+f.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					db, o := newDatabase(t, xatastore.Schema(""))
					e := newEverything(t, newStore(t, o))
					before := db.Requests()
					db.Fault = once(writes, f.fault)
					err := c.do(t.Context(), e)
					answered := errors.Is(err, pintle.ErrNotFound) || errors.Is(err, pintle.ErrConflict)
					switch {
					case c.unknowable && f.fault.Cut: // of an answer without a body nothing is cut off
						if answered {
							t.Errorf("%s = %v, want success or that it is not known", c.name, err)
						}
					case c.unknowable && f.fault.Lost:
						if err == nil || answered {
							t.Errorf("%s = %v, want that it is not known", c.name, err)
						}
					case err != nil:
						t.Errorf("%s: %v", c.name, err)
					}
					if db.Requests() == before {
						t.Error("there was no request that could have failed")
					}
					db.Fault = nil
					if err := c.seen(t.Context(), e); err != nil {
						t.Error(err)
					}
				})
			})
		}
	}
}

func TestAChangeWhileTheServiceIsDownIsAnError(t *testing.T) {
	for _, c := range changes {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				db, o := newDatabase(t, xatastore.Schema(""))
				e := newEverything(t, newStore(t, o))
				db.Fault = always(xatatest.Fault{Status: 503, Body: `{"message": "down for an hour"}`})
				err := c.do(t.Context(), e)
				if err == nil || errors.Is(err, pintle.ErrNotFound) || errors.Is(err, pintle.ErrConflict) || !strings.Contains(err.Error(), "down for an hour") {
					t.Errorf("%s = %v, want an error that is no answer", c.name, err)
				}
			})
		})
	}
}

// The second call for one record fails even when the service was busy before.
func TestARetryDoesNotTakeOverTheRecordOfAnotherUser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db, o := newDatabase(t, xatastore.Schema(""))
		s := newStore(t, o)
		e := newEverything(t, s)
		other, err := s.CreateUser(t.Context(), &pintle.User{Name: "Mallory", Email: "mallory@example.org"})
		if err != nil {
			t.Fatal(err)
		}
		for name, do := range map[string]func() error{
			"LinkAccount": func() error {
				a := e.account
				a.UserID = other.ID
				return s.LinkAccount(t.Context(), &a)
			},
			"CreateSession": func() error {
				session := e.session
				session.UserID = other.ID
				return s.CreateSession(t.Context(), &session)
			},
			"CreatePasskey": func() error {
				a := e.passkey
				a.UserID = other.ID
				return s.CreatePasskey(t.Context(), &a)
			},
			"CreateUser with the id": func() error {
				_, err := s.CreateUser(t.Context(), &pintle.User{ID: e.user.ID, Name: "Mallory"})
				return err
			},
			"CreateUser with the address": func() error {
				_, err := s.CreateUser(t.Context(), &pintle.User{Email: e.user.Email})
				return err
			},
		} {
			db.Fault = once(writes, xatatest.Fault{Status: 503})
			if err := do(); !errors.Is(err, pintle.ErrConflict) {
				t.Errorf("%s of a record of another user = %v, want pintle.ErrConflict", name, err)
			}
		}
	})
}

func TestAConnectionThatBreaksIsTriedAgain(t *testing.T) {
	broken := errors.New("connection reset by peer")
	for name, breaks := range map[string]func() (*http.Response, error){
		"before the answer": func() (*http.Response, error) { return nil, broken },
		"in the midst of it": func() (*http.Response, error) {
			body := io.MultiReader(strings.NewReader(`{"id": "1", "na`), iotest.ErrReader(broken))
			return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(body)}, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				for _, tt := range []struct{ times, requests int }{{2, 3}, {9, 4}} {
					asked := 0
					_, o := newDatabase(t, xatastore.Schema(""))
					o.HTTPClient = &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
						if asked++; asked <= tt.times {
							return breaks()
						}
						return answer(200, `{"id": "1", "name": "Ada"}`)(r)
					})}
					u, err := newStore(t, o).User(t.Context(), "1")
					if asked != tt.requests {
						t.Errorf("%d requests, want %d", asked, tt.requests)
					}
					if tt.times < 4 && (err != nil || u.Name != "Ada") {
						t.Errorf("User() = %v, %v", u, err)
					}
					if tt.times > 4 && (!errors.Is(err, broken) || strings.Contains(err.Error(), "xata.sh")) {
						t.Errorf("User() = %v, want what broke and no address", err)
					}
				}
			})
		})
	}
}

// A call that needs no request still reports that its context has ended.
func TestAnEndedContextIsReportedEvenWithoutARequest(t *testing.T) {
	db, o := newDatabase(t, xatastore.Schema(""))
	s := newStore(t, o)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, err := range map[string]error{
		"User":            func() error { _, err := s.User(ctx, "no id"); return err }(),
		"UserByEmail":     func() error { _, err := s.UserByEmail(ctx, ""); return err }(),
		"UserByAccount":   func() error { _, err := s.UserByAccount(ctx, "\x00", "1"); return err }(),
		"SessionAndUser":  func() error { _, _, err := s.SessionAndUser(ctx, ""); return err }(),
		"UseVerification": func() error { _, err := s.UseVerification(ctx, "", ""); return err }(),
		"Passkey":         func() error { _, err := s.Passkey(ctx, ""); return err }(),
		"UserAccounts":    func() error { _, err := s.UserAccounts(ctx, ""); return err }(),
		"EndSession":      s.EndSession(ctx, "", ""),
		"DeleteUser":      s.DeleteUser(ctx, ""),
	} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s = %v, want context.Canceled", name, err)
		}
	}
	if db.Requests() != 0 {
		t.Errorf("%d requests were made", db.Requests())
	}
}
