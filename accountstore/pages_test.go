package accountstore_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/store/memstore"
)

func TestAllEventsOfAQueryAreReadInPages(t *testing.T) {
	rows := memstore.New().AccountStore()
	for i := range 450 {
		at := time.Now().Add(time.Duration(-i) * time.Second)
		user := []string{"ada", "bob"}[i%2]
		if err := rows.Record(t.Context(), &accountstore.Event{ID: strconv.Itoa(i), At: at, Kind: "sign_in", Outcome: "ok", UserID: user, Expires: at.Add(time.Hour)}); err != nil {
			t.Fatal(err)
		}
	}
	for _, limit := range []int{0, -1, 1, 7, 225, 1000} {
		log := &counted{Store: rows}
		want := 0
		for e, err := range accountstore.AllEvents(t.Context(), log, accountstore.ActivityQuery{UserID: "ada", Limit: limit}) {
			if err != nil || e.ID != strconv.Itoa(want) {
				t.Fatalf("with the limit %d the event after %d is %+v, %v", limit, want-2, e, err)
			}
			want += 2
		}
		if want != 450 {
			t.Errorf("with the limit %d there are %d events, want 225", limit, want/2)
		}
		if limit <= 0 && !slices.Equal(log.limits, []int{200, 200}) {
			t.Errorf("with the limit %d the pages have %v", limit, log.limits)
		}
	}
}

func TestAListOfAllRowsContinuesAfterAPage(t *testing.T) {
	store := memstore.New()
	rows := store.AccountStore()
	for i := range 5 {
		at := time.Now().Add(time.Duration(-i) * time.Second)
		err := rows.Record(t.Context(), &accountstore.Event{ID: strconv.Itoa(i), At: at, Kind: "sign_in", Outcome: "ok", Expires: at.Add(time.Hour)})
		if _, failed := store.CreateUser(t.Context(), &pintle.User{ID: strconv.Itoa(i)}); err != nil || failed != nil {
			t.Fatal(err, failed)
		}
	}
	events, next, err := rows.Activity(t.Context(), accountstore.ActivityQuery{Limit: 2})
	if err != nil {
		t.Fatal(err)
	}
	users, nextUser, err := rows.Users(t.Context(), accountstore.UserQuery{Limit: 2})
	if err != nil {
		t.Fatal(err)
	}
	for e, err := range accountstore.AllEvents(t.Context(), rows, accountstore.ActivityQuery{After: next}) {
		if err != nil {
			t.Fatal(err)
		}
		if events = append(events, e); e.ID != strconv.Itoa(len(events)-1) {
			t.Errorf("the event %d is %s", len(events)-1, e.ID)
		}
	}
	for u, err := range accountstore.AllUsers(t.Context(), rows, accountstore.UserQuery{After: nextUser}) {
		if err != nil || slices.ContainsFunc(users, func(before *accountstore.User) bool { return before.ID == u.ID }) {
			t.Fatalf("the user after %d is %+v, %v", len(users), u, err)
		}
		users = append(users, u)
	}
	if len(events) != 5 || len(users) != 5 {
		t.Errorf("the pages have %d events and %d users, want 5 and 5", len(events), len(users))
	}
}

// A zero time would select users whose ban is over.
func TestAllUsersAreThoseOfNowUnlessTheQueryHasATime(t *testing.T) {
	store := memstore.New()
	now := time.Now()
	for id, until := range map[string]time.Time{"over": now.Add(-time.Hour), "banned": now.Add(time.Hour)} {
		if _, err := store.CreateUser(t.Context(), &pintle.User{ID: id}); err != nil {
			t.Fatal(err)
		}
		state, err := store.AccountStore().State(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		state.BannedUntil = until
		if err := store.AccountStore().ChangeState(t.Context(), state); err != nil {
			t.Fatal(err)
		}
	}
	for at, want := range map[time.Time]string{{}: "banned", now: "banned", now.Add(-2 * time.Hour): "banned over"} {
		var ids []string
		for u, err := range accountstore.AllUsers(t.Context(), store.AccountStore(), accountstore.UserQuery{Banned: new(true), At: at}) {
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, u.ID)
		}
		slices.Sort(ids)
		if got := strings.Join(ids, " "); got != want {
			t.Errorf("at %v the users %q are banned, want %q", at, got, want)
		}
	}
}

func TestAPageOfAListIsReadWhenItIsNeeded(t *testing.T) {
	rows := &counted{Store: memstore.New().AccountStore()}
	for i := range 9 {
		at := time.Now().Add(time.Duration(-i) * time.Second)
		if err := rows.Record(t.Context(), &accountstore.Event{ID: strconv.Itoa(i), At: at, Kind: "sign_in", Outcome: "ok", Expires: at.Add(time.Hour)}); err != nil {
			t.Fatal(err)
		}
	}
	all := accountstore.AllEvents(t.Context(), rows, accountstore.ActivityQuery{Limit: 3})
	for range 2 { // a list can be read again
		rows.limits = nil
		for e, err := range all {
			if err != nil {
				t.Fatal(err)
			}
			if e.ID == "4" {
				break
			}
		}
		if len(rows.limits) != 2 {
			t.Errorf("%d pages were read, want 2", len(rows.limits))
		}
	}
}

func TestAnErrorEndsAListOfAllRows(t *testing.T) {
	rows := failing{err: errors.New("the database is away")}
	var users, events int
	for u, err := range accountstore.AllUsers(t.Context(), rows, accountstore.UserQuery{}) {
		if users++; u == nil != (users == 3) || errors.Is(err, rows.err) != (users == 3) {
			t.Errorf("the user %d is %+v, %v", users, u, err)
		}
	}
	for e, err := range accountstore.AllEvents(t.Context(), rows, accountstore.ActivityQuery{}) {
		if events++; e != nil || !errors.Is(err, rows.err) {
			t.Errorf("the event is %+v, %v", e, err)
		}
	}
	if users != 3 || events != 1 {
		t.Errorf("the lists have %d users and %d events, want 3 and 1", users, events)
	}
}

// counted are rows that count the pages of events.
type counted struct {
	accountstore.Store
	limits []int
}

func (c *counted) Activity(ctx context.Context, q accountstore.ActivityQuery) ([]*accountstore.Event, string, error) {
	c.limits = append(c.limits, q.Limit)
	return c.Store.Activity(ctx, q)
}

// failing are rows of which the first page of users can be read, and nothing else.
type failing struct {
	accountstore.Store
	err error
}

func (f failing) Users(_ context.Context, q accountstore.UserQuery) ([]*accountstore.User, string, error) {
	if q.After == "" {
		return []*accountstore.User{{ID: "1"}, {ID: "2"}}, "2", nil
	}
	return nil, "", f.err
}

func (f failing) Activity(context.Context, accountstore.ActivityQuery) ([]*accountstore.Event, string, error) {
	return nil, "", f.err
}
