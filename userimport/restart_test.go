package userimport_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/store/memstore"
	"github.com/pintleauth/pintle/userimport"
)

var errDown = errors.New("the store is down")

// A failingStore fails from the write with a number on, as a process does that is killed. It
// has no transactions, unless inTx is set.
type failingStore struct {
	pintle.Store
	left *int // writes
	inTx bool
	ids  bool // whether it chooses the ids of users by itself
}

func (s failingStore) write() error {
	if *s.left--; *s.left < 0 {
		return errDown
	}
	return nil
}

func (s failingStore) Features() pintle.Features {
	f := s.Store.Features()
	f.Transactions = f.Transactions && s.inTx
	return f
}

func (s failingStore) InTx(ctx context.Context, f func(pintle.Store) error) error {
	return s.Store.InTx(ctx, func(tx pintle.Store) error { return f(failingStore{tx, s.left, s.inTx, s.ids}) })
}

func (s failingStore) CreateUser(ctx context.Context, u *pintle.User) (*pintle.User, error) {
	if err := s.write(); err != nil {
		return nil, err
	}
	if s.ids {
		made := *u
		made.ID = ""
		u = &made
	}
	return s.Store.CreateUser(ctx, u)
}

func (s failingStore) UpdateUser(ctx context.Context, id string, change pintle.UserUpdate) (*pintle.User, error) {
	if err := s.write(); err != nil {
		return nil, err
	}
	return s.Store.UpdateUser(ctx, id, change)
}

func (s failingStore) LinkAccount(ctx context.Context, a *pintle.Account) error {
	if err := s.write(); err != nil {
		return err
	}
	return s.Store.LinkAccount(ctx, a)
}

func (s failingStore) DeleteUser(ctx context.Context, id string) error {
	if err := s.write(); err != nil {
		return err
	}
	return s.Store.DeleteUser(ctx, id)
}

func (s failingStore) AccountStore() accountstore.Store {
	return failingRows{s.Store.AccountStore(), s}
}

type failingRows struct {
	accountstore.Store
	of failingStore
}

func (r failingRows) ChangeState(ctx context.Context, s *accountstore.State) error {
	if err := r.of.write(); err != nil {
		return err
	}
	return r.Store.ChangeState(ctx, s)
}

func (r failingRows) AddFactor(ctx context.Context, f *accountstore.Factor) error {
	if err := r.of.write(); err != nil {
		return err
	}
	return r.Store.AddFactor(ctx, f)
}

func (r failingRows) CreateFlow(ctx context.Context, f *accountstore.Flow) error {
	if err := r.of.write(); err != nil {
		return err
	}
	return r.Store.CreateFlow(ctx, f)
}

func (r failingRows) UseFlow(ctx context.Context, id accountstore.Hash, kind string) (*accountstore.Flow, error) {
	if err := r.of.write(); err != nil {
		return nil, err
	}
	return r.Store.UseFlow(ctx, id, kind)
}

// newcomers are n users with everything that an import stores.
func newcomers(n int) iter.Seq2[*userimport.User, error] {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"email":"user%d@example.com","emailVerified":true,"password":"$2b$04$CCCCCCCCCCCCCCCCCCCCC.gkH6UnjS0HnlIFKPrxOxecnCGXTwVua",`+
			`"totp":"ABLZDWZVUTDJUJGHWKXHEMJZ6TN5KZWC","roles":["editor"],"accounts":[{"provider":"github","providerAccountId":"%d"},{"provider":"google","providerAccountId":"%d"}]}`+"\n", i, i, i)
	}
	return func(yield func(*userimport.User, error) bool) {
		userimport.JSONLines(strings.NewReader(b.String()))(yield)
	}
}

// An import that is interrupted at any of its writes, and called again, has stored each user
// once and as a whole. A user who can be found in between
// has the second factor already.
func TestAnInterruptedImportGoesOn(t *testing.T) {
	const users = 3
	for _, kind := range []struct {
		name      string
		inTx, ids bool
	}{{"with transactions", true, false}, {"without transactions", false, false}, {"with ids of the store", false, true}} {
		t.Run(kind.name, func(t *testing.T) {
			for allowed := 0; ; allowed++ {
				store := memstore.New()
				left := allowed
				failing := failingStore{store, &left, kind.inTx, kind.ids}
				_, err := userimport.Import(t.Context(), failing, newcomers(users), userimport.Options{Secrets: secrets, Batch: 2})
				for i := range users {
					email := fmt.Sprintf("user%d@example.com", i)
					if _, err := store.UserByEmail(t.Context(), email); err != nil {
						continue
					}
					if _, state, factors := userAt(t, store, email); factors["totp"] == nil || !slices.Equal(state.Roles, []string{"editor"}) {
						t.Fatalf("after %d writes %s can be found, and has %v, %v", allowed, email, state, factors)
					}
				}
				result, _ := importAll(t, failingStore{store, new(1 << 30), kind.inTx, kind.ids}, newcomers(users), userimport.Options{})
				if result.Read != users || result.Stored+result.Existing != users {
					t.Fatalf("after %d writes: %+v", allowed, result)
				}
				checkWhole(t, store, users, allowed)
				if err == nil {
					if result.Existing != users {
						t.Errorf("the second call of a whole import: %+v", result)
					}
					if allowed < users*5 {
						t.Errorf("only %d writes were interrupted", allowed)
					}
					return
				}
				if !errors.Is(err, errDown) {
					t.Fatalf("after %d writes: %v", allowed, err)
				}
			}
		})
	}
}

// checkWhole checks that each user is stored once and as a whole, and nothing else.
func checkWhole(t *testing.T, store *memstore.Store, users, allowed int) {
	t.Helper()
	ids := map[string]bool{}
	for i := range users {
		u, state, factors := userAt(t, store, fmt.Sprintf("user%d@example.com", i))
		ids[u.ID] = true
		if u.EmailVerified.IsZero() || len(factors) != 2 || len(state.Roles) != 1 || state.Version != 1 {
			t.Fatalf("after %d writes %s is %+v, with %v, %+v", allowed, u.Email, u, factors, state)
		}
		for _, provider := range []string{"github", "google"} {
			if owner, err := store.UserByAccount(t.Context(), provider, fmt.Sprint(i)); err != nil || owner.ID != u.ID {
				t.Fatalf("after %d writes the account at %s of %s belongs to %v, %v", allowed, provider, u.Email, owner, err)
			}
		}
	}
	if len(ids) != users {
		t.Fatalf("after %d writes there are %d users", allowed, len(ids))
	}
	// What an interrupted import leaves is found by its factors.
	listed, err := store.AccountStore().FactorUsers(t.Context(), "password", "", 100)
	if err != nil || len(listed) != users {
		t.Fatalf("after %d writes %d users have passwords, %v", allowed, len(listed), err)
	}
}

// AC-196: a user who was there before keeps everything: a line of the file is no way into an account.
func TestExistingUsersAreLeft(t *testing.T) {
	for _, inTx := range []bool{true, false} {
		store := memstore.New()
		before, err := store.CreateUser(t.Context(), &pintle.User{ID: "before", Email: "user1@example.com", Name: "Before"})
		if err != nil {
			t.Fatal(err)
		}
		result, outcomes := importAll(t, failingStore{store, new(1 << 30), inTx, false}, newcomers(3), userimport.Options{})
		if result.Stored != 2 || result.Existing != 1 || outcomes[1].Status != userimport.Existing || outcomes[1].UserID != before.ID {
			t.Errorf("%+v, %+v", result, outcomes)
		}
		u, state, factors := userAt(t, store, "user1@example.com")
		if u.Name != "Before" || !u.EmailVerified.IsZero() || len(factors) != 0 || state.Version != 0 {
			t.Errorf("the user is now %+v, %+v, %v", u, state, factors)
		}
		if _, err := store.UserByAccount(t.Context(), "github", "1"); !errors.Is(err, pintle.ErrNotFound) {
			t.Errorf("the account of the line was linked: %v", err)
		}
	}
}

// An account that another user has is not taken, and the user of the line is not stored
// without it: the file and the store disagree on who that is.
func TestAnAccountOfAnotherUserIsNotTaken(t *testing.T) {
	for _, inTx := range []bool{true, false} {
		store := memstore.New()
		owner, err := store.CreateUser(t.Context(), &pintle.User{ID: "owner", Email: "owner@example.com"})
		if err != nil {
			t.Fatal(err)
		}
		err = store.LinkAccount(t.Context(), &pintle.Account{UserID: owner.ID, Type: pintle.TypeOIDC, Provider: "google", ProviderAccountID: "1"})
		if err != nil {
			t.Fatal(err)
		}
		result, outcomes := importAll(t, failingStore{store, new(1 << 30), inTx, false}, newcomers(3), userimport.Options{})
		if result.Stored != 2 || result.Refused != 1 || outcomes[1].Reason != "a linked account belongs to another user" {
			t.Errorf("%+v, %+v", result, outcomes)
		}
		if _, err := store.UserByEmail(t.Context(), "user1@example.com"); !errors.Is(err, pintle.ErrNotFound) {
			t.Errorf("the user of the line: %v", err)
		}
		if u, err := store.UserByAccount(t.Context(), "google", "1"); err != nil || u.ID != owner.ID {
			t.Errorf("the account belongs to %v, %v", u, err)
		}
	}
}

// A racingStore calls race before the third factor is stored: the first one of the second
// user. Without transactions that is after the look-up of the address. Its transactions fail
// twice, as if the unique key of the address had decided.
type racingStore struct {
	failingStore
	race            func(userID string)
	factors, failed *int
}

func (s racingStore) AccountStore() accountstore.Store {
	return racingRows{s.failingStore.AccountStore(), s}
}

func (s racingStore) InTx(ctx context.Context, f func(pintle.Store) error) error {
	if *s.failed++; *s.failed <= 2 {
		s.race("")
		return pintle.ErrConflict
	}
	return s.failingStore.InTx(ctx, f)
}

type racingRows struct {
	accountstore.Store
	of racingStore
}

func (r racingRows) AddFactor(ctx context.Context, f *accountstore.Factor) error {
	if *r.of.factors++; *r.of.factors == 3 {
		r.of.race(f.UserID)
	}
	return r.Store.AddFactor(ctx, f)
}

func TestASignUpDuringAnImportWins(t *testing.T) {
	for _, inTx := range []bool{true, false} {
		store := memstore.New()
		signUp := func(string) {
			_, _ = store.CreateUser(t.Context(), &pintle.User{ID: "quick", Email: "user1@example.com", Name: "Quick"})
		}
		racing := racingStore{failingStore{store, new(1 << 30), inTx, false}, signUp, new(int), new(int)}
		result, outcomes := importAll(t, racing, newcomers(2), userimport.Options{})
		if result.Stored != 1 || result.Existing != 1 || outcomes[1].UserID != "quick" {
			t.Errorf("%+v, %+v", result, outcomes)
		}
		if u, _, factors := userAt(t, store, "user1@example.com"); u.ID != "quick" || len(factors) != 0 {
			t.Errorf("the user is %+v with %v", u, factors)
		}
		listed, err := store.AccountStore().FactorUsers(t.Context(), "password", "", 100)
		if err != nil || len(listed) != 1 {
			t.Errorf("%d users have passwords, %v: what was stored before the conflict is left", len(listed), err)
		}
		if _, err := store.UserByAccount(t.Context(), "github", "1"); !errors.Is(err, pintle.ErrNotFound) {
			t.Errorf("the account of the line was linked: %v", err)
		}
	}
}

// Two calls store one user. The slower one does not bring back an address that the user has
// changed since the other one was done.
func TestTheSlowerOfTwoImportsLeavesTheAddress(t *testing.T) {
	store := memstore.New()
	change := func(userID string) {
		if _, err := store.UpdateUser(t.Context(), userID, pintle.UserUpdate{Email: new("changed@example.com")}); err != nil {
			t.Error(err)
		}
	}
	racing := racingStore{failingStore{store, new(1 << 30), false, false}, change, new(int), new(int)}
	result, _ := importAll(t, racing, newcomers(2), userimport.Options{})
	if result.Stored != 1 || result.Existing != 1 {
		t.Errorf("%+v", result)
	}
	if u, err := store.UserByEmail(t.Context(), "user1@example.com"); err == nil {
		t.Errorf("the address is that of %+v", u)
	}
	if _, _, factors := userAt(t, store, "changed@example.com"); len(factors) != 2 {
		t.Errorf("the user has the factors %v", factors)
	}
}

// An import that was interrupted after its last write but one leaves the flow. If the user
// loses the address before the next call, that call does not remove or give back the user.
func TestAFinishedUserIsNotTakenForAnUnfinishedOne(t *testing.T) {
	store := memstore.New()
	// The writes of a user: flow, user, state, app, password, two accounts, address.
	left := 8
	_, err := userimport.Import(t.Context(), failingStore{store, &left, false, false}, newcomers(1), userimport.Options{Secrets: secrets})
	if !errors.Is(err, errDown) {
		t.Fatal(err)
	}
	u, state, _ := userAt(t, store, "user0@example.com")
	state.Must = "know-address-lost" // as package account does when another user proves the address
	if err := store.AccountStore().ChangeState(t.Context(), state); err != nil {
		t.Fatal(err)
	}
	if _, err := store.UpdateUser(t.Context(), u.ID, pintle.UserUpdate{Email: new("")}); err != nil {
		t.Fatal(err)
	}
	if _, err := store.CreateUser(t.Context(), &pintle.User{ID: "owner", Email: "user0@example.com"}); err != nil {
		t.Fatal(err)
	}
	result, _ := importAll(t, failingStore{store, new(1 << 30), false, false}, newcomers(1), userimport.Options{})
	if result.Existing != 1 {
		t.Errorf("%+v", result)
	}
	if _, err := store.User(t.Context(), u.ID); err != nil {
		t.Errorf("the user who lost the address: %v", err)
	}
}

// AC-196
func TestADryRunWritesNothing(t *testing.T) {
	for _, inTx := range []bool{true, false} {
		store := memstore.New()
		if _, err := store.CreateUser(t.Context(), &pintle.User{ID: "before", Email: "user1@example.com"}); err != nil {
			t.Fatal(err)
		}
		result, _ := importAll(t, failingStore{store, new(0), inTx, false}, newcomers(3), userimport.Options{DryRun: true})
		if result.Stored != 2 || result.Existing != 1 {
			t.Errorf("%+v", result)
		}
		if _, err := store.UserByEmail(t.Context(), "user0@example.com"); !errors.Is(err, pintle.ErrNotFound) {
			t.Errorf("a dry run has stored a user: %v", err)
		}
	}
}

func TestProgressIsReportedAfterEachBatch(t *testing.T) {
	var seen []int
	result, err := userimport.Import(t.Context(), memstore.New(), newcomers(5), userimport.Options{
		Secrets: secrets, Batch: 2, Progress: func(r userimport.Result) { seen = append(seen, r.Stored) },
	})
	if err != nil || result.Stored != 5 || !slices.Equal(seen, []int{2, 4, 5}) {
		t.Errorf("progress %v, %+v, %v", seen, result, err)
	}
}

// With KeepIDs the users have their old ids. A user who has one of these ids already, and is
// not the one of the line, is not changed.
func TestIDsAreKept(t *testing.T) {
	text := `{"id":1,"email":"a@example.com"}
{"id":2,"email":"b@example.com"}
{"email":"c@example.com"}
{"id":"4","email":"d@example.com"}
`
	for _, inTx := range []bool{true, false} {
		store := memstore.New()
		// A user of a provider, without an address.
		if _, err := store.CreateUser(t.Context(), &pintle.User{ID: "2", Name: "Before"}); err != nil {
			t.Fatal(err)
		}
		left := 0
		for round := 0; ; round++ { // interrupted at each write, and called again
			left = round
			_, err := userimport.Import(t.Context(), failingStore{store, &left, inTx, false}, userimport.JSONLines(strings.NewReader(text)), userimport.Options{KeepIDs: true})
			if err == nil {
				break
			}
			if round > 100 {
				t.Fatal(err)
			}
		}
		_, outcomes := importAll(t, failingStore{store, new(1 << 30), inTx, false}, userimport.JSONLines(strings.NewReader(text)), userimport.Options{KeepIDs: true})
		for i, want := range []userimport.Outcome{
			{Status: userimport.Existing, UserID: "1"},
			{Status: userimport.Refused, Reason: "the id belongs to another user"},
			{Status: userimport.Refused, Reason: "no usable id"},
			{Status: userimport.Existing, UserID: "4"},
		} {
			if got := outcomes[i]; got.Status != want.Status || got.UserID != want.UserID || got.Reason != want.Reason {
				t.Errorf("%+v, want %+v", got, want)
			}
		}
		if u, err := store.User(t.Context(), "2"); err != nil || u.Name != "Before" || u.Email != "" {
			t.Errorf("the user with the id is now %+v, %v", u, err)
		}
	}
}

// A repeatingStore runs each transaction twice, as a store may that has to give way to
// another transaction. The first one sees a user who is not there any more in the second.
type repeatingStore struct{ pintle.Store }

func (s repeatingStore) InTx(ctx context.Context, f func(pintle.Store) error) error {
	errAgain := errors.New("again")
	err := s.Store.InTx(ctx, func(tx pintle.Store) error {
		if _, err := tx.CreateUser(ctx, &pintle.User{ID: "gone", Email: "user0@example.com"}); err != nil {
			return err
		}
		return errors.Join(f(tx), errAgain)
	})
	if !errors.Is(err, errAgain) {
		return err
	}
	return s.Store.InTx(ctx, f)
}

func TestATransactionMayRunTwice(t *testing.T) {
	store := memstore.New()
	result, outcomes := importAll(t, repeatingStore{store}, newcomers(2), userimport.Options{})
	if u, _, _ := userAt(t, store, "user0@example.com"); result.Stored != 2 || outcomes[0].UserID != u.ID {
		t.Errorf("%+v, %+v of %s", result, outcomes, u.ID)
	}
}
