package handshake

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/dghubble/oauth1"

	"github.com/pintleauth/pintle/internal/query"
)

// An OAuth1 holds the facts of one OAuth 1.0a provider, signing with HMAC-SHA1.
// Like [Provider] it is read-only after the first call, safe for concurrent use
// and not to be copied.
//
// https://www.rfc-editor.org/rfc/rfc5849
type OAuth1 struct {
	ID, Env string // as in [Provider]

	RequestTokenURL string
	Authorize       Endpoint // where the browser goes
	AccessTokenURL  string
	UserInfo        Endpoint // asked for the profile with a signed GET

	ConsumerKey, ConsumerSecret string
	Realm                       string // of the Authorization header; usually empty

	// FetchProfile replaces the userinfo request. Its client signs.
	FetchProfile func(ctx context.Context, c *http.Client, tokens map[string]any) (map[string]any, error)

	Client        *http.Client  // nil: the default transport
	Timeout       time.Duration // of each request; zero: 10 seconds
	AllowInsecure bool          // permits http to other machines

	once    sync.Once
	guarded *http.Client
	noncer  oauth1.Noncer // tests only: the one of a published example
}

// OAuth1Begun is a sign-in about to leave. Token and Secret are the temporary
// credentials, to be sealed for [OAuth1.Finish]; they are hidden from [log/slog].
type OAuth1Begun struct {
	URL           string
	Token, Secret string
}

// LogValue leaves out the credentials.
func (o *OAuth1) LogValue() slog.Value { return slog.StringValue(o.ID) }

// LogValue leaves out the credentials.
func (b OAuth1Begun) LogValue() slog.Value { return slog.StringValue("sign-in begun") }

// OAuth1Return is what came back with the browser, and the temporary
// credentials that were sealed when it left.
type OAuth1Return struct {
	Params        query.Values
	Token, Secret string

	// Accept, if it is not nil, is called once when the response is known to
	// belong to this sign-in, before the token is exchanged. Its error is
	// returned as it is.
	Accept func() error
}

// Check reports what can be known to be wrong with o without a request.
func (o *OAuth1) Check() error {
	var errs []error
	for _, e := range []struct{ name, url string }{
		{"RequestTokenURL", o.RequestTokenURL}, {"Authorize.URL", o.Authorize.URL}, {"AccessTokenURL", o.AccessTokenURL},
	} {
		if _, err := o.parseURL(e.url); err != nil {
			errs = append(errs, o.errorf("%s: %w", e.name, err))
		}
	}
	if _, err := o.parseURL(o.UserInfo.URL); err != nil && o.FetchProfile == nil {
		errs = append(errs, o.errorf("UserInfo.URL: %w", err))
	}
	return errors.Join(errs...)
}

// Begin obtains temporary credentials and returns the URL to send the browser
// to. BeginOptions.State is not used: the temporary token does its work.
// Extra parameters whose name begins with "oauth_" are left out.
func (o *OAuth1) Begin(ctx context.Context, options BeginOptions) (OAuth1Begun, error) {
	if o.ConsumerKey == "" {
		return OAuth1Begun{}, missing(o.ID, o.Env, "ConsumerKey", "ID")
	}
	if o.ConsumerSecret == "" {
		return OAuth1Begun{}, missing(o.ID, o.Env, "ConsumerSecret", "SECRET")
	}
	config, _ := o.config(ctx)
	config.CallbackURL = options.RedirectURI
	// The library insists on oauth_callback_confirmed: without it the provider
	// speaks OAuth 1.0, whose sessions can be fixed by an attacker.
	// https://oauth.net/advisories/2009-1/
	token, secret, err := config.RequestToken()
	if err != nil {
		return OAuth1Begun{}, conceal(o.errorf("request token: %w", cause(err)), o.ConsumerSecret)
	}

	u, err := o.parseURL(o.Authorize.URL)
	if err != nil {
		return OAuth1Begun{}, o.errorf("Authorize.URL: %w", err)
	}
	params, err := query.Parse(u.RawQuery)
	if err != nil {
		return OAuth1Begun{}, o.errorf("Authorize.URL: %w", err)
	}
	apply(&params, o.Authorize.Params)
	for _, e := range options.Extra {
		if e.Value != "" && !strings.HasPrefix(strings.ToLower(strings.TrimLeft(e.Key, " \t")), "oauth") {
			set(&params, e.Key, e.Value)
		}
	}
	set(&params, "oauth_token", token)
	u.RawQuery = params.Encode()
	b := OAuth1Begun{URL: normalURL(u), Token: token, Secret: secret}
	if len(b.URL) > maxAuthorizationURL {
		return OAuth1Begun{}, o.errorf("begin: authorization URL is longer than %d bytes", maxAuthorizationURL)
	}
	return b, nil
}

// Finish checks that the browser came back with the token it left with,
// exchanges it, and obtains the profile. Result.Tokens has oauth_token,
// oauth_token_secret and whatever else the provider added, such as user_id.
//
// A refusal by the user is a [*ResponseError] with code access_denied.
func (o *OAuth1) Finish(ctx context.Context, r OAuth1Return) (*Result, error) {
	if err := checkLengths(o.ID, r.Params, "denied", "oauth_token", "oauth_verifier"); err != nil {
		return nil, err
	}
	denied, refused := r.Params.Last("denied")
	token, _ := r.Params.Last("oauth_token")
	if refused {
		token = denied
	}
	// There is no state in OAuth 1.0a. A token from another browser is an
	// attacker's account looking for a victim's session.
	if r.Token == "" || r.Secret == "" || !equalSecrets(token, r.Token) {
		return nil, o.errorf("callback: oauth_token is not the one this browser started with")
	}
	if refused {
		return nil, o.errorf("callback: %w", &ResponseError{Code: "access_denied"})
	}
	verifier, _ := r.Params.Last("oauth_verifier")
	if verifier == "" {
		return nil, o.errorf("callback: oauth_verifier is missing")
	}
	if r.Accept != nil {
		if err := r.Accept(); err != nil {
			return nil, err
		}
	}

	config, trip := o.config(ctx)
	accessToken, accessSecret, err := config.AccessToken(r.Token, r.Secret, verifier)
	if err != nil {
		return nil, conceal(o.errorf("access token: %w", cause(err)), o.ConsumerSecret, r.Token, r.Secret, verifier)
	}
	result := &Result{Tokens: make(map[string]any)}
	members, err := query.Parse(strings.TrimSpace(string(trip.body)))
	if err != nil {
		return nil, o.errorf("access token: %w", err)
	}
	for _, m := range members {
		result.Tokens[m.Key] = m.Value
	}
	result.Tokens["oauth_token"], result.Tokens["oauth_token_secret"] = accessToken, accessSecret

	if result.Profile, err = o.profile(ctx, config, result.Tokens, oauth1.NewToken(accessToken, accessSecret)); err != nil {
		return nil, conceal(o.errorf("profile: %w", err), o.ConsumerSecret, accessToken, accessSecret)
	}
	if result.Profile == nil {
		return nil, o.errorf("profile: the provider returned none")
	}
	return result, nil
}

func (o *OAuth1) profile(ctx context.Context, config *oauth1.Config, tokens map[string]any, token *oauth1.Token) (map[string]any, error) {
	guarded := o.client()
	signing := config.Client(context.WithValue(ctx, oauth1.HTTPClient, guarded), token)
	signing.Timeout, signing.CheckRedirect = guarded.Timeout, guarded.CheckRedirect
	if o.FetchProfile != nil {
		return o.FetchProfile(ctx, signing, tokens)
	}
	u, err := o.parseURL(o.UserInfo.URL)
	if err != nil {
		return nil, err
	}
	params, err := query.Parse(u.RawQuery)
	if err != nil {
		return nil, err
	}
	apply(&params, o.UserInfo.Params)
	u.RawQuery = params.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), http.NoBody)
	if err != nil {
		return nil, err
	}
	v, err := Fetch(signing, req)
	if err != nil {
		return nil, err
	}
	profile, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("body is not a JSON object but %s", kindOf(v))
	}
	return profile, nil
}

// config returns the library's configuration for one exchange, and the
// transport that will have seen its response.
func (o *OAuth1) config(ctx context.Context) (*oauth1.Config, *tokenTrip) {
	guarded := o.client()
	trip := &tokenTrip{ctx: ctx, base: guarded.Transport}
	c := *guarded
	c.Transport = trip
	return &oauth1.Config{
		ConsumerKey: o.ConsumerKey, ConsumerSecret: o.ConsumerSecret, Realm: o.Realm,
		Endpoint:   oauth1.Endpoint{RequestTokenURL: o.RequestTokenURL, AuthorizeURL: o.Authorize.URL, AccessTokenURL: o.AccessTokenURL},
		HTTPClient: &c,
		Noncer:     o.noncer,
	}, trip
}

// tokenTrip makes up for what the library leaves out of a token request: the
// context, the members of the answer beside the two tokens, and an error that
// does not repeat a body with credentials in it.
type tokenTrip struct {
	ctx  context.Context
	base http.RoundTripper
	body []byte
}

func (t *tokenTrip) RoundTrip(req *http.Request) (*http.Response, error) {
	// The request's own context carries the time-out of the client.
	ctx, cancel := context.WithCancel(req.Context())
	defer cancel()
	stop := context.AfterFunc(t.ctx, cancel) //nolint:contextcheck // the caller's, which the library has no parameter for
	defer stop()
	resp, err := t.base.RoundTrip(req.WithContext(ctx))
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }() // nothing to do about it: the body is read
	if resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusCreated {
		return nil, &TokenError{Status: resp.StatusCode}
	}
	if t.body, err = io.ReadAll(resp.Body); err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(t.body))
	return resp, nil
}

// cause leaves out the URL that [http.Client] puts around an error.
func cause(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}

func (o *OAuth1) client() *http.Client {
	o.once.Do(func() { o.guarded = guardedClient(o.Client, o.Timeout, o.AllowInsecure) })
	return o.guarded
}

func (o *OAuth1) parseURL(raw string) (*url.URL, error) { return parseURL(raw, o.AllowInsecure) }

func (o *OAuth1) errorf(format string, args ...any) error { return errorOf(o.ID, format, args...) }
