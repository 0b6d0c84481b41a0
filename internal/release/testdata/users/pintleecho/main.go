package main

import (
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/labstack/echo/v5"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/pintleecho"
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
	router := echo.New()
	pintleecho.Mount(router, "/auth", auth)
	w := httptest.NewRecorder()
	router.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "https://app.example.com/auth/session", http.NoBody))
	fmt.Println(w.Code, w.Body)
}

// Output: 200 null
