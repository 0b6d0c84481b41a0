package main

import (
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/gin-gonic/gin"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/pintlegin"
	"github.com/pintleauth/pintle/provider"
)

func main() {
	gin.SetMode(gin.ReleaseMode)
	auth, err := pintle.New(pintle.Config{
		Providers: []pintle.Provider{provider.GitHub(provider.Options{ClientID: "id", ClientSecret: "secret"})},
		Secrets:   []string{"the output of: openssl rand -base64 33"},
		URL:       "https://app.example.com",
	})
	if err != nil {
		log.Fatal(err)
	}
	router := gin.New()
	pintlegin.Mount(router, "/auth", auth)
	w := httptest.NewRecorder()
	router.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "https://app.example.com/auth/session", http.NoBody))
	fmt.Println(w.Code, w.Body)
}

// Output: 200 null
