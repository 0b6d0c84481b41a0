package pintle

import (
	"context"
	"crypto"
	"net/http"
	"regexp"
	"time"

	"github.com/pintleauth/pintle/internal/handshake"
)

// A Provider is a way to sign in: an [*OAuth], an [*Email], a [*Credentials]
// or a [*Passkey].
// The set is closed; ready-made ones are in package provider.
//
// [New] copies what it is given. A provider may be shared by configurations and
// is never changed by a request.
type Provider interface {
	base() providerBase
}

// providerBase is what all kinds have in common.
type providerBase struct {
	id, name string
	kind     ProviderType
}

// A Protocol is how an [OAuth] provider is spoken to.
type Protocol int

// The protocols.
const (
	// OAuth2 is the authorization code grant.
	//
	// https://www.rfc-editor.org/rfc/rfc6749#section-4.1
	OAuth2 Protocol = iota

	// OIDC is OAuth 2 with an ID token that is verified.
	//
	// https://openid.net/specs/openid-connect-core-1_0.html#CodeFlowAuth
	OIDC

	// OAuth1 is the protocol of RFC 5849 with HMAC-SHA1 signatures.
	//
	// https://www.rfc-editor.org/rfc/rfc5849
	OAuth1

	// OpenID2 is OpenID Authentication 2.0, checked at the provider.
	//
	// https://openid.net/specs/openid-authentication-2_0.html
	OpenID2
)

// A Check protects an authorization request against being answered by somebody
// else's response.
type Check string

// The checks of [OAuth.Checks].
const (
	// PKCE binds the code to this browser's flow with an S256 challenge.
	//
	// https://www.rfc-editor.org/rfc/rfc7636
	PKCE Check = "pkce"

	// State binds the response to this browser.
	//
	// https://www.rfc-editor.org/rfc/rfc6749#section-10.12
	State Check = "state"

	// Nonce binds the ID token to this browser's flow.
	//
	// https://openid.net/specs/openid-connect-core-1_0.html#NonceNotes
	Nonce Check = "nonce"

	// NoChecks, alone in the list, turns every check off. It leaves sign-in
	// open to forged responses and exists for services that reject all three.
	NoChecks Check = "none"
)

// An Endpoint is a URL of a provider with the parameters always sent to it.
type Endpoint struct {
	// URL may be empty when [OAuth.Issuer] is set: it is then discovered.
	URL string

	// Params are added to the query of URL. The parameter "scope" of an
	// authorization endpoint belongs here, in the service's own separator.
	Params map[string]string
}

// OAuth is a provider that a browser is sent to and comes back from. The zero
// value of every field is a working default, but for ID and the endpoints or
// the issuer.
type OAuth struct {
	// ID is the provider's name in URLs and in stored accounts.
	ID string

	// Name is shown to people. Empty means ID.
	Name string

	Protocol Protocol

	// Env is the part of environment variable names that stands for this
	// provider, for example "GITHUB" in AUTH_GITHUB_ID. Empty means ID in upper
	// case with "-" as "_".
	Env string

	// ClientID and ClientSecret are what the service gave this application.
	// Empty ones are looked up as AUTH_{Env}_ID and AUTH_{Env}_SECRET.
	ClientID     string
	ClientSecret string

	// Issuer is the issuer whose metadata is discovered and whose ID tokens are
	// accepted. Empty means AUTH_{Env}_ISSUER, if that is set.
	Issuer string

	// WellKnown is the URL of the metadata when it is not at the place that
	// follows from Issuer.
	WellKnown string

	Authorization Endpoint
	Token         Endpoint
	UserInfo      Endpoint

	// RequestToken is the temporary credentials endpoint of OAuth 1.0a.
	RequestToken Endpoint

	// Checks are the protections of the flow. Nil means PKCE alone.
	Checks []Check

	// ClientAuth is how the client authenticates at the token endpoint:
	// client_secret_basic (the default), client_secret_post, client_secret_jwt,
	// private_key_jwt or none.
	//
	// https://openid.net/specs/openid-connect-core-1_0.html#ClientAuthentication
	ClientAuth string

	// PrivateKey signs the assertions of private_key_jwt. PrivateKeyID is its
	// key id at the service.
	PrivateKey   crypto.Signer
	PrivateKeyID string

	// SigningAlg is the only algorithm accepted for ID tokens. Empty means what
	// the metadata lists, without "none" and the symmetric ones.
	SigningAlg string

	// ProfileFromUserInfo takes the profile of an OIDC provider from its
	// userinfo endpoint instead of the ID token.
	ProfileFromUserInfo bool

	// MaxAge is the longest time since the person last proved to an OIDC
	// provider who they are. Zero means any time.
	//
	// https://openid.net/specs/openid-connect-core-1_0.html#AuthRequest
	MaxAge time.Duration

	// Profile maps what the provider said to a user whose ID is the provider's
	// id of the account. An error, or an empty ID, ends the sign-in. The
	// account has the tokens of the response. Nil takes the standard claims.
	Profile func(p Profile, a *Account) (*User, error)

	// Account chooses what of an account is stored. It gets a copy it may
	// change and return; nil stores no tokens. A nil function keeps the fields
	// of [Account] and drops Extra.
	Account func(a *Account) *Account

	// AllowDangerousEmailAccountLinking lets a person who signs in with this
	// provider into an existing user with the same address. Whoever can make
	// the provider report an address then owns that user: set it only for
	// providers that verify addresses.
	AllowDangerousEmailAccountLinking bool

	// RedirectURL replaces the callback URL that is sent to the provider. The
	// URL must lead to this application's callback route all the same.
	RedirectURL string

	// RedirectProxyURL overrides [Config.RedirectProxyURL].
	RedirectProxyURL string

	// HTTPClient makes the requests to the provider. Nil means
	// [Config.HTTPClient].
	HTTPClient *http.Client

	// AllowInsecure permits endpoints without TLS that are not on loopback.
	AllowInsecure bool

	// Quirks adapts to services that deviate from the standards.
	Quirks Quirks

	// Style is how the sign-in page shows the provider.
	Style Style
}

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

// Style is how a provider looks on the sign-in page.
type Style struct {
	// BrandColor is a CSS colour for the button. Text on it is made readable.
	BrandColor string

	// Logo is the URL of an image, or empty for the built-in mark.
	Logo string
}

func (p *OAuth) base() providerBase {
	kind := TypeOAuth
	if p.Protocol == OIDC {
		kind = TypeOIDC
	}
	return providerBase{id: p.ID, name: p.Name, kind: kind}
}

// Email is a provider that signs people in by a link in a mail.
type Email struct {
	// ID is the provider's name in URLs. Empty means "email".
	ID string

	// Name is shown to people. Empty means "Email".
	Name string

	// From is the sender. Empty leaves it to the Send function.
	From string

	// MaxAge is how long a link works. Zero means 24 hours.
	MaxAge time.Duration

	// Secret is hashed with the token of a link. Empty means [Config.Secrets].
	Secret string

	// Send delivers the message. It should return as soon as the mail server
	// has taken responsibility, and honour ctx.
	Send func(ctx context.Context, m *Message) error

	// Normalize turns what a person typed into an address, or fails. Nil means
	// lower case, Unicode compatibility form, and one well-formed address.
	Normalize func(address string) (string, error)

	// GenerateToken makes the token of a link. Nil means 256 random bits.
	GenerateToken func() (string, error)

	// Confirm shows a page with a button when a link is opened, so that only a
	// person, and no mail scanner, can use it up.
	Confirm bool

	Style Style
}

// A Message is a mail with a sign-in link, ready to be sent.
type Message struct {
	From    string
	To      string
	Subject string
	Text    string
	HTML    string

	// URL is the link, in which whoever has it is signed in: it must appear in
	// no log.
	URL string

	// Token is the token in the link.
	Token string

	// Expires is when the link stops working.
	Expires time.Time

	// Provider is the id of the provider.
	Provider string

	// Theme is the look of the host's pages.
	Theme Theme

	// Request is the request that asked for the mail. Its body has been read.
	Request *http.Request
}

func (p *Email) base() providerBase {
	return providerBase{id: orDefault(p.ID, "email"), name: orDefault(p.Name, "Email"), kind: TypeEmail}
}

// Credentials is a provider that checks what a person typed into a form: a
// password in the host's own table, a directory, a one-time code.
type Credentials struct {
	// ID is the provider's name in URLs. Empty means "credentials".
	ID string

	// Name is shown to people. Empty means "Credentials".
	Name string

	// Fields are the inputs of the form on the sign-in page. Nil means a user
	// name and a password; an empty list shows no form.
	Fields []Field

	// Authorize checks what was submitted. It returns the user, or nil when the
	// submission is wrong. An [*Error] with [ErrCredentials] chooses the code
	// that the sign-in page is given; any other error is a fault of the
	// application, which the person sees as one.
	//
	// It is called for every attempt: limiting them is up to the host.
	Authorize func(ctx context.Context, c *Submission) (*User, error)

	Style Style
}

// A Submission is what a person sent to a [Credentials] provider.
type Submission struct {
	// Fields are all members of the body, by their names. From a form they are
	// text; from JSON they may be anything encoding/json makes, with
	// json.Number for numbers.
	Fields map[string]any

	// Request is the request. Its body has been read.
	Request *http.Request
}

// Text returns the named field if it is text, and otherwise the empty string.
func (s *Submission) Text(name string) string {
	text, _ := s.Fields[name].(string)
	return text
}

// A Field is an input of a form on the sign-in page.
type Field struct {
	// Name is the name that [Submission.Fields] has it under.
	Name string

	// Label is shown beside the input. Empty means Name.
	Label string

	// Type is the type of the input. Empty means "text".
	Type string

	Placeholder string

	// Attributes are further HTML attributes of the input, such as
	// autocomplete. Event handlers and style are refused.
	Attributes map[string]string
}

func (p *Credentials) base() providerBase {
	return providerBase{id: orDefault(p.ID, "credentials"), name: orDefault(p.Name, "Credentials"), kind: TypeCredentials}
}

func orDefault(value, fallback string) string {
	if value == "" {
		return fallback
	}
	return value
}
