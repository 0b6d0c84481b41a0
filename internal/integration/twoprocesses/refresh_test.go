package twoprocesses

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/apiclient"
	"github.com/pintleauth/pintle/internal/uuid"
	"github.com/pintleauth/pintle/oauth"
	"github.com/pintleauth/pintle/sharedstate"
)

const (
	// callers is how many requests of each of refreshers processes need the token.
	callers    = 16
	refreshers = 4

	// exchangeTakes is how long the provider takes for an answer. All calls come in that
	// time.
	exchangeTakes = 500 * time.Millisecond
)

// alone is a store whose processes cannot agree on anything.
type alone struct{ pintle.Store }

func (alone) SharedState() sharedstate.Store { return nil }

// refreshAll is a process whose requests all ask for the access token of the user that
// comes in on standard input. It answers the tokens, or the errors.
func refreshAll(where place) error {
	ctx := context.Background()
	store, err := where.openStore(ctx)
	if err != nil {
		return err
	}
	if where.Alone {
		store = alone{store}
	}
	auth, err := pintle.New(pintle.Config{
		Providers: []pintle.Provider{&pintle.OAuth{
			ID: "acme", ClientID: "app", ClientSecret: "the secret of the client",
			Authorization: oauth.Endpoint{URL: where.Provider + "/authorize"}, Token: oauth.Endpoint{URL: where.Provider + "/token"},
			UserInfo: oauth.Endpoint{URL: where.Provider + "/user"},
		}},
		Store: store, Secrets: []string{"a secret of the tests of this package"}, SealAccountTokens: true,
		Getenv: func(string) string { return "" }, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return err
	}
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var user string
		if err := in.Decode(&user); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		results := make([]string, callers)
		var all sync.WaitGroup
		for i := range results {
			all.Go(func() {
				ctx, cancel := context.WithTimeout(ctx, callTimeout)
				defer cancel()
				token, err := apiclient.TokenSource(ctx, auth, user, apiclient.Options{Provider: "acme"}).Token()
				if results[i] = fmt.Sprint(err); err == nil {
					results[i] = token.AccessToken
				}
			})
		}
		all.Wait()
		if err := out.Encode(results); err != nil {
			return err
		}
	}
}

// A rotating provider takes each refresh token once, and ends the grant when one comes
// again.
//
// https://www.rfc-editor.org/rfc/rfc9700#section-4.14.2
type rotating struct {
	// second, if it is there, is closed by the second call, for which the first one waits.
	second chan struct{}

	mu    sync.Mutex
	now   int // the number of the refresh token that it takes
	asked int
	ended bool
}

func (p *rotating) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	sent := r.PostFormValue("refresh_token")
	p.mu.Lock()
	p.asked++
	p.ended = p.ended || sent != fmt.Sprint("refresh ", p.now)
	refused := p.ended
	p.now++
	next := p.now
	if p.second != nil && p.asked == 2 {
		close(p.second)
	}
	p.mu.Unlock()
	if p.second != nil {
		select {
		case <-p.second:
		case <-r.Context().Done():
		}
	} else {
		time.Sleep(exchangeTakes)
	}
	w.Header().Set("Content-Type", "application/json")
	if refused {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"error":"invalid_grant"}`)
		return
	}
	// The token is old when the next round begins, and good for the calls of this one.
	_, _ = fmt.Fprintf(w, `{"access_token":"access %d","token_type":"bearer","refresh_token":"refresh %d","expires_in":3600}`, next, next)
}

// A fleet is several processes that share the account of a user.
type fleet struct {
	t         *testing.T
	store     pintle.Store
	user      *pintle.User
	account   *pintle.Account
	provider  *rotating
	processes []*process
}

func startFleet(t *testing.T, where place) *fleet {
	t.Helper()
	f := &fleet{t: t, provider: &rotating{}}
	server := httptest.NewServer(f.provider)
	t.Cleanup(server.Close)
	var err error
	if f.store, err = where.openStore(t.Context()); err != nil {
		t.Fatal(err)
	}
	if f.user, err = f.store.CreateUser(t.Context(), &pintle.User{ID: uuid.New(), Name: "Ada"}); err != nil {
		t.Fatal(err)
	}
	f.account = &pintle.Account{
		UserID: f.user.ID, Type: pintle.TypeOAuth, Provider: "acme", ProviderAccountID: "42",
		AccessToken: "access 0", RefreshToken: "refresh 0", ExpiresAt: 1, TokenType: "bearer",
	}
	if err := f.store.LinkAccount(t.Context(), f.account); err != nil {
		t.Fatal(err)
	}
	where.Provider = server.URL
	for range refreshers {
		f.processes = append(f.processes, start(t, where))
	}
	return f
}

// refresh makes all processes ask at once, and returns what the callers got.
func (f *fleet) refresh() []string {
	f.t.Helper()
	for _, p := range f.processes {
		p.send(f.user.ID)
	}
	var all []string
	for _, p := range f.processes {
		var got []string
		p.receive(&got)
		all = append(all, got...)
	}
	return all
}

// expire makes the access token one that has to be replaced.
func (f *fleet) expire() {
	f.t.Helper()
	stored, err := f.store.Account(f.t.Context(), "acme", "42")
	if err != nil {
		f.t.Fatal(err)
	}
	stored.ExpiresAt = 1
	if err := f.store.UpdateAccount(f.t.Context(), stored); err != nil {
		f.t.Fatal(err)
	}
}

// RPT-46: of 64 calls in four processes one exchanges the refresh token, and all get the
// new access token. The grant lives on, round after round.
func TestFourProcessesExchangeARefreshTokenOnce(t *testing.T) {
	for _, s := range stores {
		t.Run(s.name, func(t *testing.T) {
			f := startFleet(t, s.make(t))
			for round := 1; round <= 3; round++ {
				got := f.refresh()
				if len(got) != callers*refreshers {
					t.Fatalf("%d answers", len(got))
				}
				for _, token := range got {
					if token != fmt.Sprint("access ", round) {
						t.Fatalf("RPT-46 round %d: a caller got %q", round, token)
					}
				}
				if f.provider.asked != round || f.provider.ended {
					t.Fatalf("RPT-46 round %d: the provider was asked %d times; it has ended the grant: %t", round, f.provider.asked, f.provider.ended)
				}
				f.expire()
			}
		})
	}
}

// The test above finds processes that do not agree.
func TestProcessesThatDoNotAgreeLoseTheGrant(t *testing.T) {
	where := stores[1].make(t)
	where.Alone = true
	f := startFleet(t, where)
	f.provider.second = make(chan struct{})
	f.refresh()
	if f.provider.asked < 2 || !f.provider.ended {
		t.Errorf("the provider was asked %d times", f.provider.asked)
	}
}
