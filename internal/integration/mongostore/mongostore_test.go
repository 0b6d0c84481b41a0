// Package mongostore_test runs store/mongostore against a server of MongoDB's
// protocol, and beside the published adapter of Auth.js.
package mongostore_test

import (
	"context"
	"errors"
	"os"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/internal/integration/services"
	"github.com/pintleauth/pintle/store/mongostore"
	"github.com/pintleauth/pintle/storetest"
)

func TestMain(m *testing.M) { os.Exit(services.Run(m)) }

// open returns a store in db, whose indexes are made.
func open(t testing.TB, db *services.Mongo) *mongostore.Store {
	t.Helper()
	if err := mongostore.EnsureIndexes(t.Context(), db.Database, mongostore.Options{}); err != nil {
		t.Fatal(err)
	}
	s, err := mongostore.Open(t.Context(), db.Database, mongostore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// RPT-81, RPT-82: among the promises are those about a session that its provider ends while it
// begins, is extended or is deleted, and about texts with any characters.
func TestStoreKeepsEveryPromise(t *testing.T) {
	storetest.Run(t, func(t *testing.T) pintle.Store { return open(t, services.MongoDatabase(t)) })
}

// A host's client may have any settings; the store sets those that it relies on.
func TestNoSettingOfTheClientChangesTheStore(t *testing.T) {
	db := services.MongoDatabase(t, options.Client().
		SetWriteConcern(writeconcern.Unacknowledged()).
		SetReadPreference(readpref.SecondaryPreferred()).
		SetBSONOptions(&options.BSONOptions{UseJSONStructTags: true, OmitZeroStruct: true, UseLocalTimeZone: true, ObjectIDAsHexString: true, NilMapAsEmpty: true}))
	s := open(t, db)
	_, ends := whole(t, s)
	if _, err := s.CreateUser(t.Context(), &pintle.User{Email: ada.Email}); !errors.Is(err, pintle.ErrConflict) {
		t.Errorf("CreateUser with a taken address: %v, want ErrConflict", err)
	}
	session, u, err := s.SessionAndUser(t.Context(), "t0")
	if err != nil || u.Email != ada.Email || u.EmailVerified.Location() != time.UTC || !session.Expires.Equal(ends) {
		t.Errorf("SessionAndUser = %+v, %+v, %v", session, u, err)
	}
	if accounts, err := s.UserAccounts(t.Context(), u.ID); err != nil || len(accounts) != 1 || accounts[0].AccessToken != linked.AccessToken {
		t.Errorf("UserAccounts = %+v, %v", accounts, err)
	}
}

var (
	ada = pintle.User{ID: "65a0f0c2e4b0a1b2c3d4e5f6", Name: "Ada", Email: "ada@example.org", EmailVerified: time.UnixMilli(1767323045678).UTC()}

	linked = pintle.Account{
		UserID: ada.ID, Type: pintle.TypeOAuth, Provider: "github", ProviderAccountID: "583231",
		AccessToken: "gho_x", ExpiresAt: 2592000, TokenType: "bearer", Scope: "user",
	}
)

// whole makes one of everything in a store, and returns the user and the end of
// the session.
func whole(t testing.TB, s *mongostore.Store) (*pintle.User, time.Time) {
	t.Helper()
	u, err := s.CreateUser(t.Context(), &ada)
	ends := time.Date(2100, 1, 2, 3, 4, 5, 678e6, time.UTC)
	err = errors.Join(err,
		s.LinkAccount(t.Context(), &linked),
		s.CreateSession(t.Context(), &pintle.StoredSession{Token: "t0", UserID: ada.ID, Expires: ends, Created: ada.EmailVerified, Data: map[string]any{"a.b": "$c"}}),
		s.CreateVerification(t.Context(), &pintle.Verification{Identifier: ada.Email, Token: "abc", Expires: ends}),
		s.CreatePasskey(t.Context(), &pintle.Passkey{
			CredentialID: "a/b+c/c=", UserID: ada.ID, ProviderAccountID: "a/b+c/c=", PublicKey: "AA==",
			DeviceType: "singleDevice", Name: "Phone", Created: ada.EmailVerified,
		}))
	if err != nil {
		t.Fatal(err)
	}
	return u, ends
}

// ASVS-16.5.2: a database that is down is an error, never an answer.
func TestADatabaseThatIsDownIsNoAnswerAndComesBack(t *testing.T) {
	server := services.FerretDB(t)
	client, err := mongo.Connect(options.Client().ApplyURI(server.URL).SetServerSelectionTimeout(3 * time.Second).SetHeartbeatInterval(500 * time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Disconnect(context.Background()) }()
	s := open(t, &services.Mongo{Database: client.Database("app")})
	whole(t, s)
	rows, flow := s.AccountStore(), person(t, s)
	server.Stop(t)
	var all sync.WaitGroup
	for name, call := range map[string]func() error{
		"SessionAndUser":  func() error { _, _, err := s.SessionAndUser(t.Context(), "t0"); return err },
		"UserByEmail":     func() error { _, err := s.UserByEmail(t.Context(), ada.Email); return err },
		"UserByAccount":   func() error { _, err := s.UserByAccount(t.Context(), "github", "583231"); return err },
		"UseVerification": func() error { _, err := s.UseVerification(t.Context(), ada.Email, "abc"); return err },
		"DeleteSession":   func() error { _, err := s.DeleteSession(t.Context(), "t0"); return err },
		"DeleteUser":      func() error { return s.DeleteUser(t.Context(), ada.ID) },
		"State":           func() error { _, err := rows.State(t.Context(), ada.ID); return err },
		"ChangeState":     func() error { return rows.ChangeState(t.Context(), &accountstore.State{UserID: ada.ID}) },
		"CountFailure":    func() error { _, err := rows.CountFailure(t.Context(), ada.ID, noon, time.Hour, 3); return err },
		"Factors":         func() error { _, err := rows.Factors(t.Context(), ada.ID); return err },
		"AddFactor":       func() error { return rows.AddFactor(t.Context(), &accountstore.Factor{UserID: ada.ID}) },
		"AdvanceFactor":   func() error { return rows.AdvanceFactor(t.Context(), ada.ID, "totp", "1", 8, noon) },
		"DeleteFactors":   func() error { _, err := rows.DeleteFactors(t.Context(), ada.ID, []string{"totp"}, nil); return err },
		"Flow":            func() error { _, err := rows.Flow(t.Context(), flow.ID); return err },
		"AttemptFlow":     func() error { _, err := rows.AttemptFlow(t.Context(), flow.ID, 5); return err },
		"UseFlow":         func() error { _, err := rows.UseFlow(t.Context(), flow.ID, flow.Kind); return err },
		"EndFlows":        func() error { _, err := rows.EndFlows(t.Context(), ada.ID, flow.Kind); return err },
		"CountFlows":      func() error { _, err := rows.CountFlows(t.Context(), ada.ID, flow.Kind, noon); return err },
		"Open": func() error {
			_, err := mongostore.Open(t.Context(), client.Database("app"), mongostore.Options{})
			return err
		},
	} {
		all.Go(func() { // each waits for a server until the client gives up
			if err := call(); err == nil || errors.Is(err, pintle.ErrNotFound) || errors.Is(err, pintle.ErrConflict) {
				t.Errorf("%s without a server: %v, want an error other than a result", name, err)
			}
		})
	}
	all.Wait()
	server.Start(t)
	// The client hears of it within a second.
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		_, _, err := s.SessionAndUser(t.Context(), "t0")
		if err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("after the server came back: %v", err)
		}
	}
}

// The session check of every request of a signed-in browser.
func BenchmarkSessionAndUser(b *testing.B) {
	s := open(b, services.MongoDatabase(b))
	whole(b, s)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := s.SessionAndUser(b.Context(), "t0"); err != nil {
			b.Fatal(err)
		}
	}
}
