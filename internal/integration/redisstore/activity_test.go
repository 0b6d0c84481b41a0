package redisstore_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/store/redisstore"
)

// eventOf is an event of a user with an id.
func eventOf(userID, id string) *accountstore.Event {
	return &accountstore.Event{ID: id, At: noon, Kind: "sign_in", Outcome: "ok", UserID: userID, Detail: map[string]string{"methods": "pwd"}, Count: 1, Expires: later}
}

func TestKeysOfActivity(t *testing.T) {
	client := single(t)
	rows := redisstore.New(client, redisstore.Options{}).AccountStore()
	const user = "a}b{c:d"
	for range 2 {
		if err := rows.Record(t.Context(), eventOf(user, "1")); err != nil {
			t.Fatal(err)
		}
	}
	const key, all = "pintle:activity:{a%7Db%7Bc%3Ad}", "pintle:activity:{*}"
	for _, list := range []string{key, all} {
		want := map[string]string{
			"1":  `{"at":1767268800123,"kind":"sign_in","outcome":"ok","userId":"a}b{c:d","detail":{"methods":"pwd"},"expires":4102542245678}`,
			"+1": "2",
		}
		if got := client.HGetAll(t.Context(), list).Val(); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s:\n got %v\nwant %v", list, got, want)
		}
		for set, score := range map[string]float64{list + ":at": 1767268800123, list + ":ends": 4102545845678} {
			if got := client.ZRangeWithScores(t.Context(), set, 0, -1).Val(); !slices.Equal(got, []redis.Z{{Member: "1", Score: score}}) {
				t.Errorf("%s is %v", set, got)
			}
		}
		for _, one := range []string{list, list + ":at", list + ":ends"} {
			if at := client.PExpireTime(t.Context(), one).Val(); at.Milliseconds() != 4102545845678 {
				t.Errorf("%s goes at %v", one, at)
			}
		}
	}
	if keys := client.Keys(t.Context(), "*").Val(); len(keys) != 6 {
		t.Errorf("the keys are %q", keys)
	}
}

// AC-181: Redis has no Sweep. What has expired goes when another event comes.
func TestAnEventWhoseTimeIsOverGoesWhenAnotherIsRecorded(t *testing.T) {
	client := single(t)
	rows := redisstore.New(client, redisstore.Options{}).AccountStore()
	record := func(id string) {
		t.Helper()
		if err := rows.Record(t.Context(), eventOf("ada", id)); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 150 {
		record(fmt.Sprint("old", i))
	}
	record("young")
	for _, list := range []string{"pintle:activity:{ada}", "pintle:activity:{*}"} {
		for i := range 150 {
			over := redis.Z{Member: fmt.Sprint("old", i), Score: float64(time.Now().Add(-time.Second).UnixMilli())}
			if err := client.ZAdd(t.Context(), list+":ends", over).Err(); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i, want := range []int64{52, 3, 4} { // a hundred at a time
		record(fmt.Sprint("new", i))
		for _, list := range []string{"pintle:activity:{ada}", "pintle:activity:{*}"} {
			ids, times, ends := client.HLen(t.Context(), list).Val(), client.ZCard(t.Context(), list+":at").Val(), client.ZCard(t.Context(), list+":ends").Val()
			if ids != 2*want || times != want || ends != want {
				t.Errorf("after %d more events %s has %d fields, %d times and %d ends, want %d events", i+1, list, ids, times, ends, want)
			}
		}
	}
}

// AC-5: the time of an answer must not tell whether an address has an account.
func TestAnEventOfAnAddressCostsAsMuchAsOneOfAUser(t *testing.T) {
	client := single(t)
	rows := redisstore.New(client, redisstore.Options{}).AccountStore()
	calls := func(e *accountstore.Event) int {
		t.Helper()
		before := processed(t, client)
		if err := rows.Record(t.Context(), e); err != nil {
			t.Fatal(err)
		}
		return processed(t, client) - before
	}
	unknown := eventOf("", "2")
	unknown.Subject = accountstore.Hash{1}
	calls(eventOf("ada", "0")) // which loads the script
	if known, other := calls(eventOf("ada", "1")), calls(unknown); known != other {
		t.Errorf("an event of a user takes %d commands, and one of an address %d", known, other)
	}
}

// processed is how many commands the server has processed.
func processed(t *testing.T, client redis.UniversalClient) (n int) {
	t.Helper()
	info, err := client.Info(t.Context(), "stats").Result()
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(info, "total_commands_processed:")
	if _, err := fmt.Sscan(after, &n); err != nil {
		t.Fatal(err)
	}
	return n
}
