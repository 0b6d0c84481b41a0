package pintle_test

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
)

// Without TrustedProxies all users behind a proxy share one limit of attempts. Only a peer that can
// be the operator's proxy is reported, once, and with the line to add.
func TestAProxyThatIsNotListedIsNoticed(t *testing.T) {
	list := func(prefixes ...string) func(*site) {
		return func(s *site) {
			s.URL = "https://app.example"
			for _, p := range prefixes {
				s.TrustedProxies = append(s.TrustedProxies, netip.MustParsePrefix(p))
			}
		}
	}
	for _, tt := range []struct {
		name    string
		change  func(*site)
		peer    string
		headers []string

		level, fix string // empty for no record
	}{
		{"on this machine", list(), "127.0.0.1:4711", []string{"X-Forwarded-For", "203.0.113.5"}, "WARN", `netip.MustParsePrefix("127.0.0.1/32")`},
		{"on this machine, with a browser there", list(), "127.0.0.1:4711", []string{"X-Forwarded-For", "127.0.0.1"}, "WARN", `netip.MustParsePrefix("127.0.0.1/32")`},
		{"on this machine, by IPv6", list(), "[::1]:4711", []string{"X-Forwarded-For", "203.0.113.5"}, "WARN", `netip.MustParsePrefix("::1/128")`},
		{"in the network", list("127.0.0.1/32"), "10.1.2.3:4711", []string{"X-Forwarded-For", "203.0.113.5"}, "WARN", `netip.MustParsePrefix("10.1.2.3/32")`},
		{"with the other header", list(), "10.1.2.3:4711", []string{"Forwarded", "for=203.0.113.5"}, "WARN", "sets X-Forwarded-For"},
		{
			"for a site of this machine",
			func(s *site) { s.URL = "http://localhost:3000" },
			"127.0.0.1:4711",
			[]string{"X-Forwarded-For", "127.0.0.1"},
			"INFO", `netip.MustParsePrefix("127.0.0.1/32")`,
		},
		{"a listed one", list("127.0.0.0/8"), "127.0.0.1:4711", []string{"X-Forwarded-For", "203.0.113.5"}, "", ""},
		{"a client elsewhere that makes the header up", list(), "198.51.100.7:4711", []string{"X-Forwarded-For", "203.0.113.5"}, "", ""},
		{"no header", list(), "127.0.0.1:4711", nil, "", ""},
		{"a framework that has put the address of the client there", list(), "10.1.2.3:4711", []string{"X-Forwarded-For", "10.1.2.3, 10.0.0.1"}, "", ""},
		{"a Unix socket", list(), "@", []string{"X-Forwarded-For", "203.0.113.5"}, "", ""},
		{
			"a function of the application",
			func(s *site) {
				list()(s)
				s.ClientAddress = func(*http.Request) netip.Addr { return netip.MustParseAddr("203.0.113.5") }
			},
			"127.0.0.1:4711",
			[]string{"X-Forwarded-For", "203.0.113.5"},
			"", "",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSite(t, tt.change)
			for _, path := range []string{"/auth/signin", "/auth/csrf", "/auth/signin"} {
				r := httptest.NewRequest(http.MethodGet, s.URL+path, nil)
				r.RemoteAddr = tt.peer
				for i := 0; i < len(tt.headers); i += 2 {
					r.Header.Set(tt.headers[i], tt.headers[i+1])
				}
				s.auth.ServeHTTP(httptest.NewRecorder(), r)
			}
			if n := strings.Count(s.log.String(), "UnlistedProxy"); tt.level == "" && n != 0 || tt.level != "" && n != 1 {
				t.Fatalf("the log has %d records: %s", n, s.log)
			}
			if tt.level == "" {
				return
			}
			entry := s.log.last(t, "UnlistedProxy")
			if fix, _ := entry["fix"].(string); entry["level"] != tt.level || !strings.Contains(fix, tt.fix) || entry["header"] != tt.headers[0] {
				t.Errorf("the record is %v", entry)
			}
		})
	}
}
