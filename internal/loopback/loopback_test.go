package loopback_test

import (
	"testing"

	"github.com/pintleauth/pintle/internal/loopback"
)

func TestTheHostsOfThisMachine(t *testing.T) {
	for _, host := range []string{
		"localhost", "LOCALHOST", "LocalHost", "app.localhost", "a.b.localhost", "APP.LOCALHOST",
		"127.0.0.1", "127.8.9.10", "127.255.255.255", "::1", "0:0:0:0:0:0:0:1", "::ffff:127.0.0.1",
	} {
		if !loopback.Host(host) {
			t.Errorf("%q is not this machine", host)
		}
	}
	for _, host := range []string{
		"", ".", "localhost.", "app.localhost.", "evillocalhost", "localhost.example.com", "local", "localhost.localdomain",
		"localho\u017ft", "l\u043ecalhost", "localhost:3000", "[::1]",
		"127.0.0.1.", "127.1", "127.0.1", "2130706433", "0x7f.0.0.1", "0177.0.0.1", "127.0.0.01", "127.0.0.1:80", "127.0.0.256",
		"0.0.0.0", "0", "::", "128.0.0.1", "126.255.255.255", "10.0.0.1", "192.168.0.1", "169.254.0.1",
		"::2", "::1%lo", "::127.0.0.1", "::ffff:10.0.0.1", "fe80::1", "2001:db8::1", "127.0.0.1.example.com", "1.0.0.127.in-addr.arpa",
	} {
		if loopback.Host(host) {
			t.Errorf("%q is this machine", host)
		}
	}
}
