package pintle

import (
	"context"
	"net/http"
	"net/url"
	"regexp"

	"github.com/pintleauth/pintle/internal/handshake"
)

// Quirks adapt an [OAuth] provider to a service that deviates from the
// standards, or asks for what few others do. The zero value is a service that
// keeps to them.
//
// The clients that functions are given follow no redirects and are bounded in
// time and size. Numbers in maps are [json.Number].
type Quirks struct {
	// Complete finishes the provider once client id, client secret and issuer
	// are known, be it from the environment: some services want them in places
	// of their own. It is called by [New] with a copy it may change, maps of
	// parameters included. An error makes the configuration invalid.
	Complete func(p *OAuth) error

	// ClientSecret makes the client secret for each token request, for
	// services whose secret is a signed statement that expires.
	ClientSecret func(ctx context.Context) (string, error)

	// AssertionAudience replaces the audience of client assertions.
	AssertionAudience string

	// JWKS is the URL of the keys, for an issuer without metadata.
	JWKS string

	// TenantIssuer accepts metadata whose issuer holds the literal {tenantid},
	// which stands for the tid claim of the ID token, as Microsoft's has.
	TenantIssuer bool

	// TokenTypeOptional accepts token responses without token_type, which
	// RFC 6749 section 5.1 requires.
	TokenTypeOptional bool

	// FormTokenBody accepts token responses that are form-encoded.
	FormTokenBody bool

	// UserInfoSigningAlg says that the userinfo endpoint answers with a JWT
	// signed so.
	UserInfoSigningAlg string

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
	AmendProfile func(ctx context.Context, c *http.Client, a *ProviderAnswer) error
}

// What the functions of [Quirks] work on.
type (
	// A TokenRequest is a token request about to be sent.
	TokenRequest = handshake.TokenRequest

	// A TokenResponse is what the token endpoint answered.
	TokenResponse = handshake.TokenResponse

	// A ProviderAnswer is a sign-in whose tokens are there and checked.
	ProviderAnswer = handshake.Arrival
)
