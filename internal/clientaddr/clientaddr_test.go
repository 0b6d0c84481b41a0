package clientaddr_test

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"github.com/pintleauth/pintle/internal/clientaddr"
)

// from is a request over a connection.
func from(address string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "https://app.example.com/login", nil)
	r.RemoteAddr = address
	return r
}

func TestTheClientBehindAProxy(t *testing.T) {
	address := clientaddr.Forwarded(netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8:ff::/48"))
	for _, tt := range []struct {
		name, connection string
		forwarded        []string
		want             string
	}{
		{"no proxy", "192.0.2.1:1", nil, "192.0.2.1"},
		{"SH-34 a header without a proxy", "192.0.2.1:1", []string{"198.51.100.1"}, "192.0.2.1"},
		{"one proxy", "10.0.0.1:1", []string{"192.0.2.1"}, "192.0.2.1"},
		{"two proxies", "10.0.0.1:1", []string{"192.0.2.1, 10.0.0.2"}, "192.0.2.1"},
		{"two lines", "10.0.0.1:1", []string{"192.0.2.1", "10.0.0.2"}, "192.0.2.1"},
		{"SH-34 the client wrote some of it", "10.0.0.1:1", []string{"198.51.100.1, 192.0.2.1"}, "192.0.2.1"},
		{"the client claims to be a proxy", "10.0.0.1:1", []string{"198.51.100.1, 10.9.9.9, 192.0.2.1, 10.0.0.2"}, "192.0.2.1"},
		{"a request by the proxy itself", "10.0.0.1:1", nil, "10.0.0.1"},
		{"nothing but proxies", "10.0.0.1:1", []string{"10.0.0.3, 10.0.0.2"}, "10.0.0.3"},
		{"an empty header", "10.0.0.1:1", []string{""}, "10.0.0.1"},
		{"no address", "10.0.0.1:1", []string{"192.0.2.1, unknown"}, "10.0.0.1"},
		{"with a port", "10.0.0.1:1", []string{"192.0.2.1:5050"}, "192.0.2.1"},
		{"IPv6", "[2001:db8:ff::1]:1", []string{"2001:db8::1"}, "2001:db8::1"},
		{"IPv6 in brackets", "[2001:db8:ff::1]:1", []string{"[2001:db8::1]"}, "2001:db8::1"},
		{"IPv4 in IPv6", "[::ffff:10.0.0.1]:1", []string{"::ffff:192.0.2.1"}, "192.0.2.1"},
		{"a socket", "@", []string{"192.0.2.1"}, "invalid IP"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := from(tt.connection)
			r.Header["X-Forwarded-For"] = tt.forwarded
			if got := address(r).String(); got != tt.want {
				t.Errorf("the client is %s, want %s", got, tt.want)
			}
		})
	}
}

func FuzzForwarded(f *testing.F) {
	f.Add("192.0.2.1:1", "10.0.0.1, 192.0.2.7")
	f.Add("10.0.0.1:1", "192.0.2.1,,10.0.0.2")
	f.Add("[::1%lo]:1", "[2001:db8::1]:443")
	proxies := netip.MustParsePrefix("10.0.0.0/8")
	address := clientaddr.Forwarded(proxies)
	f.Fuzz(func(t *testing.T, connection, forwarded string) {
		r := from(connection)
		direct := clientaddr.Forwarded()(r)
		r.Header.Set("X-Forwarded-For", forwarded)
		got := address(r)
		if !proxies.Contains(direct) && got != direct {
			t.Errorf("%s from %s, which is no proxy, is taken for %s", forwarded, connection, got)
		}
		if got.Zone() != "" || got.Is4In6() {
			t.Errorf("%s has another spelling", got)
		}
	})
}
