package interop_test

import (
	"flag"
	"math/rand/v2"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pintleauth/pintle/internal/integration/services"
)

var (
	journeys = flag.Int("journeys", 400, "how many journeys each strategy is tested with")
	seed     = flag.Uint64("seed", 0, "the seed of the journeys; 0 draws one")
	only     = flag.Int("journey", -1, "the number of the only journey to have")
)

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(services.Run(m))
}

// RPT-89: a session that begins at one server ends at the other, as long as requests go to both
// at random.
func TestServersTakeTurns(t *testing.T) {
	for _, tt := range []struct{ name, strategy string }{
		{"token sessions", "jwt"},
		{"database sessions", "database"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			from := *seed
			if from == 0 {
				from = rand.Uint64()
			}
			first, last := 0, *journeys-1
			if *only >= 0 {
				first, last = *only, *only
			}
			s := newSite(t, tt.strategy, last+1)
			base := &http.Transport{MaxIdleConnsPerHost: 16}
			t.Cleanup(base.CloseIdleConnections)

			var next, done, requests, moves, splits atomic.Int64
			var workers sync.WaitGroup
			began := time.Now()
			for range 4 {
				workers.Go(func() {
					for !t.Failed() {
						number := first + int(next.Add(1)) - 1
						if number > last {
							return
						}
						j := newJourney(t.Context(), s, base, from, number, tt.strategy == "jwt")
						if err := j.travel(); err != nil {
							t.Errorf("journey %d: %v\nhave it again with -seed %d -journey %d\n%s", number, err, from, number, &j.turns.log)
						}
						done.Add(1)
						requests.Add(int64(j.turns.taken))
						moves.Add(int64(j.turns.moved))
						splits.Add(int64(j.turns.split))
					}
				})
			}
			workers.Wait()
			t.Logf("seed %d: %d journeys, %d requests, %d of them answered by another server than the one before, %d with a session in several cookies, in %.1f s",
				from, done.Load(), requests.Load(), moves.Load(), splits.Load(), time.Since(began).Seconds())
		})
	}
}
