package twoprocesses

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/apiclient"
	"github.com/pintleauth/pintle/authtest"
)

// serveRefusals adds pages on which a process names the user, asks for an access token, and
// tells how many refusals it has reported.
func serveRefusals(mux *http.ServeMux, auth *pintle.Auth, refusals *atomic.Int64) {
	mux.Handle("/user", auth.Load(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s := pintle.SessionFrom(r.Context()); s != nil {
			_, _ = io.WriteString(w, s.User.ID)
		}
	})))
	mux.HandleFunc("/token", func(w http.ResponseWriter, r *http.Request) {
		_, err := apiclient.TokenSource(r.Context(), auth, r.FormValue("user"), apiclient.Options{Provider: "sso"}).Token()
		_, _ = io.WriteString(w, fmt.Sprint("refused: ", errors.Is(err, pintle.ErrNoRefresh), " ", err))
	})
	mux.HandleFunc("/refusals", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, strconv.FormatInt(refusals.Load(), 10))
	})
}

// RPX-46, RPT-28: the sessions of a user end in both processes when the calls of both are
// refused at one moment. It is one event.
func TestARefusalAtOneProcessHoldsInTheOther(t *testing.T) {
	for _, of := range stores {
		t.Run(of.name, func(t *testing.T) {
			where := of.make(t)
			for _, strategy := range []pintle.SessionStrategy{pintle.StrategyDatabase, pintle.StrategyJWT} {
				// Every access token is due from the beginning.
				idp := authtest.Start(t, authtest.Options{AutoConsent: true, TokenLifetime: time.Second})
				idp.SignInAs(authtest.Person{Subject: string(strategy), Name: "Ada"})
				s := siteOf{Place: where, Strategy: strategy, Issuer: idp.Issuer, Refusals: true}
				sites := []string{startSite(t, s), startSite(t, s)}
				jar, err := cookiejar.New(nil) // cookies know hosts, and no ports
				if err != nil {
					t.Fatal(err)
				}
				client := &http.Client{Jar: jar, Timeout: callTimeout}
				_ = authtest.SignInWith(t, client, sites[0]+"/auth", "sso").Body.Close()
				signedIn := func(want bool) {
					t.Helper()
					for i, site := range sites {
						if got := read(t, client, site+"/"); got != fmt.Sprint("signed in: ", want) {
							t.Errorf("%s: process %d says %q", strategy, i, got)
						}
					}
				}
				token := "/token?user=" + url.QueryEscape(read(t, client, sites[1]+"/user"))
				if got := read(t, client, sites[1]+token); got != "refused: false <nil>" {
					t.Errorf("%s: a call returns %q", strategy, got)
				}
				signedIn(true)
				idp.Break(authtest.TokenInvalidGrant)
				answers := make([]string, 2*len(sites))
				var all sync.WaitGroup
				for i := range answers {
					all.Go(func() {
						var err error
						if answers[i], err = get(client, sites[i%len(sites)]+token); err != nil {
							answers[i] = err.Error()
						}
					})
				}
				all.Wait()
				for _, got := range answers {
					if !strings.HasPrefix(got, "refused: true") {
						t.Errorf("%s: a call returns %q", strategy, got)
					}
				}
				signedIn(false)
				if first, second := read(t, client, sites[0]+"/refusals"), read(t, client, sites[1]+"/refusals"); first+second != "10" && first+second != "01" {
					t.Errorf("%s: the processes have reported %s and %s refusals, want one", strategy, first, second)
				}
			}
		})
	}
}
