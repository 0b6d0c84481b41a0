package outage

import (
	"database/sql"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/health"
	"github.com/pintleauth/pintle/internal/integration/services"
	"github.com/pintleauth/pintle/store/redisstore"
	"github.com/pintleauth/pintle/store/sqlstore"
)

// probes sends probes to a site whose store has faults: unready says that the answer is 503 while
// the fault lasts, and ready that it is 200 before and after.
func probes(t *testing.T, s *site) (ready, unready func()) {
	t.Helper()
	checks, err := s.auth.HealthChecks(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	checks = checks[:1] // GitHub, the provider, is not reached from here
	handler := health.Handler(checks, health.Options{Timeout: limit, Keep: time.Millisecond, Logger: slog.New(slog.DiscardHandler)})
	status := func() (code int, took time.Duration) {
		began := time.Now()
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/ready", nil))
		if text := w.Body.String(); text != "ok\n" && text != "unavailable\n" {
			t.Errorf("the answer is %q", text)
		}
		return w.Code, time.Since(began)
	}
	is := func(want int) func() {
		return func() {
			t.Helper()
			end := time.Now().Add(recovery)
			for {
				code, took := status()
				if took > limit+slack {
					t.Errorf("a probe took %v", took)
				}
				if code == want {
					return
				}
				if time.Now().After(end) {
					t.Fatalf("after %v the status is still %d, want %d", recovery, code, want)
				}
				time.Sleep(limit / 10)
			}
		}
	}
	return is(http.StatusOK), is(http.StatusServiceUnavailable)
}

func TestAProcessWhoseDatabaseIsPausedIsNotReady(t *testing.T) {
	server := services.PostgreSQL(t)
	proxy := services.NewProxy(t, server.Addr)
	db := closed(t, mustOpen(t, strings.Replace(server.URL, server.Addr, proxy.Addr, 1)))
	db.SetMaxOpenConns(connections)
	if err := sqlstore.Migrate(t.Context(), db, sqlstore.PostgreSQL); err != nil {
		t.Fatal(err)
	}
	ready, unready := probes(t, open(t, sqlstore.New(db, sqlstore.PostgreSQL)))
	ready()
	proxy.Stall()
	unready()
	for range 3 { // none of them begins another look-up
		unready()
	}
	if n := db.Stats().InUse; n > 1 {
		t.Errorf("the probes hold %d connections", n)
	}
	proxy.Resume()
	ready()
}

func TestAProcessWhoseRedisIsDownIsNotReady(t *testing.T) {
	server := services.Redis(t)
	client := closed(t, redis.NewClient(&redis.Options{Addr: server.Addr, ContextTimeoutEnabled: true}))
	var store pintle.Store = redisstore.New(client, redisstore.Options{})
	ready, unready := probes(t, open(t, store))
	ready()
	server.Kill(t)
	unready()
	server.Start(t)
	ready()
}

func mustOpen(t *testing.T, url string) *sql.DB {
	t.Helper()
	db, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	return db
}
