package provider

import "github.com/pintleauth/pintle"

// endpoint is a URL with parameters, given as names and values in turn.
func endpoint(url string, params ...string) pintle.Endpoint {
	e := pintle.Endpoint{URL: url}
	for i := 0; i+1 < len(params); i += 2 {
		if e.Params == nil {
			e.Params = make(map[string]string, len(params)/2)
		}
		e.Params[params[i]] = params[i+1]
	}
	return e
}

// replaceEndpoints puts URLs of the host in the place of endpoints.
func replaceEndpoints(p *pintle.OAuth, authorization, token, userInfo string) {
	for _, e := range []struct {
		endpoint *pintle.Endpoint
		url      string
	}{{&p.Authorization, authorization}, {&p.Token, token}, {&p.UserInfo, userInfo}} {
		if e.url != "" {
			*e.endpoint = pintle.Endpoint{URL: e.url}
		}
	}
}
