package memstore_test

import (
	"context"
	"fmt"
	"log"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/store/memstore"
)

func Example() {
	ctx := context.Background()
	store := memstore.New()
	u, err := store.CreateUser(ctx, &pintle.User{Name: "Ada", Email: "ada@example.org"})
	if err != nil {
		log.Fatal(err)
	}
	found, err := store.UserByEmail(ctx, "ada@example.org")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(found.Name, found.ID == u.ID)
	// Output: Ada true
}
