package origin

import (
	"errors"
	"net/netip"
	"strconv"
	"strings"
)

// maxHost is a DNS name of 253 characters and a port.
const maxHost = 253 + len(":65535")

var (
	errHost = errors.New("not a host name, IP address, or either with a port")
	errPort = errors.New("not a port number")
)

// normalHost checks the host of a request or URL and returns it as a browser
// writes it: lower case, without the default port of its scheme.
//
// It knows less than a browser on purpose. Names beyond ASCII, percent-encoded
// names, numeric shorthands such as 127.1 and a final dot are refused: browsers
// rewrite them before they send Host, so a client that sends one is not a
// browser, and two spellings of one host would be two origins here.
func normalHost(text string, secure bool) (string, error) {
	if text == "" || len(text) > maxHost {
		return "", errHost
	}
	host, port := text, ""
	if i := strings.LastIndexByte(text, ':'); i > strings.LastIndexByte(text, ']') {
		host, port = text[:i], text[i+1:]
	}
	host, err := normalName(host)
	if err != nil {
		return "", err
	}
	port, err = normalPort(port, secure)
	if err != nil {
		return "", err
	}
	if port == "" {
		return host, nil
	}
	return host + ":" + port, nil
}

func normalName(host string) (string, error) {
	if strings.HasPrefix(host, "[") && strings.HasSuffix(host, "]") {
		addr, err := netip.ParseAddr(host[1 : len(host)-1])
		// Browsers write an address that embeds an IPv4 one in another way
		// than netip, and know no zones.
		if err != nil || !addr.Is6() || addr.Is4In6() || addr.Zone() != "" {
			return "", errHost
		}
		return "[" + addr.String() + "]", nil
	}
	label := 0 // length of the current label
	for i := range len(host) {
		switch c := host[i]; {
		case c == '.':
			if label == 0 {
				return "", errHost
			}
			label = 0
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_':
			if label++; label > 63 {
				return "", errHost
			}
		default:
			return "", errHost
		}
	}
	if label == 0 || len(host) > 253 {
		return "", errHost
	}
	host = strings.ToLower(host)
	if numeric(host[len(host)-label:]) {
		addr, err := netip.ParseAddr(host)
		if err != nil || !addr.Is4() {
			return "", errHost
		}
	}
	return host, nil
}

// numeric reports whether a browser would take a host ending in this label for
// an IPv4 address.
//
// https://url.spec.whatwg.org/#ends-in-a-number-checker
func numeric(label string) bool {
	if digits, hex := strings.CutPrefix(label, "0x"); hex {
		return strings.Trim(digits, "0123456789abcdef") == ""
	}
	return strings.Trim(label, "0123456789") == ""
}

func normalPort(port string, secure bool) (string, error) {
	if port == "" {
		return "", nil
	}
	// Atoi would accept a sign.
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || len(port) > 5 || n == 0 {
		return "", errPort
	}
	if secure && n == 443 || !secure && n == 80 {
		return "", nil
	}
	return strconv.FormatUint(n, 10), nil
}
