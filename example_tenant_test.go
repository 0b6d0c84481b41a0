package pintle_test

import (
	"context"
	"fmt"
	"net/http"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/store/memstore"
)

// A job at night signs a user out everywhere at every tenant. It has no request, and
// names each tenant by its key.
func ExampleAuth_Tenant() {
	stores := map[string]pintle.Store{"blue.example.com": memstore.New(), "red.example.com": memstore.New()}
	auth := pintle.NewFunc(
		func(r *http.Request) string { return r.Host },
		func(_ context.Context, host string) (pintle.Config, error) {
			store, known := stores[host]
			if !known {
				return pintle.Config{}, fmt.Errorf("host %q: %w", host, pintle.ErrNotFound)
			}
			return pintle.Config{
				URL: "https://" + host, Store: store, Secrets: []string{"the output of openssl rand -base64 33"},
				Getenv: func(string) string { return "" },
			}, nil
		},
	)

	ctx := context.Background()
	for _, host := range []string{"blue.example.com", "red.example.com"} {
		if err := auth.Tenant(host).SignOutEverywhere(ctx, "7"); err != nil {
			fmt.Println(host, err)
			continue
		}
		fmt.Println(host, "done")
	}
	// Output:
	// blue.example.com done
	// red.example.com done
}
