package main

import (
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/pintleotel"
	"github.com/pintleauth/pintle/provider"
)

func main() {
	auth, err := pintle.New(pintle.Config{
		Providers: []pintle.Provider{provider.GitHub(provider.Options{ClientID: "id", ClientSecret: "secret"})},
		Secrets:   []string{"the output of: openssl rand -base64 33"},
		URL:       "https://app.example.com",
		Observer:  pintleotel.New(pintleotel.Options{}),
	})
	if err != nil {
		log.Fatal(err)
	}
	w := httptest.NewRecorder()
	auth.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "https://app.example.com/auth/session", http.NoBody))
	fmt.Println(w.Code, w.Body)
}

// Output: 200 null
