package pintle

import (
	"cmp"
	"crypto"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/pintleauth/pintle/internal/query"
	"github.com/pintleauth/pintle/oauth"
	"github.com/pintleauth/pintle/pages"
)

// OAuth is a provider that a browser is sent to and comes back from. The zero
// value of every field is a working default, but for ID and the endpoints or
// the issuer.
type OAuth struct {
	// ID is the provider's name in URLs and in stored accounts.
	ID string

	// Name is shown to people. Empty means ID.
	Name string

	Protocol oauth.Protocol

	// Env is the part of environment variable names that stands for this
	// provider, for example "GITHUB" in AUTH_GITHUB_ID. Empty means ID in upper
	// case with "-" as "_".
	Env string

	// ClientID and ClientSecret are the client credentials from the service.
	// Empty ones are looked up as AUTH_{Env}_ID and AUTH_{Env}_SECRET. [New]
	// rejects a provider that lacks one it needs: a public client, whose
	// ClientAuth is [oauth.PublicClient], needs no secret.
	ClientID     string
	ClientSecret string

	// Issuer is the issuer whose metadata is discovered and whose ID tokens are
	// accepted. Empty means AUTH_{Env}_ISSUER, if that is set.
	Issuer string

	// WellKnown is the URL of the metadata when it is not at the place that
	// follows from Issuer.
	WellKnown string

	Authorization oauth.Endpoint
	Token         oauth.Endpoint
	UserInfo      oauth.Endpoint

	// RequestToken is the temporary credentials endpoint of OAuth 1.0a.
	RequestToken oauth.Endpoint

	// Checks are the protections of the flow beside a state, which is always
	// sent, kept and compared. Nil means PKCE.
	Checks []oauth.Check

	// ClientAuth is how the client authenticates at the token endpoint. Empty
	// means [oauth.ClientSecretBasic].
	ClientAuth oauth.ClientAuth

	// PrivateKey signs the assertions of [oauth.PrivateKeyJWT]. PrivateKeyID is its
	// key id at the service.
	PrivateKey   crypto.Signer
	PrivateKeyID string

	// SigningAlg is the only algorithm accepted for ID tokens. Empty means what
	// the metadata lists, without "none" and the symmetric ones.
	SigningAlg oauth.Algorithm

	// ProfileFromUserInfo takes the profile of an OIDC provider from its
	// userinfo endpoint instead of the ID token.
	ProfileFromUserInfo bool

	// MaxAge is the longest time since the user last authenticated at an OIDC
	// provider. Zero means any time.
	//
	// https://openid.net/specs/openid-connect-core-1_0.html#AuthRequest
	MaxAge time.Duration

	// KeysMaxAge is how long at most a key of the provider's verifies ID tokens
	// after it was fetched: when the provider withdraws a key, it is refused after
	// this time whatever happens. Zero means four hours. They count while the
	// provider does not answer; otherwise the keys are fetched again within the hour.
	// [New] rejects less than five minutes.
	KeysMaxAge time.Duration

	// Profile maps the profile from the provider to a user whose ID is the
	// provider's id of the account. An error ends the sign-in. An empty ID ends
	// it too if there is a [Config.Store]; without one a user with a name or an
	// address is given a random id, which differs at the next sign-in. The
	// account has the tokens of the response. Nil takes the standard claims,
	// and a missing id ends the sign-in.
	Profile func(p Profile, a *Account) (*User, error)

	// StoreAccount chooses what of an account is stored. It gets a copy it may
	// change and return; nil stores no tokens. A nil function keeps the fields
	// of [Account] and drops Extra.
	StoreAccount func(a *Account) *Account

	// StoreTokensAtSignIn stores the tokens of every sign-in with an account, and not only
	// those with which it was linked. They replace the stored ones, but for a refresh
	// token that the provider does not send again. If the account has a refresh token and
	// a scope that the sign-in has not, as after [SignInOptions].Scopes, the stored tokens
	// stay. What fails is logged, and the user is signed in. The store needs
	// [Features.Accounts].
	StoreTokensAtSignIn bool

	// DangerouslyLinkByEmail signs a user of this provider in as an
	// existing user with the same address. Anyone who can make the provider
	// report an address then controls that user: set it only for providers that
	// verify addresses.
	//
	// An account is not linked if the provider denies the address: if
	// EmailVerified returns false, or where that is nil, if the profile has a
	// claim email_verified that is not true. Nor is it linked to a user whose
	// address is unproven while others may be able to sign in as that user: see
	// [User.EmailVerified] and [Account.VerifiedEmail]. A user who is created
	// by this sign-in does not get an address that the provider denies.
	//
	// The account is linked before [Callbacks.Hold] is called, and stays linked if the
	// sign-in is not completed. It is a way in to the user for good, which every
	// sign-in with it has to complete by Hold's second factor.
	DangerouslyLinkByEmail bool

	// EmailVerified reports whether the provider has checked that the address in
	// a profile belongs to its user. Nil means never: an address that the provider
	// reports then proves nothing about its owner. The providers of the catalogue
	// set it by what their documentation promises.
	EmailVerified func(p Profile) bool

	// EndSessionAtProvider ends the session at the provider, too, when a user signs out
	// whose session began there: the browser goes on to its end session endpoint, and
	// comes back to the route signout/{ID} below the base path, whose URL must be
	// registered at the service. The session here ends first, whether or not the provider
	// answers. (OpenID Connect RP-Initiated Logout 1.0)
	//
	// A script that signs out without following the URL in the answer ends the session
	// here only. So does a sign-out of a session that began before this was set.
	EndSessionAtProvider bool

	// EndSession replaces the end session endpoint of the metadata if it has a URL. Its
	// Params replace those of the standard, and an empty one removes the parameter: for
	// example post_logout_redirect_uri, for a service at which none can be registered.
	EndSession oauth.Endpoint

	// PostLogoutRedirectURL replaces the URL of the route signout/{ID}. It must lead to
	// that route all the same.
	PostLogoutRedirectURL string

	// RevokeAtUnlink asks the provider to end the tokens of an account that [Auth.Unlink]
	// or [Auth.DeleteUser] removes. The account is removed first. If the provider then does
	// not revoke the tokens, the error matches Code("NotRevoked"). It needs a store with
	// [Features.Accounts] that has the tokens. At some services, Google for one, this ends
	// the consent of the user to all applications of the same project. (RFC 7009)
	RevokeAtUnlink bool

	// Revocation replaces the revocation endpoint of the metadata if it has a URL.
	Revocation oauth.Endpoint

	// BackChannelLogout lets an OpenID provider end sessions here: when a user signs out
	// there, or an administrator ends their session, the provider posts a logout token to
	// the route backchannel-logout/{ID} below the base path, whose URL must be registered
	// at the service. Sessions end if they began with the session that the token names or,
	// if it names a user alone, with any session of that user. A session that began with a
	// password or with another provider goes on, and so does one that began before this was
	// set.
	// [Events].ProviderSignOut reports it. (OpenID Connect Back-Channel Logout 1.0)
	//
	// Database sessions need a [Config.Store] with ProviderSessions and SharedState, and
	// token sessions a [SessionConfig.Revocation] that is a [providersession.Marker]. [New]
	// rejects others. It also rejects providers without an issuer.
	BackChannelLogout bool

	// RequireLogoutTokenType accepts only logout tokens whose header has the typ logout+jwt.
	// Many providers send JWT, or none.
	RequireLogoutTokenType bool

	// RedirectURL replaces the callback URL that is sent to the provider. The
	// URL must lead to this application's callback route all the same.
	RedirectURL string

	// RedirectProxyURL overrides [Config.RedirectProxyURL].
	RedirectProxyURL string

	// HTTPClient makes the requests to the provider. Nil means
	// [Config.HTTPClient].
	HTTPClient *http.Client

	// PublicNetworkOnly lets the requests to this provider reach public services
	// only, by the rules of [Config.PublicNetworkOnly], with a client of Pintle's
	// in the place of [Config.HTTPClient]. [New] rejects an HTTPClient beside it.
	PublicNetworkOnly bool

	// DangerouslyAllowHTTP permits endpoints without TLS that are not on loopback.
	DangerouslyAllowHTTP bool

	// Complete finishes the provider once client id, client secret and issuer
	// are known, be it from the environment: some services require them in
	// special places. It is called by [New] with a copy it may change, maps of
	// parameters included. An error makes the configuration invalid.
	Complete func(p *OAuth) error

	// Quirks adapts to services that deviate from the standards.
	Quirks oauth.Quirks

	// Style is how the sign-in page shows the provider.
	Style pages.Style
}

func (p *OAuth) base() providerBase {
	kind := TypeOAuth
	if p.Protocol == oauth.OIDC {
		kind = TypeOIDC
	}
	return providerBase{id: p.ID, name: p.Name, kind: kind}
}

// complete calls the function of that name with maps that no other copy has.
func (p *OAuth) complete() error {
	if p.Complete == nil {
		return nil
	}
	for _, e := range []*oauth.Endpoint{&p.Authorization, &p.Token, &p.UserInfo, &p.RequestToken, &p.EndSession, &p.Revocation} {
		own := make(map[string]string, len(e.Params))
		maps.Copy(own, e.Params)
		e.Params = own
	}
	return p.Complete(p)
}

// checks are the checks that [OAuth.Checks] lists. Auth.js uses these alone; see
// [oauthFlow.takeChecks] for the state.
func (p *OAuth) checks() []oauth.Check {
	var list []oauth.Check
	switch {
	case p.Protocol == oauth.OAuth1 || p.Protocol == oauth.OpenID2:
		return []oauth.Check{oauth.CheckState}
	case p.Checks == nil:
		list = []oauth.Check{oauth.CheckPKCE}
	case !slices.Contains(p.Checks, oauth.CheckNone):
		list = slices.Clone(p.Checks)
	}
	if p.proxyURL() != "" && !slices.Contains(list, oauth.CheckState) {
		// As at Auth.js: the state tells the proxy where the browser belongs.
		list = append(list, oauth.CheckState)
	}
	return list
}

// formPost reports whether the provider answers with a form instead of a
// redirect.
//
// https://openid.net/specs/oauth-v2-form-post-response-mode-1_0.html
func (p *OAuth) formPost() bool {
	if p.Authorization.Params["response_mode"] == "form_post" {
		return true
	}
	_, raw, _ := cutQuery(p.Authorization.URL)
	params, err := query.Parse(raw)
	mode, _ := params.Last("response_mode")
	return err == nil && mode == "form_post"
}

// proxyURL returns the URL of the redirect proxy that receives the provider's
// responses, or "". It is empty for a provider that answers with a form: a
// redirect would lose the form.
func (p *OAuth) proxyURL() string {
	if p.formPost() {
		return ""
	}
	return p.RedirectProxyURL
}

// authority names the authority that decides which user an account belongs to:
// the issuer, or for services without one the source of the profiles.
func (p *OAuth) authority() string {
	return cmp.Or(p.Issuer, p.UserInfo.URL, p.Token.URL, p.Authorization.URL)
}

func cutQuery(raw string) (before, rawQuery string, found bool) {
	before, rest, found := strings.Cut(raw, "?")
	rawQuery, _, _ = strings.Cut(rest, "#")
	return before, rawQuery, found
}
