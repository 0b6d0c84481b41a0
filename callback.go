package pintle

import (
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/pintleauth/pintle/internal/handshake"
	"github.com/pintleauth/pintle/internal/uuid"
	"github.com/pintleauth/pintle/internal/wire"
)

// callback answers the callback route: a browser comes back from a provider, a
// mail or a form, and is signed in if all is well.
func (x *exchange) callback() error {
	p := x.provider
	if p == nil {
		return fail(codeInvalidProvider, errors.New("the callback route was called without a provider"))
	}
	var who *arrival
	var err error
	switch {
	case p.oauth != nil:
		who, err = x.fromProvider(p)
	case p.email != nil:
		who, err = x.fromMail(p)
	case p.credentials != nil && (x.inside || x.r.Method == http.MethodPost):
		who, err = x.fromForm(p)
	case p.passkey != nil && x.r.Method == http.MethodPost:
		who, err = x.fromAuthenticator(p)
	default:
		err = fail(codeInvalidProvider, fmt.Errorf("the callback route of a %s provider was called with %s", p.kind, x.r.Method))
	}
	if err == nil && who != nil {
		err = x.login(who)
	}
	if err != nil && !isClassified(err) {
		err = &Error{Code: codeCallbackRoute, Provider: p.id, Err: err}
	}
	return err
}

// fromProvider takes back what was kept for the flow, has the provider's response
// checked and exchanged, and maps what the provider says to a user and an
// account. It returns nil when the browser was sent on: to the deployment that it
// belongs to, or through a page of this site.
func (x *exchange) fromProvider(p *provider) (*arrival, error) {
	params := x.query
	if p.formPost() {
		params = x.postedParams()
	}
	if passed, err := x.passOn(p, params); passed || err != nil {
		return nil, err
	}
	redirectURI, _, err := x.redirectURI(p)
	if err != nil {
		return nil, err
	}
	x.debug("callback received")
	kept := x.takeChecks(p)
	said, err := p.flow.finish(x.ctx, landing{
		params: params, redirectURI: redirectURI, kept: kept,
		accept:    func() error { return x.accept(p, kept) },
		exchanged: func() { x.debug("tokens exchanged") },
	})
	if errors.Is(err, errCookiesLeftBehind) {
		return nil, x.postAgain(redirectURI, params)
	}
	if err != nil {
		if _, refused := errors.AsType[*handshake.ResponseError](err); refused {
			// The flow has had its response. An error here would say no more
			// than the one the provider reported.
			_ = x.spend(kept)
		}
		return nil, x.lostFlow(p, params, kept, err)
	}
	x.addCookie(kept.cleared...)
	if err := x.restoreCallbackURL(kept.callbackURL); err != nil {
		return nil, err
	}
	account := &Account{Type: p.kind, Provider: p.id}
	account.setTokens(said.tokens)
	user, err := x.person(p, said.profile, account)
	if err != nil {
		return nil, &Error{Code: ErrOAuthCallback, Provider: p.id, Err: fail(codeOAuthProfileParse, err)}
	}
	x.debug("profile read")
	return &arrival{
		provider: p, user: user, account: account, profile: said.profile, flow: kept.id,
		linkTo: func(signedIn *User) bool { return x.startedBy(kept.id, signedIn) },
	}, nil
}

// accept decides whether a response that belongs to the flow of this browser is
// exchanged.
func (x *exchange) accept(p *provider, kept *keptChecks) error {
	if p.formPost() {
		if err := x.requireStarter(p, kept); err != nil {
			return err
		}
	}
	if !x.begunHere(kept.id) {
		return errBegunElsewhere
	}
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
		return &Error{Code: ErrInvalidCheck, Detail: flowUsed, Err: errors.New("the flow has had its response already: the callback URL was opened twice, or the browser's cookies were copied")}
	}
	return nil
}

// keptChecks is what the check cookies of this browser say of its flow.
type keptChecks struct {
	values map[Check]string
	errs   map[Check]error

	id          string // see sealedCheck; empty if no cookie says
	callbackURL string // from a flow whose response is posted
	cleared     []string

	// once is the value that can be used once, and issued when it was made.
	once   string
	issued int64
}

// value returns what was kept for a check, or why there is nothing.
func (k *keptChecks) value(c Check) (string, error) { return k.values[c], k.errs[c] }

// takeChecks reads the check cookies of a provider's flow. Each is good for one
// callback: the lines that clear them are sent with a success here, and with the
// page that a failure leads to (see clearLeftovers).
//
// A state is required whatever [OAuth.Checks] says: services that accept any
// code verifier would otherwise take a response of an attacker's flow for one of
// this browser. The exception is a flow that began at Auth.js, which sends the
// listed checks only. A listed check without our mark proves that. Where no check
// is listed nothing could, so that a callback without a state is refused: it
// could be anybody's.
func (x *exchange) takeChecks(p *provider) *keptChecks {
	k := &keptChecks{values: map[Check]string{}, errs: map[Check]error{}}
	listed := p.checks()
	found := map[Check]*sealedCheck{}
	elsewhere := false
	for _, c := range []struct {
		check  Check
		cookie sealedCookie
	}{
		{Nonce, x.set.nonceCheck()},
		{PKCE, x.set.pkceCheck()},
		{State, x.set.stateCheck()},
	} {
		isListed := slices.Contains(listed, c.check)
		if !isListed && c.check != State {
			continue
		}
		kept, err := c.cookie.open(x, p.id)
		if kept != nil {
			k.cleared = append(k.cleared, c.cookie.clear())
		}
		if c.check == State && !isListed && elsewhere && (kept == nil || marked(kept.ID)) {
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

// keep takes over the checks that were found, if they are all of one flow.
func (k *keptChecks) keep(found map[Check]*sealedCheck) {
	first := true
	for c, check := range found {
		if mine := marked(check.ID); !first && (mine != marked(k.id) || mine && check.ID != k.id) {
			// A neighbouring host may have planted a cookie of an attacker's
			// flow beside those of the user's.
			err := fail(ErrInvalidCheck, errors.New("the check cookies belong to different flows"))
			k.errs = map[Check]error{PKCE: err, State: err, Nonce: err}
			return
		}
		first = false
		k.id, k.values[c] = check.ID, check.Value
	}
	for _, c := range []Check{State, PKCE, Nonce} {
		if check := found[c]; check != nil {
			k.once, k.issued, k.callbackURL = check.Value, check.issued(), check.CallbackURL
			return
		}
	}
}

// clearLeftovers clears check cookies of a flow that failed, so that its state,
// nonce and verifier cannot be used again. Answers that report an error carry no
// cookies, so it is the page they lead to that does it.
//
// A response of a flow that a later one replaced has used nothing of the later
// one, which goes on in another tab.
func (x *exchange) clearLeftovers() {
	code, failed := x.query.First("error")
	if detail, _ := x.query.First("code"); code == string(ErrInvalidCheck) && detail == flowReplaced {
		return
	}
	if failed {
		x.clearChecks()
	}
}

// clearChecks clears the check cookies that this browser has.
func (x *exchange) clearChecks() {
	for _, c := range []namedCookie{x.set.state, x.set.pkce, x.set.nonce, x.set.challenge} {
		if _, left := x.initialCookie(c); left {
			x.addCookie(c.clear())
		}
	}
}

// person maps a profile to a user whose id is still the provider's, and takes
// the id over to the account.
func (x *exchange) person(p *provider, profile Profile, account *Account) (*User, error) {
	mapping := p.oauth.Profile
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
	if account.ProviderAccountID, err = p.accountID(user, x.records != nil); err != nil {
		return nil, err
	}
	if user.ID == "" {
		x.noteNoAccountID(p)
	}
	user.stated &^= nullEmail // Auth.js leaves the member out
	return user, nil
}

// accountID returns the provider's id of the person. Two people whose ids are
// both missing would share an account, so an id is required where accounts are
// kept. Where none are, a Profile function may do without if it says anything of
// the person, and the account gets an id that nobody else has; the error that a
// service reports in the place of a profile is nobody.
func (p *provider) accountID(user *User, stored bool) (string, error) {
	if user.ID == "" && p.oauth.Profile != nil && !stored && user.Name+user.Email != "" {
		return uuid.New(), nil
	}
	id, ok := wire.ID(user.ID)
	if !ok || id == "0" {
		return "", fmt.Errorf("map the profile: it has no id: the Profile function returned %q", user.ID)
	}
	return id, nil
}

// fromForm asks the host whether what was typed is right.
func (x *exchange) fromForm(p *provider) (*arrival, error) {
	if err := x.requireCSRF(); err != nil {
		return nil, err
	}
	submission := &Submission{Fields: x.body.All(), Request: x.r, Client: x.clientAddress(x.r), x: x}
	user, err := p.credentials.Authorize(x.ctx, submission)
	if err != nil {
		return nil, err
	}
	if user == nil {
		return nil, &Error{Code: ErrCredentials, Provider: p.id}
	}
	x.debug("Authorize returned a user")
	account := &Account{Type: TypeCredentials, Provider: p.id}
	return &arrival{provider: p, user: user.clone(), account: account, submission: submission}, nil
}

// checks are the checks that [OAuth.Checks] lists. Auth.js uses these alone; see
// [exchange.takeChecks] for the state.
func (p *provider) checks() []Check {
	var list []Check
	switch {
	case p.oauth.Protocol == OAuth1 || p.oauth.Protocol == OpenID2:
		return []Check{State}
	case p.oauth.Checks == nil:
		list = []Check{PKCE}
	case !slices.Contains(p.oauth.Checks, NoChecks):
		list = slices.Clone(p.oauth.Checks)
	}
	if p.oauth.RedirectProxyURL != "" && !p.formPost() && !slices.Contains(list, State) {
		// As at Auth.js: the state tells the proxy where the browser belongs.
		list = append(list, State)
	}
	return list
}
