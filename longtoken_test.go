package pintle_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/pintleauth/pintle"
)

// A token that proxies refuse is one warning; one that is not read back is an
// error and leaves the browser the session it has.
func TestALongSessionTokenIsNoticed(t *testing.T) {
	pad := pintle.NewClaim[string]("pad")
	at := func(t *testing.T, size *int) *site {
		return newSite(t, func(s *site) { s.Callbacks.JWT = fill(size, pad) })
	}
	signIn := func(b *browser) *reply {
		return b.post("/auth/callback/credentials", "username", "ada", "password", people["ada"].password)
	}
	t.Run("below 8 KB", func(t *testing.T) {
		size := 5000
		s := at(t, &size)
		signIn(s.browser()).goesTo(s.url)
		if s.log.has("LongSessionToken") {
			t.Errorf("the log has %s", s.log)
		}
	})
	t.Run("above 8 KB", func(t *testing.T) {
		size := 6000
		s := at(t, &size)
		for range 2 {
			signIn(s.browser()).goesTo(s.url)
		}
		if n := s.log.records(t, "WARN", "LongSessionToken"); n != 1 {
			t.Fatalf("the log has %d warnings", n)
		}
		entry := s.log.last(t, "LongSessionToken")
		if entry["cookies"] != 3.0 || entry["bytes"].(float64) < 8000 {
			t.Errorf("the record is %v", entry)
		}
		for _, text := range []string{"Callbacks.JWT", "StrategyDatabase", "large_client_header_buffers", "proxy_buffer_size"} {
			if fix, _ := entry["fix"].(string); !strings.Contains(fix, text) {
				t.Errorf("the fix does not say %q: %s", text, fix)
			}
		}
	})
	t.Run("at a sign-in, more than is read back", func(t *testing.T) {
		size := 100_000
		s := at(t, &size)
		b := s.browser()
		signIn(b).fails("/auth/error", operator)
		entry := s.log.last(t, "CallbackRouteError")
		for _, text := range []string{"bytes", "more than 32 cookies", "Callbacks.JWT"} {
			if cause, _ := entry["error"].(string); !strings.Contains(cause, text) {
				t.Errorf("the log does not say %q: %s", text, cause)
			}
		}
		if who := b.who(); who != "anonymous" {
			t.Errorf("%s is signed in", who)
		}
	})
	t.Run("at the limit of what is read back", func(t *testing.T) {
		size := 92_000
		s := at(t, &size)
		b := s.browser()
		signIn(b).goesTo(s.url)
		if who := b.who(); who != "Ada Lovelace" {
			t.Errorf("%s is signed in", who)
		}
	})
	t.Run("in an update, more than is read back", func(t *testing.T) {
		size := 10
		s := at(t, &size)
		b := s.browser()
		signIn(b).goesTo(s.url)
		before := b.cookie(sessionCookie)
		size = 100_000
		b.postJSON("/auth/session", map[string]any{"csrfToken": b.csrf()}).want(http.StatusOK)
		if entry := s.log.last(t, "JWTSessionError"); entry["level"] != "ERROR" || !strings.Contains(entry["error"].(string), "more than 32 cookies") {
			t.Errorf("the record is %v", entry)
		}
		if b.cookie(sessionCookie) != before {
			t.Error("the browser lost its session")
		}
		size = 10
		if who := b.who(); who != "Ada Lovelace" {
			t.Errorf("%s is signed in", who)
		}
	})
}
