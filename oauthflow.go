package pintle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
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
	// Another site may have begun it, so it is no second proof of an address.
	var proof string
	if !x.initiated() {
		proof = x.proofMark(user)
	}
	kept := sealedCheck{
		Provider: f.flowName(), Stamp: sealed.Stamp{ID: newFlowID(x.userMark(user), proof, x.browserMark())}, Asked: x.asked,
	}
	// The cookie with the callback URL is SameSite=Lax: browsers leave it out when
	// the provider's site posts a form.
	if (f.formPost && x.callbackText != x.origin || x.confirming() || x.initiated()) && len(x.callbackText) <= maxKeptCallbackURL {
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

// flowName is what the check cookies call the provider.
func (f *oauthFlow) flowName() string {
	if f.joined != nil {
		return f.id + " " + f.joined.authority
	}
	return f.id
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
	if f.joined != nil && kept.id != "" {
		// Only a browser in which a flow began makes the source be asked each time.
		if err := f.joined.current(x.ctx); err != nil {
			return nil, err
		}
	}
	if x.asked = kept.asked; x.confirming() || x.initiated() {
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
			_ = x.spendFlow(kept)
		}
		return nil, f.lostFlow(x, params, kept, x.unmet(err))
	}
	x.addCookie(kept.cleared...)
	if !x.confirming() && !x.initiated() {
		if err := x.restoreCallbackURL(kept.callbackURL); err != nil {
			return nil, err
		}
	}
	who, err := f.identify(x, said, kept.issued)
	if err != nil {
		return nil, err
	}
	who.flow = kept.id
	who.linkTo = func(signedIn *User) bool {
		return (f.joined == nil || !f.joined.neverLinks) && x.startedBy(kept.id, signedIn)
	}
	return who, nil
}

// identify maps what the provider reports to a user and an account. issued is when the
// flow began, in Unix seconds.
func (f *oauthFlow) identify(x *exchange, said *identity, issued int64) (*arrival, error) {
	account := &Account{Type: f.kind, Provider: f.id}
	account.setTokens(said.tokens)
	user, err := f.user(x, said.profile, account)
	if err != nil {
		return nil, &Error{Code: codeOAuthCallback, Provider: f.id, Err: fail(codeOAuthProfileParse, err)}
	}
	x.debug("profile read")
	who := &arrival{
		by: byAccount, user: user, account: account, profile: said.profile,
		trusted: f.oauth.DangerouslyLinkByEmail, emailVerified: f.oauth.EmailVerified,
		authentication: Authentication{Methods: reportedMethods(said.idToken[claimMethods])},
		atProvider:     f.signedInThere(x, said.idToken, account, issued),
	}
	// The id in the profile is that of the account.
	user.ID = uuid.New()
	if err := f.requireRefreshToken(x, account); err != nil {
		return nil, err
	}
	if err := f.requireIDToken(x, account); err != nil {
		return nil, err
	}
	// Unicode lower case would turn letters of another domain into ASCII ones,
	// such as the Kelvin sign into k, and so name the address of another user.
	user.Email = address.LowerASCII(user.Email)
	if who.provesAddress() {
		account.VerifiedEmail = user.Email
	}
	return who, nil
}

// requireRefreshToken rejects a sign-in whose session could not follow the provider.
func (f *oauthFlow) requireRefreshToken(x *exchange, account *Account) error {
	if f.oauth.FollowProvider == 0 || x.confirming() || account.RefreshToken != "" {
		return nil
	}
	// Google and others send one with the first consent only.
	stored, err := x.records.account(x.ctx, f.id, account.ProviderAccountID)
	if err != nil && !errors.Is(err, ErrNotFound) || err == nil && stored.RefreshToken != "" {
		return err
	}
	return &Error{
		Code: CodeConfiguration, Provider: f.id,
		Err: errors.New("FollowProvider needs a refresh token, and the provider has sent none: ask for it by the scope " +
			"offline_access, or at Google by the parameters access_type=offline and prompt=consent"),
	}
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
	if err := x.spendFlow(kept); err != nil {
		return err
	}
	x.debug("response accepted: it belongs to the flow of this browser")
	return nil
}

// spendFlow uses the flow up. Of parallel callbacks with copies of one browser's
// cookies, one reaches the provider: a second request with the same code would
// end the grant of the first at providers that follow RFC 6749 section 4.1.2.
func (x *exchange) spendFlow(kept *keptChecks) error {
	first, err := x.spend(x.spent.flows, kept.once, kept.issued)
	if err == nil && !first {
		err = &Error{
			Code: CodeInvalidCheck, Detail: flowUsed,
			Err: errors.New("the flow has had its response already: the callback URL was opened twice, or the " +
				"browser's cookies were copied"),
		}
	}
	return err
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

func (f *oauthFlow) verifyLogout(ctx context.Context, token string) (*handshake.LogoutToken, error) {
	return f.endedBy.VerifyLogoutToken(ctx, token, f.oauth.RequireLogoutTokenType || f.oauth.SecurityProfile == oauth.FAPI2)
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
func (f *oauthFlow) signedInThere(x *exchange, idToken map[string]any, account *Account, issued int64) *atProvider {
	if f.endedBy == nil && f.oauth.FollowProvider == 0 && !f.oauth.RevokeAtSignOut && !f.oauth.EndSessionsOnRefusal {
		return nil
	}
	sub, _ := f.userThere(idToken, account)
	r := providersession.Record{
		Provider: f.id, ProviderAccountID: account.ProviderAccountID, Role: providersession.Began, Created: x.began.UTC(), Sub: sub,
	}
	r.Sid = f.sessionKey(idToken)
	readReport(&r, idToken)
	return &atProvider{record: r, flowBegan: time.Unix(issued, 0).UTC()}
}

// userThere names the user of an account at the provider, by the claims of an ID token if the
// provider issues them.
func (f *oauthFlow) userThere(idToken map[string]any, account *Account) (key providersession.Key, name string) {
	issuer, _ := idToken["iss"].(string)
	name, _ = idToken["sub"].(string)
	if f.oauth.Protocol != oauth.OIDC {
		issuer, name = f.oauth.authority(), account.ProviderAccountID
	}
	return providerKey(keyOfUser, issuer, f.oauth.ClientID, name), name
}

// refusedUser is [facts.refusedUser]. The kept ID token was verified when it came. The id of
// the account is not taken in its place: it is what OAuth.Profile makes of the profile, and
// one that its user may choose could be the subject of another user.
func (f *oauthFlow) refusedUser(a *Account) (key providersession.Key, name string, err error) {
	claims := map[string]any{}
	if f.oauth.Protocol == oauth.OIDC {
		_ = readKept(a.IDToken, &claims)
		if other := f.oauth.Quirks.OtherIssuer; other != "" && claims["iss"] == other {
			claims["iss"] = f.oauth.Issuer // as in the claims of a sign-in by an SDK
		}
		if text, _ := claims["iss"].(string); text == "" {
			return key, "", errNoIDToken
		}
	}
	if key, name = f.userThere(claims, a); name == "" {
		return key, "", errNoIDToken
	}
	return key, name, nil
}

var errNoIDToken = errors.New("EndSessionsOnRefusal needs the ID token of the account, which names the user whose sessions end: " +
	"let OAuth.StoreAccount keep it, or give it to Auth.Refresh with the account")

// requireIDToken rejects a sign-in whose sessions a refusal could not end.
func (f *oauthFlow) requireIDToken(x *exchange, account *Account) error {
	if !f.oauth.EndSessionsOnRefusal || x.confirming() || x.records == nil || !x.records.can.Accounts {
		return nil
	}
	if _, _, err := f.refusedUser(x.kept(account)); err != nil {
		return &Error{Code: CodeConfiguration, Provider: f.id, Err: err}
	}
	return nil
}

// sessionKey names the session at the provider that an ID token is of, or is zero.
func (f *oauthFlow) sessionKey(idToken map[string]any) (key providersession.Key) {
	issuer, _ := idToken["iss"].(string)
	if sid, _ := idToken["sid"].(string); sid != "" && len(sid) <= maxProviderSID {
		key = providerKey(keyOfSession, issuer, f.oauth.ClientID, sid)
	}
	return key
}

// readReport notes in a record how its user has signed in at the provider. What the ID
// token does not say stays as it was: that of a refresh has mostly less than the first.
func readReport(r *providersession.Record, idToken map[string]any) {
	if acr, _ := idToken["acr"].(string); acr != "" && len(acr) <= maxRecordACR && !strings.ContainsRune(acr, 0) {
		r.ACR = acr
	}
	var methods []string
	values, _ := idToken[claimMethods].([]any)
	for _, value := range values {
		if method, _ := value.(string); method != "" && len(method) <= maxReport && len(methods) < maxReported && !strings.ContainsRune(method, 0) {
			methods = append(methods, method)
		}
	}
	if methods != nil {
		r.AMR = methods
	}
	if at, ok := wire.Seconds(idToken["auth_time"]); ok {
		r.AuthTime = past(time.Unix(at, 0)).UTC()
	}
}

// confirmedThere notes what the ID token of a refresh says of the session of a record. An
// account has one refresh token, which may be of a sign-in in another browser: the ID token
// has to name the same session.
func (f *oauthFlow) confirmedThere(r *providersession.Record, renewed *Account) {
	claims := map[string]any{}
	if readKept(renewed.IDToken, &claims) && r.Sid != (providersession.Key{}) && f.sessionKey(claims) == r.Sid {
		readReport(r, claims)
	}
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
		kept, err := c.cookie.open(x, f.flowName())
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

// providerError classifies what a protocol failed with. What the provider
// itself reports is shown on the sign-in page, where the user can try again.
func providerError(err error) error {
	if answer, ok := errors.AsType[*handshake.ResponseError](err); ok && !isClassified(err) {
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
		return nil, providerError(f.wrongTarget(err))
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
		return nil, providerError(f.wrongTarget(err))
	}
	return &identity{tokens: result.Tokens, profile: result.Profile, idToken: result.IDTokenClaims}, nil
}

// wrongTarget classifies the error of a provider that does not know one of the Resources:
// it is the same for every user.
//
// https://www.rfc-editor.org/rfc/rfc8707#section-2
func (f oauth2Protocol) wrongTarget(err error) error {
	code := ""
	if refusal, ok := errors.AsType[*handshake.TokenError](err); ok {
		code = refusal.Code
	} else if refusal, ok := errors.AsType[*handshake.ResponseError](err); ok {
		code = refusal.Code
	}
	if code != "invalid_target" || len(f.Resources) == 0 {
		return err
	}
	return &Error{Code: CodeConfiguration, Provider: f.ID, Err: fmt.Errorf("OAuth.Resources: %w", err)}
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
