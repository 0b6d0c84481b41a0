package provider_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// All users without an id would share one account, and the second would be signed
// in as the first (SH-37, CVE-2026-42560).
func TestTwoPeopleAreTwoAccounts(t *testing.T) {
	for id, f := range readFacts(t) {
		if !f.signsIn() {
			continue
		}
		t.Run("SH-37 "+id, func(t *testing.T) {
			seen := map[string]string{}
			for _, who := range []person{ada, grace} {
				s := newService(t, f, who)
				s.values["userid"], s.values["login"] = who.Name, who.Name
				a := newApplication(t, makeProvider(t, f, s), s)
				a.signIn(s)
				if a.signedIn == nil {
					t.Fatalf("%s was not signed in: %s", who.Name, a.log.String())
				}
				account := a.signedIn.Account.ProviderAccountID
				if account == "" {
					t.Errorf("%s has an account without an id", who.Name)
				}
				if other, taken := seen[account]; taken {
					t.Errorf("%s and %s are both %q", other, who.Name, account)
				}
				seen[account] = who.Name
			}
		})
	}
}

func TestAProfileWithoutAnIDDoesNotSignIn(t *testing.T) {
	for id, f := range readFacts(t) {
		// The id of OpenID 2.0 is matched as a whole, and Last.fm has names
		// where an id is missing.
		if !f.signsIn() || f.Protocol == "openid2" || id == "lastfm" {
			continue
		}
		for name, value := range map[string]any{
			"absent": absent, "null": nil, "empty": "", "blank": " ", "zero": 0, "zero text": "0",
			"undefined": "undefined", "null text": "null", "<nil>": "<nil>", "NaN": "NaN",
			"true": true, "list": []any{}, "object": map[string]any{"id": 1}, "fraction": json.Number("1.5"),
		} {
			t.Run("SH-37 "+id+" "+name, func(t *testing.T) {
				s := newService(t, f, person{ID: value, Name: "No ID", Email: "noid@example.com"})
				s.anonymous = value == absent
				a := newApplication(t, makeProvider(t, f, s), s)
				resp := a.signIn(s)
				if a.signedIn != nil {
					t.Errorf("a user was signed in as %q", a.signedIn.Account.ProviderAccountID)
				}
				for _, c := range resp.Cookies() {
					if strings.Contains(c.Name, "session-token") && c.Value != "" {
						t.Error("there is a session")
					}
				}
				if resp.StatusCode != http.StatusFound || !strings.Contains(resp.Header.Get("Location"), "error=") {
					t.Errorf("the callback led to %d %s, want an error", resp.StatusCode, resp.Header.Get("Location"))
				}
			})
		}
	}
}
