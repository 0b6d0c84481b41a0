package pintlegin_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/pintlegin"
)

// BenchmarkLoad measures the cost of Load for each request to the application.
func BenchmarkLoad(b *testing.B) {
	gin.SetMode(gin.ReleaseMode)
	cfg := pintle.Config{
		Providers: []pintle.Provider{&pintle.Credentials{Authorize: checkPassword}},
		Secrets:   []string{"a secret for tests, 32 characters or more"},
	}
	auth, err := pintle.New(cfg)
	if err != nil {
		b.Fatal(err)
	}
	router := gin.New()
	router.GET("/", pintlegin.Load(auth), func(c *gin.Context) {})
	for _, user := range []string{"anonymous", "Kim"} {
		b.Run(user, func(b *testing.B) {
			r := httptest.NewRequest(http.MethodGet, "http://localhost/", http.NoBody)
			if user == "Kim" {
				authtest.SignIn(b, auth, r, &pintle.User{Name: "Kim"})
			}
			w := httptest.NewRecorder()
			b.ReportAllocs()
			for b.Loop() {
				router.ServeHTTP(w, r)
			}
		})
	}
}
