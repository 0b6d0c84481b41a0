package twoprocesses

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/oauth"
)

// envSite has the application that a second process of this binary serves, as JSON.
const envSite = "TWO_PROCESSES_SITE"

// A siteOf is an application of which there are two processes.
type siteOf struct {
	Place    place
	Strategy pintle.SessionStrategy
	Issuer   string

	// Refusals makes the application one whose sessions end when the provider refuses a
	// refresh token. It stores users and tokens whatever the strategy.
	Refusals bool
}

// serve serves the application until its standard input ends. It prints its address.
func serve(given string) error {
	var s siteOf
	if err := json.Unmarshal([]byte(given), &s); err != nil {
		return err
	}
	store, list, err := s.Place.openAll(context.Background())
	if err != nil {
		return err
	}
	cfg := pintle.Config{
		Providers: []pintle.Provider{&pintle.OAuth{
			ID: "sso", Protocol: oauth.OIDC, Issuer: s.Issuer, ClientID: "app", ClientSecret: "any", BackChannelLogout: true,
		}},
		Secrets: []string{"a secret of both processes, of 32 characters"},
		Getenv:  func(string) string { return "" },
	}
	if cfg.Session.Strategy = s.Strategy; s.Strategy == pintle.StrategyDatabase {
		cfg.Store = store
	} else {
		cfg.Session.Revocation = list
	}
	var refusals atomic.Int64
	if s.Refusals {
		p := cfg.Providers[0].(*pintle.OAuth)
		p.EndSessionsOnRefusal, p.BackChannelLogout = true, false
		p.Authorization.Params = map[string]string{"scope": "openid profile offline_access"}
		cfg.Store = store
		cfg.Events.ProviderSignOut = func(context.Context, *pintle.SignOutEvent) error {
			refusals.Add(1)
			return nil
		}
	}
	auth, err := pintle.New(cfg)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	serveRefusals(mux, auth, &refusals)
	mux.Handle("/auth/", auth)
	mux.Handle("/", auth.Load(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, fmt.Sprint("signed in: ", pintle.SessionFrom(r.Context()) != nil))
	})))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Fprintln(os.Stdout, "http://"+listener.Addr().String())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		_ = listener.Close()
	}()
	_ = http.Serve(listener, mux)
	return nil
}

// startSite runs a process that serves an application until the test ends, and returns its
// address.
func startSite(t *testing.T, s siteOf) string {
	t.Helper()
	_, out := spawn(t, envSite, s)
	address, err := out.ReadString('\n')
	if err != nil {
		t.Fatalf("a process printed no address: %v", err)
	}
	return strings.TrimSpace(address)
}

// RPT-23: a logout that one process has received holds at the next request in the other, and
// a logout token that one has accepted is refused by the other.
func TestALogoutAtOneProcessHoldsInTheOther(t *testing.T) {
	for _, of := range stores {
		t.Run(of.name, func(t *testing.T) {
			where := of.make(t)
			for _, strategy := range []pintle.SessionStrategy{pintle.StrategyDatabase, pintle.StrategyJWT} {
				idp := authtest.Start(t, authtest.Options{AutoConsent: true})
				idp.SignInAs(authtest.Person{Subject: string(strategy), Name: "Ada"})
				s := siteOf{Place: where, Strategy: strategy, Issuer: idp.Issuer}
				first, second := startSite(t, s), startSite(t, s)
				jar, err := cookiejar.New(nil) // cookies know hosts, and no ports
				if err != nil {
					t.Fatal(err)
				}
				client := &http.Client{Jar: jar, Timeout: callTimeout}
				_ = authtest.SignInWith(t, client, first+"/auth", "sso").Body.Close()
				signedIn := func(want bool) {
					t.Helper()
					for name, site := range map[string]string{"first": first, "second": second} {
						if got := read(t, client, site+"/"); got != fmt.Sprint("signed in: ", want) {
							t.Errorf("%s: the %s process says %q", strategy, name, got)
						}
					}
				}
				signedIn(true)
				token := url.Values{"logout_token": {idp.LogoutToken("app", nil)}}
				for i, site := range []string{first, second} {
					answer, err := http.PostForm(site+"/auth/backchannel-logout/sso", token)
					if err != nil {
						t.Fatal(err)
					}
					_ = answer.Body.Close()
					if want := []int{http.StatusOK, http.StatusBadRequest}[i]; answer.StatusCode != want {
						t.Errorf("%s: process %d answers %d, want %d", strategy, i+1, answer.StatusCode, want)
					}
				}
				signedIn(false)
			}
		})
	}
}

func read(t *testing.T, client *http.Client, address string) string {
	t.Helper()
	text, err := get(client, address)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func get(client *http.Client, address string) (string, error) {
	answer, err := client.Get(address)
	if err != nil {
		return "", err
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	return string(text), err
}
