// Package endpoint carries what a request to a provider is for, from where it is made to the
// observer of the requests. Its URL does not tell: two endpoints may have one, and some have what a
// provider calls a user in it.
package endpoint

import "context"

// The endpoints of providers.
const (
	Discovery    = "discovery"
	Keys         = "jwks"
	Push         = "par"
	Token        = "token"
	UserInfo     = "userinfo"
	Revocation   = "revocation"
	RequestToken = "request_token"        // of OAuth 1.0a
	Assertion    = "check_authentication" // of OpenID 2.0
	Reach        = "reach"                // a request that only looks whether the server answers
)

type key struct{}

// With returns a context for a request to an endpoint.
func With(ctx context.Context, endpoint string) context.Context {
	return context.WithValue(ctx, key{}, endpoint)
}

// Of returns the endpoint of a request with a context, or "".
func Of(ctx context.Context) string {
	endpoint, _ := ctx.Value(key{}).(string)
	return endpoint
}
