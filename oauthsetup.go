package pintle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/pintleauth/pintle/internal/dpop"
	"github.com/pintleauth/pintle/internal/handshake"
	"github.com/pintleauth/pintle/internal/loopback"
	"github.com/pintleauth/pintle/oauth"
)

// newOAuthFlow completes a provider. of is nil unless it is that of a connection, which
// takes nothing from the environment.
func (s *settings) newOAuthFlow(own OAuth, env environment, of *joined) (*provider, *Error) {
	own.Name = cmp.Or(own.Name, own.ID)
	own.RedirectProxyURL = cmp.Or(own.RedirectProxyURL, s.RedirectProxyURL)
	if of == nil {
		env.fillOAuth(&own)
	}
	incomplete := own.complete()
	f := &oauthFlow{providerBase: own.base(), oauth: &own, listed: own.checks(), formPost: own.formPost(), proxyURL: own.proxyURL(), joined: of}
	p := &provider{f.providerBase, f, facts{
		linking: f.linking, keep: own.StoreAccount, authority: own.authority(),
		formPost: f.formPost, proxyURL: f.proxyURL, oneButton: true, tells: own.Protocol == oauth.OIDC,
		storesTokens: own.StoreTokensAtSignIn || own.FollowProvider > 0 ||
			own.EndSessionsOnRefusal && s.records != nil && s.records.can.Accounts,
		followEvery: own.FollowProvider, followGrace: cmp.Or(own.FollowGrace, max(defaultFollowGrace, own.FollowProvider)),
		joined: of, decides: []string{"responses of providers"},
	}}
	if incomplete != nil {
		return p, &Error{Code: codeInvalidEndpoints, Provider: p.id, Err: incomplete}
	}
	if err := known(&own); err != nil {
		return p, &Error{Code: CodeConfiguration, Provider: p.id, Err: err}
	}
	own.PublicNetworkOnly = own.PublicNetworkOnly || s.PublicNetworkOnly
	if own.PublicNetworkOnly && own.HTTPClient != nil {
		return p, &Error{
			Code: CodeConfiguration, Provider: p.id,
			Err: errors.New("PublicNetworkOnly has no effect on the provider's HTTPClient: leave one of them out"),
		}
	}
	if err := cmp.Or(own.endsSessions(), own.revokesTokens(), own.takesLogouts(), own.checkIDTokens(), own.isFollowed(), own.endsOnRefusal(), own.securesRequests(), own.takesInitiated()); err != nil {
		return p, &Error{Code: CodeConfiguration, Provider: p.id, Err: err}
	}
	var fault *Error
	p.refresh, fault = f.speak(s)
	p.scope, p.proofs = f.scope, f.proofs
	if p.refresh != nil && s.records != nil && s.records.can.Accounts {
		p.decides = append(p.decides, "exchanges of refresh tokens")
	}
	p.check, p.confirmedThere = f.checkFeatures, f.confirmedThere
	if f.ends != nil {
		p.endSession = &endSession{f.endAtProvider, func(x *exchange) (bool, error) { return f.passOn(x, x.query, actionSignOut) }}
	}
	if two, ok := f.protocol.(oauth2Protocol); ok {
		p.publishedKeys = two.PublishedKeys
	}
	if f.revokes != nil {
		p.revoke, p.revokesRemoved, p.revokesLeft = f.revokes.Revoke, own.RevokeAtUnlink, own.RevokeAtSignOut
	}
	if f.sdk != nil {
		var err error
		if p.idTokens, err = f.takesIDTokens(s); err != nil {
			return p, &Error{Code: CodeConfiguration, Provider: p.id, Err: fmt.Errorf("AcceptIDTokens.ClientSecret: %w", err)}
		}
		p.decides = append(p.decides, "ID tokens")
	}
	if f.endedBy != nil {
		p.backChannel = &backChannel{own.ClientID, f.endedBy.Skew(), f.verifyLogout, make(chan struct{}, maxLogouts)}
	}
	if own.EndSessionsOnRefusal {
		p.refusedUser = f.refusedUser
	}
	if f.initiatedBy != nil {
		p.initiated = f.initiatedBy.IsIssuer
	}
	p.checkClient, p.reach = f.protocol.CheckClient, f.protocol.Reach
	return p, fault
}

// speak chooses the protocol of the flow.
func (f *oauthFlow) speak(s *settings) (refresh refreshFunc, fault *Error) {
	p := f.oauth
	client := p.client(s)
	var check func() error
	switch p.Protocol {
	case oauth.OAuth1:
		one := &handshake.OAuth1{
			ID: p.ID, Env: envName(p), RequestTokenURL: p.RequestToken.URL, Authorize: endpointOf(p.Authorization),
			AccessTokenURL: p.Token.URL, UserInfo: endpointOf(p.UserInfo),
			ConsumerKey: p.ClientID, ConsumerSecret: p.ClientSecret,
			FetchProfile: p.Quirks.FetchProfile, Client: client, AllowInsecure: p.DangerouslyAllowHTTP,
		}
		f.protocol, check = oauth1Protocol{one}, one.Check
	case oauth.OpenID2:
		id2 := &handshake.OpenID2{
			ID: p.ID, URL: p.Authorization.URL, ClaimedID: p.Quirks.ClaimedID,
			Client: client, AllowInsecure: p.DangerouslyAllowHTTP,
		}
		if fetch := p.Quirks.FetchProfile; fetch != nil {
			id2.FetchProfile = func(ctx context.Context, c *http.Client, id string) (map[string]any, error) {
				return fetch(ctx, c, map[string]any{"id": id})
			}
		}
		f.protocol, check = openID2Protocol{id2}, id2.Check
	default:
		two := f.guarded(s, p)
		f.protocol, check, refresh = oauth2Protocol{two, p.Quirks.Leave, p.Quirks.Return}, func() error {
			return errors.Join(two.Check(), p.contradictsFAPI())
		}, two.Refresh
		f.scope = two.Scope()
		if p.DPoP != 0 || two.FAPI {
			if err := f.bindTokens(s, two); err != nil {
				return refresh, &Error{Code: CodeConfiguration, Provider: p.ID, Err: err}
			}
		}
		if p.EndSessionAtProvider {
			f.ends = two
		}
		f.revokes = two
		if p.BackChannelLogout {
			f.endedBy = two
		}
		if len(p.AcceptIDTokens.Audiences) > 0 {
			f.sdk = two
		}
		if p.AllowInitiated {
			f.initiatedBy = two
		}
	}
	if err := check(); err != nil {
		return refresh, &Error{Code: codeInvalidEndpoints, Provider: p.ID, Err: err}
	}
	f.observe(s)
	return refresh, nil
}

// observe lets the observer see the requests to the provider. The checks of the client come
// first: they look at its transport.
func (f *oauthFlow) observe(s *settings) {
	id := f.id
	if f.joined != nil {
		id = discoveryID
	}
	switch p := f.protocol.(type) {
	case oauth1Protocol:
		p.Client = s.observedClient(id, p.Client)
	case openID2Protocol:
		p.Client = s.observedClient(id, p.Client)
	case oauth2Protocol:
		p.Client = s.observedClient(id, p.Client)
	}
}

// guarded returns the provider for OAuth 2 and OpenID Connect.
func (f *oauthFlow) guarded(s *settings, p *OAuth) *handshake.Provider {
	two := p.oauth2(p.client(s))
	if f.joined != nil {
		two.Client = f.joined.client
	}
	two.OldCopy = s.noteOldCopy(p.ID)
	two.PublicOnly, two.PublicPorts = p.PublicNetworkOnly, s.PublicNetworkPorts
	return two
}

// client returns what makes the requests to the provider.
func (p *OAuth) client(s *settings) *http.Client {
	if p.PublicNetworkOnly && !s.PublicNetworkOnly {
		return s.publicClient()
	}
	return cmp.Or(p.HTTPClient, s.HTTPClient)
}

func (p *OAuth) oauth2(client *http.Client) *handshake.Provider {
	checks := p.checks()
	q := p.Quirks
	return &handshake.Provider{
		ID: p.ID, Env: envName(p), OIDC: p.Protocol == oauth.OIDC,
		Issuer: p.Issuer, WellKnown: p.WellKnown, OtherIssuer: q.OtherIssuer, TenantIssuer: q.TenantIssuer,
		ClientID: p.ClientID, ClientSecret: p.ClientSecret, ClientSecretFunc: q.ClientSecret,
		Authorization: endpointOf(p.Authorization), Token: endpointOf(p.Token), UserInfo: endpointOf(p.UserInfo),
		JWKS: q.JWKS, EndSessionEndpoint: endpointOf(p.EndSession), Revocation: endpointOf(p.Revocation),
		PKCE: slices.Contains(checks, oauth.CheckPKCE), State: slices.Contains(checks, oauth.CheckState),
		Nonce:      slices.Contains(checks, oauth.CheckNonce),
		AuthMethod: string(p.ClientAuth), PrivateKey: p.PrivateKey, PrivateKeyID: p.PrivateKeyID,
		ClientKeys: p.ClientKeys, AssertionFile: p.ClientAssertionFile, Assertion: p.ClientAssertion, AssertionType: q.AssertionType,
		PushedAuthorization: endpointOf(p.PushedAuthorization), Push: p.Push, Resources: p.Resources,
		RequireIssuer: p.RequireIssuerParameter, DPoP: p.DPoP, FAPI: p.SecurityProfile == oauth.FAPI2,
		AssertionAudience: q.AssertionAudience, SigningAlg: string(p.SigningAlg), UserInfoSigningAlg: string(q.UserInfoSigningAlg),
		ProfileFromUserInfo: p.ProfileFromUserInfo, MaxAge: p.MaxAge, KeysMaxAge: p.KeysMaxAge, ClockSkew: p.ClockSkew, TokenTypeOptional: q.TokenTypeOptional,
		FormTokenBody: q.FormTokenBody,
		Hooks: handshake.Hooks{
			Discovered: q.Metadata, TokenRequest: q.TokenRequest, Exchange: q.Exchange, TokenResponse: q.TokenResponse,
			CheckClaims: q.CheckClaims, FetchProfile: q.FetchProfile, AmendProfile: q.AmendProfile,
		},
		Client: client, AllowInsecure: p.DangerouslyAllowHTTP,
	}
}

// endpointOf returns an endpoint with its parameters in a fixed order.
func endpointOf(e oauth.Endpoint) handshake.Endpoint {
	h := handshake.Endpoint{URL: e.URL}
	for _, name := range slices.Sorted(maps.Keys(e.Params)) {
		h.Params.Add(name, e.Params[name])
	}
	return h
}

// bindTokens gives the protocol the key that tokens are bound to.
func (f *oauthFlow) bindTokens(s *settings, two *handshake.Provider) error {
	if len(s.Secrets) == 0 {
		return nil // resolveSecrets reports it
	}
	key, err := dpop.Derive(s.Secrets[0], f.id)
	if err != nil {
		return err
	}
	two.Proofs, two.APIProofs = dpop.NewProver(key), dpop.NewProver(key)
	f.proofs = two.APIProofs
	return nil
}

// takesIDTokens returns how the provider takes the ID tokens of its SDKs.
func (f *oauthFlow) takesIDTokens(s *settings) (*idTokens, error) {
	takes := &idTokens{
		IDTokens: f.oauth.AcceptIDTokens, verify: f.sdk.VerifySDKToken,
		identify: func(x *exchange, claims, tokens map[string]any, said map[string]string, began time.Time) (*arrival, error) {
			profile, err := f.sdk.SDKProfile(x.ctx, claims, said)
			if err != nil {
				return nil, err
			}
			return f.identify(x, &identity{tokens: tokens, profile: profile, idToken: claims}, began.Unix())
		},
	}
	if takes.ClientSecret == nil {
		return takes, nil
	}
	takes.clients = map[string]*handshake.Provider{}
	for _, id := range takes.Audiences {
		own := *f.oauth
		own.ClientID = id
		own.Quirks.ClientSecret = func(ctx context.Context) (string, error) { return takes.ClientSecret(ctx, id) }
		client := f.guarded(s, &own)
		client.Proofs, client.APIProofs = f.sdk.Proofs, f.sdk.APIProofs
		if err := client.Check(); err != nil {
			return nil, err
		}
		takes.clients[id] = client
	}
	takes.redeem = func(ctx context.Context, claims map[string]any, code string) (map[string]any, error) {
		subject, _ := claims["sub"].(string)
		return takes.clients[audienceOf(claims)].RedeemSDKCode(ctx, code, subject)
	}
	return takes, nil
}

// audienceOf returns the only audience of a verified ID token.
func audienceOf(claims map[string]any) string {
	if list, _ := claims["aud"].([]any); len(list) == 1 {
		return fmt.Sprint(list[0])
	}
	audience, _ := claims["aud"].(string)
	return audience
}

// known refuses a protocol and checks that do not exist: a misspelt check would
// leave the flow with fewer than its author meant.
func known(p *OAuth) error {
	if p.Protocol < oauth.OAuth2 || p.Protocol > oauth.OpenID2 {
		return fmt.Errorf("there is no protocol %d: use a constant of package oauth", p.Protocol)
	}
	for _, check := range p.Checks {
		switch check {
		case oauth.CheckPKCE, oauth.CheckState, oauth.CheckNonce, oauth.CheckNone:
		default:
			return fmt.Errorf("there is no check %q: use the constants of package oauth", check)
		}
	}
	return nil
}

// checkIDTokens reports why a provider cannot take the ID tokens of its SDKs.
func (p *OAuth) checkIDTokens() error {
	takes := p.AcceptIDTokens
	switch {
	case len(takes.Audiences) == 0:
		if len(takes.AuthorizedParties) > 0 || takes.NonceHash != 0 || takes.DangerouslyAllowWithoutNonce || takes.ClientSecret != nil {
			return errors.New("AcceptIDTokens needs Audiences: the client ids for which ID tokens are accepted")
		}
		return nil
	case slices.Contains(takes.Audiences, "") || slices.Contains(takes.AuthorizedParties, ""):
		return errors.New("AcceptIDTokens has an empty client id")
	case takes.NonceHash < oauth.NonceUnchanged || takes.NonceHash > oauth.NonceSHA256Base64:
		return fmt.Errorf("there is no NonceHash %d: use a constant of package oauth", takes.NonceHash)
	case p.Protocol != oauth.OIDC || p.Issuer == "":
		return errors.New("AcceptIDTokens is for OpenID Connect, and needs the Issuer")
	case strings.HasPrefix(string(p.SigningAlg), "HS"):
		return errors.New("AcceptIDTokens needs ID tokens that are signed with a key of the provider's, and not with the client secret")
	case p.ProfileFromUserInfo || p.Quirks.FetchProfile != nil:
		return errors.New("AcceptIDTokens takes the profile from the ID token: there is no access token for the userinfo endpoint")
	}
	return nil
}

// checkStore rejects a store that cannot replace tokens.
func (f *oauthFlow) checkStore(s *settings, what string) *Error {
	if s.records == nil {
		return &Error{Code: codeMissingAdapter, Provider: f.id, Err: errors.New(what + " needs a Config.Store")}
	}
	if err := s.records.missing(what, featureAccounts); err != nil {
		return &Error{Code: codeMissingAdapterMethods, Provider: f.id, Err: err}
	}
	return nil
}

// endsSessions reports why a provider at which sessions are to end cannot do that.
func (p *OAuth) endsSessions() error {
	switch {
	case !p.EndSessionAtProvider:
		return nil
	case p.Protocol == oauth.OAuth1 || p.Protocol == oauth.OpenID2:
		return errors.New("EndSessionAtProvider is for OAuth 2 and OpenID Connect")
	// Check says of a provider of OpenID Connect which variable has the issuer.
	case p.Protocol != oauth.OIDC && p.Issuer == "" && p.WellKnown == "" && p.EndSession.URL == "":
		return errors.New("EndSessionAtProvider needs EndSession.URL, or an Issuer whose metadata has an end_session_endpoint")
	}
	return nil
}

// revokesTokens reports why a provider at which tokens are to end cannot do that.
func (p *OAuth) revokesTokens() error {
	field := "RevokeAtUnlink"
	if !p.RevokeAtUnlink {
		field = "RevokeAtSignOut"
	}
	switch {
	case !p.RevokeAtUnlink && !p.RevokeAtSignOut:
		return nil
	case p.Protocol == oauth.OAuth1 || p.Protocol == oauth.OpenID2:
		return errors.New(field + " is for OAuth 2 and OpenID Connect")
	case p.Issuer == "" && p.WellKnown == "" && p.Revocation.URL == "":
		return errors.New(field + " needs Revocation.URL, or an Issuer whose metadata has a revocation_endpoint")
	}
	return nil
}

// securesRequests reports which fields have no meaning for the protocol: ignoring them would
// leave the provider less secure than its configuration says.
func (p *OAuth) securesRequests() error {
	if p.SecurityProfile != 0 && p.SecurityProfile != oauth.FAPI2 {
		return fmt.Errorf("there is no security profile %d: use a constant of package oauth", p.SecurityProfile)
	}
	if p.Protocol == oauth.OAuth2 || p.Protocol == oauth.OIDC {
		return nil
	}
	for _, field := range []struct {
		name string
		set  bool
	}{
		{"SecurityProfile", p.SecurityProfile != 0},
		{"Push", p.Push != 0},
		{"DPoP", p.DPoP != 0},
		{"Resources", len(p.Resources) > 0},
		{"RequireIssuerParameter", p.RequireIssuerParameter},
		{"ClientKeys", len(p.ClientKeys) > 0},
		{"ClientAssertion", p.ClientAssertion != nil},
		{"ClientAssertionFile", p.ClientAssertionFile != ""},
		{"ClockSkew", p.ClockSkew != 0},
	} {
		if field.set {
			return fmt.Errorf("%s is for OAuth 2 and OpenID Connect", field.name)
		}
	}
	return nil
}

// contradictsFAPI returns the fields that contradict the profile, beside those of which the
// handshake knows.
//
// https://openid.net/specs/fapi-security-profile-2_0-final.html#section-5.3.3
func (p *OAuth) contradictsFAPI() error {
	if p.SecurityProfile != oauth.FAPI2 {
		return nil
	}
	var errs []error
	for _, field := range []struct {
		is     bool
		name   string
		reason string
	}{
		{len(p.AcceptIDTokens.Audiences) > 0, "AcceptIDTokens", "must not be set: an ID token that comes through a browser or an application has no proof"},
		{p.Quirks.Leave != nil, "Quirks.Leave", "must not be set: it can change what the profile fixes"},
		{p.Quirks.Return != nil, "Quirks.Return", "must not be set: it can change what the profile fixes"},
		{isPlainHTTP(p.RedirectURL), "RedirectURL", "must be https: the code would be sent in clear"},
		{isPlainHTTP(p.RedirectProxyURL), "RedirectProxyURL", "must be https: the code would be sent in clear"},
	} {
		if field.is {
			errs = append(errs, fmt.Errorf("provider %q: FAPI2: %s %s", p.ID, field.name, field.reason))
		}
	}
	return errors.Join(errs...)
}

// isPlainHTTP reports whether a URL leads to another machine without TLS.
func isPlainHTTP(raw string) bool {
	u, err := url.Parse(raw)
	return err == nil && u.Scheme == "http" && !loopback.Host(u.Hostname())
}

// takesLogouts reports why a provider that is to end sessions here cannot do that.
func (p *OAuth) takesLogouts() error {
	switch {
	case !p.BackChannelLogout:
		return nil
	case p.Protocol != oauth.OIDC:
		return errors.New("BackChannelLogout is for OpenID Connect")
	case p.Issuer == "":
		return errors.New("BackChannelLogout needs the Issuer, which signs the logout tokens")
	}
	return nil
}

// isFollowed reports why sessions cannot follow the provider.
func (p *OAuth) isFollowed() error {
	switch {
	case p.FollowProvider == 0 && p.FollowGrace == 0:
		return nil
	case p.Protocol == oauth.OAuth1 || p.Protocol == oauth.OpenID2:
		return errors.New("FollowProvider is for OAuth 2 and OpenID Connect, which have refresh tokens")
	case p.FollowProvider < minFollow:
		return fmt.Errorf("FollowProvider is %v, and less than a minute", p.FollowProvider)
	case p.FollowGrace != 0 && p.FollowGrace < p.FollowProvider, p.FollowGrace > p.FollowProvider+maxFollowGrace:
		return fmt.Errorf("FollowGrace is %v: it counts from the last confirmation, and is FollowProvider at least and a day more at most", p.FollowGrace)
	}
	return nil
}

// endsOnRefusal reports why a refusal of the provider cannot end sessions.
func (p *OAuth) endsOnRefusal() error {
	if p.EndSessionsOnRefusal && (p.Protocol == oauth.OAuth1 || p.Protocol == oauth.OpenID2) {
		return errors.New("EndSessionsOnRefusal is for OAuth 2 and OpenID Connect, which have refresh tokens")
	}
	return nil
}

// takesInitiated reports why a provider that may begin sign-ins cannot do that.
func (p *OAuth) takesInitiated() error {
	switch {
	case !p.AllowInitiated:
		return nil
	case p.Protocol != oauth.OIDC:
		return errors.New("AllowInitiated is for OpenID Connect")
	case p.Issuer == "":
		return errors.New("AllowInitiated needs the Issuer, which the request names")
	}
	return nil
}

// checkFeatures refuses features of the provider that the configuration around it cannot
// serve.
func (f *oauthFlow) checkFeatures(s *settings) *Error {
	for _, need := range []struct {
		field string
		set   bool
	}{
		{"OAuth.StoreTokensAtSignIn", f.oauth.StoreTokensAtSignIn},
		{"OAuth.FollowProvider", f.oauth.FollowProvider > 0},
		{"OAuth.RevokeAtSignOut", f.oauth.RevokeAtSignOut},
	} {
		if !need.set {
			continue
		}
		if fault := f.checkStore(s, need.field); fault != nil {
			return fault
		}
	}
	if f.oauth.RevokeAtSignOut {
		if err := s.sessions.lacksForRevoking(); err != nil {
			return &Error{Code: CodeConfiguration, Provider: f.id, Err: fmt.Errorf("RevokeAtSignOut: %w", err)}
		}
	}
	if f.oauth.FollowProvider > 0 {
		if err := s.sessions.lacksForFollowing(); err != nil {
			return &Error{Code: CodeConfiguration, Provider: f.id, Err: fmt.Errorf("FollowProvider: %w", err)}
		}
	}
	return f.checkEnds(s)
}

// checkEnds refuses a configuration whose sessions the provider could not end.
func (f *oauthFlow) checkEnds(s *settings) *Error {
	field := "BackChannelLogout"
	if f.endedBy == nil {
		field = "EndSessionsOnRefusal"
	}
	if f.endedBy == nil && !f.oauth.EndSessionsOnRefusal {
		return nil
	}
	if err := s.sessions.lacksForProviderEnd(); err != nil {
		return &Error{Code: CodeConfiguration, Provider: f.id, Err: fmt.Errorf("%s: %w", field, err)}
	}
	return nil
}
