package pintle

import (
	"cmp"
	"context"
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
	// sent, kept and compared. Nil means PKCE, and with [oauth.FAPI2] a nonce as well.
	Checks []oauth.Check

	// ClientAuth is how the client authenticates at the token endpoint. Empty
	// means [oauth.PrivateKeyJWT] if there are ClientKeys, a ClientAssertion or a
	// ClientAssertionFile, or with [oauth.FAPI2], and [oauth.ClientSecretBasic] otherwise.
	ClientAuth oauth.ClientAuth

	// ClientKeys are the keys of the client. The first signs the assertions of
	// [oauth.PrivateKeyJWT]. The public halves of all are published at the route jwks
	// below the base path, whose URL is the jwks_uri of the client at the service. To
	// replace a key, append the new one, move it to the front a day later, and remove the
	// old one another day later.
	ClientKeys []oauth.ClientKey

	// PrivateKey is short for ClientKeys with one key. PrivateKeyID is its key id at the
	// service. An empty one is not sent.
	PrivateKey   crypto.Signer
	PrivateKeyID string

	// ClientAssertionFile is the path of a file with a client assertion that a platform
	// keeps up to date, such as the token of a Kubernetes service account. It takes the
	// place of a secret. Empty means AUTH_{Env}_ASSERTION_FILE, if that is set. The file
	// is read when a request needs it, at most once every five seconds, and [New] rejects a
	// path at which there is none. (RFC 7523 section 2.2)
	ClientAssertionFile string

	// ClientAssertion returns a client assertion for an audience, from the metadata
	// service of a cloud for example. It takes the place of a secret, is called for each
	// request that authenticates the client, has ten seconds, and may be called
	// concurrently.
	ClientAssertion func(ctx context.Context, audience string) (string, error)

	// SecurityProfile is a set of rules for this provider. [oauth.FAPI2] turns on Push, DPoP,
	// RequireIssuerParameter and the nonce, restricts the algorithms, and requires an Issuer
	// with metadata, and ClientKeys in the place of a secret. The error of [New] names
	// everything that contradicts it.
	SecurityProfile oauth.SecurityProfile

	// Push says whether the parameters of a sign-in go to the provider directly, and the
	// browser carries only a reference to them. (RFC 9126)
	Push oauth.Push

	// PushedAuthorization replaces the endpoint of the metadata for them if it has a URL.
	PushedAuthorization oauth.Endpoint

	// DPoP binds access tokens to a key of this application, so that a stolen one is of no
	// use. The key is derived from the first of [Config.Secrets]: when that is replaced,
	// tokens that are bound to the old key are rejected, and [Auth.Refresh] replaces them.
	// Requests with such a token need [Auth.SendWithToken] or package apiclient. (RFC 9449)
	DPoP oauth.DPoP

	// Resources are the APIs that access tokens are for, at most eight absolute URIs. The
	// provider may issue tokens that only they accept. (RFC 8707)
	Resources []string

	// RequireIssuerParameter rejects an answer that does not say which issuer it is from.
	// Without it only providers whose metadata promises the parameter have to send it.
	// (RFC 9207)
	RequireIssuerParameter bool

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

	// ClockSkew is how far the clock of the provider and that of this host may be apart
	// when the times of ID tokens, logout tokens and signed userinfo are checked. Zero
	// means half a minute. More is for a host without a good clock: a token that has
	// expired is accepted that much longer, and a sign-in that [SignInOptions].Confirm
	// asks for may be that much older. The times of sessions and nonces do not change.
	// [New] rejects more than two minutes, and more than one with [oauth.FAPI2].
	ClockSkew time.Duration

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
	// the consent of the user to all applications of the same project. Package account asks
	// for it before it unlinks an account that may be that of another person. (RFC 7009)
	RevokeAtUnlink bool

	// RevokeAtSignOut asks the provider to end the tokens of the account with which a
	// session began when its user signs out, and removes them from the store. Of several
	// sessions that began with the account the last one does that. Jobs that use the tokens
	// while their user is signed out no longer work. The session ends first; the sign-out
	// takes up to five seconds longer, and what fails is logged. It needs database sessions,
	// and a store with [Features.Accounts], [Features.SessionList] and ProviderSessions.
	RevokeAtSignOut bool

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
	// Many providers send JWT, or none. With a SecurityProfile it is always so.
	RequireLogoutTokenType bool

	// AcceptIDTokens lets pages and applications sign users in with an ID token that they
	// have received from an SDK of an OpenID provider: Google One Tap, Sign in with Google
	// on Android, Sign in with Apple on iOS. The route idtoken/{ID} below the base path
	// gives them a nonce by GET, and takes the token by POST. A token that is accepted
	// signs its user in as the code flow does, with the same accounts, callbacks and
	// events.
	//
	// A browser gets a session cookie. An application that sends no cookie gets the token
	// of a session as JSON, for the header Authorization, if
	// [SessionConfig.AllowBearer] is set. A nonce is good once, for ten minutes, by
	// [Config.SharedState]; without one, each process remembers the nonces that it has
	// accepted. The zero value accepts no tokens.
	AcceptIDTokens oauth.IDTokens

	// FollowProvider ends the sessions that began with this provider when it no longer
	// confirms them. When the last confirmation is this long ago, the next request with the
	// session exchanges the refresh token of the account. If the provider refuses that, as
	// for a user who was disabled there, the session ends and [Events].ProviderSignOut
	// reports it. If it gives no answer, the session goes on for FollowGrace. Zero means
	// never. [New] rejects less than a minute.
	//
	// It needs a [Config.Store] with [Features.Accounts]; for database sessions one with
	// ProviderSessions, and for token sessions [SessionConfig.Revocation]. The tokens of
	// each sign-in are stored, as with StoreTokensAtSignIn. A sign-in without a refresh
	// token is rejected with [CodeConfiguration], unless the store has one: the provider
	// has to be asked for it, mostly by the scope offline_access. Sessions that began before
	// this was set do not follow.
	FollowProvider time.Duration

	// FollowGrace is how long after its last confirmation a session is good at most while
	// the provider gives no answer. Then its requests count as signed out until it does.
	// Zero means an hour, or FollowProvider if that is longer. [New] rejects less than
	// FollowProvider, and more than a day beyond it.
	FollowGrace time.Duration

	// EndSessionsOnRefusal ends the sessions of a user that began with this provider when it
	// refuses the refresh token of the user's account: when [Auth.Refresh] or package
	// apiclient needs a new access token, and the provider answers invalid_grant,
	// login_required, consent_required, interaction_required or bad_refresh_token. Without
	// it such a call returns [ErrNoRefresh] and ends nothing. Other errors, such as a
	// provider that is down or refuses the client, never end a session. [Events].ProviderSignOut
	// reports the end. Unlike FollowProvider it causes no requests of its own.
	//
	// Sessions that begin after the exchange that was refused go on; a sign-in that is under
	// way at that time is rejected. The refusal of one refresh token counts once in half an
	// hour. A call whose sessions could not be ended returns the error of the store, which
	// does not match ErrNoRefresh: call again.
	//
	// It needs what BackChannelLogout needs; the provider may speak OAuth 2 alone. If the
	// store has [Features.Accounts], the tokens of each sign-in are stored, as with
	// StoreTokensAtSignIn. With OpenID Connect the ID token names the user whose sessions
	// end: StoreAccount must keep it, or sign-ins are rejected with [CodeConfiguration], and
	// an account that is not stored must have it when it is given to Refresh. Sessions that
	// began before this was set go on.
	EndSessionsOnRefusal bool

	// AllowInitiated lets the provider begin a sign-in, from a page there that lists
	// applications: it sends the browser to the route initiate/{ID} below the base path,
	// which is registered there as initiate_login_uri. Any site can send a browser there,
	// so such a sign-in links no account. A user who is signed in is asked before another
	// one takes their place. A browser that is signed out is signed in as the user of the
	// provider without a question. [New] rejects providers without an issuer.
	//
	// https://openid.net/specs/openid-connect-core-1_0.html#ThirdPartyInitiatedLogin
	AllowInitiated bool

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

// hasCredential reports whether the client has something to authenticate with.
func (p *OAuth) hasCredential() bool {
	return p.ClientSecret != "" || p.ClientAuth != "" || p.Quirks.ClientSecret != nil || len(p.ClientKeys) > 0 ||
		p.PrivateKey != nil || p.ClientAssertion != nil || p.ClientAssertionFile != ""
}

// complete calls the function of that name with maps that no other copy has.
func (p *OAuth) complete() error {
	if p.Complete == nil {
		return nil
	}
	for _, e := range []*oauth.Endpoint{&p.Authorization, &p.Token, &p.UserInfo, &p.RequestToken, &p.EndSession, &p.Revocation, &p.PushedAuthorization} {
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
		if p.SecurityProfile == oauth.FAPI2 && p.Protocol == oauth.OIDC {
			list = append(list, oauth.CheckNonce)
		}
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
