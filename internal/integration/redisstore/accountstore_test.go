package redisstore_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/store/redisstore"
)

// noon is a time of whole milliseconds, and later one that Redis waits for.
var (
	noon  = time.UnixMilli(1767268800123).UTC()
	later = time.UnixMilli(4102542245678).UTC()
)

// flowOf returns a flow about ada whose token is a text.
func flowOf(token string) *accountstore.Flow {
	return &accountstore.Flow{
		ID: sha256.Sum256([]byte(token)), Kind: "reset", Subject: ada.ID, Payload: "sealed", Code: sha256.Sum256([]byte("code")),
		Created: noon, Expires: later,
	}
}

func nameOf(id accountstore.Hash) string { return base64.RawURLEncoding.EncodeToString(id[:]) }

// person gives ada a state, a factor and a flow.
func person(t *testing.T, s pintle.Store) *accountstore.Flow {
	t.Helper()
	rows, flow := s.AccountStore(), flowOf("token")
	_, err := rows.CountFailure(t.Context(), ada.ID, noon, time.Hour, 3)
	err = errors.Join(err,
		rows.ChangeState(t.Context(), &accountstore.State{UserID: ada.ID, Roles: []string{"admin"}, BannedUntil: accountstore.Forever, BanReason: "spam", Created: noon}),
		rows.AddFactor(t.Context(), &accountstore.Factor{UserID: ada.ID, Kind: "totp", ID: "1", Secret: "sealed", Step: 7, Name: "Phone", Created: noon, Expires: later}),
		rows.CreateFlow(t.Context(), flow))
	if err != nil {
		t.Fatal(err)
	}
	return flow
}

func TestKeysOfPasswordsSecondFactorsAndFlows(t *testing.T) {
	client := single(t)
	for options, prefix := range map[redisstore.Options]string{
		{}: "pintle:",
		{BaseKeyPrefix: "app:", AccountStoreKeyPrefix: "people:"}: "app:people:",
	} {
		client.FlushAll(t.Context())
		flow := person(t, redisstore.New(client, options))
		name := nameOf(flow.ID)
		hashes := map[string]map[string]string{
			"state:" + ada.ID: {
				"version": "1", "roles": `["admin"]`, "bannedUntil": "9007199254740991", "banReason": "spam", "deleteAt": "", "must": "", "claim": "",
				"suspended": "0", "created": "1767268800123", "lastSignIn": "", "failures": "1767268800123", "streak": "1",
			},
			"factors:" + ada.ID: {
				"totp:1": `{"kind":"totp","id":"1","version":1,"secret":"sealed","step":7,"name":"Phone","created":1767268800123,"expires":4102542245678,"forget":4102545845678}`,
			},
			"flow:" + name: {
				"kind": "reset", "subject": ada.ID, "version": "1", "payload": "sealed", "code": nameOf(flow.Code), "attempts": "0",
				"created": "1767268800123", "expires": "4102542245678",
			},
		}
		for key, want := range hashes {
			if got := client.HGetAll(t.Context(), prefix+key).Val(); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s:\n got %v\nwant %v", prefix+key, got, want)
			}
		}
		want := []redis.Z{{Member: name + " reset", Score: 4102545845678}}
		if got := client.ZRangeWithScores(t.Context(), prefix+"flows:"+ada.ID, 0, -1).Val(); !slices.Equal(got, want) {
			t.Errorf("the list of flows is %v, want %v", got, want)
		}
		if keys := client.Keys(t.Context(), "*").Val(); len(keys) != len(hashes)+1 {
			t.Errorf("the keys are %q", keys)
		}
	}
}

func TestFlowsEndByThemselvesAndFactorsDoNot(t *testing.T) {
	client := single(t)
	rows := redisstore.New(client, redisstore.Options{}).AccountStore()
	flow := person(t, redisstore.New(client, redisstore.Options{}))
	flowKey, list := "pintle:flow:"+nameOf(flow.ID), "pintle:flows:"+ada.ID
	end := func(key string) time.Time {
		t.Helper()
		at, err := client.PExpireTime(t.Context(), key).Result()
		if err != nil {
			t.Fatal(err)
		}
		if at < 0 {
			return time.Time{}
		}
		return time.UnixMilli(at.Milliseconds()).UTC()
	}
	for key, want := range map[string]time.Time{
		flowKey: later.Add(time.Hour), list: later.Add(time.Hour), "pintle:state:" + ada.ID: {}, "pintle:factors:" + ada.ID: {},
	} {
		if at := end(key); !at.Equal(want) {
			t.Errorf("%s goes at %v, want %v", key, at, want)
		}
	}

	// A change moves both. The list never ends before another flow in it.
	flow.Version, flow.Expires = 1, later.Add(time.Minute)
	if err := rows.ChangeFlow(t.Context(), flow); err != nil {
		t.Fatal(err)
	}
	if key, list := end(flowKey), end(list); !key.Equal(flow.Expires.Add(time.Hour)) || !list.Equal(key) {
		t.Errorf("after a change the flow goes at %v and its list at %v", key, list)
	}
	short := flowOf("another token")
	short.Expires = time.Now().Add(time.Minute)
	if err := rows.CreateFlow(t.Context(), short); err != nil {
		t.Fatal(err)
	}
	if at := end(list); !at.Equal(flow.Expires.Add(time.Hour)) {
		t.Errorf("after a second flow the list goes at %v, want with the first", at)
	}

	// One that has expired stays for an hour: the clocks of machines differ.
	past := flowOf("a third token")
	past.Expires = noon
	if err := rows.CreateFlow(t.Context(), past); err != nil {
		t.Fatal(err)
	}
	if left := time.Until(end("pintle:flow:" + nameOf(past.ID))); left < 59*time.Minute || left > time.Hour {
		t.Errorf("an expired flow goes in %v", left)
	}
}

func TestTheListOfFlowsHasOnlyThoseThatThereAre(t *testing.T) {
	client := single(t)
	s := redisstore.New(client, redisstore.Options{})
	rows, list := s.AccountStore(), "pintle:flows:"+ada.ID
	flow := person(t, s)
	if _, err := rows.UseFlow(t.Context(), flow.ID, flow.Kind); err != nil {
		t.Fatal(err)
	}
	if left := client.Exists(t.Context(), list).Val(); left != 0 {
		t.Error("the list has a flow that was used")
	}

	// Its process died after the flow was used: the entry goes with the next flow
	// after Redis would have forgotten the flow.
	gone := redis.Z{Member: nameOf(flow.ID) + " reset", Score: float64(time.Now().Add(-time.Second).UnixMilli())}
	if err := client.ZAdd(t.Context(), list, gone).Err(); err != nil {
		t.Fatal(err)
	}
	next := flowOf("the next token")
	if err := rows.CreateFlow(t.Context(), next); err != nil {
		t.Fatal(err)
	}
	if got := client.ZRange(t.Context(), list, 0, -1).Val(); !slices.Equal(got, []string{nameOf(next.ID) + " reset"}) {
		t.Errorf("the list is %q, want the next flow alone", got)
	}

	// An id that another subject's flow has stays that flow's.
	theirs := *next
	theirs.Subject = "eve"
	if err := rows.CreateFlow(t.Context(), &theirs); !errors.Is(err, pintle.ErrConflict) {
		t.Errorf("CreateFlow with a taken id: %v, want ErrConflict", err)
	}
	if left := client.Exists(t.Context(), "pintle:flows:eve").Val(); left != 0 {
		t.Error("the list of another subject has the flow")
	}
	// A process that died before it took its entry out again leaves one that leads
	// to a flow about another subject.
	if err := client.ZAdd(t.Context(), "pintle:flows:eve", redis.Z{Member: nameOf(next.ID) + " reset", Score: 1e15}).Err(); err != nil {
		t.Fatal(err)
	}
	if n, err := rows.CountFlows(t.Context(), "eve", "reset", noon); n != 0 || err != nil {
		t.Errorf("CountFlows of another subject = %d, %v, want 0", n, err)
	}
	if n, err := rows.EndFlows(t.Context(), "eve", "reset"); n != 0 || err != nil {
		t.Errorf("EndFlows of another subject = %d, %v, want 0", n, err)
	}

	// A call that is refused does not move the end of an entry back.
	sooner := *next
	sooner.Expires = time.Now()
	if err := rows.CreateFlow(t.Context(), &sooner); !errors.Is(err, pintle.ErrConflict) {
		t.Errorf("CreateFlow a second time: %v, want ErrConflict", err)
	}
	if score := client.ZScore(t.Context(), list, nameOf(next.ID)+" reset").Val(); score != float64(later.Add(time.Hour).UnixMilli()) {
		t.Errorf("after CreateFlow a second time the entry ends at %.0f", score)
	}
	if n, err := rows.EndFlows(t.Context(), ada.ID, "reset"); n != 1 || err != nil {
		t.Errorf("EndFlows after CreateFlow a second time = %d, %v, want 1", n, err)
	}
}

func TestAFactorThatExpiredAnHourAgoGoesWhenAnotherIsAdded(t *testing.T) {
	client := single(t)
	rows, key := redisstore.New(client, redisstore.Options{}).AccountStore(), "pintle:factors:"+ada.ID
	device := func(id string, expires time.Time) {
		t.Helper()
		f := &accountstore.Factor{UserID: ada.ID, Kind: "device", ID: id, Created: noon, Expires: expires}
		if err := rows.AddFactor(t.Context(), f); err != nil {
			t.Fatal(err)
		}
	}
	device("expired", time.Now().Add(-time.Minute))
	device("lives", time.Now().Add(time.Minute))
	device("stays", time.Time{})
	forgotten := `{"kind":"device","id":"forgotten","version":1,"secret":"","step":0,"name":"","created":1767268800123,"expires":1767268800123,"forget":` +
		fmt.Sprint(time.Now().Add(-time.Second).UnixMilli()) + `}`
	if err := client.HSet(t.Context(), key, "device:forgotten", forgotten, "device:foreign", "not JSON").Err(); err != nil {
		t.Fatal(err)
	}
	device("new", time.Now().Add(time.Minute))
	got := client.HKeys(t.Context(), key).Val()
	slices.Sort(got)
	if want := []string{"device:expired", "device:foreign", "device:lives", "device:new", "device:stays"}; !slices.Equal(got, want) {
		t.Errorf("the factors are %q, want %q", got, want)
	}
}

// JSON would keep another text.
func TestRowsWithTextsThatAreNotUTF8AreRejected(t *testing.T) {
	client := single(t)
	s := redisstore.New(client, redisstore.Options{})
	rows, flow := s.AccountStore(), person(t, s)
	before := client.HGetAll(t.Context(), "pintle:factors:"+ada.ID).Val()
	const spoiled = "a\xff"
	flow.Version, flow.Payload = 1, spoiled
	another := flowOf("another token")
	another.Payload = spoiled
	for name, err := range map[string]error{
		"ChangeState":   rows.ChangeState(t.Context(), &accountstore.State{UserID: ada.ID, Version: 1, Roles: []string{spoiled}}),
		"AddFactor":     rows.AddFactor(t.Context(), &accountstore.Factor{UserID: ada.ID, Kind: "password", Secret: spoiled}),
		"ReplaceFactor": rows.ReplaceFactor(t.Context(), &accountstore.Factor{UserID: ada.ID, Kind: "totp", ID: "1", Version: 1, Name: spoiled}),
		"CreateFlow":    rows.CreateFlow(t.Context(), another),
		"ChangeFlow":    rows.ChangeFlow(t.Context(), flow),
	} {
		if err == nil || errors.Is(err, pintle.ErrConflict) || errors.Is(err, pintle.ErrNotFound) {
			t.Errorf("%s of a text that is not UTF-8: %v, want an error", name, err)
		}
	}
	if state, err := rows.State(t.Context(), ada.ID); err != nil || state.Version != 1 {
		t.Errorf("the state is %+v, %v", state, err)
	}
	if after := client.HGetAll(t.Context(), "pintle:factors:"+ada.ID).Val(); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("the factors are %v", after)
	}
}

// A key that is made for a success would stay for ever.
func TestASuccessOfAUserWithoutFailuresMakesNoKey(t *testing.T) {
	client := single(t)
	if err := redisstore.New(client, redisstore.Options{}).AccountStore().CountSuccess(t.Context(), ada.ID, noon); err != nil {
		t.Fatal(err)
	}
	if keys := keysOf(t, client); len(keys) != 0 {
		t.Errorf("the keys are %q", keys)
	}
}

// A ban that cannot be read is not the absence of a ban.
func TestARowThatCannotBeReadIsAnError(t *testing.T) {
	client := single(t)
	s := redisstore.New(client, redisstore.Options{})
	rows, flow := s.AccountStore(), person(t, s)
	for key, fields := range map[string][]string{
		"pintle:state:" + ada.ID:         {"bannedUntil", "version", "suspended", "roles"},
		"pintle:factors:" + ada.ID:       {"totp:1"},
		"pintle:flow:" + nameOf(flow.ID): {"attempts", "expires", "code"},
	} {
		for _, field := range fields {
			before := client.HGet(t.Context(), key, field).Val()
			client.HSet(t.Context(), key, field, "[spoiled")
			_, state := rows.State(t.Context(), ada.ID)
			_, factors := rows.Factors(t.Context(), ada.ID)
			_, found := rows.Flow(t.Context(), flow.ID)
			if err := errors.Join(state, factors, found); err == nil || errors.Is(err, pintle.ErrNotFound) {
				t.Errorf("with %s of %s spoiled: %v, want an error", field, key, err)
			}
			client.HSet(t.Context(), key, field, before)
		}
	}
}

// A death is the end of a process: from a command on, none reaches the server.
type death struct {
	after, commands int
	before          func(command int)
}

var errDead = errors.New("the process has died")

func (d *death) DialHook(next redis.DialHook) redis.DialHook { return next }

func (d *death) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, c redis.Cmder) error {
		d.commands++
		if d.before != nil {
			d.before(d.commands)
		}
		if d.commands > d.after {
			c.SetErr(errDead)
			return errDead
		}
		return next(ctx, c)
	}
}

func (d *death) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, commands []redis.Cmder) error { // of a new connection
		if d.commands > d.after {
			return errDead
		}
		return next(ctx, commands)
	}
}

// AC-30, AC-201, AC-202: an order of the changes in which no half of one lets a user in.
func TestADeletionThatBreaksOffLeavesTheBanAndTheSecondFactor(t *testing.T) {
	client := single(t)
	for after := 0; ; after++ {
		client.FlushAll(t.Context())
		s, _ := whole(t, client)
		person(t, s)
		dying := again(t, client)
		d := &death{after: after}
		dying.(*redis.Client).AddHook(d)
		err := redisstore.New(dying, redisstore.Options{}).DeleteUser(t.Context(), ada.ID)
		if err == nil {
			if left := keysOf(t, client); len(left) != 1 { // the mail link
				t.Errorf("DeleteUser left %q", left)
			}
			if after < 10 {
				t.Errorf("DeleteUser sent %d commands", after)
			}
			return
		}
		_, err = s.User(t.Context(), ada.ID)
		if err == nil {
			state, err := s.AccountStore().State(t.Context(), ada.ID)
			if err != nil || !state.BannedUntil.Equal(accountstore.Forever) {
				t.Fatalf("after %d commands the user is there with the state %+v, %v", after, state, err)
			}
			if factors, err := s.AccountStore().Factors(t.Context(), ada.ID); err != nil || len(factors) != 1 {
				t.Fatalf("after %d commands the user is there with the factors %v, %v", after, factors, err)
			}
		}
		if err := s.DeleteUser(t.Context(), ada.ID); err != nil && !errors.Is(err, pintle.ErrNotFound) {
			t.Fatalf("DeleteUser again after %d commands: %v", after, err)
		}
		for _, key := range keysOf(t, client) {
			if strings.HasPrefix(key, "pintle:") {
				t.Errorf("DeleteUser again after %d commands left %s", after, key)
			}
		}
	}
}

// A flow that was used between the commands of ChangeFlow must not come back.
func TestAFlowThatIsUsedWhileItIsChangedStaysUsed(t *testing.T) {
	client := single(t)
	s := redisstore.New(client, redisstore.Options{})
	for use := 1; ; use++ {
		client.FlushAll(t.Context())
		flow := flowOf("token")
		if err := s.AccountStore().CreateFlow(t.Context(), flow); err != nil {
			t.Fatal(err)
		}
		changing := again(t, client)
		d := &death{after: 100, before: func(command int) {
			if command != use {
				return
			}
			if _, err := s.AccountStore().UseFlow(t.Context(), flow.ID, flow.Kind); err != nil {
				t.Error(err)
			}
		}}
		changing.(*redis.Client).AddHook(d)
		flow.Version = 1
		err := redisstore.New(changing, redisstore.Options{}).AccountStore().ChangeFlow(t.Context(), flow)
		if d.commands < use {
			if err != nil || use < 3 {
				t.Errorf("ChangeFlow sent %d commands, %v", d.commands, err)
			}
			return
		}
		if !errors.Is(err, pintle.ErrNotFound) {
			t.Errorf("ChangeFlow of a flow that was used before command %d: %v, want ErrNotFound", use, err)
		}
		if _, err := s.AccountStore().Flow(t.Context(), flow.ID); !errors.Is(err, pintle.ErrNotFound) {
			t.Errorf("a flow that was used before command %d: %v, want ErrNotFound", use, err)
		}
	}
}

// No user of the store has an id with a colon, but a row may have one.
func TestRowsUnderAnIDThatNoUserHasGoWithDeleteUser(t *testing.T) {
	client := single(t)
	s := redisstore.New(client, redisstore.Options{})
	if err := s.AccountStore().AddFactor(t.Context(), &accountstore.Factor{UserID: "a:b", Kind: "password"}); err != nil {
		t.Fatal(err)
	}
	if err := s.DeleteUser(t.Context(), "a:b"); !errors.Is(err, pintle.ErrNotFound) {
		t.Errorf("DeleteUser: %v, want ErrNotFound", err)
	}
	if keys := keysOf(t, client); len(keys) != 0 {
		t.Errorf("the keys are %q", keys)
	}
}

// A reset that a change of the password ended must not go on.
func TestAFlowIsEndedWheneverItsProcessDiedOrEndFlowsCame(t *testing.T) {
	client := single(t)
	s := redisstore.New(client, redisstore.Options{})
	for after := 0; ; after++ {
		client.FlushAll(t.Context())
		flow := flowOf("token")
		dying := again(t, client)
		d := &death{after: after}
		// Other calls of EndFlows come between any two commands of CreateFlow.
		d.before = func(int) {
			if _, err := s.AccountStore().EndFlows(t.Context(), ada.ID, flow.Kind); err != nil {
				t.Error(err)
			}
		}
		dying.(*redis.Client).AddHook(d)
		created := redisstore.New(dying, redisstore.Options{}).AccountStore().CreateFlow(t.Context(), flow)
		_, err := s.AccountStore().Flow(t.Context(), flow.ID)
		want := 0
		if err == nil {
			want = 1
		}
		if n, err := s.AccountStore().EndFlows(t.Context(), ada.ID, flow.Kind); n != want || err != nil {
			t.Errorf("after %d commands EndFlows = %d, %v, want %d", after, n, err, want)
		}
		if _, err := s.AccountStore().Flow(t.Context(), flow.ID); !errors.Is(err, pintle.ErrNotFound) {
			t.Errorf("after %d commands and EndFlows the flow is %v, want ErrNotFound", after, err)
		}
		if created == nil {
			return
		}
	}
}
