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

	"github.com/pintleauth/pintle/internal/address"
	"github.com/pintleauth/pintle/internal/handshake"
	"github.com/pintleauth/pintle/internal/page"
	"github.com/pintleauth/pintle/internal/query"
	"github.com/pintleauth/pintle/internal/sealed"
	"github.com/pintleauth/pintle/internal/uuid"
	"github.com/pintleauth/pintle/internal/wire"
	"github.com/pintleauth/pintle/oauth"
	"github.com/pintleauth/pintle/providersession"
)

func (s *settings) newOAuthFlow(own OAuth, env environment) (*provider, *Error) {
	own.Name = cmp.Or(own.Name, own.ID)
	own.RedirectProxyURL = cmp.Or(own.RedirectProxyURL, s.RedirectProxyURL)
	env.fillOAuth(&own)
	incomplete := own.complete()
	f := &oauthFlow{providerBase: own.base(), oauth: &own, listed: own.checks(), formPost: own.formPost(), proxyURL: own.proxyURL()}
	p := &provider{f.providerBase, f, facts{
		linking: f.linking, keep: own.StoreAccount, authority: own.authority(),
		formPost: f.formPost, proxyURL: f.proxyURL, oneButton: true, tells: own.Protocol == oauth.OIDC,
		storesTokens: own.StoreTokensAtSignIn,
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
	if err := cmp.Or(own.endsSessions(), own.revokesTokens(), own.takesLogouts()); err != nil {
		return p, &Error{Code: CodeConfiguration, Provider: p.id, Err: err}
	}
	var fault *Error
	p.refresh, fault = f.speak(s)
	p.scope = f.scope
	p.check = f.checkFeatures
	if f.ends != nil {
		p.endSession = &endSession{f.endAtProvider, func(x *exchange) (bool, error) { return f.passOn(x, x.query, actionSignOut) }}
	}
	if f.revokes != nil {
		p.revoke, p.revokesRemoved = f.revokes.Revoke, own.RevokeAtUnlink
	}
	if f.endedBy != nil {
		p.backChannel = &backChannel{own.ClientID, f.verifyLogout, make(chan struct{}, maxLogouts)}
	}
	p.checkClient = f.protocol.CheckClient
	return p, fault
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

// begin redirects to the provider, and stores what checks its response in sealed
// cookies.
func (f *oauthFlow) begin(x *exchange) error {
	redirectURI, preview, err := f.redirectURI(x)
	if err != nil {
		return err
	}
	if err := x.checkPreview(preview); err != nil {
		return err
	}
	state, err := x.sealState(preview)
	if err != nil {
		return err
	}
	to, err := f.protocol.begin(x.ctx, authRequest{
		redirectURI: redirectURI, state: state, extra: x.query, own: x.own, asked: x.asked,
	})
	if err != nil {
		return &Error{Code: CodeConfiguration, Provider: f.id, Err: err}
	}
	// If the store cannot tell who is signed in, no flow begins: it would count
	// as begun by a signed-out browser, and make a user instead of a link.
	user, _, err := x.signedIn()
	if err != nil {
		return err
	}
	kept := sealedCheck{
		Provider: f.id, Stamp: sealed.Stamp{ID: newFlowID(x.userMark(user), x.proofMark(user), x.browserMark())}, Asked: x.asked,
	}
	// The cookie with the callback URL is SameSite=Lax: browsers leave it out when
	// the provider's site posts a form.
	if (f.formPost && x.callbackText != x.origin || x.confirming()) && len(x.callbackText) <= maxKeptCallbackURL {
		kept.CallbackURL = x.callbackText
	}
	var sent []string
	for _, check := range []struct {
		name   oauth.Check
		cookie sealedCookie
		value  string
	}{
		{oauth.CheckState, x.set.stateCheck(), to.state},
		{oauth.CheckPKCE, x.set.pkceCheck(), to.verifier},
		{oauth.CheckNonce, x.set.nonceCheck(), to.nonce},
	} {
		if check.value == "" {
			continue
		}
		kept.Value = check.value
		line, err := check.cookie.seal(kept, f.formPost)
		if err != nil {
			return err
		}
		x.addCookie(line)
		sent = append(sent, string(check.name))
		kept.CallbackURL, kept.Asked = "", nil // the first cookie has them
	}
	x.debug("sent to the provider", "checks", strings.Join(sent, " "))
	return x.redirect(to.url)
}

// redirectURI is the callback URL that both requests to the provider have. preview
// is that of this deployment where a redirect proxy has another one.
func (f *oauthFlow) redirectURI(x *exchange) (uri, preview string, err error) {
	own := cmp.Or(f.oauth.RedirectURL, x.callbackRoute(f.id))
	proxy, same, err := f.redirectProxy(x, actionCallback)
	if err != nil || proxy == "" || same {
		return own, "", err
	}
	return proxy, own, nil
}

// finish checks the provider's response by what was kept for the flow, exchanges it,
// and maps the profile to a user and an account. It returns nil when the browser was
// sent on: to the deployment that it belongs to, or through a page of this site.
func (f *oauthFlow) finish(x *exchange) (*arrival, error) {
	params := x.query
	if f.formPost {
		params = x.postedParams()
	}
	// A flow of another deployment has its check cookies there.
	if passed, err := f.passOn(x, params, actionCallback); passed || err != nil {
		return nil, err
	}
	redirectURI, _, err := f.redirectURI(x)
	if err != nil {
		return nil, err
	}
	x.debug("callback received")
	kept := f.takeChecks(x)
	if x.asked = kept.asked; x.confirming() {
		if err := x.comeBackFrom(kept); err != nil {
			return nil, err
		}
	}
	said, err := f.protocol.finish(x.ctx, callbackParams{
		params: params, redirectURI: redirectURI, kept: kept,
		accept:    func() error { return f.accept(x, kept) },
		exchanged: func() { x.debug("tokens exchanged") },
	})
	if errors.Is(err, errCookiesLeftBehind) {
		return nil, x.postAgain(redirectURI, params)
	}
	if err != nil {
		if _, refused := errors.AsType[*handshake.ResponseError](err); refused {
			// The flow has had its response. An error here would add nothing to
			// the one that the provider reported.
			_ = x.spend(kept)
		}
		return nil, f.lostFlow(x, params, kept, x.unmet(err))
	}
	x.addCookie(kept.cleared...)
	if !x.confirming() {
		if err := x.restoreCallbackURL(kept.callbackURL); err != nil {
			return nil, err
		}
	}
	account := &Account{Type: f.kind, Provider: f.id}
	account.setTokens(said.tokens)
	user, err := f.user(x, said.profile, account)
	if err != nil {
		return nil, &Error{Code: codeOAuthCallback, Provider: f.id, Err: fail(codeOAuthProfileParse, err)}
	}
	x.debug("profile read")
	who := &arrival{
		by: byAccount, user: user, account: account, profile: said.profile, flow: kept.id,
		trusted: f.oauth.DangerouslyLinkByEmail, emailVerified: f.oauth.EmailVerified,
		authentication: Authentication{Methods: reportedMethods(said.idToken[claimMethods])},
		atProvider:     f.signedInThere(x, said.idToken, account, kept),
		linkTo:         func(signedIn *User) bool { return x.startedBy(kept.id, signedIn) },
	}
	// The id in the profile is that of the account.
	user.ID = uuid.New()
	// Unicode lower case would turn letters of another domain into ASCII ones,
	// such as the Kelvin sign into k, and so name the address of another user.
	user.Email = address.LowerASCII(user.Email)
	if who.provesAddress() {
		account.VerifiedEmail = user.Email
	}
	return who, nil
}

// accept decides whether a response that belongs to the flow of this browser is
// exchanged.
func (f *oauthFlow) accept(x *exchange, kept *keptChecks) error {
	if f.formPost {
		if err := f.requireStarter(x, kept); err != nil {
			return err
		}
	}
	// An attacker on a sibling domain can plant the cookies of the attacker's
	// flow, and open its callback in this browser.
	if !x.begunHere(kept.id) {
		return errBegunElsewhere
	}
	// A forged callback must not use up the flow, so this check is the last.
	if err := x.spend(kept); err != nil {
		return err
	}
	x.debug("response accepted: it belongs to the flow of this browser")
	return nil
}

// spend uses the flow up. Of parallel callbacks with copies of one browser's
// cookies, one reaches the provider: a second request with the same code would
// end the grant of the first at providers that follow RFC 6749 section 4.1.2.
func (x *exchange) spend(kept *keptChecks) error {
	if !x.spent.flows.Use(kept.once, kept.issued) {
		return &Error{
			Code: CodeInvalidCheck, Detail: flowUsed,
			Err: errors.New("the flow has had its response already: the callback URL was opened twice, or the " +
				"browser's cookies were copied"),
		}
	}
	return nil
}

// user maps a profile to a user whose id is still the provider's, and takes
// the id over to the account.
func (f *oauthFlow) user(x *exchange, profile Profile, account *Account) (*User, error) {
	mapping := f.oauth.Profile
	if mapping == nil {
		mapping = defaultProfile
	}
	user, err := mapping(profile, account)
	if err != nil {
		return nil, fmt.Errorf("map the profile: %w", err)
	}
	if user == nil {
		return nil, errors.New("map the profile: the Profile function returned no user")
	}
	if account.ProviderAccountID, err = f.accountID(user, x.records != nil); err != nil {
		return nil, err
	}
	if user.ID == "" {
		x.noteNoAccountID(f.id)
	}
	user.stated &^= nullEmail // Auth.js leaves the member out
	return user, nil
}

// accountID returns the provider's id of the user. Two users whose ids are both
// missing would share an account, so an id is required where accounts are kept.
// Where none are, a Profile function may do without if it returns a name or an
// address, and the account gets a random id. An error document that a service
// returns instead of a profile must not become a user.
func (f *oauthFlow) accountID(user *User, stored bool) (string, error) {
	if user.ID == "" && f.oauth.Profile != nil && !stored && user.Name+user.Email != "" {
		return uuid.New(), nil
	}
	id, ok := wire.ID(user.ID)
	if !ok || id == "0" {
		return "", fmt.Errorf("map the profile: it has no id: the Profile function returned %q", user.ID)
	}
	return id, nil
}

func (f *oauthFlow) describe(_ *exchange, entry page.Provider) page.Provider {
	entry.Style = page.Style{BrandColor: f.oauth.Style.BrandColor, Logo: f.oauth.Style.Logo}
	return entry
}

// linking reports whether the flow that has failed was to link an account: a user is
// signed in, or was when the flow began.
func (f *oauthFlow) linking(x *exchange) bool { return f.sessionLeftBehind(x) || x.isSignedIn() }

// speak chooses the protocol of the flow.
func (f *oauthFlow) speak(s *settings) (refresh refreshFunc, fault *Error) {
	p := f.oauth
	client := cmp.Or(p.HTTPClient, s.HTTPClient)
	if p.PublicNetworkOnly && !s.PublicNetworkOnly {
		client = s.publicClient()
	}
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
		two := p.oauth2(client)
		two.OldCopy = s.noteOldCopy(p.ID)
		two.PublicOnly, two.PublicPorts = p.PublicNetworkOnly, s.PublicNetworkPorts
		f.protocol, check, refresh = oauth2Protocol{two, p.Quirks.Leave, p.Quirks.Return}, two.Check, two.Refresh
		f.scope = two.Scope()
		if p.EndSessionAtProvider {
			f.ends = two
		}
		f.revokes = two
		if p.BackChannelLogout {
			f.endedBy = two
		}
	}
	if err := check(); err != nil {
		return refresh, &Error{Code: codeInvalidEndpoints, Provider: p.ID, Err: err}
	}
	return refresh, nil
}

// checkStore rejects a store that cannot replace tokens.
func (f *oauthFlow) checkStore(s *settings) *Error {
	const what = "OAuth.StoreTokensAtSignIn"
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
	case p.Issuer == "" && p.WellKnown == "" && p.EndSession.URL == "":
		return errors.New("EndSessionAtProvider needs EndSession.URL, or an Issuer whose metadata has an end_session_endpoint")
	}
	return nil
}

// revokesTokens reports why a provider at which tokens are to end cannot do that.
func (p *OAuth) revokesTokens() error {
	switch {
	case !p.RevokeAtUnlink:
		return nil
	case p.Protocol == oauth.OAuth1 || p.Protocol == oauth.OpenID2:
		return errors.New("RevokeAtUnlink is for OAuth 2 and OpenID Connect")
	case p.Issuer == "" && p.WellKnown == "" && p.Revocation.URL == "":
		return errors.New("RevokeAtUnlink needs Revocation.URL, or an Issuer whose metadata has a revocation_endpoint")
	}
	return nil
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

// checkFeatures refuses features of the provider that the configuration around it cannot
// serve.
func (f *oauthFlow) checkFeatures(s *settings) *Error {
	if f.oauth.StoreTokensAtSignIn {
		if fault := f.checkStore(s); fault != nil {
			return fault
		}
	}
	if f.endedBy != nil {
		return f.checkBackChannel(s)
	}
	return nil
}

// checkBackChannel refuses a configuration whose sessions the provider could not end.
func (f *oauthFlow) checkBackChannel(s *settings) *Error {
	if err := s.sessions.lacksForProviderEnd(); err != nil {
		return &Error{Code: CodeConfiguration, Provider: f.id, Err: fmt.Errorf("BackChannelLogout: %w", err)}
	}
	return nil
}

func (f *oauthFlow) verifyLogout(ctx context.Context, token string) (*handshake.LogoutToken, error) {
	return f.endedBy.VerifyLogoutToken(ctx, token, f.oauth.RequireLogoutTokenType)
}

// maxLogouts is how many logout tokens of one provider are verified at one moment.
const maxLogouts = 100

// Bounds of what a record has of an ID token.
const (
	maxProviderSID = 255
	maxRecordACR   = 256
)

// signedInThere returns what will be recorded of a sign-in at a provider that ends
// sessions here, and nil for others.
func (f *oauthFlow) signedInThere(x *exchange, idToken map[string]any, account *Account, kept *keptChecks) *atProvider {
	if f.endedBy == nil {
		return nil
	}
	issuer, _ := idToken["iss"].(string)
	subject, _ := idToken["sub"].(string)
	r := providersession.Record{
		Provider: f.id, ProviderAccountID: account.ProviderAccountID, Role: providersession.Began, Created: x.began.UTC(),
		Sub: providerKey(keyOfUser, issuer, f.oauth.ClientID, subject),
	}
	if sid, _ := idToken["sid"].(string); sid != "" && len(sid) <= maxProviderSID {
		r.Sid = providerKey(keyOfSession, issuer, f.oauth.ClientID, sid)
	}
	if acr, _ := idToken["acr"].(string); len(acr) <= maxRecordACR && !strings.ContainsRune(acr, 0) {
		r.ACR = acr
	}
	values, _ := idToken[claimMethods].([]any)
	for _, value := range values {
		if method, _ := value.(string); method != "" && len(method) <= maxReport && len(r.AMR) < maxReported && !strings.ContainsRune(method, 0) {
			r.AMR = append(r.AMR, method)
		}
	}
	if at, ok := wire.Seconds(idToken["auth_time"]); ok {
		r.AuthTime = past(time.Unix(at, 0)).UTC()
	}
	return &atProvider{r, time.Unix(kept.issued, 0).UTC()}
}

// endAtProvider returns where a browser ends a session at the provider.
func (f *oauthFlow) endAtProvider(x *exchange, hint string) (endedSession, error) {
	own := cmp.Or(f.oauth.PostLogoutRedirectURL, x.origin+x.base+"/"+string(actionSignOut)+"/"+f.id)
	proxy, same, err := f.redirectProxy(x, actionSignOut)
	if err != nil {
		return endedSession{}, err
	}
	preview := ""
	if proxy != "" && !same {
		own, preview = proxy, own
	}
	state, err := x.sealState(preview)
	if err != nil {
		return endedSession{}, err
	}
	to, hinted, err := f.ends.EndSessionURL(x.ctx, handshake.EndSessionOptions{Hint: hint, RedirectURI: own, State: state})
	if err == nil && f.oauth.Quirks.EndSession != nil {
		to, err = changed(to, f.oauth.Quirks.EndSession)
	}
	return endedSession{to, state, hinted}, err
}

func (p *OAuth) oauth2(client *http.Client) *handshake.Provider {
	checks := p.checks()
	q := p.Quirks
	return &handshake.Provider{
		ID: p.ID, Env: envName(p), OIDC: p.Protocol == oauth.OIDC,
		Issuer: p.Issuer, WellKnown: p.WellKnown, TenantIssuer: q.TenantIssuer,
		ClientID: p.ClientID, ClientSecret: p.ClientSecret, ClientSecretFunc: q.ClientSecret,
		Authorization: endpointOf(p.Authorization), Token: endpointOf(p.Token), UserInfo: endpointOf(p.UserInfo),
		JWKS: q.JWKS, EndSessionEndpoint: endpointOf(p.EndSession), Revocation: endpointOf(p.Revocation),
		PKCE: slices.Contains(checks, oauth.CheckPKCE), State: slices.Contains(checks, oauth.CheckState),
		Nonce:      slices.Contains(checks, oauth.CheckNonce),
		AuthMethod: string(p.ClientAuth), PrivateKey: p.PrivateKey, PrivateKeyID: p.PrivateKeyID,
		AssertionAudience: q.AssertionAudience, SigningAlg: string(p.SigningAlg), UserInfoSigningAlg: string(q.UserInfoSigningAlg),
		ProfileFromUserInfo: p.ProfileFromUserInfo, MaxAge: p.MaxAge, KeysMaxAge: p.KeysMaxAge, TokenTypeOptional: q.TokenTypeOptional,
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

// providerError classifies what a protocol failed with. What the provider
// itself reports is shown on the sign-in page, where the user can try again.
func providerError(err error) error {
	if answer, ok := errors.AsType[*handshake.ResponseError](err); ok {
		return fail(codeOAuthCallback, answer)
	}
	return err
}

type oauth2Protocol struct {
	*handshake.Provider
	leave  func(*url.URL) error
	arrive func(map[string]string) error
}

func (f oauth2Protocol) begin(ctx context.Context, r authRequest) (authRedirect, error) {
	b, err := f.Begin(ctx, handshake.BeginOptions{
		RedirectURI: r.redirectURI, State: r.state, Extra: r.extra, Own: r.own, Ask: r.asked.ask(),
	})
	if err == nil && f.leave != nil {
		b.URL, err = changed(b.URL, f.leave)
	}
	return authRedirect{url: b.URL, state: r.state, verifier: b.Verifier, nonce: b.Nonce}, err
}

// changed returns a URL after f has changed it.
func changed(raw string, f func(*url.URL) error) (string, error) {
	u, err := url.Parse(raw)
	if err == nil {
		err = f(u)
	}
	if err != nil {
		return "", fmt.Errorf("change the URL: %w", err)
	}
	return u.String(), nil
}

// returned are the parameters a browser came back with, under the names that
// OAuth has for them.
func (f oauth2Protocol) returned(params query.Values) (query.Values, error) {
	if f.arrive == nil {
		return params, nil
	}
	named := params.Map()
	if err := f.arrive(named); err != nil {
		return nil, fmt.Errorf("read the callback: %w", err)
	}
	var own query.Values
	for _, name := range slices.Sorted(maps.Keys(named)) {
		own.Add(name, named[name])
	}
	return own, nil
}

func (f oauth2Protocol) finish(ctx context.Context, c callbackParams) (*identity, error) {
	params, err := f.returned(c.params)
	if err != nil {
		return nil, err
	}
	c.params = params
	state, err := c.kept.value(oauth.CheckState)
	if err != nil {
		return nil, err
	}
	// State and iss are compared first, so that another site can make up neither
	// a code nor an error: RFC 9700 section 4.7, RFC 9207 section 2.4.
	code, err := f.Validate(ctx, c.params, state)
	if err != nil {
		return nil, providerError(err)
	}
	// Both are looked for before the code is spent, so that a broken flow
	// reaches no token endpoint.
	verifier, err := c.kept.value(oauth.CheckPKCE)
	if err != nil {
		return nil, err
	}
	nonce, err := c.kept.value(oauth.CheckNonce)
	if err != nil {
		return nil, err
	}
	if err := c.accept(); err != nil {
		return nil, err
	}
	result, err := f.Redeem(ctx, handshake.RedeemOptions{
		Code: code, RedirectURI: c.redirectURI, Verifier: verifier, Nonce: nonce, Params: c.params,
		Began: time.Unix(c.kept.issued, 0), Proof: c.kept.asked.proof(c.kept.issued), Exchanged: c.exchanged,
	})
	if err != nil {
		return nil, providerError(err)
	}
	return &identity{tokens: result.Tokens, profile: result.Profile, idToken: result.IDTokenClaims}, nil
}

type oauth1Protocol struct{ *handshake.OAuth1 }

// begin keeps the temporary credentials where other protocols keep the state:
// their token serves as the state.
func (f oauth1Protocol) begin(ctx context.Context, r authRequest) (authRedirect, error) {
	b, err := f.Begin(ctx, handshake.BeginOptions{RedirectURI: r.redirectURI, Extra: r.all()})
	if err != nil {
		return authRedirect{}, err
	}
	return authRedirect{url: b.URL, state: b.Token + " " + b.Secret}, nil
}

func (f oauth1Protocol) finish(ctx context.Context, c callbackParams) (*identity, error) {
	kept, err := c.kept.value(oauth.CheckState)
	if err != nil {
		return nil, err
	}
	token, secret, ok := strings.Cut(kept, " ")
	if !ok {
		return nil, fail(CodeInvalidCheck, fmt.Errorf("the state holds no temporary credentials"))
	}
	result, err := f.Finish(ctx, handshake.OAuth1Return{
		Params: c.params, Token: token, Secret: secret,
		Accept: c.accept, Exchanged: c.exchanged,
	})
	if err != nil {
		return nil, providerError(err)
	}
	return &identity{tokens: result.Tokens, profile: result.Profile}, nil
}

type openID2Protocol struct{ *handshake.OpenID2 }

// CheckClient finds nothing missing: a relying party has no credentials.
func (openID2Protocol) CheckClient() error { return nil }

func (f openID2Protocol) begin(ctx context.Context, r authRequest) (authRedirect, error) {
	b, err := f.Begin(ctx, handshake.BeginOptions{RedirectURI: r.redirectURI, State: r.state, Extra: r.all()})
	return authRedirect{url: b.URL, state: r.state}, err
}

func (f openID2Protocol) finish(ctx context.Context, c callbackParams) (*identity, error) {
	state, err := c.kept.value(oauth.CheckState)
	if err != nil {
		return nil, err
	}
	result, err := f.Finish(ctx, handshake.OpenID2Return{Params: c.params, RedirectURI: c.redirectURI, State: state, Accept: c.accept})
	if err != nil {
		return nil, providerError(err)
	}
	return &identity{tokens: result.Tokens, profile: result.Profile}, nil
}

// postedAgain is the field of a response that this site has had posted again.
const postedAgain = "pintle.again"

// maxKeptCallbackURL bounds the callback URL in a state cookie. Browsers refuse
// cookies of more than 4096 bytes, and sealing adds a third.
//
// https://www.rfc-editor.org/rfc/rfc6265#section-6.1
const maxKeptCallbackURL = 2 << 10

// errCookiesLeftBehind reports that the browser kept cookies back that are needed.
var errCookiesLeftBehind = errors.New("the response was posted from the provider's site, without the cookies of this one")

// postedParams are the parameters of a response that came as a form.
func (x *exchange) postedParams() query.Values {
	var params query.Values
	fields := x.body.All()
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if text, ok := fields[name].(string); ok && name != postedAgain {
			params.Add(name, text)
		}
	}
	return params
}

// requireStarter makes sure that an account is linked to the user who began the
// flow, or not at all. The provider's form is posted from another site, and a
// browser does not send session cookies with SameSite=Lax along: the user would
// look signed out, and a second user would be created. So the browser posts the
// form once more from a page of this site. If there is still no session of that
// user, the sign-in ends with an error.
//
// https://www.rfc-editor.org/rfc/rfc6265#section-5.2 leaves SameSite to
// https://datatracker.ietf.org/doc/html/draft-ietf-httpbis-rfc6265bis#section-5.2
func (f *oauthFlow) requireStarter(x *exchange, kept *keptChecks) error {
	_, again, _ := x.body.String(postedAgain)
	if !again && parseFlowID(kept.id).browser != "" && x.sentFormToken() == "" {
		return errCookiesLeftBehind // [exchange.begunHere] needs the form token
	}
	if !again && x.Callbacks.Hold != nil && x.sentFormToken() == "" {
		return errCookiesLeftBehind // a held sign-in is bound to it, and open forms need it
	}
	leftBehind := !again && x.heldToken() == ""
	if x.records == nil || x.startedBy(kept.id, nil) && marked(kept.id) {
		// There is nothing to link, or it began signed out. The browser may have
		// got a session meanwhile.
		if leftBehind && x.sessions.endHeldAtSignIn() {
			return errCookiesLeftBehind
		}
		return nil
	}
	if leftBehind {
		return errCookiesLeftBehind
	}
	if !marked(kept.id) {
		return nil // Auth.js does not say who began it
	}
	user, _, err := x.signedIn()
	if err != nil {
		return err
	}
	if user == nil || !x.startedBy(kept.id, user) {
		return &Error{
			Code: CodeAccountNotLinked, Provider: f.id,
			Err: errors.New("the user who began the flow to link an account is no longer signed in"),
		}
	}
	return nil
}

// postAgain has the browser post a response from this site. Nothing of it has
// been used yet.
func (x *exchange) postAgain(action string, params query.Values) error {
	data := page.ContinueData{Site: x.pageSite(), Action: action}
	for _, e := range params {
		data.Fields = append(data.Fields, page.HiddenField{Name: e.Key, Value: e.Value})
	}
	data.Fields = append(data.Fields, page.HiddenField{Name: postedAgain, Value: "1"})
	x.debug("response posted again from this site, so that the session cookie comes along")
	// Cookies that are set because this request came without any would replace
	// those that the browser kept back.
	x.answer.cookies = nil
	x.answer.noStore = true // the page holds a code
	return x.show(x.pages().Continue(data))
}

// restoreCallbackURL sets the end of the flow, if this request has no cookie
// with it. The kept URL passes through the redirect rules again.
func (x *exchange) restoreCallbackURL(kept string) error {
	if kept == "" {
		return nil
	}
	asked, err := x.askedCallbackURL()
	if _, sent := x.initialCookie(x.set.callbackURL); err != nil || sent || asked != "" {
		return err
	}
	if x.callbackURL, x.callbackText, err = x.redirectTarget(kept); err != nil {
		return err
	}
	x.replaceCookie(x.set.callbackURL, x.callbackText)
	return nil
}

// lostFlow adds to an error what became of the flow. The cookies of a browser
// belong to one flow, as with Auth.js: of two tabs that sign in, the one that
// began later has them. The state of a response is sealed, so it shows whether
// this site made it, and when.
func (f *oauthFlow) lostFlow(x *exchange, params query.Values, kept *keptChecks, err error) error {
	state, _ := params.Last("state")
	_, unopened := x.openState(state)
	expired := errors.Is(unopened, sealed.ErrExpired)
	ours := unopened == nil || expired
	e, invalid := errors.AsType[*Error](err)
	switch other := errors.Is(err, handshake.ErrOtherFlow); {
	case other && kept.values[oauth.CheckState] != "" && (ours || f.oauth.Protocol == oauth.OAuth1):
		return &Error{
			Code: codeCallbackRoute, Detail: flowReplaced, Provider: f.id,
			Err: fmt.Errorf("%w: a sign-in that began later in this browser, mostly in another tab, took its place", err),
		}
	case other || !invalid || e.Code != CodeInvalidCheck || e.Detail != "":
		return err
	}
	lost := *e
	lost.Detail = flowUnknown
	if expired {
		lost.Detail = flowExpired
	}
	return &lost
}

// takeChecks reads the check cookies of a provider's flow. Each is good for one
// callback: a success clears them here, and after a failure the page to which
// it leads does (see clearLeftovers).
//
// A state is required whatever [OAuth.Checks] lists: some services accept any
// code verifier, so without a state the response of an attacker's flow would
// pass as one of this browser's. The exception is a flow that began at Auth.js,
// which sends the listed checks only. A listed check without our mark proves
// that. If no check is listed there is no such proof, and a callback without a
// state is rejected: an attacker could have opened it.
func (f *oauthFlow) takeChecks(x *exchange) *keptChecks {
	k := &keptChecks{values: map[oauth.Check]string{}, errs: map[oauth.Check]error{}}
	found := map[oauth.Check]*sealedCheck{}
	elsewhere := false
	for _, c := range []struct {
		check  oauth.Check
		cookie sealedCookie
	}{
		{oauth.CheckNonce, x.set.nonceCheck()},
		{oauth.CheckPKCE, x.set.pkceCheck()},
		{oauth.CheckState, x.set.stateCheck()},
	} {
		isListed := slices.Contains(f.listed, c.check)
		if !isListed && c.check != oauth.CheckState {
			continue
		}
		kept, err := c.cookie.open(x, f.id)
		if kept != nil {
			k.cleared = append(k.cleared, c.cookie.clear())
		}
		if c.check == oauth.CheckState && !isListed && elsewhere && (kept == nil || marked(kept.ID)) {
			// Such a state is left from an earlier flow: Auth.js does not clear
			// the cookies of checks that it does not use.
			continue
		}
		if err != nil {
			k.errs[c.check] = err
			continue
		}
		found[c.check] = kept
		elsewhere = elsewhere || !marked(kept.ID)
	}
	k.keep(found)
	return k
}

// sessionLeftBehind reports whether this response was posted from the provider's
// site in a flow that a signed-in user began: their session is in the browser, and
// comes along to the page that an error leads to.
func (f *oauthFlow) sessionLeftBehind(x *exchange) bool {
	if _, again, _ := x.body.String(postedAgain); again || !f.formPost || x.heldToken() != "" {
		return false
	}
	id := f.takeChecks(x).id
	return marked(id) && !x.startedBy(id, nil)
}
