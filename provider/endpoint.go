package provider

import (
	"maps"
	"net/url"

	"github.com/pintleauth/pintle/oauth"
)

// endpoint is a URL with parameters, given as names and values in turn.
func endpoint(url string, params ...string) oauth.Endpoint {
	e := oauth.Endpoint{URL: url}
	for i := 0; i+1 < len(params); i += 2 {
		if e.Params == nil {
			e.Params = make(map[string]string, len(params)/2)
		}
		e.Params[params[i]] = params[i+1]
	}
	return e
}

// at returns the endpoint at another URL, if the host gave one. Parameters that
// the URL has replace those of the endpoint; the others, such as the scope, stay.
func at(e oauth.Endpoint, address string) oauth.Endpoint {
	if address == "" {
		return e
	}
	moved := oauth.Endpoint{URL: address, Params: maps.Clone(e.Params)}
	if u, err := url.Parse(address); err == nil { // New rejects any other
		for name := range u.Query() {
			delete(moved.Params, name)
		}
	}
	return moved
}
