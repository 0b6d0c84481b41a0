package handshake

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pintleauth/pintle/internal/endpoint"
	"github.com/pintleauth/pintle/internal/query"
)

const openIDNamespace = "http://specs.openid.net/auth/2.0"

// An OpenID2 is the configuration of one OpenID 2.0 provider, such as Steam. The
// user chooses the identity there, and the provider confirms every assertion in a
// direct request. Like [Provider] it is read-only after the first call, safe for
// concurrent use and must not be copied.
//
// https://openid.net/specs/openid-authentication-2_0.html
type OpenID2 struct {
	ID string // names the provider in errors

	// URL is the one endpoint: it receives the browser and confirms assertions,
	// and assertions must name it.
	URL string

	// ClaimedID matches the identifiers of the provider as a whole; its first
	// group is the account id.
	ClaimedID *regexp.Regexp

	// FetchProfile fetches the profile of an account. If nil, the profile has
	// "id" and "claimed_id".
	FetchProfile func(ctx context.Context, c *http.Client, id string) (map[string]any, error)

	Client        *http.Client  // nil: the default transport
	Timeout       time.Duration // of each request; zero: 10 seconds
	AllowInsecure bool          // permits http to other machines

	once    sync.Once
	guarded *http.Client
	seen    nonces
}

// OpenID2Return has the parameters of the callback, and the options that were
// passed to [OpenID2.Begin].
type OpenID2Return struct {
	Params      query.Values
	RedirectURI string
	State       string

	// Accept is called before the assertion is confirmed, as in [OAuth1Return].
	Accept func() error
}

// Check reports the faults of o that can be found without a request.
func (o *OpenID2) Check() error {
	_, err := parseURL(o.URL, o.AllowInsecure)
	if err != nil {
		err = errorOf(o.ID, "URL: %w", err)
	}
	if o.ClaimedID == nil || o.ClaimedID.NumSubexp() < 1 {
		err = errors.Join(err, errorOf(o.ID, "ClaimedID needs a group for the account id"))
	}
	return err
}

// Begin returns the URL to send the browser to. OpenID 2.0 has no state, so the
// state is put into the address to return to, which the provider signs.
func (o *OpenID2) Begin(_ context.Context, options BeginOptions) (Begun, error) {
	u, err := parseURL(o.URL, o.AllowInsecure)
	if err != nil {
		return Begun{}, errorOf(o.ID, "URL: %w", err)
	}
	returnTo, err := returnAddress(options.RedirectURI, options.State)
	if err != nil {
		return Begun{}, errorOf(o.ID, "begin: %w", err)
	}
	realm, err := url.Parse(options.RedirectURI)
	if err != nil {
		return Begun{}, errorOf(o.ID, "begin: RedirectURI is not a URL")
	}
	params, err := query.Parse(u.RawQuery)
	if err != nil {
		return Begun{}, errorOf(o.ID, "URL: %w", err)
	}
	for _, e := range options.Extra {
		if e.Value != "" && !strings.HasPrefix(strings.ToLower(e.Key), "openid") {
			set(&params, e.Key, e.Value)
		}
	}
	apply(&params, query.Values{
		{Key: "openid.ns", Value: openIDNamespace},
		{Key: "openid.mode", Value: "checkid_setup"},
		{Key: "openid.claimed_id", Value: openIDNamespace + "/identifier_select"},
		{Key: "openid.identity", Value: openIDNamespace + "/identifier_select"},
		{Key: "openid.return_to", Value: returnTo},
		{Key: "openid.realm", Value: realm.Scheme + "://" + realm.Host},
	})
	u.RawQuery = params.Encode()
	b := Begun{URL: normalURL(u)}
	if len(b.URL) > maxAuthorizationURL {
		return Begun{}, errorOf(o.ID, "begin: authorization URL is longer than %d bytes", maxAuthorizationURL)
	}
	return b, nil
}

// returnAddress is the redirect URI with the state in it.
func returnAddress(redirectURI, state string) (string, error) {
	if state == "" {
		return "", errors.New("option State is empty")
	}
	u, err := url.Parse(redirectURI)
	if err != nil || u.Host == "" {
		return "", errors.New("option RedirectURI is not an absolute URL")
	}
	params, err := query.Parse(u.RawQuery)
	if err != nil {
		return "", err
	}
	set(&params, "state", state)
	u.RawQuery = params.Encode()
	return u.String(), nil
}

// Finish checks the assertion of the callback, has the provider confirm it, and
// fetches the profile. Result.Tokens has only claimed_id: OpenID 2.0 grants no
// access.
//
// The error is a [*ResponseError] if the user denied access (access_denied) or
// the provider could not sign the user in (login_required, server_error).
func (o *OpenID2) Finish(ctx context.Context, r OpenID2Return) (*Result, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	said, err := readAssertion(r.Params)
	if err != nil {
		return nil, &AnswerError{errorOf(o.ID, "callback: %w", err)}
	}
	state, _ := r.Params.Last("state")
	if r.State == "" || !equalSecrets(state, r.State) {
		return nil, &AnswerError{errorOf(o.ID, "callback: state does not match %w", ErrOtherFlow)}
	}
	if e := said.refusal(); e != nil {
		return nil, errorOf(o.ID, "callback: %w", e)
	}
	id, err := o.checkAssertion(said, r, time.Now())
	if err != nil {
		return nil, &AnswerError{errorOf(o.ID, "callback: %w", err)}
	}
	if r.Accept != nil {
		if err := r.Accept(); err != nil {
			return nil, err
		}
	}
	if err := o.confirm(ctx, said); err != nil {
		return nil, errorOf(o.ID, "check of the assertion: %w", err)
	}
	if !o.seen.first(said.get("response_nonce"), time.Now()) {
		return nil, &AnswerError{errorOf(o.ID, "callback: the assertion was used before")}
	}

	claimed := said.get("claimed_id")
	result := &Result{
		Tokens:  map[string]any{"claimed_id": claimed},
		Profile: map[string]any{"id": id, "claimed_id": claimed},
	}
	if o.FetchProfile != nil {
		if result.Profile, err = o.FetchProfile(endpoint.With(ctx, endpoint.UserInfo), o.client(), id); err != nil {
			return nil, conceal(errorOf(o.ID, "profile: %w", err))
		}
		if result.Profile == nil {
			return nil, errorOf(o.ID, "the provider returned no profile")
		}
	}
	return result, nil
}

// An assertion has the openid parameters of a callback.
type assertion query.Values

func (a assertion) get(name string) string {
	v, _ := query.Values(a).First("openid." + name)
	return v
}

// readAssertion rejects repeated parameters: the provider could have signed one
// value while the other is used here.
func readAssertion(params query.Values) (assertion, error) {
	var a assertion
	for _, p := range params {
		if !strings.HasPrefix(p.Key, "openid.") {
			continue
		}
		if _, repeated := query.Values(a).First(p.Key); repeated || len(p.Key) > 100 || len(p.Value) > maxParam || strings.ContainsAny(p.Value, "\r\n") {
			return nil, fmt.Errorf("%q is repeated, too long or has line breaks", clip(p.Key))
		}
		if a = append(a, p); len(a) > 50 {
			return nil, errors.New("too many openid parameters")
		}
	}
	return a, nil
}

// refusal returns the provider's error for a negative assertion, or nil for a
// positive one.
func (a assertion) refusal() *ResponseError {
	switch a.get("mode") {
	case "cancel":
		return &ResponseError{Code: "access_denied"}
	case "setup_needed":
		return &ResponseError{Code: "login_required"}
	case "error":
		return &ResponseError{Code: "server_error", Description: a.get("error")}
	}
	return nil
}

// checkAssertion follows
// https://openid.net/specs/openid-authentication-2_0.html#verification
// except for the confirmation by the provider, and returns the account id.
func (o *OpenID2) checkAssertion(said assertion, r OpenID2Return, now time.Time) (string, error) {
	if said.get("ns") != openIDNamespace || said.get("mode") != "id_res" {
		return "", errors.New("not a positive OpenID 2.0 assertion")
	}
	signed := make(map[string]bool)
	for name := range strings.SplitSeq(said.get("signed"), ",") {
		signed[name] = true
	}
	for _, name := range []string{"op_endpoint", "return_to", "response_nonce", "assoc_handle", "claimed_id", "identity"} {
		if !signed[name] || said.get(name) == "" {
			return "", fmt.Errorf("openid.%s is missing or not signed", name)
		}
	}
	if said.get("op_endpoint") != o.URL {
		return "", errors.New("the assertion is of another provider")
	}
	returnTo, err := returnAddress(r.RedirectURI, r.State)
	if err != nil {
		return "", err
	}
	if said.get("return_to") != returnTo {
		return "", errors.New("openid.return_to is not the address this browser was to return to")
	}
	stamp := said.get("response_nonce")
	if len(stamp) < len(time.DateTime)+1 || len(stamp) > 255 {
		return "", errors.New("openid.response_nonce has no time")
	}
	at, err := time.Parse(time.RFC3339, stamp[:len("2006-01-02T15:04:05Z")])
	if err != nil || now.Sub(at).Abs() > openIDNonceAge {
		return "", errors.New("the assertion is too old, or the clocks differ")
	}
	claimed := said.get("claimed_id")
	match := o.ClaimedID.FindStringSubmatch(claimed)
	if match == nil || match[0] != claimed || match[1] == "" || said.get("identity") != claimed {
		return "", errors.New("openid.claimed_id is not an identifier of this provider")
	}
	return match[1], nil
}

// confirm requests the provider to confirm that it made the assertion.
//
// https://openid.net/specs/openid-authentication-2_0.html#check_auth
func (o *OpenID2) confirm(ctx context.Context, said assertion) error {
	form := slices.Clone(query.Values(said))
	set(&form, "openid.mode", "check_authentication")
	req, err := http.NewRequestWithContext(endpoint.With(ctx, endpoint.Assertion), http.MethodPost, o.URL, strings.NewReader(form.Encode()))
	if err != nil {
		return errors.New("the URL of the provider cannot be used")
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answer, err := do(o.client(), req)
	if err != nil {
		return err
	}
	if answer.status != http.StatusOK {
		return withoutQuery(req, fmt.Errorf("status %d", answer.status))
	}
	reply := make(map[string]string)
	for lines := bufio.NewScanner(bytes.NewReader(answer.body)); lines.Scan(); {
		key, value, _ := strings.Cut(lines.Text(), ":")
		reply[key] = value
	}
	if reply["ns"] != openIDNamespace || reply["is_valid"] != "true" {
		return &AnswerError{errors.New("the provider does not confirm it")}
	}
	return nil
}

func (o *OpenID2) client() *http.Client {
	o.once.Do(func() { o.guarded = guardedClient(o.Client, o.Timeout, o.AllowInsecure) })
	return o.guarded
}
