package pintle_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/oauth"
	"github.com/pintleauth/pintle/sharedstate"
	"github.com/pintleauth/pintle/store/memstore"
)

// instances serves the site by n instances of it, each request by the next one. They
// share what the configuration says, and nothing else.
func (s *site) instances(n int) {
	s.t.Helper()
	_, host, _ := strings.Cut(s.url, "://")
	handlers := make([]http.Handler, n)
	for i := range handlers {
		auth, err := pintle.New(s.Config)
		if err != nil {
			s.t.Fatal(err)
		}
		mux := http.NewServeMux()
		mux.Handle("/auth/", auth)
		mux.Handle("/", auth.Load(http.HandlerFunc(sayWho)))
		handlers[i] = mux
	}
	var requests atomic.Int64
	s.net[host] = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handlers[int(requests.Add(1))%n].ServeHTTP(w, r)
	})
}

// SH-17: a code reaches the provider once, whichever instance gets the response.
func TestOfAllInstancesOneTakesAResponse(t *testing.T) {
	shares := map[string]func(*site){
		"by Config.SharedState": func(s *site) { s.SharedState = new(memstore.SharedState) },
		"by Config.Store":       func(s *site) { s.Store = memstore.New() },
		"by Config.SharedState, beside a store without one": func(s *site) {
			s.Store, s.SharedState = withoutLeases{memstore.New()}, new(memstore.SharedState)
		},
	}
	for name, share := range shares {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, withoutPKCE(oauth.OIDC, nil), share)
			s.idp.Break(authtest.PKCEIgnored, authtest.CodeReplayAllowed)
			s.instances(4)
			b := s.browser()
			back := b.consent(b.leave("acme"))
			if n := copies(t, s, b, back, 16); n != 1 {
				t.Errorf("%d copies of a response signed in, want one", n)
			}
			if n := copies(t, s, b, back, 4); n != 0 {
				t.Error("a copy of the response signs in later")
			}
		})
	}
}

// uncounted is a ceremony of authenticators that do not count.
type uncounted struct{ anyCeremony }

func (c uncounted) VerifyAuthentication(context.Context, *pintle.CeremonyRequest) (*pintle.Passkey, error) {
	return &c.is, nil
}

func TestOfAllInstancesOneTakesAnAnswerOfAPasskey(t *testing.T) {
	s := newSite(t, withPasskeys, func(s *site) {
		s.Providers = []pintle.Provider{&pintle.WebAuthn{Ceremony: uncounted{anyCeremony{is: pintle.Passkey{CredentialID: "AAAA"}}}}}
	})
	owner := s.browser()
	owner.get("/auth/webauthn-options/passkey?email=ada@example.com").want(http.StatusOK)
	owner.post("/auth/callback/passkey", "action", "register", "data", `{"id":"AAAA"}`).goesTo(s.url)

	const n = 4
	s.instances(n)
	b := s.browser()
	b.get("/auth/webauthn-options/passkey").want(http.StatusOK)
	form := b.csrf()
	thieves := make([]*browser, n)
	for i := range thieves {
		thieves[i] = s.browser()
		for _, c := range b.client.Jar.Cookies(b.address()) {
			thieves[i].plant(c.Name, c.Value)
		}
	}
	answer := func(b *browser) *reply {
		return b.post("/auth/callback/passkey", "action", "authenticate", "data", `{"id":"AAAA"}`, "csrfToken", form)
	}
	answer(b).goesTo(s.url)
	for _, thief := range thieves { // one at each instance
		answer(thief).fails("/auth/error", "Configuration")
		thief.is("anonymous")
	}
	if got := strings.Count(s.log.String(), "the challenge was answered before"); got != n {
		t.Errorf("the log has the reason %d times, want %d", got, n)
	}
}

// A broken shared state does not know what was used.
type brokenState struct{ sharedstate.Unimplemented }

func (brokenState) Once(context.Context, sharedstate.Key, time.Time) (bool, error) {
	return true, errors.New("connection refused")
}

func TestWithoutItsSharedStateASiteSignsNobodyIn(t *testing.T) {
	s := newSite(t, func(s *site) { s.SharedState = brokenState{} })
	b := s.browser()
	if n := copies(t, s, b, b.consent(b.leave("acme")), 1); n != 0 {
		t.Error("a response was taken without knowing whether it was used")
	}
	if got := s.log.String(); !strings.Contains(got, string(pintle.CodeStore)) || !strings.Contains(got, "connection refused") {
		t.Errorf("the log does not say why:\n%s", got)
	}
}

// A shared state of an earlier version may lack operations: each process decides then.
func TestASharedStateWithoutKeysLeavesTheProcessToDecide(t *testing.T) {
	s := newSite(t, func(s *site) { s.SharedState = sharedstate.Unimplemented{} })
	s.idp.Break(authtest.CodeReplayAllowed)
	b := s.browser()
	if n := copies(t, s, b, b.consent(b.leave("acme")), 8); n != 1 {
		t.Errorf("%d copies of a response signed in, want one", n)
	}
}

func TestNewSaysWhatEachProcessDecidesAlone(t *testing.T) {
	const notice = "pintle: there is no shared state"
	public := func(s *site) { s.URL = "https://app.example.com" }
	for name, tt := range map[string]struct {
		change func(*site)
		want   string // what is decided, or "" if nothing is
	}{
		"sessions in tokens":                 {public, `"decides":"responses of providers"`},
		"a proxy whose headers are trusted":  {func(s *site) { s.TrustHost = true }, `"decides":"responses of providers"`},
		"a store without shared state":       {func(s *site) { public(s); s.Store = withoutLeases{memstore.New()} }, `"decides":"responses of providers, exchanges of refresh tokens"`},
		"a shared state":                     {func(s *site) { public(s); s.SharedState = new(memstore.SharedState) }, ""},
		"a store in the memory of a process": {func(s *site) { public(s); s.Store = memstore.New() }, ""},
		"passwords alone":                    {func(s *site) { public(s); s.Providers = s.Providers[1:] }, ""},
		"a site on this machine":             {func(*site) {}, ""},
		"with its address":                   {func(s *site) { s.URL = "http://localhost:3000" }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := newSite(t, tt.change).log.String()
			if tt.want == "" && strings.Contains(got, notice) || !strings.Contains(got, tt.want) || strings.Count(got, notice) > 1 {
				t.Errorf("the log has not %q alone:\n%s", tt.want, got)
			}
		})
	}
}
