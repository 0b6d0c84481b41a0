package origin

import (
	"fmt"
	"net/http"
	"strings"
)

// A Config determines the origin of an application.
type Config struct {
	// URL is the address users see, such as https://app.example.com/auth; only
	// its origin counts here. When set, no request header is used.
	URL string

	// TrustForwarded reads X-Forwarded-Proto and X-Forwarded-Host. It is right
	// only behind a proxy that overwrites both: anyone else could otherwise
	// choose the origin, and with it where mailed links lead. The first entry
	// of a list counts, which is the one nearest to the browser.
	TrustForwarded bool
}

// A Resolver finds the origin of requests. It may be used concurrently.
type Resolver struct {
	fixed          Origin
	trustForwarded bool
	cache          cache
}

// New checks c and returns a Resolver for it.
func New(c Config) (*Resolver, error) {
	s := &Resolver{trustForwarded: c.TrustForwarded}
	if c.URL != "" {
		fixed, err := Parse(c.URL)
		if err != nil {
			return nil, err
		}
		s.fixed = fixed
	}
	return s, nil
}

// Host returns the host of the configured URL, or "" if each request determines it.
func (s *Resolver) Host() string { return s.fixed.Host() }

// Resolve returns the origin at which the browser sees r. Forwarded,
// X-Forwarded-Port and all other headers of proxies are ignored. An invalid host,
// or a scheme other than http and https, is an error: the response
// is status 400 and contains nothing that depends on the origin.
func (s *Resolver) Resolve(r *http.Request) (Origin, error) {
	if s.fixed != "" {
		return s.fixed, nil
	}
	host, secure := r.Host, r.TLS != nil
	if s.trustForwarded {
		if proto := firstEntry(r.Header["X-Forwarded-Proto"]); proto != "" {
			switch proto = strings.TrimSuffix(proto, ":"); {
			case strings.EqualFold(proto, "https"):
				secure = true
			case strings.EqualFold(proto, "http"):
				secure = false
			default:
				return "", fmt.Errorf("origin: X-Forwarded-Proto %.20q is neither http nor https; correct the proxy", proto)
			}
		}
		if forwarded := firstEntry(r.Header["X-Forwarded-Host"]); forwarded != "" {
			host = forwarded
		}
	}
	if o, ok := s.cache.get(host, secure); ok {
		return o, nil
	}
	normal, err := normalHost(host, secure)
	if err != nil {
		return "", fmt.Errorf("origin: host %.100q of the request: %w", host, err)
	}
	o := Origin(scheme(secure) + normal)
	s.cache.put(host, secure, o)
	return o, nil
}

func scheme(secure bool) string {
	if secure {
		return "https://"
	}
	return "http://"
}

// firstEntry returns the first entry of a comma-separated header.
func firstEntry(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	entry, _, _ := strings.Cut(lines[0], ",")
	return strings.Trim(entry, " \t")
}
