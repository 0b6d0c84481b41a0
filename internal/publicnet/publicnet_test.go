package publicnet_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pintleauth/pintle/internal/publicnet"
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

// resolver resolves every name to one address.
func resolver(t *testing.T, address string) *net.Resolver {
	t.Helper()
	conn, err := (&net.ListenConfig{}).ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	ip := netip.MustParseAddr(address).As4()
	go func() {
		buf := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			end := 12 // of the question: a name, its type and its class
			for buf[end] != 0 {
				end += int(buf[end]) + 1
			}
			end += 5
			answer := append([]byte{}, buf[:min(end, n)]...)
			answer[2], answer[3] = 0x81, 0x80
			answer[8], answer[9], answer[10], answer[11] = 0, 0, 0, 0
			if buf[end-3] == 1 { // type A
				answer[7] = 1
				answer = append(answer, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4)
				answer = append(answer, ip[:]...)
			}
			_, _ = conn.WriteTo(answer, from)
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

func TestAConnectionIsRefusedAfterTheNameIsLookedUp(t *testing.T) {
	var asked atomic.Int64
	inner := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer inner.Close()
	_, port, _ := strings.Cut(strings.TrimPrefix(inner.URL, "http://"), ":")

	get := func(t *testing.T, transport http.RoundTripper, host string) error {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+host+":"+port+"/", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := transport.RoundTrip(r)
		if err == nil {
			resp.Body.Close()
		}
		return err
	}
	names := resolver(t, "127.0.0.1")
	t.Run("the resolver of the test works", func(t *testing.T) {
		plain := &http.Transport{DialContext: (&net.Dialer{Resolver: names}).DialContext}
		if err := get(t, plain, "idp.example.com"); err != nil || asked.Load() != 1 {
			t.Fatalf("asked %d times: %v", asked.Load(), err)
		}
		asked.Store(0)
	})
	guarded := publicnet.Transport(names)
	for _, host := range []string{"idp.example.com", "127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0"} {
		t.Run("SA-L7 SH-24 "+host, func(t *testing.T) {
			if err := get(t, guarded, host); !errors.Is(err, publicnet.ErrNotPublic) {
				t.Errorf("RoundTrip: %v", err)
			}
		})
	}
	t.Run("SA-L7 a proxy of the environment is not used", func(t *testing.T) {
		if guarded.Proxy != nil {
			t.Error("the proxy would connect to any address")
		}
	})
	if n := asked.Load(); n != 0 {
		t.Errorf("the inner server received %d requests", n)
	}
}
