package origin

import (
	"errors"
	"fmt"
	"strings"

	"github.com/pintleauth/pintle/internal/loopback"
)

// An Origin is a scheme, host and port as browsers write them, such as
// "https://app.example.test" or "http://[::1]:8080": lower case, without a
// default port, a path or a trailing slash.
type Origin string

// Secure reports whether the origin is reached over TLS, which decides the
// names and the Secure flag of cookies.
func (o Origin) Secure() bool { return strings.HasPrefix(string(o), "https://") }

// Host returns the host, with its port unless that is the default one.
func (o Origin) Host() string {
	_, host, _ := strings.Cut(string(o), "://")
	return host
}

// Loopback reports whether the origin is on this machine; see [loopback.Host].
func (o Origin) Loopback() bool {
	name, _ := cutPort(o.Host())
	return loopback.Host(strings.TrimSuffix(strings.TrimPrefix(name, "["), "]"))
}

// Parse returns the origin of a URL from the configuration, whose path and
// query are ignored. The host must be in ASCII.
func Parse(rawURL string) (Origin, error) {
	u, err := parseURL(rawURL)
	switch {
	case err != nil:
		return "", fmt.Errorf("origin: %q: %w; use a URL such as https://app.example.com", rawURL, err)
	case !u.web():
		return "", fmt.Errorf("origin: %q is not an http or https URL; use one such as https://app.example.com", rawURL)
	case u.userinfo:
		return "", errors.New("origin: the URL has a user name in it; remove it")
	case u.origin == "":
		return "", fmt.Errorf("origin: the host of %q is not a plain ASCII host name; write it in its xn-- form", rawURL)
	}
	return u.origin, nil
}
