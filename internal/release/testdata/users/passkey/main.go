package main

import (
	"fmt"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/passkey"
	"github.com/pintleauth/pintle/store/memstore"
)

func main() {
	_, err := pintle.New(pintle.Config{
		Providers:            []pintle.Provider{passkey.New(passkey.Options{})},
		Store:                memstore.New(),
		Secrets:              []string{"the output of: openssl rand -base64 33"},
		URL:                  "https://app.example.com",
		ExperimentalPasskeys: true,
	})
	fmt.Println(err)
}

// Output: <nil>
