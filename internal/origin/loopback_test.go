package origin_test

import (
	"testing"

	"github.com/pintleauth/pintle/internal/origin"
)

func TestAnOriginOfThisMachine(t *testing.T) {
	for site, want := range map[origin.Origin]bool{
		"http://localhost": true, "http://localhost:3000": true, "https://app.localhost": true, "http://127.8.9.10:8080": true,
		"http://[::1]": true, "https://[::1]:8443": true,
		"http://app.example": false, "http://localhost.example:3000": false, "http://10.0.0.1": false, "http://[::2]:3000": false, "": false,
	} {
		if got := site.Loopback(); got != want {
			t.Errorf("Origin(%q).Loopback() = %t, want %t", site, got, want)
		}
	}
}
