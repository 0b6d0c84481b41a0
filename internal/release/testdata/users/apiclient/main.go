package main

import (
	"fmt"
	"log"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/apiclient"
	"github.com/pintleauth/pintle/provider"
	"github.com/pintleauth/pintle/store/memstore"
)

func main() {
	auth, err := pintle.New(pintle.Config{
		Providers: []pintle.Provider{provider.GitHub(provider.Options{ClientID: "id", ClientSecret: "secret"})},
		Store:     memstore.New(),
		Secrets:   []string{"the output of: openssl rand -base64 33"},
		URL:       "https://app.example.com",
	})
	if err != nil {
		log.Fatal(err)
	}
	client, err := apiclient.New(auth, "user", apiclient.Options{Provider: "github", Origins: []string{"https://api.github.com"}})
	fmt.Println(client != nil, err)
}

// Output: true <nil>
