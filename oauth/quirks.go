package oauth

import (
	"context"
	"net/http"
	"net/url"
	"regexp"
)

// Quirks adapt a provider to a service that deviates from the
// standards, or requires what few others do. The zero value is a service that
// keeps to them.
//
// The clients that functions are given follow no redirects and are bounded in
// time and size. Numbers in maps are [json.Number].
type Quirks struct {
	// ClientSecret makes the client secret for each token request, for
	// services whose secret is a signed statement that expires.
	ClientSecret func(ctx context.Context) (string, error)

	// AssertionAudience replaces the audience of client assertions, which is the
	// issuer, for services that accept only the URL of their token endpoint. It
	// must be an address of this service: an assertion with the audience of another
	// one could be used there.
	AssertionAudience string

	// AssertionType is the typ in the header of client assertions, such as
	// "client-authentication+jwt". Empty sends none, except with [FAPI2].
	AssertionType string

	// AssertionFileVariable names an environment variable in which a platform puts the
	// path of a client assertion. It is read if the client has no other credential.
	AssertionFileVariable string

	// JWKS is the URL of the keys, for an issuer without metadata.
	JWKS string

	// OtherIssuer is a second name of the issuer in ID tokens of the service's SDKs, for
	// the route of AcceptIDTokens.
	OtherIssuer string

	// TenantIssuer accepts metadata whose issuer holds the literal {tenantid},
	// which stands for the tid claim of the ID token, as Microsoft's has.
	TenantIssuer bool

	// TokenTypeOptional accepts token responses without token_type, which
	// RFC 6749 section 5.1 requires.
	TokenTypeOptional bool

	// FormTokenBody accepts token responses that are form-encoded.
	FormTokenBody bool

	// UserInfoSigningAlg is the algorithm of a userinfo endpoint that answers
	// with a signed JWT.
	UserInfoSigningAlg Algorithm

	// ClaimedID matches the identifiers of an [OpenID2] provider as a whole;
	// its first group is the account id.
	ClaimedID *regexp.Regexp

	// Metadata may change a discovered metadata document before it is read.
	Metadata func(document map[string]any) error

	// Leave may change the URL a browser is sent to, and Return the parameters
	// it comes back with, before anything is checked: for services that are
	// like OAuth 2 but for their names.
	Leave  func(u *url.URL) error
	Return func(params map[string]string) error

	// EndSession may change the URL at which a browser ends its session at the
	// provider, for services that have other names for the parameters.
	EndSession func(u *url.URL) error

	// TokenRequest may change a token request, client authentication included.
	TokenRequest func(*TokenRequest) error

	// Exchange sends a token request in another way than as a form.
	Exchange func(context.Context, *http.Client, *TokenRequest) (*TokenResponse, error)

	// TokenResponse may repair a token response before it is judged.
	TokenResponse func(*TokenResponse) error

	// CheckClaims may refuse the verified claims of an ID token.
	CheckClaims func(claims map[string]any) error

	// FetchProfile replaces the userinfo request. tokens is the token response.
	FetchProfile func(ctx context.Context, c *http.Client, tokens map[string]any) (map[string]any, error)

	// AmendProfile may add to the profile, from the parameters of the callback
	// or by a further request.
	AmendProfile func(ctx context.Context, c *http.Client, a *Answer) error
}

// A TokenRequest is a token request about to be sent, by POST. A function of
// [oauth.Quirks] may change it.
type TokenRequest struct {
	// URL is the token endpoint.
	URL string

	// Header has the client authentication, where that is in a header.
	Header http.Header

	// Form is the body.
	Form url.Values

	// Callback has the parameters of the callback. It is nil on a refresh.
	Callback map[string]string
}

// A TokenResponse is the answer of the token endpoint. A function of [oauth.Quirks]
// may change it.
type TokenResponse struct {
	// Status is the status code of the response.
	Status int

	// Header is that of the response.
	Header http.Header

	// Body is the JSON object of the response. It is nil when the body was no
	// such object.
	Body map[string]any
}

// An Answer is a sign-in whose tokens have been received and checked.
type Answer struct {
	// Callback has the parameters of the callback. They are not signed.
	Callback map[string]string

	// Tokens is the token response.
	Tokens map[string]any

	// Claims are those of the verified ID token. It is nil without one.
	Claims map[string]any

	// Profile may be changed in place.
	Profile map[string]any
}
