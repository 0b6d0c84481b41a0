// Package publicnet connects to public addresses only. It is for programs that
// request URLs which their users choose: an attacker would name hosts of the inner
// network, or the metadata service of a cloud (server-side request forgery).
package publicnet

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// ErrNotPublic is matched by the errors about an address that is not public, and
// about URLs that are not those of a public service.
var ErrNotPublic = errors.New("not a public address")

// Time limits of a connection.
const (
	dialTimeout      = 5 * time.Second
	handshakeTimeout = 10 * time.Second
	idleTimeout      = 90 * time.Second // as http.DefaultTransport has it
)

// Transport returns a transport that requests URLs that pass [CheckURL] from public
// addresses only. A nil resolver means that of the system. Proxies of the environment
// are ignored: the transport could check the address of the proxy only, and not that
// of the host behind it.
func Transport(resolver *net.Resolver, ports ...int) http.RoundTripper {
	return newTransport(&net.Dialer{Timeout: dialTimeout, Resolver: resolver, Control: refuse}, ports)
}

func newTransport(dialer *net.Dialer, ports []int) *transport {
	return &transport{ports, &http.Transport{
		DialContext:         dialer.DialContext,
		ForceAttemptHTTP2:   true,
		TLSHandshakeTimeout: handshakeTimeout,
		IdleConnTimeout:     idleTimeout,
		MaxIdleConns:        100,
	}}
}

type transport struct {
	ports []int
	base  *http.Transport
}

func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := CheckURL(r.URL, t.ports...); err != nil {
		if r.Body != nil {
			_ = r.Body.Close() // a RoundTripper closes it in any case
		}
		return nil, err
	}
	return t.base.RoundTrip(r)
}

// CloseIdleConnections is called by [http.Client.CloseIdleConnections].
func (t *transport) CloseIdleConnections() { t.base.CloseIdleConnections() }

// CheckURL returns an error for a URL that is not that of a public service: without
// https, with a user name, at a port that is neither 443 nor in ports, or at a host
// without a public name. Where the name leads is checked when it is connected to.
func CheckURL(u *url.URL, ports ...int) error {
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	port, err := strconv.Atoi(cmp.Or(u.Port(), "443"))
	switch {
	case u.Scheme != "https":
		return fmt.Errorf("%w: %s://%s is not encrypted: use https", ErrNotPublic, u.Scheme, u.Host)
	case u.User != nil:
		return fmt.Errorf("%w: the URL of %s has a user name", ErrNotPublic, u.Host)
	case err != nil, port != 443 && !slices.Contains(ports, port):
		return fmt.Errorf("%w: %s is at a port other than 443", ErrNotPublic, u.Host)
	case !isPublicName(host):
		return fmt.Errorf("%w: %q is not a name in the public domain name system", ErrNotPublic, host)
	}
	return nil
}

// isPublicName reports whether a name can be one of a public service. Addresses are
// no names, in whatever form: every top-level domain begins with a letter.
//
// https://www.rfc-editor.org/rfc/rfc6761
// https://www.rfc-editor.org/rfc/rfc8375
func isPublicName(host string) bool {
	dot := strings.LastIndexByte(host, '.')
	if dot <= 0 || dot == len(host)-1 || strings.Contains(host, ":") || '0' <= host[dot+1] && host[dot+1] <= '9' {
		return false
	}
	return !slices.ContainsFunc([]string{".local", ".internal", ".localhost", ".home.arpa"}, func(suffix string) bool {
		return strings.HasSuffix("."+host, suffix)
	})
}

// refuse is called with the address of each connection, after the name was looked
// up. Checking the name, or looking it up before the dialer does, is not enough:
// the name may resolve to another address the next time (DNS rebinding).
func refuse(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil || !IsPublic(at.Addr()) {
		return fmt.Errorf("connect to %s: %w", address, ErrNotPublic)
	}
	return nil
}

// IsPublic reports whether an address belongs to a host of the global Internet.
//
// https://www.iana.org/assignments/iana-ipv4-special-registry
// https://www.iana.org/assignments/iana-ipv6-special-registry
func IsPublic(a netip.Addr) bool {
	if a.Zone() != "" {
		return false
	}
	if a = a.Unmap(); a.Is4() {
		return isPublic4(a)
	}
	if nat64.Contains(a) {
		// Networks without IPv4 reach all IPv4 hosts through this prefix.
		// https://www.rfc-editor.org/rfc/rfc6052#section-2.1
		b := a.As16()
		return isPublic4(netip.AddrFrom4([4]byte(b[12:])))
	}
	return global.Contains(a) && !anyContains(special6, a)
}

func isPublic4(a netip.Addr) bool { return !anyContains(special4, a) }

func anyContains(list []netip.Prefix, a netip.Addr) bool {
	for _, p := range list {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

var (
	nat64  = netip.MustParsePrefix("64:ff9b::/96")
	global = netip.MustParsePrefix("2000::/3") // all that is assigned for hosts

	special4 = prefixes(
		"0.0.0.0/8",        // this network
		"10.0.0.0/8",       // private
		"100.64.0.0/10",    // behind a carrier's NAT
		"127.0.0.0/8",      // loopback
		"168.63.129.16/32", // the host of a virtual machine at Azure
		"169.254.0.0/16",   // link-local: metadata services of clouds
		"172.16.0.0/12",    // private
		"192.0.0.0/24",     // protocol assignments
		"192.0.2.0/24",     // documentation
		"192.88.99.0/24",   // 6to4 relays
		"192.168.0.0/16",   // private
		"198.18.0.0/15",    // benchmarks
		"198.51.100.0/24",  // documentation
		"203.0.113.0/24",   // documentation
		"224.0.0.0/4",      // multicast
		"240.0.0.0/4",      // reserved, and broadcast
	)
	special6 = prefixes(
		"2001::/23",     // protocol assignments; Teredo, which embeds IPv4, among them
		"2001:db8::/32", // documentation
		"2002::/16",     // 6to4, which embeds IPv4
		"3fff::/20",     // documentation
	)
)

func prefixes(list ...string) []netip.Prefix {
	parsed := make([]netip.Prefix, len(list))
	for i, text := range list {
		parsed[i] = netip.MustParsePrefix(text)
	}
	return parsed
}
