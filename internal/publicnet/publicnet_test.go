package publicnet_test

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pintleauth/pintle/internal/publicnet"
	"github.com/pintleauth/pintle/internal/testsite"
)

func TestWhichAddressesArePublic(t *testing.T) {
	for _, text := range []string{
		"1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "172.15.255.255", "172.32.0.0",
		"192.167.255.255", "193.0.0.1", "223.255.255.255", "168.63.129.15", "::ffff:1.1.1.1",
		"2606:4700:4700::1111", "2a00:1450:4001::1", "2001:4860:4860::8888", "64:ff9b::101:101",
	} {
		if !publicnet.IsPublic(netip.MustParseAddr(text)) {
			t.Errorf("%s counts as not public", text)
		}
	}
	for _, text := range []string{
		"0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.100.100.200", "100.127.255.255", "127.0.0.1", "127.255.255.255",
		"169.254.169.254", "168.63.129.16", "172.16.0.1", "172.31.255.255", "192.0.0.192", "192.0.2.1", "192.168.0.1", "198.18.0.1", "198.51.100.1",
		"203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",
		"::", "::1", "fe80::1", "fe80::1%eth0", "2606:4700::1%eth0", "fc00::1", "fd00:ec2::254", "ff02::1", "fec0::1", "100::1",
		"::ffff:127.0.0.1", "::ffff:10.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1",
		"2001::1", "2001:db8::1", "2002:7f00:1::1", "3fff::1", "5f00::1",
	} {
		if publicnet.IsPublic(netip.MustParseAddr(text)) {
			t.Errorf("%s counts as public", text)
		}
	}
	if publicnet.IsPublic(netip.Addr{}) {
		t.Error("no address counts as public")
	}
}

// A server counts the connections that it receives, on the loopback address.
type server struct {
	port        string
	connections atomic.Int64
}

func newServer(t *testing.T) *server {
	t.Helper()
	s := &server{}
	inner := httptest.NewUnstartedServer(http.NotFoundHandler())
	inner.Config.ErrorLog = log.New(io.Discard, "", 0)
	inner.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.connections.Add(1)
		}
	}
	inner.StartTLS()
	t.Cleanup(inner.Close)
	_, s.port, _ = strings.Cut(strings.TrimPrefix(inner.URL, "https://"), ":")
	return s
}

func (s *server) number() int {
	n, _ := strconv.Atoi(s.port)
	return n
}

func get(t *testing.T, transport http.RoundTripper, url string) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := transport.RoundTrip(r)
	if err == nil {
		resp.Body.Close()
	}
	return err
}

func addresses(texts ...string) (list []netip.Addr) {
	for _, text := range texts {
		list = append(list, netip.MustParseAddr(text))
	}
	return list
}

func TestAConnectionIsRefusedAfterTheNameIsLookedUp(t *testing.T) {
	inner := newServer(t)
	url := "https://idp.example.com:" + inner.port + "/"
	t.Run("the resolver of the test works", func(t *testing.T) {
		names := testsite.Resolver(t, func(string) []netip.Addr { return addresses("127.0.0.1") })
		plain := &http.Transport{DialContext: (&net.Dialer{Resolver: names}).DialContext}
		if err := get(t, plain, url); err == nil || inner.connections.Swap(0) != 1 {
			t.Fatalf("the test attacks nothing: %v", err)
		}
	})
	for _, at := range []string{
		"127.0.0.1", "0.0.0.0", "10.1.2.3", "100.64.0.1", "169.254.169.254", "172.16.0.1", "192.168.0.1", "192.0.0.192", "192.0.2.1", "198.18.0.1",
		"198.51.100.1", "203.0.113.1", "224.0.0.1", "240.0.0.1", "255.255.255.255",
		// Names with an AAAA record only.
		"::1", "::", "fe80::1", "fc00::1", "fd00:ec2::254", "fec0::1", "ff02::1", "2001:db8::1", "2001::1",
		"::ffff:127.0.0.1", "::ffff:10.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::7f00:1", "2002:7f00:1::1",
	} {
		t.Run("RPT-77 SA-L7 SH-24 a name at "+at, func(t *testing.T) {
			names := testsite.Resolver(t, func(string) []netip.Addr { return addresses(at) })
			if err := get(t, publicnet.Transport(names, inner.number()), url); !errors.Is(err, publicnet.ErrNotPublic) {
				t.Errorf("RoundTrip: %v", err)
			}
		})
	}
	if n := inner.connections.Load(); n != 0 {
		t.Errorf("the inner server received %d connections", n)
	}
}

// The answer of a name server is another one the next time, or has several addresses:
// each that is connected to is judged.
func TestANameThatChangesItsAddressIsRefused(t *testing.T) {
	stopped := errors.New("the test connects to no server")
	for name, answers := range map[string][][]netip.Addr{
		"public at first, then private":          {addresses("1.1.1.1"), addresses("127.0.0.1")},
		"a public and a private address":         {addresses("1.1.1.1", "127.0.0.1")},
		"a private and a public address":         {addresses("10.0.0.1", "1.1.1.1")},
		"public by IPv4, private by IPv6":        {addresses("1.1.1.1", "::1", "fd00::1")},
		"public through NAT64, private the same": {addresses("64:ff9b::101:101", "64:ff9b::a00:1")},
	} {
		t.Run("RPT-77 SH-24 "+name, func(t *testing.T) {
			var round atomic.Int64
			names := testsite.Resolver(t, func(string) []netip.Addr {
				return answers[min(int(round.Load()), len(answers)-1)]
			})
			var mu sync.Mutex
			var connected []string
			transport := publicnet.TransportTo(func(address string) error {
				mu.Lock()
				defer mu.Unlock()
				connected = append(connected, address)
				return stopped
			}, names)
			for range answers {
				if err := get(t, transport, "https://idp.example.com/"); err == nil {
					t.Error("there is an answer")
				}
				round.Add(1)
			}
			mu.Lock()
			defer mu.Unlock()
			if len(connected) == 0 {
				t.Error("the public address was refused, too")
			}
			for _, address := range connected {
				if address != "1.1.1.1:443" && address != "[64:ff9b::101:101]:443" {
					t.Errorf("%s was connected to", address)
				}
			}
		})
	}
}

// SH-24, RPT-77. What a URL says is refused before its name is looked up.
func TestOnlyAddressesOfPublicServicesAreRequested(t *testing.T) {
	var asked atomic.Int64
	names := testsite.Resolver(t, func(string) []netip.Addr { asked.Add(1); return addresses("1.1.1.1") })
	stopped := errors.New("the test connects to no server")
	transport := publicnet.TransportTo(func(string) error { return stopped }, names, 8443)
	for _, url := range []string{
		"http://idp.example.com/", "http://idp.example.com:443/", "https://user@idp.example.com/", "ftp://idp.example.com/",
		"https://idp.example.com:22/", "https://idp.example.com:80/", "https://idp.example.com:8080/", "https://idp.example.com:0/",
		"https://localhost/", "https://intranet/", "https://intranet./", "https://", "https://./", "https://.com/",
		"https://idp.local/", "https://IDP.LOCAL/", "https://idp.local./", "https://metadata.google.internal/", "https://app.localhost/",
		"https://nas.home.arpa/", "https://home.arpa/", "https://127.0.0.1/", "https://1.1.1.1/", "https://[::1]/", "https://[2606:4700::1111]/",
		"https://[::ffff:127.0.0.1]/", "https://127.1/", "https://0x7f.1/", "https://2130706433/", "https://1.1.1.1./",
	} {
		if err := get(t, transport, url); !errors.Is(err, publicnet.ErrNotPublic) {
			t.Errorf("RPT-77 SH-24 %s: %v", url, err)
		}
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("names were looked up %d times", n)
	}
	for _, url := range []string{
		"https://idp.example.com/", "https://idp.example.com.:443/", "https://IDP.example.com:8443/a?b=c", "https://localhost.example.com/",
		"https://xn--bcher-kva.example/", "https://10.example/", "https://home.arpa.example/", "https://internal.example/",
	} {
		if err := get(t, transport, url); !errors.Is(err, stopped) {
			t.Errorf("%s: %v", url, err)
		}
	}
	if publicnet.UsesProxy(publicnet.Transport(nil)) {
		t.Error("SA-L7 a proxy of the environment would connect to any address")
	}
}
