package mongostore_test

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/internal/integration/services"
	"github.com/pintleauth/pintle/store/mongostore"
)

var (
	noon  = ada.EmailVerified
	later = time.UnixMilli(4102542245678).UTC()
)

// person gives ada a state, a factor and a flow, and returns the flow.
func person(t *testing.T, s pintle.Store) *accountstore.Flow {
	t.Helper()
	rows := s.AccountStore()
	flow := &accountstore.Flow{
		ID: sha256.Sum256([]byte("token")), Kind: "reset", Subject: ada.ID, Payload: "sealed", Code: sha256.Sum256([]byte("code")),
		Created: noon, Expires: later,
	}
	_, err := rows.CountFailure(t.Context(), ada.ID, noon, time.Hour, 3)
	err = errors.Join(err,
		rows.ChangeState(t.Context(), &accountstore.State{UserID: ada.ID, Roles: []string{"admin"}, BannedUntil: accountstore.Forever, BanReason: "spam", Created: noon}),
		rows.AddFactor(t.Context(), &accountstore.Factor{UserID: ada.ID, Kind: "a:b%", ID: "c:d%", Secret: "sealed", Step: 7, Name: "Phone", Created: noon, Expires: later}),
		rows.CreateFlow(t.Context(), flow))
	if err != nil {
		t.Fatal(err)
	}
	return flow
}

func TestDocumentsOfPasswordsSecondFactorsAndFlows(t *testing.T) {
	db := services.MongoDatabase(t)
	flow := person(t, open(t, db))
	const (
		created = `{"$date":{"$numberLong":"1767323045678"}}`
		expires = `"expires":{"$date":{"$numberLong":"4102542245678"}}`
		one     = `{"$numberLong":"1"}`
	)
	hash := func(h accountstore.Hash) string { return `"` + base64.RawURLEncoding.EncodeToString(h[:]) + `"` }
	for collection, want := range map[string]string{
		"pintle_states": `{"_id":"` + ada.ID + `","banReason":"spam","bannedUntil":{"$date":{"$numberLong":"9007199254740991"}},"claim":"","created":` + created +
			`,"deleteAt":null,"failures":[` + created + `],"lastSignIn":null,"must":"","roles":["admin"],"streak":` + one + `,"suspended":false,"version":` + one + `}`,
		"pintle_factors": `{"_id":"` + ada.ID + `:a%3Ab%25:c:d%","created":` + created + `,` + expires +
			`,"id":"c:d%","kind":"a:b%","lastUsed":null,"name":"Phone","secret":"sealed","step":{"$numberLong":"7"},"userId":"` + ada.ID + `","version":` + one + `}`,
		"pintle_flows": `{"_id":` + hash(flow.ID) + `,"attempts":{"$numberLong":"0"},"code":` + hash(flow.Code) + `,"created":` + created + `,` + expires +
			`,"kind":"reset","payload":"sealed","subject":"` + ada.ID + `","version":` + one + `}`,
	} {
		var document bson.D
		if err := db.Collection(collection).FindOne(t.Context(), bson.D{}).Decode(&document); err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(document, func(a, b bson.E) int { return cmp.Compare(a.Key, b.Key) })
		got, err := bson.MarshalExtJSON(document, true, false)
		if err != nil || string(got) != want {
			t.Errorf("%s:\n got %s, %v\nwant %s", collection, got, err, want)
		}
	}
}

// AC-30, AC-201, AC-202: an order of the changes in which no half of one lets a user in.
func TestADeletionRemovesTheUserBeforeTheSecondFactorAndTheBan(t *testing.T) {
	var r recorder
	db := services.MongoDatabase(t, r.monitor())
	s := open(t, db)
	whole(t, s)
	person(t, s)
	r.sent()
	if err := s.DeleteUser(t.Context(), ada.ID); err != nil {
		t.Fatal(err)
	}
	var order []string
	for _, command := range r.sent() {
		if name, ok := command.Lookup("delete").StringValueOK(); ok {
			order = append(order, name)
		}
	}
	want := "sessions accounts authenticators users sessions accounts authenticators pintle_provider_sessions pintle_flows pintle_factors pintle_states pintle_activity"
	if got := strings.Join(order, " "); got != want {
		t.Errorf("DeleteUser removes from %s,\nwant %s", got, want)
	}
}

// A deletion that broke off after the user was gone is finished by another call.
func TestADeletionThatBrokeOffIsFinishedByAnother(t *testing.T) {
	db := services.MongoDatabase(t)
	s := open(t, db)
	person(t, s) // whose user is gone
	if err := s.DeleteUser(t.Context(), ada.ID); !errors.Is(err, pintle.ErrNotFound) {
		t.Errorf("DeleteUser: %v, want ErrNotFound", err)
	}
	for _, collection := range []string{"pintle_states", "pintle_factors", "pintle_flows"} {
		if n, err := db.Collection(collection).CountDocuments(t.Context(), bson.D{}); n != 0 || err != nil {
			t.Errorf("%s has %d documents, %v", collection, n, err)
		}
	}
}

// The driver of a host may decide where reads and writes go; the rows take that
// from the store.
func TestRowsAreReadAndWrittenAsTheStoreIs(t *testing.T) {
	var r recorder
	db := services.MongoDatabase(t, r.monitor())
	s := open(t, db)
	r.sent()
	person(t, s)
	for _, command := range r.sent() {
		name := command.Index(0).Key()
		if name == "find" {
			continue
		}
		if w, ok := command.Lookup("writeConcern", "w").StringValueOK(); !ok || w != "majority" {
			t.Errorf("%s is sent with the write concern %v", name, command.Lookup("writeConcern"))
		}
	}
}

// BSON has no other texts, and the server would reject the command or keep it.
func TestRowsWithTextsThatAreNotUTF8AreRejected(t *testing.T) {
	var r recorder
	db := services.MongoDatabase(t, r.monitor())
	s := open(t, db)
	rows, flow := s.AccountStore(), person(t, s)
	const spoiled = "a\xff"
	flow.Version, flow.Payload = 1, spoiled
	another := &accountstore.Flow{ID: sha256.Sum256([]byte("another token")), Payload: spoiled}
	r.sent()
	for name, err := range map[string]error{
		"State":         errorOf(rows.State(t.Context(), spoiled)),
		"ChangeState":   rows.ChangeState(t.Context(), &accountstore.State{UserID: ada.ID, Version: 1, Roles: []string{spoiled}}),
		"AddFactor":     rows.AddFactor(t.Context(), &accountstore.Factor{UserID: ada.ID, Kind: "password", Secret: spoiled}),
		"ReplaceFactor": rows.ReplaceFactor(t.Context(), &accountstore.Factor{UserID: ada.ID, Kind: "totp", ID: "1", Version: 1, Name: spoiled}),
		"DeleteFactors": errorOf(rows.DeleteFactors(t.Context(), ada.ID, []string{spoiled}, nil)),
		"CreateFlow":    rows.CreateFlow(t.Context(), another),
		"ChangeFlow":    rows.ChangeFlow(t.Context(), flow),
		"EndFlows":      errorOf(rows.EndFlows(t.Context(), ada.ID, spoiled)),
	} {
		if err == nil || errors.Is(err, pintle.ErrConflict) || errors.Is(err, pintle.ErrNotFound) {
			t.Errorf("%s of a text that is not UTF-8: %v, want an error", name, err)
		}
	}
	for name, err := range map[string]error{
		"AdvanceFactor": rows.AdvanceFactor(t.Context(), ada.ID, "totp", spoiled, 8, noon),
		"DeleteFactor":  rows.DeleteFactor(t.Context(), ada.ID, "totp", spoiled),
		"UseFlow":       errorOf(rows.UseFlow(t.Context(), flow.ID, spoiled)),
		"DeleteUser":    s.DeleteUser(t.Context(), spoiled),
	} {
		if !errors.Is(err, pintle.ErrNotFound) {
			t.Errorf("%s of a text that is not UTF-8: %v, want ErrNotFound", name, err)
		}
	}
	if commands := r.sent(); len(commands) != 0 {
		t.Errorf("the server received %v", commands)
	}
}

// A success of a user without failures leaves no document.
func TestASuccessOfAUserWithoutFailuresMakesNoDocument(t *testing.T) {
	db := services.MongoDatabase(t)
	if err := open(t, db).AccountStore().CountSuccess(t.Context(), ada.ID, noon); err != nil {
		t.Fatal(err)
	}
	if n, err := db.Collection("pintle_states").CountDocuments(t.Context(), bson.D{}); n != 0 || err != nil {
		t.Errorf("there are %d states, %v", n, err)
	}
}

// A document that cannot be read is not the absence of a ban.
func TestADocumentThatCannotBeReadIsAnError(t *testing.T) {
	db := services.MongoDatabase(t)
	s := open(t, db)
	rows, flow := s.AccountStore(), person(t, s)
	for _, spoiled := range []struct{ collection, field string }{
		{"pintle_states", "bannedUntil"},
		{"pintle_states", "suspended"},
		{"pintle_states", "roles"},
		{"pintle_factors", "expires"},
		{"pintle_flows", "code"},
		{"pintle_flows", "expires"},
	} {
		c := db.Collection(spoiled.collection)
		var before bson.M
		if err := c.FindOne(t.Context(), bson.D{}).Decode(&before); err != nil {
			t.Fatal(err)
		}
		set := func(value any) {
			t.Helper()
			update := bson.D{{Key: "$set", Value: bson.D{{Key: spoiled.field, Value: value}}}}
			if _, err := c.UpdateOne(t.Context(), bson.D{{Key: "_id", Value: before["_id"]}}, update); err != nil {
				t.Fatal(err)
			}
		}
		set("spoiled")
		_, state := rows.State(t.Context(), ada.ID)
		_, factors := rows.Factors(t.Context(), ada.ID)
		_, found := rows.Flow(t.Context(), flow.ID)
		if err := errors.Join(state, factors, found); err == nil || errors.Is(err, pintle.ErrNotFound) {
			t.Errorf("with %s of %s spoiled: %v, want an error", spoiled.field, spoiled.collection, err)
		}
		set(before[spoiled.field])
	}
}

// Two instances of an application may start at once, on a database of an older
// version.
func TestIndexesOfRowsAreMadeInADatabaseThatHasTheOthers(t *testing.T) {
	db := services.MongoDatabase(t)
	s := open(t, db)
	whole(t, s)
	for _, collection := range []string{"pintle_factors", "pintle_flows"} {
		if err := db.Collection(collection).Drop(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	// They make look-ups faster, and keep nothing unique.
	later, err := mongostore.Open(t.Context(), db.Database, mongostore.Options{})
	if err != nil {
		t.Fatalf("Open of a database without the collections: %v", err)
	}
	person(t, later)
	if err := mongostore.EnsureIndexes(t.Context(), db.Database, mongostore.Options{}); err != nil {
		t.Fatal(err)
	}
	for collection, want := range map[string][]string{"pintle_factors": {"pintle_expires", "pintle_userId"}, "pintle_flows": {"pintle_expires", "pintle_subject_kind"}} {
		listed, err := db.Collection(collection).Indexes().ListSpecifications(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		listed = slices.DeleteFunc(listed, func(x mongo.IndexSpecification) bool { return x.Name == "_id_" })
		slices.SortFunc(listed, func(a, b mongo.IndexSpecification) int { return cmp.Compare(a.Name, b.Name) })
		if !slices.EqualFunc(listed, want, func(x mongo.IndexSpecification, name string) bool { return x.Name == name }) {
			t.Errorf("the indexes of %s are %+v, want %q", collection, listed, want)
		}
	}
}
