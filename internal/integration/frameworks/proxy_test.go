package frameworks_test

import (
	"net/http"
	"strings"
	"testing"
)

// forwarded are the headers of a proxy that serves https://app.example, for a
// browser on this machine.
var forwarded = []string{"X-Forwarded-For", "127.0.0.1", "X-Forwarded-Host", "app.example", "X-Forwarded-Proto", "https"}

func TestATrustedProxySetsTheOrigin(t *testing.T) {
	each(t, func(t *testing.T, f framework) {
		b := f.start(t, func(s *setting) { s.TrustHost, s.proxy = true, behindProxy })
		if origin := b.origin(forwarded...); origin != "https://app.example" {
			t.Errorf("the site is at %s", origin)
		}
		if line := b.get("/auth/csrf", forwarded...).line("__Host-authjs.csrf-token"); !strings.Contains(line, "Secure") {
			t.Errorf("the cookies are not secure: %q", line)
		}
		// The first entry is the browser's side of a chain of proxies.
		chain := []string{"X-Forwarded-For", "203.0.113.7", "X-Forwarded-Host", "app.example, inner.example", "X-Forwarded-Proto", "https,http"}
		if origin := b.origin(chain...); origin != "https://app.example" {
			t.Errorf("behind two proxies the site is at %s", origin)
		}
	})
}

func TestAHandlerBehindATrustedProxySetsSecureCookies(t *testing.T) {
	each(t, func(t *testing.T, f framework) {
		b := f.start(t, func(s *setting) { s.TrustHost, s.proxy = true, behindProxy })
		headers := append([]string{"Content-Type", "application/x-www-form-urlencoded"}, forwarded...)
		r := b.do(http.MethodPost, "/login", "username=kim&password=kim%27s", headers...).want(http.StatusSeeOther).wantLocation("https://app.example/account")
		line := r.line("__Secure-authjs.session-token")
		if line == "" {
			t.Fatalf("cookies: %q", r.Header["Set-Cookie"])
		}
		cookie, _, _ := strings.Cut(line, ";")
		b.get("/account", append([]string{"Cookie", cookie}, forwarded...)...).want(http.StatusOK).wantBody("Kim")
	})
}

func TestSH66HeadersOfUntrustedPeersAreIgnored(t *testing.T) {
	each(t, func(t *testing.T, f framework) {
		b := f.start(t, func(s *setting) { s.TrustHost, s.proxy = true, notBehind }, withProvider(t))
		lies := []string{
			"X-Forwarded-For", "127.0.0.1", "X-Forwarded-Host", "evil.example", "X-Forwarded-Proto", "https",
			"X-Forwarded-Uri", "/auth/signin", "X-Real-Ip", "127.0.0.1", "Forwarded", "host=evil.example;proto=https",
			"X_Forwarded_Host", "evil.example", // SH-65
		}
		// Frameworks that know their proxies remove the headers of other peers. At
		// the others a request for this machine that a proxy seems to have passed on
		// is refused: its address is not the one that users open.
		moved := http.StatusSeeOther
		if f.header != nil {
			if origin := b.origin(lies...); origin != b.address {
				t.Errorf("SH-66 the site is at %s", origin)
			}
		} else {
			moved = http.StatusInternalServerError
			b.get("/auth/providers", lies...).want(moved)
			b.get("/auth/providers").want(http.StatusOK)
		}
		for _, path := range []string{"/auth/csrf", "/auth/signin", "/account", "/"} {
			r := b.get(path, lies...)
			if strings.Contains(transcript(r), "evil.example") || strings.Contains(transcript(r), "__Host-") {
				t.Errorf("SH-66 %s trusts the headers: %s", path, transcript(r))
			}
		}
		r := b.do(http.MethodPost, "/leave", "", lies...).want(moved)
		if strings.Contains(r.location(), "evil.example") {
			t.Errorf("SH-66 the redirect URI is %s", r.location())
		}
		r = b.do(http.MethodPost, "/logout", "", lies...).want(moved)
		if strings.Contains(r.location(), "evil.example") {
			t.Errorf("SH-66 signing out leads to %s", r.location())
		}
	})
}

func TestAnUntrustedHostIsRejected(t *testing.T) {
	each(t, func(t *testing.T, f framework) {
		b := f.start(t)
		b.signIn("kim")
		jar := b.cookies()
		cookie := jar[len(jar)-1].String()
		for _, name := range []string{"evil.example", "evil.example:80", "127.0.0.1.evil.example", "evil.example@127.0.0.1", "localhost.evil.example"} {
			status, body := raw(t, b.address, "GET /auth/signin HTTP/1.1", "Host: "+name)
			if status < 400 || strings.Contains(body, name) {
				t.Errorf("Host: %s: status %d, body %.200q", name, status, body)
			}
			status, body = raw(t, b.address, "GET /account HTTP/1.1", "Host: "+name, "Cookie: "+cookie)
			if status < 400 || strings.Contains(body, "Kim") {
				t.Errorf("Host: %s: the guard answers %d, %.200q", name, status, body)
			}
		}
	})
}

func TestAFixedURLNeedsNoHeaders(t *testing.T) {
	each(t, func(t *testing.T, f framework) {
		b := f.start(t, func(s *setting) { s.URL = "https://app.example" })
		if origin := b.origin("X-Forwarded-Host", "evil.example", "Host", "evil.example"); origin != "https://app.example" {
			t.Errorf("the site is at %s", origin)
		}
	})
}

// origin returns the origin in the application's response.
func (b *browser) origin(headers ...string) string {
	b.t.Helper()
	var providers map[string]struct{ SignInURL string }
	b.get("/auth/providers", headers...).want(http.StatusOK).json(&providers)
	origin, found := strings.CutSuffix(providers["password"].SignInURL, "/auth/signin/password")
	if !found {
		b.t.Fatalf("the providers are %v", providers)
	}
	return origin
}
