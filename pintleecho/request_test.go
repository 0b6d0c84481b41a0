package pintleecho

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/labstack/echo/v5"
)

func TestForwardedHeadersPassOnlyFromPeersEchoTrusts(t *testing.T) {
	_, network, err := net.ParseCIDR("198.51.100.0/24")
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name    string
		extract echo.IPExtractor
		trusted bool
	}{
		{"every peer, if IPExtractor is not set", nil, true},
		{"every peer, as in Echo 4", echo.LegacyIPExtractor(), true},
		{"the peer's network", echo.ExtractIPFromXFFHeader(echo.TrustIPRange(network)), true},
		{"other networks", echo.ExtractIPFromXFFHeader(), false},
		{"no peer", echo.ExtractIPDirect(), false},
		// This extractor checks the address in the header, not that of the peer.
		{"no peer, by X-Real-IP", echo.ExtractIPFromRealIPHeader(echo.TrustIPRange(network)), false},
	}
	for _, tt := range tests {
		t.Run("SH-66 "+tt.name, func(t *testing.T) {
			e := echo.New()
			e.IPExtractor = tt.extract
			e.GET("/", func(c *echo.Context) error {
				call(c, func(r *http.Request) {
					_, host := r.Header["X-Forwarded-Host"]
					_, proto := r.Header["X-Forwarded-Proto"]
					if host != tt.trusted || proto != tt.trusted {
						t.Errorf("X-Forwarded-Host passes: %t, X-Forwarded-Proto: %t, want %t", host, proto, tt.trusted)
					}
				})
				if c.Request().Header.Get("X-Forwarded-Host") != "app.example" || c.Request().Header.Get("X-Forwarded-For") != "198.51.100.7" {
					t.Errorf("the handler's own request has changed: %v", c.Request().Header)
				}
				return nil
			})
			r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
			r.RemoteAddr = "198.51.100.7:4711"
			r.Header = http.Header{
				"X-Forwarded-Host": {"app.example"}, "X-Forwarded-Proto": {"https"},
				"X-Forwarded-For": {"198.51.100.7"}, "X-Real-Ip": {"198.51.100.7"},
			}
			e.ServeHTTP(httptest.NewRecorder(), r)
		})
	}
}

func TestAContextIsNotFoundOnceItsCallIsOver(t *testing.T) {
	c := echo.New().NewContext(httptest.NewRequest(http.MethodGet, "/", http.NoBody), httptest.NewRecorder())
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
		t.Error("Context finds a context outside of Echo")
	}
}
