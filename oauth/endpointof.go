package oauth

import (
	"context"

	"github.com/pintleauth/pintle/internal/endpoint"
)

// EndpointOf returns the endpoint of a provider to which a request with a context goes that
// pintle.Observer.Transport sends: "discovery", "jwks", "par", "token", "userinfo", "revocation",
// "request_token" of OAuth 1.0a, "check_authentication" of OpenID 2.0, or "reach" for one that only
// looks whether the server answers. It is "" for all other requests, such as those of mails.
func EndpointOf(ctx context.Context) string { return endpoint.Of(ctx) }
