package pintle_test

import (
	"context"
	"crypto/rand"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

const openID2Namespace = "http://specs.openid.net/auth/2.0"

// withSteam gives a site an OpenID 2.0 provider that reports the account with
// the number for every user.
func withSteam(number string, confirm *bool) func(*site) {
	return func(s *site) {
		s.net["steam.example"] = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_ = r.ParseForm()
			if r.Form.Get("openid.mode") == "check_authentication" {
				answer := "ns:" + openID2Namespace + "\nis_valid:false\n"
				if *confirm {
					answer = strings.Replace(answer, "false", "true", 1)
				}
				_, _ = w.Write([]byte(answer))
				return
			}
			back := mustParse(s.t, r.Form.Get("openid.return_to"))
			q := back.Query()
			for name, value := range map[string]string{
				"ns": openID2Namespace, "mode": "id_res", "op_endpoint": "https://steam.example/login",
				"claimed_id": "https://steam.example/id/" + number, "identity": "https://steam.example/id/" + number,
				"return_to": r.Form.Get("openid.return_to"), "response_nonce": nonceNow(), "assoc_handle": "h",
				"signed": "signed,op_endpoint,claimed_id,identity,return_to,response_nonce,assoc_handle", "sig": "c2lnbmF0dXJl",
			} {
				q.Set("openid."+name, value)
			}
			back.RawQuery = q.Encode()
			http.Redirect(w, r, back.String(), http.StatusFound)
		})
		s.Providers = []pintle.Provider{&pintle.OAuth{
			ID: "steam", Protocol: oauth.OpenID2, ClientSecret: "an API key",
			Authorization: oauth.Endpoint{URL: "https://steam.example/login"},
			Quirks: oauth.Quirks{
				ClaimedID: regexp.MustCompile(`^https://steam\.example/id/(\d+)$`),
				FetchProfile: func(_ context.Context, _ *http.Client, tokens map[string]any) (map[string]any, error) {
					return map[string]any{"id": tokens["id"], "name": "Ada Lovelace"}, nil
				},
			},
		}}
	}
}

func TestSignInOverOpenID2(t *testing.T) {
	confirm := true
	s := newSite(t, withSteam("76561197960287930", &confirm))
	b := s.browser()
	b.signInWith("steam").goesTo(s.url)
	if who := b.who(); who != "Ada Lovelace" {
		t.Errorf("%s is signed in; log: %s", who, s.log)
	}
	if e := lastEvent[*pintle.SignInEvent](s, "signIn"); e.Account.ProviderAccountID != "76561197960287930" || e.Account.Type != pintle.TypeOAuth {
		t.Errorf("the account is %+v", e.Account)
	}
}

// An assertion that the provider does not confirm, or that was made for another
// browser, is not a sign-in: SH-06, SH-77.
func TestAnAssertionOfOpenID2IsConfirmedAndBoundToItsBrowser(t *testing.T) {
	confirm := false
	s := newSite(t, withSteam("1", &confirm))
	b := s.browser()
	b.signInWith("steam").fails("/auth/error", operator)

	confirm = true
	back := b.consent(b.leave("steam"))
	s.browser().get(back).fails("/auth/error", operator)
	changed := mustParse(t, back)
	q := changed.Query()
	q.Set("openid.claimed_id", "https://evil.example/id/1")
	q.Set("openid.identity", "https://evil.example/id/1")
	changed.RawQuery = q.Encode()
	eve := s.browser()
	*eve.client = *b.client
	eve.get(changed.String()).fails("/auth/error", operator)
	if who := b.who(); who != "anonymous" {
		t.Errorf("%s is signed in", who)
	}
}

// nonceNow is a response nonce: a time, and something that differs.
func nonceNow() string { return time.Now().UTC().Format("2006-01-02T15:04:05Z") + rand.Text() }
