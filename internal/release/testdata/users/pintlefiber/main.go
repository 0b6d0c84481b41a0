package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/gofiber/fiber/v3"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/pintlefiber"
	"github.com/pintleauth/pintle/provider"
)

func main() {
	auth, err := pintle.New(pintle.Config{
		Providers: []pintle.Provider{provider.GitHub(provider.Options{ClientID: "id", ClientSecret: "secret"})},
		Secrets:   []string{"the output of: openssl rand -base64 33"},
		URL:       "https://app.example.com",
	})
	if err != nil {
		log.Fatal(err)
	}
	app := fiber.New()
	pintlefiber.Mount(app, "/auth", auth)
	response, err := app.Test(httptest.NewRequest(http.MethodGet, "https://app.example.com/auth/session", http.NoBody))
	if err != nil {
		log.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	fmt.Println(response.StatusCode, string(body), err)
}

// Output: 200 null <nil>
