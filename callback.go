package pintle

import (
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/pintleauth/pintle/internal/query"
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

// fromProvider takes back what was kept for the flow, has the provider's answer
// checked and exchanged, and maps what the provider says to a user and an
// account. It returns nil when the browser belongs to another deployment.
func (x *exchange) fromProvider(p *provider) (*arrival, error) {
	params := x.query
	if p.formPost() {
		params = nil
		for name, value := range x.body.All() {
			if text, ok := value.(string); ok {
				params.Add(name, text)
			}
		}
	}
	if passed, err := x.passOn(p, params); passed || err != nil {
		return nil, err
	}
	redirectURI, _, err := x.redirectURI(p)
	if err != nil {
		return nil, err
	}
	kept := x.takeChecks(p)
	said, err := p.flow.finish(x.ctx, landing{params: params, redirectURI: redirectURI, kept: kept})
	if err != nil {
		return nil, err
	}
	x.addCookie(kept.cleared...)
	account := &Account{Type: p.kind, Provider: p.id}
	account.setTokens(said.tokens)
	user, err := p.person(said.profile, account, x.records != nil)
	if err != nil {
		return nil, &Error{Code: ErrOAuthCallback, Provider: p.id, Err: fail(codeOAuthProfileParse, err)}
	}
	return &arrival{
		provider: p, user: user, account: account, profile: said.profile,
		linkTo: func(signedIn *User) bool { return x.startedBy(kept.id, signedIn) },
	}, nil
}

// keptChecks is what this browser kept while it was away.
type keptChecks struct {
	values  map[Check]string
	errs    map[Check]error
	id      string
	cleared []string
}

// value returns what was kept for a check, or why there is nothing.
func (k *keptChecks) value(c Check) (string, error) { return k.values[c], k.errs[c] }

// takeChecks reads the check cookies of the provider's checks. Each is good for
// one callback: the lines that clear them are sent with a success here, and
// with the page that a failure leads to (see clearLeftovers).
func (x *exchange) takeChecks(p *provider) *keptChecks {
	k := &keptChecks{values: map[Check]string{}, errs: map[Check]error{}}
	asked := p.checks()
	for _, c := range []struct {
		check  Check
		cookie sealedCookie
	}{
		{State, x.set.stateCheck()},
		{PKCE, x.set.pkceCheck()},
		{Nonce, x.set.nonceCheck()},
	} {
		if !slices.Contains(asked, c.check) {
			continue
		}
		kept, err := c.cookie.open(x, p.id)
		if err != nil {
			k.errs[c.check] = err
			continue
		}
		k.values[c.check], k.id = kept.Value, kept.ID
		k.cleared = append(k.cleared, c.cookie.clear())
	}
	return k
}

// clearLeftovers clears check cookies of a flow that failed, so that its state,
// nonce and verifier cannot be used again. Answers that report an error carry no
// cookies, so it is the page they lead to that does it.
func (x *exchange) clearLeftovers() {
	if _, failed := x.query.First("error"); failed {
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
func (p *provider) person(profile Profile, account *Account, stored bool) (*User, error) {
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
	if account.ProviderAccountID, err = p.accountID(user, stored); err != nil {
		return nil, err
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
		return newID(), nil
	}
	id, ok := identifier(user.ID)
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
	submission := &Submission{Fields: x.body.All(), Request: x.r}
	user, err := p.credentials.Authorize(x.ctx, submission)
	if err != nil {
		return nil, err
	}
	if user == nil {
		return nil, &Error{Code: ErrCredentials, Provider: p.id}
	}
	account := &Account{Type: TypeCredentials, Provider: p.id}
	return &arrival{provider: p, user: user.clone(), account: account, submission: submission}, nil
}

// formPost reports whether the provider answers with a form instead of a
// redirect.
//
// https://openid.net/specs/oauth-v2-form-post-response-mode-1_0.html
func (p *provider) formPost() bool {
	if p.oauth.Authorization.Params["response_mode"] == "form_post" {
		return true
	}
	_, raw, _ := cutQuery(p.oauth.Authorization.URL)
	params, err := query.Parse(raw)
	mode, _ := params.Last("response_mode")
	return err == nil && mode == "form_post"
}

// checks are the protections of the provider's flow.
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
		// The state is what tells the proxy where the browser belongs.
		list = append(list, State)
	}
	return list
}
