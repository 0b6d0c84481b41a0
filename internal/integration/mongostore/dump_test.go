package mongostore_test

import (
	"fmt"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/pintleauth/pintle/internal/integration/accountsite"
	"github.com/pintleauth/pintle/internal/integration/services"
)

// copied returns every value of every document, numbers and times as text.
func copied(t *testing.T, db *services.Mongo) (cells []accountsite.Cell) {
	t.Helper()
	collections, err := db.ListCollectionNames(t.Context(), bson.D{})
	if err != nil {
		t.Fatal(err)
	}
	for _, collection := range collections {
		found, err := db.Collection(collection).Find(t.Context(), bson.D{})
		if err != nil {
			t.Fatal(err)
		}
		var documents []bson.D
		if err := found.All(t.Context(), &documents); err != nil {
			t.Fatal(err)
		}
		for _, document := range documents {
			cells = append(cells, cellsOf(collection, document)...)
		}
	}
	return cells
}

// cellsOf returns the values in a value.
func cellsOf(where string, value any) (cells []accountsite.Cell) {
	switch v := value.(type) {
	case nil:
	case bson.D:
		for _, e := range v {
			cells = append(cells, accountsite.Cell{Where: where, Value: []byte(e.Key)})
			cells = append(cells, cellsOf(where+"."+e.Key, e.Value)...)
		}
	case bson.A:
		for _, one := range v {
			cells = append(cells, cellsOf(where, one)...)
		}
	case bson.Binary:
		cells = append(cells, accountsite.Cell{Where: where, Value: v.Data})
	case bson.ObjectID:
		cells = append(cells, accountsite.Cell{Where: where, Value: v[:]})
	default:
		cells = append(cells, accountsite.Cell{Where: where, Value: fmt.Append(nil, v)})
	}
	return cells
}

// AT-114: in a copy of the database is no secret, and nothing in it is one. The token of a
// session is in its document, as Auth.js writes it, and nowhere else.
func TestACopyOfTheDocumentsSignsNoUserIn(t *testing.T) {
	db := services.MongoDatabase(t)
	j := accountsite.New(t, open(t, db)).Take()
	dump := copied(t, db)
	sessions := func(where string) bool { return where == "sessions.sessionToken" }
	j.GivesNothingAway(dump, sessions)
	j.SignsNoUserIn(dump, sessions)
}
