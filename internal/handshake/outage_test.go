package handshake_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/pintleauth/pintle/internal/handshake"
)

// An oldCopy is what a provider said about a copy that serves.
type oldCopy struct {
	document string
	since    time.Time
}

// outage runs a test in a bubble with a provider that can stop answering. told
// returns the warnings so far.
func outage(t *testing.T, f func(t *testing.T, o *op, p *handshake.Provider, told func() []oldCopy)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		o := &op{issuer: "https://op.example.test", key: rsaKey(), alg: jose.RS256, answer: map[string]http.HandlerFunc{}}
		o.keys = []map[string]any{jwk(rsaKey(), "key-1", jose.RS256)}
		p := o.provider()
		p.Client = &http.Client{Transport: direct{o}}
		var mu sync.Mutex
		var warnings []oldCopy
		p.OldCopy = func(_ context.Context, document string, since time.Time, err error) {
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				t.Error("a warning has no reason")
			}
			warnings = append(warnings, oldCopy{document, since})
		}
		f(t, o, p, func() []oldCopy {
			mu.Lock()
			defer mu.Unlock()
			return warnings
		})
	})
}

func redeem(t *testing.T, p *handshake.Provider) error {
	t.Helper()
	_, err := p.Redeem(t.Context(), options())
	return err
}

var unavailable = saying(503, "text/plain", "later")

// down makes an endpoint fail, or repairs it.
func (o *op) down(path string, h http.HandlerFunc) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if h == nil {
		delete(o.answer, path)
		return
	}
	o.answer[path] = h
}

func TestAnOlderCopyServesWhileTheProviderIsDown(t *testing.T) {
	t.Run("RPT-75 metadata for a day", func(t *testing.T) {
		outage(t, func(t *testing.T, o *op, p *handshake.Provider, told func() []oldCopy) {
			if _, err := begin(t.Context(), p); err != nil {
				t.Fatal(err)
			}
			fetched := time.Now()
			o.down(wellKnown, unavailable)
			time.Sleep(2 * time.Hour)
			if _, err := begin(t.Context(), p); err != nil {
				t.Errorf("after two hours: %v", err)
			}
			if w := told(); len(w) != 1 || w[0] != (oldCopy{"metadata", fetched}) {
				t.Errorf("the warnings are %v", w)
			}
			time.Sleep(22*time.Hour - time.Second)
			if _, err := begin(t.Context(), p); err != nil {
				t.Errorf("after a day but a second: %v", err)
			}
			time.Sleep(time.Hour)
			if _, err := begin(t.Context(), p); err == nil {
				t.Error("after 25 hours the copy still serves")
			}
			o.down(wellKnown, nil)
			time.Sleep(time.Minute)
			if _, err := begin(t.Context(), p); err != nil {
				t.Errorf("after the provider recovered: %v", err)
			}
		})
	})
	for name, lie := range map[string]http.HandlerFunc{
		"that do not come":       unavailable,
		"that are no JSON":       saying(200, "application/json", `{"keys":[`),
		"that are none":          saying(200, "application/json", `{"keys":[]}`),
		"that are no member":     saying(200, "application/json", `{}`),
		"of unknown types":       saying(200, "application/json", `{"keys":[{"kty":"RSA"},{"kty":"new"}]}`),
		"that sign nothing here": saying(200, "application/json", `{"keys":[{"kty":"oct","k":"c2VjcmV0","kid":"key-1"}]}`),
	} {
		t.Run("RPT-75 keys "+name, func(t *testing.T) {
			outage(t, func(t *testing.T, o *op, p *handshake.Provider, told func() []oldCopy) {
				if err := redeem(t, p); err != nil {
					t.Fatal(err)
				}
				fetched := time.Now()
				o.down("/jwks", lie)
				time.Sleep(3 * time.Hour)
				if err := redeem(t, p); err != nil {
					t.Errorf("after three hours: %v", err)
				}
				if w := told(); len(w) != 1 || w[0] != (oldCopy{"keys", fetched}) {
					t.Errorf("the warnings are %v", w)
				}
				time.Sleep(2 * time.Hour)
				wantError(t, redeem(t, p), "keys: ")
				o.down("/jwks", nil)
				time.Sleep(time.Minute)
				if err := redeem(t, p); err != nil {
					t.Errorf("after the provider recovered: %v", err)
				}
			})
		})
	}
	t.Run("RPT-75 a set without the key is the newer one", func(t *testing.T) {
		outage(t, func(t *testing.T, o *op, p *handshake.Provider, _ func() []oldCopy) {
			if err := redeem(t, p); err != nil {
				t.Fatal(err)
			}
			o.mu.Lock()
			o.keys = []map[string]any{jwk(otherKey(), "key-2", jose.RS256)}
			o.mu.Unlock()
			time.Sleep(time.Hour + time.Second)
			wantError(t, redeem(t, p), "no key of the provider")
		})
	})
	t.Run("RPT-75 keys that the host wants fresh", func(t *testing.T) {
		outage(t, func(t *testing.T, o *op, p *handshake.Provider, _ func() []oldCopy) {
			p.KeysMaxAge = 30 * time.Minute
			if err := redeem(t, p); err != nil {
				t.Fatal(err)
			}
			o.down("/jwks", unavailable)
			time.Sleep(29 * time.Minute)
			if err := redeem(t, p); err != nil {
				t.Errorf("after 29 minutes: %v", err)
			}
			time.Sleep(2 * time.Minute)
			wantError(t, redeem(t, p), "keys: ")
		})
	})
	t.Run("RPT-75 the warning comes again every ten minutes, and after a recovery", func(t *testing.T) {
		outage(t, func(t *testing.T, o *op, p *handshake.Provider, told func() []oldCopy) {
			visit := func() {
				if _, err := begin(t.Context(), p); err != nil {
					t.Error(err)
				}
			}
			visit()
			o.down(wellKnown, unavailable)
			time.Sleep(time.Hour)
			for range 60 { // half an hour
				visit()
				time.Sleep(30 * time.Second)
			}
			if n := len(told()); n != 3 {
				t.Errorf("half an hour has %d warnings, want 3", n)
			}
			o.down(wellKnown, nil)
			time.Sleep(2 * time.Minute)
			visit()
			o.down(wellKnown, unavailable)
			time.Sleep(time.Hour + time.Second)
			visit()
			if n := len(told()); n != 4 {
				t.Errorf("another outage has %d warnings, want one", n-3)
			}
		})
	})
}

// RPX-120. The time to the next request doubles from a second to a minute, and
// begins anew after a success.
func TestAProviderThatIsDownIsAskedLessOften(t *testing.T) {
	outage(t, func(t *testing.T, o *op, p *handshake.Provider, _ func() []oldCopy) {
		o.down(wellKnown, unavailable)
		start := time.Now()
		var asked []time.Duration
		for last := 0; time.Since(start) < 4*time.Minute; time.Sleep(500 * time.Millisecond) {
			_, err := begin(t.Context(), p)
			wantError(t, err, "status 503")
			if n := o.count(wellKnown); n > last {
				asked, last = append(asked, time.Since(start)), n
			}
		}
		const s = time.Second
		if want := []time.Duration{0, 1 * s, 3 * s, 7 * s, 15 * s, 31 * s, 63 * s, 123 * s, 183 * s}; fmt.Sprint(asked) != fmt.Sprint(want) {
			t.Errorf("RPT-76 the provider was asked after %v, want %v", asked, want)
		}
		o.down(wellKnown, nil)
		time.Sleep(time.Minute)
		if _, err := begin(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		o.down(wellKnown, unavailable)
		before := o.count(wellKnown)
		time.Sleep(25 * time.Hour)
		for range 2 {
			_, err := begin(t.Context(), p)
			wantError(t, err, "status 503")
			time.Sleep(time.Second)
		}
		if n := o.count(wellKnown) - before; n != 2 {
			t.Errorf("RPT-76 after a success the provider was asked %d times in two seconds, want 2", n)
		}
	})
}

func TestManySignInsWhileMetadataHangs(t *testing.T) {
	hang := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	crowd := func(t *testing.T, p *handshake.Provider) (longest time.Duration, failures int) {
		t.Helper()
		var mu sync.Mutex
		var wg sync.WaitGroup
		for range 1000 {
			wg.Go(func() {
				start := time.Now()
				_, err := begin(t.Context(), p)
				mu.Lock()
				defer mu.Unlock()
				longest = max(longest, time.Since(start))
				if err != nil {
					failures++
				}
			})
		}
		wg.Wait()
		return longest, failures
	}
	t.Run("RPT-76 the first time", func(t *testing.T) {
		outage(t, func(t *testing.T, o *op, p *handshake.Provider, _ func() []oldCopy) {
			o.down(wellKnown, hang)
			longest, failures := crowd(t, p)
			if longest > 10*time.Second || failures != 1000 || o.count(wellKnown) != 4 {
				t.Errorf("%d failures after %s with %d requests", failures, longest, o.count(wellKnown))
			}
			if longest, _ := crowd(t, p); longest != 0 || o.count(wellKnown) != 4 {
				t.Errorf("those that came then waited %s, with %d requests", longest, o.count(wellKnown))
			}
			time.Sleep(10 * time.Second) // the last request ends
		})
	})
	t.Run("RPT-76 with an older copy", func(t *testing.T) {
		outage(t, func(t *testing.T, o *op, p *handshake.Provider, _ func() []oldCopy) {
			if _, err := begin(t.Context(), p); err != nil {
				t.Fatal(err)
			}
			o.down(wellKnown, hang)
			time.Sleep(time.Hour)
			longest, failures := crowd(t, p)
			if longest > 3*time.Second || failures != 0 || o.count(wellKnown) != 2 {
				t.Errorf("%d failures after %s with %d requests", failures, longest, o.count(wellKnown))
			}
			if longest, failures := crowd(t, p); longest != 0 || failures != 0 || o.count(wellKnown) != 2 {
				t.Errorf("those that came then waited %s, %d failed, with %d requests", longest, failures, o.count(wellKnown))
			}
			time.Sleep(8 * time.Second)
			go func() { _, _ = begin(t.Context(), p) }() // finds out whether it is back
			synctest.Wait()
			if longest, failures := crowd(t, p); longest != 0 || failures != 0 || o.count(wellKnown) != 3 {
				t.Errorf("during a probe %d failed after %s, with %d requests", failures, longest, o.count(wellKnown))
			}
			time.Sleep(10 * time.Second) // the probe ends
		})
	})
}

// A request may hang after the provider has recovered, because its connection is dead.
func TestARequestThatHangsHoldsNobodyOnceTheProviderAnswers(t *testing.T) {
	hang := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	t.Run("RPT-76 the first time", func(t *testing.T) {
		outage(t, func(t *testing.T, o *op, p *handshake.Provider, _ func() []oldCopy) {
			o.down(wellKnown, hang)
			start := time.Now()
			var wg sync.WaitGroup
			for range 100 {
				wg.Go(func() {
					if _, err := begin(t.Context(), p); err != nil || time.Since(start) > 6*time.Second {
						t.Errorf("after %s: %v", time.Since(start), err)
					}
				})
			}
			time.Sleep(5 * time.Second)
			o.down(wellKnown, nil)
			if _, err := begin(t.Context(), p); err != nil || time.Since(start) > 6*time.Second {
				t.Errorf("after %s: %v", time.Since(start), err)
			}
			wg.Wait()
			if n := o.count(wellKnown); n != 3 {
				t.Errorf("%d requests were made, want 3", n)
			}
			time.Sleep(10 * time.Second) // those that hang fail, and that does not count
			if _, err := begin(t.Context(), p); err != nil || o.count(wellKnown) != 3 {
				t.Errorf("then: %v, with %d requests", err, o.count(wellKnown))
			}
		})
	})
	t.Run("RPT-76 a request that outlives its fetch", func(t *testing.T) {
		outage(t, func(t *testing.T, o *op, p *handshake.Provider, _ func() []oldCopy) {
			answer := make(chan struct{})
			o.down(wellKnown, func(w http.ResponseWriter, r *http.Request) {
				if o.count(wellKnown) != 4 {
					hang(w, r)
					return
				}
				<-answer
				sendJSON(w, o.discovery())
			})
			_, err := begin(t.Context(), p)
			wantError(t, err, "discovery")
			close(answer)
			synctest.Wait()
			o.down(wellKnown, hang)
			if _, err := begin(t.Context(), p); err != nil {
				t.Errorf("the answer that came late does not serve: %v", err)
			}
			time.Sleep(10 * time.Second)
		})
	})
	t.Run("RPT-76 few at a time", func(t *testing.T) {
		outage(t, func(t *testing.T, o *op, p *handshake.Provider, _ func() []oldCopy) {
			var underWay, most atomic.Int32
			o.down(wellKnown, func(w http.ResponseWriter, r *http.Request) {
				most.Store(max(most.Load(), underWay.Add(1)))
				defer underWay.Add(-1)
				hang(w, r)
			})
			for range 600 { // five minutes
				go func() { _, _ = begin(t.Context(), p) }()
				time.Sleep(500 * time.Millisecond)
			}
			if n := o.count(wellKnown); most.Load() != 4 || n > 100 {
				t.Errorf("%d requests were made, %d at a time", n, most.Load())
			}
			time.Sleep(time.Minute)
		})
	})
	t.Run("RPT-76 an older answer", func(t *testing.T) {
		outage(t, func(t *testing.T, o *op, p *handshake.Provider, _ func() []oldCopy) {
			o.down(wellKnown, func(w http.ResponseWriter, _ *http.Request) {
				document := o.discovery()
				if o.count(wellKnown) == 1 {
					time.Sleep(5 * time.Second)
					document["authorization_endpoint"] = o.issuer + "/old"
				}
				sendJSON(w, document)
			})
			for range 2 {
				if r, err := begin(t.Context(), p); err != nil || strings.Contains(r.URL, "/old") {
					t.Errorf("the user is sent to %+v, %v", r, err)
				}
				time.Sleep(5 * time.Second)
			}
		})
	})
	t.Run("RPT-76 a user who leaves", func(t *testing.T) {
		outage(t, func(t *testing.T, o *op, p *handshake.Provider, _ func() []oldCopy) {
			o.down(wellKnown, hang)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			start := time.Now()
			if _, err := begin(ctx, p); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Second {
				t.Errorf("after %s: %v", time.Since(start), err)
			}
			time.Sleep(10 * time.Second)
			if n := o.count(wellKnown); n != 1 {
				t.Errorf("%d requests were made although nobody waits, want 1", n)
			}
		})
	})
	t.Run("RPT-75 with an older copy", func(t *testing.T) {
		outage(t, func(t *testing.T, o *op, p *handshake.Provider, told func() []oldCopy) {
			if _, err := begin(t.Context(), p); err != nil {
				t.Fatal(err)
			}
			fetched := time.Now()
			o.down(wellKnown, hang)
			time.Sleep(time.Hour)
			start := time.Now()
			if _, err := begin(t.Context(), p); err != nil || time.Since(start) != 3*time.Second {
				t.Errorf("after %s: %v", time.Since(start), err)
			}
			if w := told(); len(w) != 1 || w[0] != (oldCopy{"metadata", fetched}) {
				t.Errorf("the warnings are %v", w)
			}
			time.Sleep(10 * time.Second)
		})
	})
}

// A function of the host's that panics is a failure like another, and does not end
// the program.
func TestAPanicIsRememberedAsAFailure(t *testing.T) {
	outage(t, func(t *testing.T, o *op, p *handshake.Provider, _ func() []oldCopy) {
		p.Discovered = func(map[string]any) error { panic("odd document") }
		_, err := begin(t.Context(), p)
		wantError(t, err, "odd document")
		_, err = begin(t.Context(), p)
		wantError(t, err, "panicked")
		if n := o.count(wellKnown); n != 1 {
			t.Errorf("RPX-120 the document was fetched %d times", n)
		}
	})
}

// RPX-119: within bounds, the provider says how long its keys need not be fetched.
func TestKeysAreKeptAsTheProviderSays(t *testing.T) {
	for _, tt := range []struct {
		header string
		want   time.Duration
	}{
		{"", time.Hour},
		{"public", time.Hour},
		{"max-age=0", 5 * time.Minute},
		{"max-age=-1", 5 * time.Minute},
		{"max-age=600", 10 * time.Minute},
		{`public, Max-Age="600", must-revalidate`, 10 * time.Minute},
		{"max-age=600, max-age=1200", 10 * time.Minute},
		{"max-age=31536000", time.Hour},
		{"max-age=" + strings.Repeat("9", 100), time.Hour},
		{"max-age=soon", 5 * time.Minute},
		{"max-age", 5 * time.Minute},
		{"no-store", 5 * time.Minute},
		{"no-cache, max-age=600", 5 * time.Minute},
	} {
		t.Run("RPT-78 "+tt.header, func(t *testing.T) {
			outage(t, func(t *testing.T, o *op, p *handshake.Provider, _ func() []oldCopy) {
				o.down("/jwks", func(w http.ResponseWriter, _ *http.Request) {
					if tt.header != "" {
						w.Header().Set("Cache-Control", tt.header)
					}
					sendJSON(w, map[string]any{"keys": o.keys})
				})
				for _, step := range []struct {
					after time.Duration
					want  int
				}{{0, 1}, {tt.want - time.Second, 1}, {time.Second, 2}} {
					time.Sleep(step.after)
					if err := redeem(t, p); err != nil {
						t.Fatal(err)
					}
					if n := o.count("/jwks"); n != step.want {
						t.Errorf("the keys were fetched %d times, want %d", n, step.want)
					}
				}
			})
		})
	}
}

// RPT-80, SH-71. Two customers may have one issuer, each with a client there. What one of them
// meets is not what the other does.
func TestProvidersWithOneIssuerShareNothing(t *testing.T) {
	outage(t, func(t *testing.T, o *op, one *handshake.Provider, _ func() []oldCopy) {
		two := o.provider()
		two.ClientID, two.Client = "client-2", one.Client
		if err := redeem(t, one); err != nil {
			t.Fatal(err)
		}
		wantError(t, redeem(t, two), "aud is another client")
		if n, m := o.count(wellKnown), o.count("/jwks"); n != 2 || m != 2 {
			t.Errorf("RPT-80 SH-71 the documents were fetched %d and %d times, want twice each", n, m)
		}
		o.claims = func(c map[string]any) { c["aud"] = "client-2" }
		wantError(t, redeem(t, one), "aud is another client")
		if err := redeem(t, two); err != nil {
			t.Errorf("RPT-80 %v", err)
		}
		o.down(wellKnown, unavailable)
		three, four := o.provider(), o.provider()
		three.Client, four.Client = one.Client, one.Client
		if _, err := begin(t.Context(), three); err == nil {
			t.Fatal("no error")
		}
		o.down(wellKnown, nil)
		if _, err := begin(t.Context(), four); err != nil {
			t.Errorf("RPT-80 the failure of another provider counts: %v", err)
		}
		if _, err := begin(t.Context(), three); err == nil || errors.Is(err, context.Canceled) {
			t.Errorf("RPX-120 the error is %v", err)
		}
	})
}

// RPX-127. A code is sent to the server that issued it.
func TestACodeIsSentToTheTokenEndpointOfItsFlow(t *testing.T) {
	outage(t, func(t *testing.T, o *op, p *handshake.Provider, _ func() []oldCopy) {
		endpoint := "/token"
		o.document = func(d map[string]any) { d["token_endpoint"] = o.issuer + endpoint }
		o.answer["/token2"] = func(w http.ResponseWriter, _ *http.Request) { sendJSON(w, o.tokenResponse()) }
		o.answer["/token3"] = o.answer["/token2"]
		redeemFrom := func(began time.Time, want string) {
			t.Helper()
			before := o.count(want)
			options := options()
			options.Began = began
			if _, err := p.Redeem(t.Context(), options); err != nil {
				t.Fatal(err)
			}
			if o.count(want) != before+1 {
				t.Errorf("the code is not sent to %s", want)
			}
		}
		early := time.Now().Add(-time.Minute)
		redeemFrom(early, "/token") // of another process, before the first copy here
		time.Sleep(50 * time.Minute)
		began := time.Now()
		redeemFrom(began, "/token")
		endpoint = "/token2"
		time.Sleep(10 * time.Minute)
		redeemFrom(time.Now(), "/token2")
		redeemFrom(began, "/token")
		redeemFrom(time.Time{}, "/token2")
		redeemFrom(early, "/token2")
		endpoint = "/token3"
		time.Sleep(time.Hour)
		redeemFrom(time.Now(), "/token3")
		redeemFrom(began, "/token3") // that copy is no longer there
	})
}
