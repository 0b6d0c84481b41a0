package throttle_test

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/store/memstore"
	"github.com/pintleauth/pintle/throttle"
)

// Four processes of a site, behind one address, allow as many guesses as one. Each has its own
// guard; the limits count in Config.SharedState, or else in that of Config.Store.
func Example_severalProcesses() {
	// In production it is that of a database: sqlstore.NewSharedState, for example.
	shared := &memstore.SharedState{}

	var processes []*pintle.Auth
	for range 4 {
		guard := &throttle.Guard{}
		auth, err := pintle.New(pintle.Config{
			SharedState: shared,
			URL:         "https://app.example.com",
			Secrets:     []string{"the output of: openssl rand -base64 33"},
			Logger:      slog.New(slog.DiscardHandler),
			Providers: []pintle.Provider{
				guard.Credentials(&pintle.Credentials{Authorize: checkPassword}, "username"),
			},
		})
		if err != nil {
			fmt.Println(err)
			return
		}
		processes = append(processes, auth)
	}

	// The load balancer spreads the guesses of an attacker.
	guesses := 0
	for i := range 1000 {
		r := httptest.NewRequest("POST", "https://app.example.com/login", nil)
		_, err := processes[i%4].SignIn(httptest.NewRecorder(), r, "credentials", pintle.SignInOptions{
			Fields: map[string]any{"username": "kim", "password": fmt.Sprint(i)},
		})
		if !errors.Is(err, throttle.ErrTooMany) {
			guesses++
		}
	}
	fmt.Println("of 1000 guesses", guesses, "were verified")
	// Output: of 1000 guesses 10 were verified
}
