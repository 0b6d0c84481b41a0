package pintlegin

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gin-gonic/gin"
)

func TestForwardedHeadersPassOnlyFromPeersGinTrusts(t *testing.T) {
	gin.SetMode(gin.ReleaseMode)
	tests := []struct {
		name    string
		proxies []string
		change  func(*gin.Engine)
		trusted bool
	}{
		{"every peer, by default", []string{"0.0.0.0/0", "::/0"}, nil, true},
		{"the peer", []string{"198.51.100.7"}, nil, true},
		{"the peer's network", []string{"198.51.100.0/24"}, nil, true},
		{"another network", []string{"203.0.113.0/24"}, nil, false},
		{"no peer", nil, nil, false},
		{"a peer whose headers Gin ignores", []string{"198.51.100.7"}, func(e *gin.Engine) { e.ForwardedByClientIP = false }, false},
		// Such a service forwards X-Forwarded-Host as its clients send it.
		{"a hosting service", nil, func(e *gin.Engine) { e.TrustedPlatform = gin.PlatformCloudflare }, false},
	}
	for _, tt := range tests {
		t.Run("SH-66 "+tt.name, func(t *testing.T) {
			engine := gin.New()
			if err := engine.SetTrustedProxies(tt.proxies); err != nil {
				t.Fatal(err)
			}
			if tt.change != nil {
				tt.change(engine)
			}
			engine.GET("/", func(c *gin.Context) {
				call(c, func(r *http.Request) {
					_, host := r.Header["X-Forwarded-Host"]
					_, proto := r.Header["X-Forwarded-Proto"]
					if host != tt.trusted || proto != tt.trusted {
						t.Errorf("X-Forwarded-Host passes: %t, X-Forwarded-Proto: %t, want %t", host, proto, tt.trusted)
					}
				})
				if c.Request.Header.Get("X-Forwarded-Host") != "app.example" || c.Request.Header.Get("X-Forwarded-For") != "198.51.100.7" {
					t.Errorf("the handler's own request has changed: %v", c.Request.Header)
				}
			})
			r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
			r.RemoteAddr = "198.51.100.7:4711"
			r.Header = http.Header{
				"X-Forwarded-Host": {"app.example"}, "X-Forwarded-Proto": {"https"},
				"X-Forwarded-For": {"198.51.100.7"}, "Cf-Connecting-Ip": {"192.0.2.1"},
			}
			engine.ServeHTTP(httptest.NewRecorder(), r)
		})
	}
}

func TestAContextIsNotFoundOnceItsCallIsOver(t *testing.T) {
	c, _ := gin.CreateTestContext(httptest.NewRecorder())
	c.Request = httptest.NewRequest(http.MethodGet, "/", http.NoBody)
	var kept context.Context
	call(c, func(r *http.Request) {
		kept = r.Context()
		if Context(kept) != c {
			t.Error("Context does not find the context during the call")
		}
	})
	if Context(kept) != nil {
		t.Error("Context finds the context after the call")
	}
	if Context(t.Context()) != nil {
		t.Error("Context finds a context outside of Gin")
	}
}
