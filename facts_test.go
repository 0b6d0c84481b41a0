package pintle_test

import (
	"context"
	"fmt"
	"maps"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/store/memstore"
)

// AC-130, AC-134: each method has the time of its proof, also while the sign-in waits.
func TestEachMethodIsRecordedAtItsTime(t *testing.T) {
	for _, strategy := range strategies {
		t.Run(string(strategy), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var asked []pintle.Authentication
				s, _ := pendingSite(t, strategy, recording, func(s *site) {
					s.Callbacks.Hold = func(_ context.Context, p *pintle.PendingSignIn) (string, error) {
						asked = append(asked, p.Authentication)
						p.Authentication.Proofs["forged"] = time.Now()
						for _, method := range []string{"otp", "terms"} {
							if !slices.Contains(p.Authentication.Methods, method) {
								return "/second-factor", nil
							}
						}
						return "", nil
					}
				})
				showFacts(s)
				b := s.browser()
				t0 := time.Now().UTC()
				b.isHeld(b.byPassword())
				time.Sleep(5 * time.Minute)
				first := pintle.Authentication{Time: t0, Started: t0, Provider: "credentials", Methods: []string{"pwd"}, Proofs: map[string]time.Time{"pwd": t0}}
				if diff := cmp.Diff(first, b.pending().Authentication); diff != "" {
					t.Errorf("the page is shown (-want +got):\n%s", diff)
				}
				t1 := time.Now().UTC()
				if next, err := b.complete("otp"); err != nil || next != s.url+"/second-factor" {
					t.Fatalf("CompleteSignIn: %q, %v", next, err)
				}
				time.Sleep(time.Minute)
				second := pintle.Authentication{
					Time: t1, Started: t0, Provider: "credentials", Methods: []string{"pwd", "otp"},
					Proofs: map[string]time.Time{"pwd": t0, "otp": t1},
				}
				if diff := cmp.Diff(second, b.pending().Authentication); diff != "" {
					t.Errorf("the second page is shown (-want +got):\n%s", diff)
				}
				t2 := time.Now().UTC()
				b.completes(s.url, "user-ada", "terms", "otp")
				third := pintle.Authentication{
					Time: t2, Started: t0, Provider: "credentials", Methods: []string{"pwd", "otp", "terms"},
					Proofs: map[string]time.Time{"pwd": t0, "otp": t2, "terms": t2},
				}
				for i, want := range []pintle.Authentication{first, second, third} {
					delete(asked[i].Proofs, "forged")
					if diff := cmp.Diff(want, asked[i], cmp.Comparer(time.Time.Equal)); diff != "" {
						t.Errorf("call %d of Hold is told (-want +got):\n%s", i+1, diff)
					}
				}
				b.wantRecorded(third)
				time.Sleep(48 * time.Hour)
				b.get("/") // which renews the session
				b.wantRecorded(third)
			})
		})
	}
}

func TestServerCodeSaysWhenEachMethodWasProven(t *testing.T) {
	for _, strategy := range strategies {
		t.Run(string(strategy), func(t *testing.T) {
			s := newSite(t, withRecordingStore(newRecordingStore(), strategy), recording)
			showFacts(s)
			ada := people["ada"].user
			if _, err := s.Store.CreateUser(t.Context(), &ada); err != nil {
				t.Fatal(err)
			}
			now := time.Now()
			at := func(ago time.Duration) time.Time { return now.Add(-ago) }
			for _, tt := range []struct {
				name        string
				given, want pintle.Authentication
			}{
				{
					"a proof earlier than the rest",
					pintle.Authentication{Time: at(time.Minute), Methods: []string{"mail", "pwd"}, Proofs: map[string]time.Time{"mail": at(time.Hour)}},
					pintle.Authentication{
						Time: at(time.Minute), Started: at(time.Minute), Methods: []string{"mail", "pwd"},
						Proofs: map[string]time.Time{"mail": at(time.Hour), "pwd": at(time.Minute)},
					},
				},
				{
					"proofs alone, and the last of them later than Time",
					pintle.Authentication{Time: at(time.Hour), Proofs: map[string]time.Time{"otp": at(time.Minute), "pwd": at(time.Hour)}},
					pintle.Authentication{
						Time: at(time.Minute), Started: at(time.Hour), Methods: []string{"otp", "pwd"},
						Proofs: map[string]time.Time{"otp": at(time.Minute), "pwd": at(time.Hour)},
					},
				},
				{
					"a session that began before",
					pintle.Authentication{Time: at(time.Minute), Started: at(2 * time.Hour), Provider: "job"},
					pintle.Authentication{Time: at(time.Minute), Started: at(2 * time.Hour), Provider: "job"},
				},
			} {
				b := s.browser()
				w := httptest.NewRecorder()
				_, session, err := s.auth.StartSession(w, b.request(), &ada, pintle.StartOptions{Authentication: tt.given})
				if err != nil {
					t.Errorf("%s: %v", tt.name, err)
					continue
				}
				b.takes(w)
				t.Log(tt.name)
				b.wantRecorded(tt.want)
				if diff := cmp.Diff(b.recorded(), session.Authentication, cmp.Comparer(func(a, b time.Time) bool { return a.Unix() == b.Unix() })); diff != "" {
					t.Errorf("StartSession returns (-read +got):\n%s", diff)
				}
			}
			for name, bad := range map[string]pintle.Authentication{
				"a proof to come":               {Proofs: map[string]time.Time{"otp": now.Add(time.Hour)}},
				"a proof without a time":        {Proofs: map[string]time.Time{"otp": {}}},
				"a proof of a long method":      {Proofs: map[string]time.Time{strings.Repeat("x", 65): now}},
				"a proof of an empty method":    {Proofs: map[string]time.Time{"": now}},
				"a beginning after the proof":   {Time: at(time.Hour), Started: at(time.Minute)},
				"a beginning to come":           {Started: now.Add(time.Hour)},
				"more proofs than are recorded": {Methods: slices.Collect(maps.Keys(manyProofs(now, 9, "a"))), Proofs: manyProofs(now, 9, "b")},
			} {
				if _, _, err := s.auth.StartSession(httptest.NewRecorder(), s.browser().request(), &ada, pintle.StartOptions{Authentication: bad}); err == nil {
					t.Errorf("%s is accepted", name)
				}
			}
		})
	}
}

func manyProofs(at time.Time, n int, prefix string) map[string]time.Time {
	proofs := map[string]time.Time{}
	for i := range n {
		proofs[fmt.Sprint(prefix, i)] = at
	}
	return proofs
}

// AT-78: sessions from before proofs were recorded have all their methods at one time, and
// what a callback had put under the new names is not taken for a proof.
func TestSessionsFromBeforeProofsWereRecorded(t *testing.T) {
	at := time.Now().Add(-time.Hour)
	want := pintle.Authentication{Time: at, Provider: "acme", Methods: []string{"fed", "pwd"}}
	t.Run("a token", func(t *testing.T) {
		s := newSite(t, recording)
		showFacts(s)
		claims := claimsFor("ada")
		maps.Copy(claims, map[string]any{
			"auth_time": at.Unix(), "auth_provider": "acme", "amr": []any{"fed", "pwd"},
			"proofs": map[string]any{"fed": time.Now().Unix(), "pwd": time.Now().Unix(), "otp": time.Now().Unix()},
		})
		b := s.browser()
		b.plant(sessionCookie, sealed(t, sessionCookie, claims))
		b.wantRecorded(want)
		b.session() // which writes the token anew
		b.wantRecorded(want)
		if got := unsealed(t, sessionCookie, b.cookie(sessionCookie)); got["started"] != nil && got["started"] != float64(at.Unix()) {
			t.Errorf("the new token has the claims %v", got)
		}
	})
	t.Run("a row", func(t *testing.T) {
		s := newSite(t, withRecordingStore(newRecordingStore(), pintle.StrategyDatabase), recording)
		showFacts(s)
		b := s.browser()
		row := storedFor(t, s, b, at, map[string]any{"auth_provider": "acme", "amr": []any{"fed", "pwd"}})
		b.wantRecorded(want)
		if row.Created.IsZero() {
			t.Error("the store keeps no time")
		}
	})
}

// storedFor gives a browser a session of Ada that the store has with data.
func storedFor(t *testing.T, s *site, b *browser, created time.Time, data map[string]any) *pintle.StoredSession {
	t.Helper()
	ada := people["ada"].user
	if _, err := s.Store.CreateUser(t.Context(), &ada); err != nil {
		t.Fatal(err)
	}
	row := &pintle.StoredSession{
		Token: strings.Repeat("t", 43), UserID: ada.ID, Created: created.UTC().Truncate(time.Millisecond), Expires: time.Now().Add(day), Data: data,
	}
	if err := s.Store.CreateSession(t.Context(), row); err != nil {
		t.Fatal(err)
	}
	b.plant(sessionCookie, row.Token)
	return row
}

// AC-135: the clocks of two servers may differ by 15 seconds. What is later has not
// happened.
func TestTimesToComeCountAsNotRecorded(t *testing.T) {
	now := time.Now()
	facts := func(change map[string]any) map[string]any {
		all := map[string]any{
			"auth_provider": "acme", "amr": []any{"fed", "pwd"}, "auth_time": float64(now.Unix()), "started": float64(now.Add(-time.Hour).Unix()),
			"proofs": map[string]any{"fed": float64(now.Unix()), "pwd": float64(now.Unix())},
		}
		maps.Copy(all, change)
		return all
	}
	later := float64(now.Add(time.Minute).Unix())
	for _, tt := range []struct {
		name    string
		change  map[string]any
		methods []string
		timed   bool
	}{
		{"good", nil, []string{"fed", "pwd"}, true},
		{"within the tolerance", map[string]any{"proofs": map[string]any{"fed": float64(now.Unix()), "pwd": float64(now.Add(5 * time.Second).Unix())}}, []string{"fed", "pwd"}, true},
		{"a proof to come", map[string]any{"proofs": map[string]any{"fed": float64(now.Unix()), "pwd": later}}, []string{"fed"}, true},
		{"a method without a proof", map[string]any{"proofs": map[string]any{"fed": float64(now.Unix())}}, []string{"fed"}, true},
		{"a proof of no method", map[string]any{"proofs": map[string]any{"fed": float64(now.Unix()), "otp": float64(now.Unix())}}, []string{"fed"}, true},
		{"a proof that is a list", map[string]any{"proofs": map[string]any{"fed": []any{1}, "pwd": -1.0}}, nil, true},
		{"proofs that are a text", map[string]any{"proofs": "pwd"}, nil, true},
		{"no proofs", map[string]any{"proofs": nil}, nil, true},
		{"a time to come", map[string]any{"auth_time": later}, nil, false},
	} {
		check := func(t *testing.T, got pintle.Authentication) {
			t.Helper()
			if got.Time.IsZero() == tt.timed || !slices.Equal(got.Methods, tt.methods) || len(got.Proofs) != len(tt.methods) {
				t.Errorf("the session records %+v", got)
			}
		}
		t.Run(tt.name+", in a token", func(t *testing.T) {
			s := newSite(t, recording)
			showFacts(s)
			claims := claimsFor("ada")
			maps.Copy(claims, facts(tt.change))
			b := s.browser()
			b.plant(sessionCookie, sealed(t, sessionCookie, claims))
			check(t, b.recorded())
		})
		t.Run(tt.name+", in a row", func(t *testing.T) {
			s := newSite(t, withRecordingStore(newRecordingStore(), pintle.StrategyDatabase), recording)
			showFacts(s)
			b := s.browser()
			storedFor(t, s, b, now.Add(-time.Hour), facts(tt.change))
			check(t, b.recorded())
		})
	}
}

// AT-75, AC-131: a session begins once. A later proof neither lengthens it nor takes it
// from the end of all sessions of its user.
func TestALaterProofDoesNotMoveTheBeginOfASession(t *testing.T) {
	for _, strategy := range strategies {
		for _, record := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, recorded %t", strategy, record), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := newSite(t, withRecordingStore(newRecordingStore(), strategy), func(s *site) {
						s.Session.AbsoluteMaxAge, s.Session.RecordAuthentication, s.Session.UpdateAge = 4*time.Hour, record, -1
						s.Session.Revocation = &memstore.Revocations{}
						s.JWT.MaxAge = 4 * time.Hour
					})
					ada := people["ada"].user
					if _, err := s.Store.CreateUser(t.Context(), &ada); err != nil {
						t.Fatal(err)
					}
					begin := func(started time.Time) (*browser, error) {
						b, w := s.browser(), httptest.NewRecorder()
						_, _, err := s.auth.StartSession(w, b.request(), &ada, pintle.StartOptions{
							Authentication: pintle.Authentication{Time: time.Now(), Started: started, Methods: []string{"pwd"}},
						})
						b.takes(w)
						return b, err
					}
					t0 := time.Now()
					time.Sleep(time.Hour)
					b, err := begin(t0)
					if err != nil {
						t.Fatal(err)
					}
					for range 2 {
						time.Sleep(time.Hour)
						if b.who() != "Ada Lovelace" { // which renews the session
							t.Fatal("the session has ended too early")
						}
					}
					time.Sleep(time.Hour)
					if who := b.who(); who != "anonymous" {
						t.Errorf("after its absolute lifetime %s is signed in", who)
					}
					if strategy == pintle.StrategyDatabase {
						return // where the end of all sessions removes rows
					}
					t1 := time.Now()
					time.Sleep(time.Minute)
					if err := s.auth.SignOutEverywhere(t.Context(), ada.ID); err != nil {
						t.Fatal(err)
					}
					time.Sleep(time.Minute)
					if b, err := begin(t1); err == nil && b.who() != "anonymous" {
						t.Errorf("a session that began before the end of all sessions is good: %s", b.who())
					}
					if b, err := begin(time.Time{}); err != nil || b.who() != "Ada Lovelace" {
						t.Errorf("a session that began afterwards is not good: %v", err)
					}
				})
			})
		}
	}
}

// A token of a configuration that recorded proofs keeps its beginning where they are no
// longer recorded.
func TestABeginningOutlivesTheSwitch(t *testing.T) {
	s := newSite(t, func(s *site) { s.Session.AbsoluteMaxAge, s.Session.UpdateAge = 4*time.Hour, -1 })
	began := time.Now().Add(-time.Hour).Unix()
	claims := claimsFor("ada")
	maps.Copy(claims, map[string]any{"auth_provider": "acme", "amr": []any{"pwd"}, "auth_time": time.Now().Unix(), "started": began})
	b := s.browser()
	b.plant(sessionCookie, sealed(t, sessionCookie, claims))
	if session, err := s.auth.Session(b.request()); err != nil || session.Authentication.Time.Unix() != began {
		t.Errorf("the session records %+v, %v", session, err)
	}
	b.get("/") // which renews the token
	got := unsealed(t, sessionCookie, b.cookie(sessionCookie))
	if got["auth_time"] != float64(began) || got["started"] != nil || got["auth_provider"] != nil {
		t.Errorf("the new token has the claims %v", got)
	}
}
