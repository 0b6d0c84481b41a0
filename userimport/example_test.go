package userimport_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/pintleauth/pintle/password"
	"github.com/pintleauth/pintle/store/memstore"
	"github.com/pintleauth/pintle/userimport"
)

// A program of the application writes its users as JSON lines. The last one has a hash that
// is quick to guess.
func ExampleImport() {
	ctx := context.Background()
	store := memstore.New() // in an application: sqlstore.New, or that of Config.Store
	lines := `{"email":"Ada@Example.com","emailVerified":"2024-05-01T10:00:00Z","name":"Ada","password":"$2b$10$YEvoPmfhdjfUqBryJeQ.WO0Sxqj8qOUSxpFm2ZkmK88JXMPuw4vYy"}
{"email":"grace@example.com","roles":["editor"]}
{"email":"joan@example.com","password":"3f86d0d3d465b7b458c231bf3555c0e3"}
`
	result, err := userimport.Import(ctx, store, userimport.JSONLines(strings.NewReader(lines)), userimport.Options{
		Report: func(o userimport.Outcome) {
			if o.Status == userimport.Refused {
				fmt.Printf("line %d: %s\n", o.Number, o.Reason)
			}
		},
	})
	if err != nil {
		log.Fatal(err) // call it again with the same lines: it goes on
	}
	fmt.Println(result.Stored, "of", result.Read, "users are stored")
	// Output:
	// line 3: password: stored hash: a digest that is quick to guess: wrap it with Hasher.Wrap
	// 2 of 3 users are stored
}

// The application moves from Firebase. It needs the project to verify the passwords, in
// account.Options.Passwords.Hasher. A file has the old and the new id of each user, for the
// tables that name users.
func ExampleFirebase() {
	ctx := context.Background()
	project := password.Firebase{
		SignerKey: os.Getenv("FIREBASE_SIGNER_KEY"), SaltSeparator: "Bw==", Rounds: 8, MemoryCost: 14,
	}
	move := func(store *memstore.Store, export, ids *os.File) error {
		out := json.NewEncoder(ids)
		_, err := userimport.Import(ctx, store, userimport.Firebase(export, project), userimport.Options{
			Report: func(o userimport.Outcome) { _ = out.Encode(o) },
		})
		return err
	}
	_ = move
}
