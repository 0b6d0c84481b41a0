package xatastore_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/xatatest"
	"github.com/pintleauth/pintle/store/xatastore"
)

func isTransaction(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/transaction") }

// meanwhile does something between what a store has looked up and its next
// transaction.
func meanwhile(db *xatatest.Server, do func()) {
	var done atomic.Bool
	db.Fault = func(r *http.Request) *xatatest.Fault {
		if isTransaction(r) && done.CompareAndSwap(false, true) {
			do()
		}
		return nil
	}
}

// A leftover is an account whose user Auth.js has deleted, by removing nothing
// but the user's own record.
func leftover(t *testing.T, s *xatastore.Store, o xatastore.Options) pintle.Account {
	t.Helper()
	first := newUser(t, s, "first@example.org")
	a := pintle.Account{UserID: first.ID, Type: pintle.TypeOAuth, Provider: "github", ProviderAccountID: "42", AccessToken: "first"}
	if err := s.LinkAccount(t.Context(), &a); err != nil {
		t.Fatal(err)
	}
	asAuthJS(t, o, http.MethodDelete, "/tables/nextauth_users/data/"+first.ID, "")
	return a
}

// asAuthJS makes a request as Auth.js would and returns the answer.
func asAuthJS(t *testing.T, o xatastore.Options, method, path, body string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, o.DatabaseURL+":main"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+xatatest.Key)
	req.Header.Set("Content-Type", "application/json")
	resp, err := o.HTTPClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode/100 != 2 {
		t.Fatalf("%s %s: %d %s, %v", method, path, resp.StatusCode, text, err)
	}
	return string(text)
}

func TestALeftoverIsTakenOverOnce(t *testing.T) {
	db, o := newDatabase(t, xatastore.Schema(""))
	s := newStore(t, o)
	a := leftover(t, s, o)
	const heirs = 16
	var users [heirs]*pintle.User
	for i := range users {
		users[i] = newUser(t, s, fmt.Sprintf("heir%d@example.org", i))
	}
	// No transaction begins before all calls have read the record.
	var mu sync.Mutex
	arrived, gate := 0, make(chan struct{})
	db.Fault = func(r *http.Request) *xatatest.Fault {
		if !isTransaction(r) {
			return nil
		}
		mu.Lock()
		mine := gate
		if arrived++; arrived%heirs == 0 {
			close(gate)
			gate = make(chan struct{})
		}
		mu.Unlock()
		<-mine
		return nil
	}
	errs := make(chan error, heirs)
	for i := range users {
		go func() {
			mine := a
			mine.UserID, mine.AccessToken = users[i].ID, users[i].ID
			errs <- s.LinkAccount(t.Context(), &mine)
		}()
	}
	won := 0
	for range heirs {
		switch err := <-errs; {
		case err == nil:
			won++
		case !errors.Is(err, pintle.ErrConflict):
			t.Errorf("LinkAccount() = %v, want pintle.ErrConflict", err)
		}
	}
	if won != 1 {
		t.Errorf("%d of %d own the account, want 1", won, heirs)
	}
	found, err := s.Account(t.Context(), "github", "42")
	if err != nil || found.AccessToken != found.UserID {
		t.Errorf("the account is %+v, %v: want the owner's tokens", found, err)
	}
	db.Fault = nil
	if joins := asAuthJS(t, o, http.MethodPost, "/tables/nextauth_users_accounts/query", `{}`); strings.Count(joins, `"account":`) != 1 {
		t.Errorf("join records are left: %s", joins)
	}
}

func TestALeftoverThatWasTakenOverWithoutAnAnswerIsOnesOwn(t *testing.T) {
	db, o := newDatabase(t, xatastore.Schema(""))
	s := newStore(t, o)
	a := leftover(t, s, o)
	heir := newUser(t, s, "heir@example.org")
	transactions := 0
	db.Fault = func(r *http.Request) *xatatest.Fault {
		if isTransaction(r) {
			if transactions++; transactions == 2 { // the first is refused: the record is there
				return &xatatest.Fault{Status: 503, Lost: true}
			}
		}
		return nil
	}
	a.UserID = heir.ID
	if err := s.LinkAccount(t.Context(), &a); err != nil || transactions != 3 {
		t.Errorf("LinkAccount() = %v after %d transactions", err, transactions)
	}
}

func TestAnAccountThatChangesHandsIsNotUnlinkedFromTheNext(t *testing.T) {
	db, o := newDatabase(t, xatastore.Schema(""))
	s := newStore(t, o)
	e := newEverything(t, s)
	other := newUser(t, s, "other@example.org")
	meanwhile(db, func() {
		if err := s.UnlinkAccount(t.Context(), e.user.ID, "github", "1", nil); err != nil {
			t.Error(err)
		}
		a := e.account
		a.UserID = other.ID
		if err := s.LinkAccount(t.Context(), &a); err != nil {
			t.Error(err)
		}
	})
	if err := s.UnlinkAccount(t.Context(), e.user.ID, "github", "1", nil); !errors.Is(err, pintle.ErrNotFound) {
		t.Errorf("UnlinkAccount() = %v, want pintle.ErrNotFound", err)
	}
	if owner, err := s.UserByAccount(t.Context(), "github", "1"); err != nil || owner.ID != other.ID {
		t.Errorf("the account belongs to %v, %v, want the other user", owner, err)
	}
}

func TestDeletingAUserKeepsWhatPassedToAnotherUser(t *testing.T) {
	db, o := newDatabase(t, xatastore.Schema(""))
	s := newStore(t, o)
	e := newEverything(t, s)
	other := newUser(t, s, "other@example.org")
	meanwhile(db, func() {
		if err := s.UnlinkAccount(t.Context(), e.user.ID, "github", "1", nil); err != nil {
			t.Error(err)
		}
		a := e.account
		a.UserID = other.ID
		if err := s.LinkAccount(t.Context(), &a); err != nil {
			t.Error(err)
		}
	})
	if err := s.DeleteUser(t.Context(), e.user.ID); err != nil {
		t.Error(err)
	}
	if owner, err := s.UserByAccount(t.Context(), "github", "1"); err != nil || owner.ID != other.ID {
		t.Errorf("the account belongs to %v, %v, want the other user", owner, err)
	}
	if _, err := s.User(t.Context(), e.user.ID); !errors.Is(err, pintle.ErrNotFound) {
		t.Errorf("the user: %v, want pintle.ErrNotFound", err)
	}
}

func TestASessionThatIsExtendedInTheMidstOfASweepStays(t *testing.T) {
	db, o := newDatabase(t, xatastore.Schema(""))
	s := newStore(t, o)
	e := newEverything(t, s)
	late := e.session.Expires.Add(time.Minute)
	for i := range 3 {
		session := e.session
		session.Token = fmt.Sprint(i)
		if err := s.CreateSession(t.Context(), &session); err != nil {
			t.Fatal(err)
		}
	}
	meanwhile(db, func() {
		if err := s.UpdateSession(t.Context(), "1", pintle.SessionUpdate{Expires: late.Add(time.Hour)}); err != nil {
			t.Error(err)
		}
	})
	if n, err := s.Sweep(t.Context(), late, 100); n != 4 || err != nil { // with the mail link
		t.Errorf("Sweep() = %d, %v, want 4", n, err)
	}
	for token, want := range map[string]error{"1": nil, "0": pintle.ErrNotFound, "2": pintle.ErrNotFound, "token": pintle.ErrNotFound} {
		if _, _, err := s.SessionAndUser(t.Context(), token); !errors.Is(err, want) {
			t.Errorf("the session %s: %v, want %v", token, err, want)
		}
	}
}

// A request that the service always rejects is not retried without end.
func TestRefusalsEnd(t *testing.T) {
	db, o := newDatabase(t, xatastore.Schema(""))
	s := newStore(t, o)
	e := newEverything(t, s)
	db.Fault = func(r *http.Request) *xatatest.Fault {
		if writes(r) {
			return &xatatest.Fault{Status: 400, Body: `{"message": "the branch is read-only"}`}
		}
		return nil
	}
	for _, c := range changes {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		err := c.do(ctx, e)
		cancel()
		if err == nil || errors.Is(err, pintle.ErrNotFound) || errors.Is(err, pintle.ErrConflict) || !strings.Contains(err.Error(), "read-only") {
			t.Errorf("%s = %v, want that it was refused", c.name, err)
		}
	}
}

// Auth.js lets the service choose the ids of both records of a session.
func TestASessionOfAuthJSEndsWithItsJoinRecord(t *testing.T) {
	const token = "theirs"
	for name, end := range map[string]func(*testing.T, *xatastore.Store, *pintle.User) (bool, error){
		"DeleteSession": func(t *testing.T, s *xatastore.Store, _ *pintle.User) (bool, error) {
			ended, err := s.DeleteSession(t.Context(), token)
			return ended != nil, err
		},
		"EndSession": func(t *testing.T, s *xatastore.Store, u *pintle.User) (bool, error) {
			for session, err := range s.UserSessions(t.Context(), u.ID) {
				if err != nil || session.Handle == "" {
					return false, err
				}
				return true, s.EndSession(t.Context(), u.ID, session.Handle)
			}
			return false, nil
		},
		"EndUserSessions": func(t *testing.T, s *xatastore.Store, u *pintle.User) (bool, error) {
			n, err := s.EndUserSessions(t.Context(), u.ID, "")
			return n == 1, err
		},
		"Sweep": func(t *testing.T, s *xatastore.Store, _ *pintle.User) (bool, error) {
			n, err := s.Sweep(t.Context(), time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC), 10)
			return n == 1, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			db, o := newDatabase(t, published(t, nil))
			db.Restrict, o.Extended = true, false
			s := newStore(t, o)
			u := newUser(t, s, "ada@example.org")
			created := asAuthJS(t, o, http.MethodPost, "/tables/nextauth_sessions/data", `{"sessionToken": "`+token+`", "expires": "2099-01-01T00:00:00.000Z", "user": "`+u.ID+`"}`)
			_, rest, _ := strings.Cut(created, `"id":"`)
			id, _, _ := strings.Cut(rest, `"`)
			asAuthJS(t, o, http.MethodPost, "/tables/nextauth_users_sessions/data", `{"session": "`+id+`", "user": "`+u.ID+`"}`)
			if ended, err := end(t, s, u); !ended || err != nil {
				t.Fatalf("%s = %t, %v", name, ended, err)
			}
			for _, table := range []string{"nextauth_sessions", "nextauth_users_sessions"} {
				if left := asAuthJS(t, o, http.MethodPost, "/tables/"+table+"/query", `{}`); strings.Contains(left, "rec_") {
					t.Errorf("%s: there is left %s", table, left)
				}
			}
		})
	}
}
