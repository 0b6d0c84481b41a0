package accountstore_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"testing"
	"time"

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

func TestAListThatNobodyReadsOnIsNotReadOn(t *testing.T) {
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
