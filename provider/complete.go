package provider

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// completing makes f finish p after its variables are read and its other
// completions have run.
func completing(p *pintle.OAuth, f func(own *pintle.OAuth) error) *pintle.OAuth {
	before := p.Complete
	p.Complete = func(own *pintle.OAuth) error {
		if before != nil {
			if err := before(own); err != nil {
				return err
			}
		}
		return f(own)
	}
	return p
}

// onServer makes the paths in the endpoints of p addresses on the server that
// the issuer names. The server is no issuer of anything itself: a plain OAuth 2
// provider does not keep it.
func onServer(p *pintle.OAuth, fallback string) *pintle.OAuth {
	return completing(p, func(own *pintle.OAuth) error {
		server, err := address(own, fallback)
		if err != nil {
			return err
		}
		for _, e := range []*oauth.Endpoint{&own.Authorization, &own.Token, &own.UserInfo, &own.Revocation} {
			if strings.HasPrefix(e.URL, "/") {
				e.URL = server + e.URL
			}
		}
		if own.Protocol == oauth.OIDC {
			own.Issuer = cmp.Or(own.Issuer, fallback)
		} else {
			own.Issuer = ""
		}
		return nil
	})
}

// address returns the issuer of p without slashes at its end.
func address(p *pintle.OAuth, fallback string) (string, error) {
	given := cmp.Or(p.Issuer, fallback)
	if given == "" {
		return "", fmt.Errorf("provider %q: Options.Issuer is empty: set it to the address of the server, or set AUTH_%s_ISSUER", p.ID, variable(p))
	}
	u, err := url.Parse(given)
	if err != nil || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		return "", errors.New("Options.Issuer is not the address of a server: https://host, and a path if it has one")
	}
	return strings.TrimRight(given, "/"), nil
}

// variable is the part of the names of variables that stands for p.
func variable(p *pintle.OAuth) string {
	if p.Env != "" {
		return p.Env
	}
	return strings.ReplaceAll(strings.ToUpper(p.ID), "-", "_")
}

// defaultIssuer fills in an issuer that neither the host nor a variable gave.
func defaultIssuer(p *pintle.OAuth, issuer string) *pintle.OAuth {
	return completing(p, func(own *pintle.OAuth) error {
		own.Issuer = cmp.Or(own.Issuer, issuer)
		return nil
	})
}

// issuerPath adds the path of the service's issuers to one that is only the
// address of the tenant.
func issuerPath(p *pintle.OAuth, path string) *pintle.OAuth {
	return completing(p, func(own *pintle.OAuth) error {
		if own.Issuer != "" && !strings.HasSuffix(strings.TrimRight(own.Issuer, "/"), path) {
			own.Issuer = strings.TrimRight(own.Issuer, "/") + path
		}
		return nil
	})
}
