package origin_test

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/pintleauth/pintle/internal/origin"
)

func request(host string, secure bool, headers ...string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "/auth/session", nil)
	r.Host = host
	if secure {
		r.TLS = &tls.ConnectionState{}
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	return r
}

func TestResolve(t *testing.T) {
	const proto, fhost = "X-Forwarded-Proto", "X-Forwarded-Host"
	trusted := origin.Config{TrustForwarded: true}
	tests := []struct {
		name   string
		config origin.Config
		r      *http.Request
		want   origin.Origin // empty means an error
	}{
		{"plain", origin.Config{}, request("app.example.test", false), "http://app.example.test"},
		{"over TLS", origin.Config{}, request("app.example.test", true), "https://app.example.test"},
		{"port", origin.Config{}, request("app.example.test:3000", false), "http://app.example.test:3000"},
		{"default port", origin.Config{}, request("app.example.test:80", false), "http://app.example.test"},
		{"default port of TLS", origin.Config{}, request("app.example.test:443", true), "https://app.example.test"},
		{"empty port", origin.Config{}, request("app.example.test:", false), "http://app.example.test"},
		{"other scheme's port", origin.Config{}, request("app.example.test:443", false), "http://app.example.test:443"},
		{"capitals", origin.Config{}, request("APP.Example.TEST", false), "http://app.example.test"},
		{"IPv4", origin.Config{}, request("127.0.0.1:8080", false), "http://127.0.0.1:8080"},
		{"IPv6", origin.Config{}, request("[::1]:8080", false), "http://[::1]:8080"},
		{"IPv6 in full", origin.Config{}, request("[2001:DB8:0:0:0:0:0:1]", true), "https://[2001:db8::1]"},
		{"SH-66 forwarded headers are not believed by default", origin.Config{}, request("app.example.test", false, proto, "https", fhost, "evil.test"), "http://app.example.test"},
		{"W-27 forwarded", trusted, request("internal:8080", false, proto, "https", fhost, "public.example.test"), "https://public.example.test"},
		{"forwarded scheme only", trusted, request("app.example.test", false, proto, "https"), "https://app.example.test"},
		{"forwarded http over TLS", trusted, request("app.example.test", true, proto, "http"), "http://app.example.test"},
		{"forwarded host only", trusted, request("internal", true, fhost, "public.example.test"), "https://public.example.test"},
		{"forwarded port in the host", trusted, request("internal", false, proto, "https", fhost, "public.example.test:8443"), "https://public.example.test:8443"},
		{"W-27 first entry of a list", trusted, request("internal", false, proto, "HTTPS , http", fhost, " public.example.test, inner"), "https://public.example.test"},
		{"first of two lines", trusted, request("internal", false, fhost, "public.example.test", fhost, "inner"), "http://public.example.test"},
		{"scheme with a colon", trusted, request("a.test", false, proto, "https:"), "https://a.test"},
		{"empty forwarded headers", trusted, request("a.test", true, proto, "", fhost, ""), "https://a.test"},
		{"X-Forwarded-Port and Forwarded are ignored", trusted, request("a.test", false, "X-Forwarded-Port", "8443", "Forwarded", "host=evil.test;proto=https"), "http://a.test"},
		{"another forwarded scheme", trusted, request("a.test", false, proto, "javascript"), ""},
		{"hostile forwarded host", trusted, request("a.test", false, fhost, "a.test/path"), ""},
		{"configured", origin.Config{URL: "https://Fixed.example.test:443/api/auth"}, request("evil.test", false), "https://fixed.example.test"},
		{"configured wins over forwarded", origin.Config{URL: "https://fixed.example.test", TrustForwarded: true}, request("evil.test", false, proto, "http", fhost, "evil.test"), "https://fixed.example.test"},
		{"configured wins over a hostile host", origin.Config{URL: "https://fixed.example.test"}, request("a b", false), "https://fixed.example.test"},
	}
	for _, host := range hostileHosts {
		tests = append(tests, struct {
			name   string
			config origin.Config
			r      *http.Request
			want   origin.Origin
		}{fmt.Sprintf("hostile host %.40q", host), origin.Config{}, request(host, false), ""})
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := origin.New(tt.config)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 { // the second answer comes from the cache
				got, err := s.Resolve(tt.r)
				if got != tt.want || (err == nil) != (tt.want != "") {
					t.Errorf("Resolve = %q, %v, want %q", got, err, tt.want)
				}
			}
		})
	}
}

var hostileHosts = []string{
	"", " ", "a b", "a\tb", "a\r\nX: y", "a\x00b", "a\x7f", "user@a.test", "a.test/", "a.test/x", `a.test\x`, "a.test?x", "a.test#x",
	"http://a.test", "a.test,b.test", ":80", ":", "a.test:x", "a.test:0", "a.test:65536", "a.test:000080", "a.test:-1", "a.test:+1", "a.test:80:80",
	".", "a..test", ".a.test", "a.test.", "bücher.test", "ａ.test", "a。test", "a%2etest", "a<b", "a;b", "a'b", `a"b`, "a*b",
	"::1", "[::1", "::1]", "[]", "[::1]x", "[fe80::1%25eth0]", "[fe80::1%eth0]", "[::ffff:127.0.0.1]", "[127.0.0.1]", "[::1]:x",
	"127.1", "2130706433", "0x7f000001", "0x7f.1", "127.0.0.01", "127.0.0.256", "1.2.3.4.5", "a.0x", "a.9",
	strings.Repeat("a", 64) + ".test", strings.Repeat("a.", 127) + "test", strings.Repeat("a", 10_000),
}

func TestTheCacheKeepsSchemesApart(t *testing.T) {
	s, err := origin.New(origin.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		for _, secure := range []bool{false, true} {
			got, err := s.Resolve(request("app.example.test", secure))
			if err != nil || got.Secure() != secure {
				t.Errorf("over TLS %t: %q, %v", secure, got, err)
			}
		}
	}
}

func TestNewRefusesAURLThatIsNoOrigin(t *testing.T) {
	for _, raw := range []string{"app.example.test", "ftp://app.example.test", "https://", "https://user:pw@app.example.test", "https://bücher.test", "https://a b", "/auth", "https://127.1"} {
		s, err := origin.New(origin.Config{URL: raw})
		if err == nil || s != nil {
			t.Errorf("New with URL %q = %v, %v, want an error", raw, s, err)
		}
		if err != nil && strings.Contains(err.Error(), "pw@") {
			t.Errorf("the error repeats a password: %v", err)
		}
	}
}

func TestOrigin(t *testing.T) {
	for _, tt := range []struct {
		o      origin.Origin
		secure bool
		host   string
	}{
		{"https://a.test", true, "a.test"},
		{"http://[::1]:8080", false, "[::1]:8080"},
	} {
		if tt.o.Secure() != tt.secure || tt.o.Host() != tt.host {
			t.Errorf("%q: secure %t, host %q", tt.o, tt.o.Secure(), tt.o.Host())
		}
	}
}

func TestResolveMayRunConcurrently(t *testing.T) {
	s, err := origin.New(origin.Config{})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 200 {
				host := fmt.Sprintf("h%d.test", (i+j)%20)
				if got, err := s.Resolve(request(host, false)); err != nil || got != origin.Origin("http://"+host) {
					t.Errorf("Resolve(%s) = %q, %v", host, got, err)
				}
			}
		})
	}
	wg.Wait()
}

func TestResolveDoesNotAllocateForAKnownHost(t *testing.T) {
	s, err := origin.New(origin.Config{TrustForwarded: true})
	if err != nil {
		t.Fatal(err)
	}
	r := request("internal:8080", false, "X-Forwarded-Proto", "https", "X-Forwarded-Host", "App.Example.Test")
	if n := testing.AllocsPerRun(100, func() { _, _ = s.Resolve(r) }); n != 0 {
		t.Errorf("Resolve allocates %v times, want 0", n)
	}
}

// For every request an origin is nothing but scheme, host and port, and
// net/url finds the same ones.
func FuzzResolve(f *testing.F) {
	for _, host := range hostileHosts {
		f.Add(host, "https")
	}
	f.Add("App.Example.Test:443", "HTTPS:")
	f.Add("[2001:DB8::1]:8080", "")
	f.Fuzz(func(t *testing.T, host, proto string) {
		s, err := origin.New(origin.Config{TrustForwarded: true})
		if err != nil {
			t.Fatal(err)
		}
		r := request("internal", false)
		r.Header = http.Header{"X-Forwarded-Host": {host}, "X-Forwarded-Proto": {proto}}
		o, err := s.Resolve(r)
		if err != nil {
			if o != "" {
				t.Fatalf("%q beside an error", o)
			}
			return
		}
		u, err := url.Parse(string(o))
		if err != nil || u.Scheme+"://"+u.Host != string(o) || u.Hostname() == "" || strings.ToLower(string(o)) != string(o) {
			t.Fatalf("%q, %q became %q (%v, %v)", host, proto, o, u, err)
		}
		if again, err := origin.Parse(string(o)); err != nil || again != o {
			t.Fatalf("%q is not stable: %q, %v", o, again, err)
		}
	})
}

func BenchmarkResolve(b *testing.B) {
	s, err := origin.New(origin.Config{})
	if err != nil {
		b.Fatal(err)
	}
	r := request("app.example.test:3000", false)
	b.ReportAllocs()
	for b.Loop() {
		_, _ = s.Resolve(r)
	}
}
