package handshake

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/pintleauth/pintle/internal/endpoint"
	"github.com/pintleauth/pintle/internal/oauth1"
	"github.com/pintleauth/pintle/internal/query"
)

// An OAuth1 is the configuration of one OAuth 1.0a provider, signing with
// HMAC-SHA1. Like [Provider] it is read-only after the first call, safe for
// concurrent use and must not be copied.
//
// https://www.rfc-editor.org/rfc/rfc5849
type OAuth1 struct {
	ID, Env string // as in [Provider]

	RequestTokenURL string
	Authorize       Endpoint // the page that the browser is redirected to
	AccessTokenURL  string
	UserInfo        Endpoint // returns the profile to a signed GET

	ConsumerKey, ConsumerSecret string

	// FetchProfile replaces the userinfo request. Its client signs.
	FetchProfile func(ctx context.Context, c *http.Client, tokens map[string]any) (map[string]any, error)

	Client        *http.Client  // nil: the default transport
	Timeout       time.Duration // of each request; zero: 10 seconds
	AllowInsecure bool          // permits http to other machines

	once    sync.Once
	guarded *http.Client
	stamp   func() oauth1.Stamp // tests only: the stamps of a published example
}

// OAuth1Begun is a sign-in that has begun. Token and Secret are the temporary
// credentials, to be sealed for [OAuth1.Finish]; they are hidden from [log/slog].
type OAuth1Begun struct {
	URL           string
	Token, Secret string
}

// LogValue leaves out the credentials.
func (o *OAuth1) LogValue() slog.Value { return slog.StringValue(o.ID) }

// LogValue leaves out the credentials.
func (b OAuth1Begun) LogValue() slog.Value { return slog.StringValue("sign-in begun") }

// OAuth1Return has the parameters of the callback, and the temporary credentials
// that were sealed when the sign-in began.
type OAuth1Return struct {
	Params        query.Values
	Token, Secret string

	// Accept, if it is not nil, is called once after the response is verified to
	// belong to this sign-in and before the token is exchanged. Its error is
	// returned as it is.
	Accept func() error

	// Exchanged, if it is not nil, is called when the token was exchanged, before
	// the profile is obtained.
	Exchanged func()
}

// Check reports the faults of o that can be found without a request.
func (o *OAuth1) Check() error {
	var errs []error
	for _, e := range []struct{ name, url string }{
		{"RequestToken.URL", o.RequestTokenURL}, {"Authorization.URL", o.Authorize.URL}, {"Token.URL", o.AccessTokenURL},
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

// CheckClient reports which of the consumer's credentials are missing. It calls
// them by the names that applications set them under.
func (o *OAuth1) CheckClient() error {
	return missingClient(o.ID, o.Env, o.ConsumerKey == "", o.ConsumerSecret == "")
}

// Begin obtains temporary credentials and returns the URL to send the browser
// to. BeginOptions.State is not used: the temporary token takes its place.
// Extra parameters whose name begins with "oauth_" are left out.
func (o *OAuth1) Begin(ctx context.Context, options BeginOptions) (OAuth1Begun, error) {
	if err := o.CheckClient(); err != nil {
		return OAuth1Begun{}, err
	}
	members, token, secret, err := o.tokens(endpoint.With(ctx, endpoint.RequestToken), o.RequestTokenURL, oauth1.Credentials{}, url.Values{"oauth_callback": {options.RedirectURI}})
	if err != nil {
		return OAuth1Begun{}, conceal(o.errorf("request token: %w", err), o.ConsumerSecret)
	}
	// Without it the provider uses OAuth 1.0, in which an attacker can make a
	// victim finish the attacker's sign-in: https://oauth.net/advisories/2009-1/
	if confirmed, _ := members.First("oauth_callback_confirmed"); confirmed != "true" {
		return OAuth1Begun{}, o.errorf("request token: oauth_callback_confirmed is not true")
	}

	u, err := o.parseURL(o.Authorize.URL)
	if err != nil {
		return OAuth1Begun{}, o.errorf("Authorization.URL: %w", err)
	}
	params, err := query.Parse(u.RawQuery)
	if err != nil {
		return OAuth1Begun{}, o.errorf("Authorization.URL: %w", err)
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

// Finish checks that the callback has the token of [OAuth1.Begin], exchanges it,
// and fetches the profile. Result.Tokens has oauth_token, oauth_token_secret and
// the other members that the provider added, such as user_id.
//
// If the user denied access, the error is a [*ResponseError] with code
// access_denied.
func (o *OAuth1) Finish(ctx context.Context, r OAuth1Return) (*Result, error) {
	if err := checkLengths(o.ID, r.Params, "denied", "oauth_token", "oauth_verifier"); err != nil {
		return nil, err
	}
	denied, refused := r.Params.Last("denied")
	token, _ := r.Params.Last("oauth_token")
	if refused {
		token = denied
	}
	// OAuth 1.0a has no state. A token from another browser would sign the
	// victim in with the attacker's account (login CSRF).
	if r.Token == "" || r.Secret == "" || !equalSecrets(token, r.Token) {
		return nil, &AnswerError{o.errorf("callback: oauth_token is not %w", ErrOtherFlow)}
	}
	if refused {
		return nil, o.errorf("callback: %w", &ResponseError{Code: "access_denied"})
	}
	verifier, _ := r.Params.Last("oauth_verifier")
	if verifier == "" {
		return nil, &AnswerError{o.errorf("callback: oauth_verifier is missing")}
	}
	if r.Accept != nil {
		if err := r.Accept(); err != nil {
			return nil, err
		}
	}

	temporary := oauth1.Credentials{Token: r.Token, TokenSecret: r.Secret}
	members, accessToken, accessSecret, err := o.tokens(endpoint.With(ctx, endpoint.Token), o.AccessTokenURL, temporary, url.Values{"oauth_verifier": {verifier}})
	if err != nil {
		refused, ok := errors.AsType[*TokenError](err)
		err = conceal(o.errorf("access token: %w", err), o.ConsumerSecret, r.Token, r.Secret, verifier)
		if ok && refused.Status >= 400 && refused.Status < 500 {
			// The provider took the credentials of this client when the sign-in
			// began, so it refuses the verifier, which a browser can make up.
			err = &AnswerError{err}
		}
		return nil, err
	}
	if r.Exchanged != nil {
		r.Exchanged()
	}
	result := &Result{Tokens: make(map[string]any)}
	for _, m := range members {
		result.Tokens[m.Key] = m.Value
	}
	result.Tokens["oauth_token"], result.Tokens["oauth_token_secret"] = accessToken, accessSecret

	access := oauth1.Credentials{Token: accessToken, TokenSecret: accessSecret}
	if result.Profile, err = o.profile(ctx, result.Tokens, access); err != nil {
		return nil, conceal(o.errorf("profile: %w", err), o.ConsumerSecret, accessToken, accessSecret)
	}
	if result.Profile == nil {
		return nil, o.errorf("the provider returned no profile")
	}
	return result, nil
}

// tokens sends a signed request for credentials and returns the members of the
// response, which include token and secret.
//
// https://www.rfc-editor.org/rfc/rfc5849#section-2
func (o *OAuth1) tokens(ctx context.Context, address string, c oauth1.Credentials, more url.Values) (members query.Values, token, secret string, err error) {
	u, err := o.parseURL(address)
	if err != nil {
		return nil, "", "", err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), http.NoBody)
	if err != nil {
		return nil, "", "", err
	}
	if err := o.authorize(req, c, more); err != nil {
		return nil, "", "", err
	}
	r, err := do(o.client(), req)
	if err != nil {
		return nil, "", "", err
	}
	if r.status != http.StatusOK && r.status != http.StatusCreated {
		return nil, "", "", &TokenError{Status: r.status} // without the body, which may repeat a secret
	}
	if members, err = query.Parse(strings.TrimSpace(string(r.body))); err != nil {
		return nil, "", "", err
	}
	token, _ = members.First("oauth_token")
	secret, _ = members.First("oauth_token_secret")
	if token == "" || secret == "" {
		return nil, "", "", errors.New("missing oauth_token or oauth_token_secret in the response")
	}
	return members, token, secret, nil
}

// authorize signs req as this client.
func (o *OAuth1) authorize(req *http.Request, c oauth1.Credentials, more url.Values) error {
	c.ConsumerKey, c.ConsumerSecret = o.ConsumerKey, o.ConsumerSecret
	stamp := o.stamp
	if stamp == nil {
		stamp = oauth1.NewStamp
	}
	return c.Authorize(req, stamp(), more)
}

// signing signs every request with the credentials of one user.
type signing struct {
	o           *OAuth1
	credentials oauth1.Credentials
	base        http.RoundTripper
}

func (s *signing) RoundTrip(req *http.Request) (*http.Response, error) {
	signed := req.Clone(req.Context()) // a RoundTripper leaves the request as it is
	if err := s.o.authorize(signed, s.credentials, nil); err != nil {
		if req.Body != nil {
			_ = req.Body.Close() // a RoundTripper closes it in any case
		}
		return nil, err
	}
	return s.base.RoundTrip(signed)
}

func (o *OAuth1) profile(ctx context.Context, tokens map[string]any, credentials oauth1.Credentials) (map[string]any, error) {
	client := *o.client()
	client.Transport = &signing{o, credentials, client.Transport}
	ctx = endpoint.With(ctx, endpoint.UserInfo)
	if o.FetchProfile != nil {
		return o.FetchProfile(ctx, &client, tokens)
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
	v, err := Fetch(&client, req)
	if err != nil {
		return nil, err
	}
	profile, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("body is not a JSON object but %s", kindOf(v))
	}
	return profile, nil
}

func (o *OAuth1) client() *http.Client {
	o.once.Do(func() { o.guarded = guardedClient(o.Client, o.Timeout, o.AllowInsecure) })
	return o.guarded
}

func (o *OAuth1) parseURL(raw string) (*url.URL, error) { return parseURL(raw, o.AllowInsecure) }

func (o *OAuth1) errorf(format string, args ...any) error { return errorOf(o.ID, format, args...) }
