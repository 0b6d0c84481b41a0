package pintle_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/store/memstore"
)

// SA-L9: An attacker who knows the old password has a sign-in under way, in
// Authorize, which hashes for a while, when the user changes the password and the
// host ends all sessions or removes the user. The session of that sign-in must not
// outlive the end.
func TestASignInUnderWayDoesNotOutliveTheEndOfAllSessions(t *testing.T) {
	for name, end := range map[string]func(ctx context.Context, auth *pintle.Auth, user string) error{
		"SignOutEverywhere": func(ctx context.Context, auth *pintle.Auth, user string) error {
			return auth.SignOutEverywhere(ctx, user)
		},
		"DeleteUser": func(ctx context.Context, auth *pintle.Auth, user string) error { return auth.DeleteUser(ctx, user) },
	} {
		for _, by := range []string{"a form", "server code"} {
			t.Run(name+" while signing in by "+by, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					k := newRecordingStore()
					ada := k.seedUser(t, pintle.User{Email: "ada@example.com", EmailVerified: time.Now()})
					s := newSite(t, withRecordingStore(k, pintle.StrategyJWT), func(s *site) {
						s.Session.Revocation = &memstore.Revocations{}
						s.Providers = []pintle.Provider{s.idp.OIDC("acme"), &pintle.Credentials{Authorize: func(context.Context, *pintle.Submission) (*pintle.User, error) {
							time.Sleep(1500 * time.Millisecond)
							return ada, nil
						}}}
					})
					b := s.browser()
					b.csrf()
					done := make(chan struct{})
					go func() {
						defer close(done)
						if by == "a form" {
							b.post("/auth/callback/credentials").want(http.StatusFound)
							return
						}
						w := httptest.NewRecorder()
						if _, err := s.auth.SignIn(w, httptest.NewRequest("POST", s.url+"/login", nil), "credentials", pintle.SignInOptions{}); err != nil {
							t.Error(err)
						}
						b.client.Jar.SetCookies(b.address(), w.Result().Cookies())
					}()
					time.Sleep(100 * time.Millisecond)
					if err := end(t.Context(), s.auth, ada.ID); err != nil {
						t.Fatal(err)
					}
					<-done
					if who := b.who(); who != "anonymous" {
						t.Errorf("%s is signed in", who)
					}
				})
			})
		}
	}
}
