package handshake

import (
	"cmp"
	"context"
	"crypto"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/pintleauth/pintle/internal/dpop"
	"github.com/pintleauth/pintle/internal/publicnet"
	"github.com/pintleauth/pintle/internal/query"
	"github.com/pintleauth/pintle/oauth"
)

// A Provider is the configuration of one OAuth 2 or OpenID Connect provider for
// one application. Its fields are read-only after the first call; its methods may
// be called concurrently. It must not be copied after first use, because it caches
// the discovery document and the keys.
type Provider struct {
	// ID names the provider in errors. Env stands for it in the environment
	// variables that they recommend, AUTH_{Env}_ID and AUTH_{Env}_SECRET; empty
	// means ID in capitals with "-" as "_".
	ID, Env string

	// OIDC requires an ID token and uses its claims as the profile.
	OIDC bool

	// Issuer is compared with the discovery document, with the iss parameter
	// of the callback and with ID tokens. Endpoints without a URL are
	// discovered from it. WellKnown is the URL of its document, if it is not
	// Issuer + "/.well-known/openid-configuration".
	Issuer, WellKnown string

	// OtherIssuer is a second name that the provider has for itself in tokens of its
	// SDKs. [Provider.VerifyUnsolicited] accepts it, and nothing else does.
	OtherIssuer string

	// TenantIssuer allows "{tenantid}" in the discovered issuer. It stands for
	// the tid claim of each ID token, as with the common endpoints of Microsoft
	// Entra ID.
	TenantIssuer bool

	ClientID, ClientSecret string

	// ClientSecretFunc makes a secret for each token request: that of Apple is
	// a JWT that expires. It replaces ClientSecret there.
	ClientSecretFunc func(context.Context) (string, error)

	// Authorization, Token and UserInfo may each be empty, or have Params
	// only, if there is an Issuer to discover them from. JWKS is the URL of
	// the keys, for providers without a discovery document.
	Authorization, Token, UserInfo Endpoint
	JWKS                           string

	// EndSessionEndpoint is for [Provider.EndSessionURL]. Without a URL it is discovered,
	// if there is an Issuer or WellKnown, whatever else is configured.
	EndSessionEndpoint Endpoint

	// Revocation is for [Provider.Revoke]. Without a URL it is discovered, if there is
	// an Issuer or WellKnown.
	Revocation Endpoint

	// PKCE, State and Nonce are the checks that each sign-in must have. Without
	// State, a state that is passed to Begin and Validate is still sent and
	// compared.
	PKCE, State, Nonce bool

	// AuthMethod is how the client authenticates to the token endpoint:
	// client_secret_basic (the default), client_secret_post,
	// client_secret_jwt, private_key_jwt or none. PrivateKey signs for
	// private_key_jwt, with the usual algorithm of the key (RS256, ES256,
	// ES384, ES512, EdDSA); PrivateKeyID is its kid.
	//
	// ClientKeys are an alternative to PrivateKey: the first signs. With them the
	// default is private_key_jwt.
	AuthMethod   string
	PrivateKey   crypto.Signer
	PrivateKeyID string
	ClientKeys   []oauth.ClientKey

	// AssertionFile is the path of a file with a client assertion, and Assertion a
	// function that returns one for an audience. Either takes the place of the keys and
	// the secret.
	AssertionFile string
	Assertion     func(ctx context.Context, audience string) (string, error)

	// AssertionType is the typ of assertions that are made here. Empty sends none.
	AssertionType string

	// AssertionAudience replaces the audience of client assertions. If empty, it
	// is the issuer, or the token endpoint of a provider without an issuer.
	AssertionAudience string

	// PushedAuthorization is where the parameters of a sign-in are pushed to, if Push
	// says so. Without a URL it is discovered.
	PushedAuthorization Endpoint
	Push                oauth.Push

	// Resources are the APIs that tokens are for (RFC 8707).
	Resources []string

	// RequireIssuer rejects a callback without the parameter iss, whether or not the
	// metadata promises it.
	RequireIssuer bool

	// DPoP binds tokens to the key of Proofs, which is for the provider. APIProofs has
	// the same key, and is for its userinfo endpoint and other APIs. Both must be set
	// with DPoP or FAPI.
	DPoP              oauth.DPoP
	Proofs, APIProofs *dpop.Prover

	// FAPI requires what the FAPI 2.0 Security Profile does.
	FAPI bool

	// SigningAlg is the only algorithm accepted for ID tokens. Empty means the
	// asymmetric ones of the discovery document, or RS256; HS256, HS384 and
	// HS512, keyed by ClientSecret, are accepted only if named here.
	SigningAlg string

	// UserInfoSigningAlg requires the userinfo endpoint to return a JWT signed
	// with this algorithm. Plain JSON is then rejected.
	UserInfoSigningAlg string

	// MaxAge is the longest time since the user last authenticated to an OIDC
	// provider. It is sent as max_age and compared with auth_time. Zero means no
	// limit.
	MaxAge time.Duration

	// ProfileFromUserInfo fetches the profile of an OIDC provider from its
	// userinfo endpoint. Its subject must be that of the ID token.
	ProfileFromUserInfo bool

	// TokenTypeOptional treats a token response without token_type as bearer:
	// some providers leave it out (quirk Q13).
	TokenTypeOptional bool

	// FormTokenBody also accepts a token response in form encoding.
	FormTokenBody bool

	Hooks

	// Client makes the requests. Nil means the default transport. Redirects are
	// not followed and cookies not kept, regardless of its settings.
	Client *http.Client

	// Timeout bounds each request, body included. Zero means 10 seconds.
	Timeout time.Duration

	// KeysMaxAge is the longest time for which a key that was fetched verifies
	// signatures. Zero means four hours, which count while the provider does not
	// answer; otherwise keys are fetched again after at most an hour.
	KeysMaxAge time.Duration

	// ClockSkew is how far the clock of the provider and that of this host may be apart.
	// Zero means half a minute.
	ClockSkew time.Duration

	// OldCopy, if it is not nil, is called when an older copy is used because a fetch
	// failed with err: at once, and then at most every ten minutes. document is
	// "metadata" or "keys", and since is when the copy was fetched.
	OldCopy func(ctx context.Context, document string, since time.Time, err error)

	// PublicOnly rejects addresses, configured ones and those of the metadata, that
	// are not of a public service: see [publicnet.CheckURL]. Client must use
	// [publicnet.Transport]. PublicPorts are permitted beside 443.
	PublicOnly  bool
	PublicPorts []int

	// AllowInsecure permits http to other machines. It exposes the client
	// secret and every token to the network: for test networks only.
	AllowInsecure bool

	once    sync.Once
	guarded *http.Client // set by once
	found   cell[*metadata]

	assertedIn assertionFile
	keys       cell[*keySet]
	renewal    allowance // of keys, because of a token that the provider sent

	unsolicited unsolicited
}

// An Endpoint is an address at a provider. Each of Params is set on the query
// of URL, or of the discovered URL if URL is empty; an empty value removes the
// parameter.
type Endpoint struct {
	URL    string
	Params query.Values
}

// Hooks are the code that single providers need. Each may be nil. The clients
// that they receive follow no redirects and are bounded in time and size; [Fetch]
// reads JSON with such a client.
type Hooks struct {
	// Discovered may change the discovery document before it is read.
	Discovered func(document map[string]any) error

	// TokenRequest may change a token request, client authentication included.
	TokenRequest func(*oauth.TokenRequest) error

	// Exchange sends a token request in another way, for endpoints that do not
	// accept a form.
	Exchange func(context.Context, *http.Client, *oauth.TokenRequest) (*oauth.TokenResponse, error)

	// TokenResponse may repair a token response before it is checked, or return
	// the error that it means: a [*ResponseError] is reported like one that came
	// with the browser.
	TokenResponse func(*oauth.TokenResponse) error

	// CheckClaims may reject the verified claims of an ID token, for rules
	// such as which tenants or hosted domains may sign in.
	CheckClaims func(claims map[string]any) error

	// FetchProfile replaces the userinfo request. A nil profile is an error.
	FetchProfile func(ctx context.Context, c *http.Client, tokens map[string]any) (map[string]any, error)

	// AmendProfile may add to the profile, from the parameters of the callback
	// or by a further request.
	AmendProfile func(ctx context.Context, c *http.Client, a *oauth.Answer) error
}

// A Result is the provider's response about the user who signed in. It holds
// credentials and hides them from [log/slog].
type Result struct {
	// Tokens has the members of the token response, with token_type in lower
	// case, expires_in as a number, and expires_at (int64, seconds since 1970)
	// added when the tokens expire.
	Tokens map[string]any

	// Profile is the raw profile, for the provider's mapping to read.
	Profile map[string]any

	// IDTokenClaims are those of the verified ID token. They are nil without an
	// ID token, or without a key to verify it with. An unverified ID token is
	// kept as text in Tokens, and its claims are not used.
	IDTokenClaims map[string]any
}

// LogValue logs the number of members, not their values.
func (r *Result) LogValue() slog.Value {
	return slog.GroupValue(slog.Int("tokens", len(r.Tokens)), slog.Int("profile", len(r.Profile)))
}

// LogValue leaves out the credentials.
func (p *Provider) LogValue() slog.Value { return slog.StringValue(p.ID) }

// Check reports the faults of p that can be found without a request: missing or
// unencrypted endpoints, unknown methods and algorithms.
func (p *Provider) Check() error {
	var errs []error
	problem := func(format string, args ...any) { errs = append(errs, p.errorf(format, args...)) }

	discoverable := p.Issuer != "" || p.WellKnown != ""
	// Without discovery OpenID Connect lacks the issuer, whose metadata names the endpoints.
	given := !discoverable && !p.OIDC
	for _, e := range []struct {
		name, url string
		needed    bool
	}{
		{"Issuer", p.Issuer, p.OIDC && p.WellKnown == ""},
		{"WellKnown", p.WellKnown, false},
		{"Authorization.URL", p.Authorization.URL, given},
		{"Token.URL", p.Token.URL, given},
		{"UserInfo.URL", p.UserInfo.URL, given && p.usesUserInfo()},
		{"JWKS", p.JWKS, false},
		{"EndSession.URL", p.EndSessionEndpoint.URL, false},
		{"Revocation.URL", p.Revocation.URL, false},
		{"PushedAuthorization.URL", p.PushedAuthorization.URL, p.Push == oauth.PushAlways && given},
	} {
		if e.url == "" {
			switch issuer := variable(p.ID, p.Env, "ISSUER"); {
			case e.needed && e.name == "Issuer":
				problem("Issuer is missing: set it in the provider's options or in %s", issuer)
			case e.needed:
				problem("%s is missing: set it, or Issuer (%s) to an issuer whose metadata has it", e.name, issuer)
			}
			continue
		}
		u, err := p.parseURL(e.url)
		if err == nil && p.PublicOnly && e.name == "Issuer" && (u.RawQuery != "" || u.ForceQuery) {
			err = errors.New("an issuer has no query")
		}
		if err != nil {
			problem("%s: %w", e.name, err)
		}
	}
	errs = append(errs, p.checkAuthMethod(), p.checkCredentials(), p.checkResources())
	errs = append(errs, p.checkFAPI()...)
	if mode := p.responseMode(); strings.HasSuffix(mode, "jwt") {
		problem("Authorization: response_mode %s asks for signed answers (JARM), which are not supported", clip(mode))
	}
	if p.RequireIssuer && !discoverable {
		problem("RequireIssuerParameter needs the Issuer, which the parameter is compared with")
	}
	if p.Push < oauth.PushWhenRequired || p.Push > oauth.PushNever {
		problem("there is no Push %d: use a constant of package oauth", p.Push)
	}
	if p.DPoP < 0 || p.DPoP > oauth.DPoPWhenOffered {
		problem("there is no DPoP %d: use a constant of package oauth", p.DPoP)
	}
	if p.SigningAlg != "" && !isAsymmetric(p.SigningAlg) && !isSymmetric(p.SigningAlg) {
		problem("SigningAlg %q is not supported", p.SigningAlg)
	}
	if p.UserInfoSigningAlg != "" && !isAsymmetric(p.UserInfoSigningAlg) {
		problem("UserInfoSigningAlg %q is not supported", p.UserInfoSigningAlg)
	}
	if p.KeysMaxAge != 0 && p.KeysMaxAge < minKeysAge {
		problem("KeysMaxAge is %s: set it to %s or longer, or leave it out", p.KeysMaxAge, minKeysAge)
	}
	if p.ClockSkew < 0 || p.ClockSkew > maxClockSkew {
		problem("ClockSkew is %s: set it to %s at most, or leave it out", p.ClockSkew, maxClockSkew)
	}
	if p.MaxAge > 0 && !p.OIDC {
		problem("MaxAge needs an OIDC provider: only ID tokens have an auth_time")
	}
	return errors.Join(errs...)
}

// Skew returns how far the clock of the provider and that of this host may be apart.
func (p *Provider) Skew() time.Duration { return cmp.Or(p.ClockSkew, clockSkew) }

// responseMode returns the response_mode that is configured.
func (p *Provider) responseMode() string {
	if mode, ok := p.Authorization.Params.Last("response_mode"); ok {
		return mode
	}
	u, err := url.Parse(p.Authorization.URL)
	if err != nil {
		return "" // reported elsewhere
	}
	return u.Query().Get("response_mode")
}

// usesUserInfo reports whether a sign-in requests the userinfo endpoint. Requiring
// an endpoint that is not used would exclude providers such as Apple (quirk Q15).
func (p *Provider) usesUserInfo() bool {
	return p.FetchProfile == nil && (!p.OIDC || p.ProfileFromUserInfo)
}

// requiresIDToken reports whether a sign-in without an ID token fails. With Nonce
// it does, since only the ID token carries the nonce back.
func (p *Provider) requiresIDToken() bool { return p.OIDC || p.Nonce }

// client returns the guarded client, made once so that connections are reused.
func (p *Provider) client() *http.Client {
	p.once.Do(func() {
		p.guarded = guardedClient(p.Client, p.Timeout, p.AllowInsecure)
	})
	return p.guarded
}

// parseURL parses an address the application configured.
func (p *Provider) parseURL(raw string) (*url.URL, error) {
	u, err := parseURL(raw, p.AllowInsecure)
	if err != nil {
		return nil, err
	}
	return u, p.checkPublic(u)
}

// checkPublic rejects an address that is not of a public service, where only those
// are permitted.
func (p *Provider) checkPublic(u *url.URL) error {
	switch {
	case !p.PublicOnly:
		return nil
	case u.Fragment != "":
		return errors.New("the URL has a fragment")
	case len(u.String()) > maxPublicURL:
		return fmt.Errorf("the URL is longer than %d bytes", maxPublicURL)
	}
	return publicnet.CheckURL(u, p.PublicPorts...)
}

// errorf names the provider in an error.
func (p *Provider) errorf(format string, args ...any) error { return errorOf(p.ID, format, args...) }
