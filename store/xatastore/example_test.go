package xatastore_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/store/xatastore"
)

// The key and the address are in XATA_API_KEY and XATA_DATABASE_URL, where
// Auth.js has them too.
func Example() {
	store, err := xatastore.New(xatastore.Options{Getenv: os.Getenv})
	if err != nil {
		log.Fatal(err)
	}
	auth, err := pintle.New(pintle.Config{Store: store})
	if err != nil {
		log.Fatal(err)
	}
	_ = auth
}

func ExampleStore_GetConfig() {
	store, err := xatastore.New(xatastore.Options{
		APIKey:      "xau_secret",
		DatabaseURL: "https://workspace.eu-west-1.xata.sh/db/app",
		Branch:      "preview",
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(store.GetConfig())
	// Output: {https://workspace.eu-west-1.xata.sh/db/app preview}
}

// A command or a test of the application checks once whether the database can
// bear it.
func ExampleStore_Check() {
	check := func(ctx context.Context, store *xatastore.Store) error {
		problems, err := store.Check(ctx)
		if err != nil {
			return err
		}
		for _, p := range problems {
			fmt.Println(p.Text)
			fmt.Println(p.Fix)
		}
		return nil
	}
	_ = check
}

// An operator gives the request id to the service's support.
func ExampleError() {
	report := func(err error) {
		if refused, ok := errors.AsType[*xatastore.Error](err); ok {
			log.Printf("the database refused: status %d, request %s", refused.Status, refused.RequestID)
		}
	}
	_ = report
}
