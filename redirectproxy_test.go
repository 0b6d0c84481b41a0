package pintle_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
)

// newPreview returns a site under a changing name, which signs in through the
// deployment at https://app.example. That one has the hosts in its list.
func newPreview(t *testing.T, hosts ...string) *site {
	t.Helper()
	var stable *pintle.Auth
	s := newSite(t, func(s *site) {
		s.url = "https://pr-7.preview.example"
		s.RedirectProxyURL = "https://app.example/auth"
		s.idp.Register(authtest.Client{
			ID: "acme", Secret: "x", RedirectURIs: []string{"https://app.example/auth/callback/acme"},
			PostLogoutRedirectURIs: []string{"https://app.example/auth/signout/acme"},
		})
		acme := s.idp.OIDC("acme")
		acme.EndSessionAtProvider = true
		s.Providers = []pintle.Provider{acme}

		registered := s.Config
		registered.URL, registered.RedirectProxyHosts = "https://app.example", hosts
		var err error
		if stable, err = pintle.New(registered); err != nil {
			t.Fatal(err)
		}
		s.TrustHost = true
	})
	s.net["app.example"] = stable
	return s
}

// SH-27, S-39: a deployment under a changing name signs in through one with a
// registered callback URL.
func TestARedirectProxyPassesAnswersOn(t *testing.T) {
	s := newPreview(t, "*.preview.example")
	b := s.browser()
	to := b.leave("acme")
	if got := to.Query().Get("redirect_uri"); got != "https://app.example/auth/callback/acme" {
		t.Fatalf("the redirect URI is %q", got)
	}
	atProxy := b.consent(to)
	r := b.get(atProxy).want(http.StatusFound)
	if want := s.url + "/auth/callback/acme?"; !strings.HasPrefix(r.location(), want) {
		t.Fatalf("the proxy sends the browser to %q", r.location())
	}
	b.get(r.location()).goesTo(s.url)
	if who := b.who(); who != "Ada Lovelace" {
		t.Errorf("%s is signed in", who)
	}

	// A state that was not sealed with the secret leads nowhere.
	forged := mustParse(t, atProxy)
	q := forged.Query()
	keys := q.Get("state")
	q.Set("state", keys[:len(keys)-10]+"AAAAAAAAAA")
	forged.RawQuery = q.Encode()
	if r := b.get(forged.String()); !staysOn("https://app.example", r.location()) || r.errorCode() != operator {
		t.Errorf("with a forged state the browser is sent to %q", r.location())
	}
}

// A preview that trusts the Host header of requests seals the attacker's host
// into the state: a user who follows the resulting link would hand the attacker
// a code.
func TestARedirectProxyPassesNothingOnToAForgedHost(t *testing.T) {
	for name, headers := range map[string][]string{
		"another host":                {"X-Forwarded-Host", "evil.example"},
		"a host with the same ending": {"X-Forwarded-Host", "evilpreview.example"},
		"the domain itself":           {"X-Forwarded-Host", "preview.example"},
		"another port":                {"X-Forwarded-Host", "pr-7.preview.example:8443"},
		"plain HTTP":                  {"X-Forwarded-Proto", "http"},
	} {
		t.Run("W-53 SA-M2 SH-27 SH-62 "+name, func(t *testing.T) {
			s := newPreview(t, "*.preview.example")
			attacker := s.browser()
			r := attacker.postForm("/auth/signin/acme", url.Values{"csrfToken": {attacker.csrfAs(headers...)}}, headers...).want(http.StatusFound)
			victim := s.browser()
			answer := victim.get(victim.consent(mustParse(t, r.location()))).want(http.StatusFound)
			if !staysOn("https://app.example", answer.location()) || strings.Contains(answer.location(), "code=") {
				t.Errorf("the code of the victim goes to %s", answer.location())
			}
			if !s.log.has("InvalidCheck") || !strings.Contains(s.log.String(), "RedirectProxyHosts") {
				t.Errorf("the log does not say why: %s", s.log)
			}
		})
	}
}

// csrfAs asks for the form token with headers of a request.
func (b *browser) csrfAs(headers ...string) string {
	b.t.Helper()
	var answer struct {
		Token string `json:"csrfToken"`
	}
	b.get("/auth/csrf", headers...).want(http.StatusOK).json(&answer)
	return answer.Token
}

func TestWhereARedirectProxyPassesAnswersOn(t *testing.T) {
	for _, tt := range []struct {
		began string // the callback URL in the state
		hosts []string
		ok    bool
	}{
		{"https://pr-7.preview.example/auth/callback/acme", []string{"pr-7.preview.example"}, true},
		{"https://pr-8.preview.example/auth/callback/acme", []string{"pr-7.preview.example"}, false},
		{"https://a.b.preview.example/x", []string{"*.preview.example"}, true},
		{"http://localhost:3000/auth/callback/acme", []string{"localhost:3000"}, true},
		{"http://localhost:3001/auth/callback/acme", []string{"localhost:3000"}, false},
		{"http://127.0.0.1:3000/auth/callback/acme", []string{"127.0.0.1:3000"}, true},
		{"http://pr-7.preview.example/auth/callback/acme", []string{"pr-7.preview.example"}, false},
		{"http://pr-7.preview.example/auth/callback/acme", []string{"http://pr-7.preview.example"}, true},
		{"https://pr-7.preview.example@evil.example/", []string{"*.preview.example"}, false},
		{"https://evil.example/.preview.example", []string{"*.preview.example"}, false},
		{"https://evil.example\\.preview.example/", []string{"*.preview.example"}, false},
		{"//evil.example/", []string{"*.preview.example"}, false},
	} {
		t.Run("SA-M2 "+tt.began+" "+tt.hosts[0], func(t *testing.T) {
			s := newPreview(t, tt.hosts...)
			now := time.Now()
			state := sealed(t, "encodedState", map[string]any{"origin": tt.began, "random": "x", "iat": now.Unix(), "exp": now.Add(time.Minute).Unix()})
			r := s.browser().get("https://app.example/auth/callback/acme?code=c&state=" + state).want(http.StatusFound)
			if passed := strings.HasPrefix(r.location(), tt.began+"?code=c"); passed != tt.ok || !tt.ok && !staysOn("https://app.example", r.location()) {
				t.Errorf("the browser is sent to %s", r.location())
			}
		})
	}
}

// The state is the only thing that tells the proxy where a flow began.
func TestARedirectProxyPassesNothingOnForAStateItCannotTrust(t *testing.T) {
	const began = "https://pr-7.preview.example/auth/callback/acme"
	now := time.Now()
	for name, tt := range map[string]struct {
		salt string
		ends time.Time
		says string // in the log
	}{
		"that has expired":          {"encodedState", now.Add(-time.Minute), "the state has expired"},
		"that expires too late":     {"encodedState", now.Add(20 * time.Minute), "the state expires later than it could"},
		"sealed for something else": {stateCookie, now.Add(time.Minute), "both ends of a redirect proxy need the same"},
	} {
		t.Run("SA-M2 a state "+name, func(t *testing.T) {
			s := newPreview(t, "*.preview.example")
			state := sealed(t, tt.salt, map[string]any{"origin": began, "random": "x", "iat": now.Unix(), "exp": tt.ends.Unix()})
			r := s.browser().get("https://app.example/auth/callback/acme?code=c&state=" + state).want(http.StatusFound)
			if !staysOn("https://app.example", r.location()) || !s.log.has("InvalidCheck") || !strings.Contains(s.log.String(), tt.says) {
				t.Errorf("the browser is sent to %s, and the log is %s, want %q in it", r.location(), s.log, tt.says)
			}
		})
	}
}

func TestTheListOfARedirectProxyIsChecked(t *testing.T) {
	change := func(change func(*pintle.Config)) error {
		s := newPreview(t, "*.preview.example")
		cfg := s.Config
		change(&cfg)
		_, err := pintle.New(cfg)
		return err
	}
	t.Run("SA-M2 the proxy needs one", func(t *testing.T) {
		err := change(func(c *pintle.Config) { c.URL = "https://APP.example:443/auth" })
		if err == nil || !strings.Contains(err.Error(), "RedirectProxyHosts is empty") {
			t.Errorf("New: %v", err)
		}
		err = change(func(c *pintle.Config) {
			own := *c.Providers[0].(*pintle.OAuth)
			own.RedirectProxyURL = "https://own.example/auth"
			c.URL, c.Providers = "https://own.example", []pintle.Provider{&own}
		})
		if err == nil || !strings.Contains(err.Error(), "RedirectProxyHosts is empty") {
			t.Errorf("New with the proxy of a provider: %v", err)
		}
	})
	t.Run("a preview does not", func(t *testing.T) {
		if err := change(func(c *pintle.Config) { c.URL = "https://pr-7.preview.example" }); err != nil {
			t.Errorf("New: %v", err)
		}
	})
	t.Run("entries that cannot be read are refused", func(t *testing.T) {
		for _, entry := range []string{"*", "*.com", "https://a.example/path", ""} {
			err := change(func(c *pintle.Config) { c.RedirectProxyHosts = []string{entry} })
			if err == nil || !strings.Contains(err.Error(), "RedirectProxyHosts") {
				t.Errorf("New with %q: %v", entry, err)
			}
		}
	})
	t.Run("SA-M2 a proxy that does not know that it is one passes nothing on", func(t *testing.T) {
		s := newPreview(t, "*.preview.example")
		auth, err := pintle.New(s.Config) // which trusts the Host header and has no list
		if err != nil {
			t.Fatal(err)
		}
		s.net["app.example"] = auth
		b := s.browser()
		r := b.get(b.consent(b.leave("acme"))).want(http.StatusFound)
		if !staysOn("https://app.example", r.location()) {
			t.Errorf("the browser is sent to %s", r.location())
		}
	})
	t.Run("a preview that is not in its own list says so at the beginning", func(t *testing.T) {
		s := newPreview(t, "*.preview.example")
		cfg := s.Config
		cfg.RedirectProxyHosts = []string{"*.staging.example"}
		auth, err := pintle.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		s.serve(auth)
		s.browser().post("/auth/signin/acme").fails("/auth/error", operator)
		if !strings.Contains(s.log.String(), "which Config.RedirectProxyHosts does not list") {
			t.Errorf("the log says %s", s.log)
		}
	})
}
