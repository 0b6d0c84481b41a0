package passkey

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// A relyingParty is the site as authenticators identify it.
type relyingParty struct {
	id, name string
	origins  []string
}

// relyingParty returns the site of a request.
func (c *ceremony) relyingParty(origin string) (*relyingParty, error) {
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("passkey: the site has no usable origin %q", origin)
	}
	rp := &relyingParty{id: c.RPID, name: c.RPName, origins: c.Origins}
	if rp.id == "" {
		rp.id = u.Hostname()
	}
	if rp.name == "" {
		rp.name = u.Host
	}
	if len(rp.origins) == 0 {
		rp.origins = []string{origin}
	}
	if !slices.Contains(rp.origins, origin) {
		return nil, fmt.Errorf("passkey: the site is served at %s, which is not in passkey.Options.Origins", origin)
	}
	if !belongs(u.Hostname(), rp.id) {
		return nil, fmt.Errorf("passkey: no browser at %s uses passkeys of passkey.Options.RPID %q", origin, rp.id)
	}
	return rp, nil
}

// belongs reports whether a host may use the passkeys of a domain. It does not
// reject public suffixes: browsers do that, with their list.
//
// https://html.spec.whatwg.org/multipage/browsers.html#is-a-registrable-domain-suffix-of-or-is-equal-to
func belongs(host, domain string) bool {
	return host == domain || strings.HasSuffix(host, "."+domain)
}

// checkOrigins rejects values that no browser sends, which would never match.
func (c *ceremony) checkOrigins() error {
	if c.RPID != strings.ToLower(c.RPID) || strings.ContainsAny(c.RPID, ":/ ") {
		return fmt.Errorf("passkey.Options.RPID is %q: it must be a domain in lower case, without scheme or port", c.RPID)
	}
	for field, origins := range map[string][]string{"Origins": c.Origins, "TopOrigins": c.TopOrigins} {
		for _, origin := range origins {
			u, err := url.Parse(origin)
			if err != nil || u.Scheme == "" {
				return fmt.Errorf("passkey.Options.%s has %q: it must be an origin such as https://app.example.com", field, origin)
			}
			if u.Opaque != "" && field == "Origins" {
				continue // an application's
			}
			if u.Host == "" || origin != u.Scheme+"://"+strings.ToLower(u.Host) {
				return fmt.Errorf("passkey.Options.%s has %q: it must be a scheme and a host in lower case, without a path", field, origin)
			}
			if field == "Origins" && c.RPID != "" && !belongs(u.Hostname(), c.RPID) {
				return fmt.Errorf("passkey.Options.Origins has %q, where no browser uses passkeys of passkey.Options.RPID %q", origin, c.RPID)
			}
		}
	}
	return nil
}
