package pintle

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/pintleauth/pintle/internal/handshake"
	"github.com/pintleauth/pintle/internal/query"
)

// A flow is a provider's protocol: where to send the browser, and what to make
// of what it brings back.
type flow interface {
	// CheckClient reports credentials of the application that are missing.
	CheckClient() error

	begin(ctx context.Context, d departure) (begun, error)
	finish(ctx context.Context, l landing) (*statement, error)
}

// A departure is a browser about to be sent to a provider.
type departure struct {
	redirectURI string
	state       string
	extra       query.Values
}

// begun is where to send it, and what its check cookies have to keep.
type begun struct {
	url                    string
	state, verifier, nonce string
}

// A landing is a browser that has come back.
type landing struct {
	params      query.Values
	redirectURI string
	kept        *keptChecks

	// accept is called once when the response is known to belong to the flow of
	// this browser, before anything of it is sent to the provider. Its error ends
	// the sign-in.
	accept func() error

	// exchanged is called when the provider has returned tokens.
	exchanged func()
}

// A statement is what a provider says of the person in front of it.
type statement struct {
	tokens  map[string]any
	profile Profile
}

// newFlow turns the facts of a provider into its protocol.
func (s *settings) newFlow(p *OAuth) (flow, *Error) {
	client := p.HTTPClient
	if client == nil {
		client = s.HTTPClient
	}
	var f flow
	var check func() error
	switch p.Protocol {
	case OAuth1:
		one := &handshake.OAuth1{
			ID: p.ID, Env: envName(p), RequestTokenURL: p.RequestToken.URL, Authorize: p.Authorization.handshake(),
			AccessTokenURL: p.Token.URL, UserInfo: p.UserInfo.handshake(),
			ConsumerKey: p.ClientID, ConsumerSecret: p.ClientSecret,
			FetchProfile: p.Quirks.FetchProfile, Client: client, AllowInsecure: p.AllowInsecure,
		}
		f, check = oauth1Flow{one}, one.Check
	case OpenID2:
		id2 := &handshake.OpenID2{
			ID: p.ID, URL: p.Authorization.URL, ClaimedID: p.Quirks.ClaimedID,
			Client: client, AllowInsecure: p.AllowInsecure,
		}
		if fetch := p.Quirks.FetchProfile; fetch != nil {
			id2.FetchProfile = func(ctx context.Context, c *http.Client, id string) (map[string]any, error) {
				return fetch(ctx, c, map[string]any{"id": id})
			}
		}
		f, check = openID2Flow{id2}, id2.Check
	default:
		two := p.oauth2(client)
		f, check = oauth2Flow{two, p.Quirks.Leave, p.Quirks.Return}, two.Check
	}
	if err := check(); err != nil {
		return f, &Error{Code: codeInvalidEndpoints, Provider: p.ID, Err: err}
	}
	return f, nil
}

func (p *OAuth) oauth2(client *http.Client) *handshake.Provider {
	checks := (&provider{oauth: p}).checks()
	q := p.Quirks
	return &handshake.Provider{
		ID: p.ID, Env: envName(p), OIDC: p.Protocol == OIDC,
		Issuer: p.Issuer, WellKnown: p.WellKnown, TenantIssuer: q.TenantIssuer,
		ClientID: p.ClientID, ClientSecret: p.ClientSecret, ClientSecretFunc: q.ClientSecret,
		Authorization: p.Authorization.handshake(), Token: p.Token.handshake(), UserInfo: p.UserInfo.handshake(),
		JWKS: q.JWKS,
		PKCE: slices.Contains(checks, PKCE), State: slices.Contains(checks, State), Nonce: slices.Contains(checks, Nonce),
		AuthMethod: p.ClientAuth, PrivateKey: p.PrivateKey, PrivateKeyID: p.PrivateKeyID,
		AssertionAudience: q.AssertionAudience, SigningAlg: p.SigningAlg, UserInfoSigningAlg: q.UserInfoSigningAlg,
		ProfileFromUserInfo: p.ProfileFromUserInfo, MaxAge: p.MaxAge, TokenTypeOptional: q.TokenTypeOptional, FormTokenBody: q.FormTokenBody,
		Hooks:  q.hooks(),
		Client: client, AllowInsecure: p.AllowInsecure,
	}
}

func (e Endpoint) handshake() handshake.Endpoint {
	h := handshake.Endpoint{URL: e.URL}
	for _, name := range slices.Sorted(maps.Keys(e.Params)) {
		h.Params.Add(name, e.Params[name])
	}
	return h
}

// providerError classifies what a protocol failed with. What the provider
// itself reports is shown on the sign-in page, where the person can try again.
func providerError(err error) error {
	if answer, ok := errors.AsType[*handshake.ResponseError](err); ok {
		return fail(ErrOAuthCallback, answer)
	}
	return err
}

type oauth2Flow struct {
	*handshake.Provider
	leave  func(*url.URL) error
	arrive func(map[string]string) error
}

func (f oauth2Flow) begin(ctx context.Context, d departure) (begun, error) {
	b, err := f.Begin(ctx, handshake.BeginOptions{RedirectURI: d.redirectURI, State: d.state, Extra: d.extra})
	if err == nil && f.leave != nil {
		b.URL, err = changed(b.URL, f.leave)
	}
	return begun{url: b.URL, state: d.state, verifier: b.Verifier, nonce: b.Nonce}, err
}

// changed returns a URL after f has changed it.
func changed(raw string, f func(*url.URL) error) (string, error) {
	u, err := url.Parse(raw)
	if err == nil {
		err = f(u)
	}
	if err != nil {
		return "", fmt.Errorf("change the authorization URL: %w", err)
	}
	return u.String(), nil
}

// returned are the parameters a browser came back with, under the names that
// OAuth has for them.
func (f oauth2Flow) returned(params query.Values) (query.Values, error) {
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

func (f oauth2Flow) finish(ctx context.Context, l landing) (*statement, error) {
	params, err := f.returned(l.params)
	if err != nil {
		return nil, err
	}
	l.params = params
	state, err := l.kept.value(State)
	if err != nil {
		return nil, err
	}
	code, err := f.Validate(ctx, l.params, state)
	if err != nil {
		return nil, providerError(err)
	}
	// Both are looked for before the code is spent, so that a broken flow
	// reaches no token endpoint.
	verifier, err := l.kept.value(PKCE)
	if err != nil {
		return nil, err
	}
	nonce, err := l.kept.value(Nonce)
	if err != nil {
		return nil, err
	}
	if err := l.accept(); err != nil {
		return nil, err
	}
	result, err := f.Redeem(ctx, handshake.RedeemOptions{
		Code: code, RedirectURI: l.redirectURI, Verifier: verifier, Nonce: nonce, Params: l.params,
		Exchanged: l.exchanged,
	})
	if err != nil {
		return nil, providerError(err)
	}
	return &statement{tokens: result.Tokens, profile: result.Profile}, nil
}

type oauth1Flow struct{ *handshake.OAuth1 }

// begin keeps the temporary credentials where other protocols keep the state:
// the token among them does the work of one.
func (f oauth1Flow) begin(ctx context.Context, d departure) (begun, error) {
	b, err := f.Begin(ctx, handshake.BeginOptions{RedirectURI: d.redirectURI, Extra: d.extra})
	if err != nil {
		return begun{}, err
	}
	return begun{url: b.URL, state: b.Token + " " + b.Secret}, nil
}

func (f oauth1Flow) finish(ctx context.Context, l landing) (*statement, error) {
	kept, err := l.kept.value(State)
	if err != nil {
		return nil, err
	}
	token, secret, ok := strings.Cut(kept, " ")
	if !ok {
		return nil, fail(ErrInvalidCheck, fmt.Errorf("the state holds no temporary credentials"))
	}
	result, err := f.Finish(ctx, handshake.OAuth1Return{Params: l.params, Token: token, Secret: secret, Accept: l.accept, Exchanged: l.exchanged})
	if err != nil {
		return nil, providerError(err)
	}
	return &statement{tokens: result.Tokens, profile: result.Profile}, nil
}

type openID2Flow struct{ *handshake.OpenID2 }

// CheckClient finds nothing missing: a relying party has no credentials.
func (openID2Flow) CheckClient() error { return nil }

func (f openID2Flow) begin(ctx context.Context, d departure) (begun, error) {
	b, err := f.Begin(ctx, handshake.BeginOptions{RedirectURI: d.redirectURI, State: d.state, Extra: d.extra})
	return begun{url: b.URL, state: d.state}, err
}

func (f openID2Flow) finish(ctx context.Context, l landing) (*statement, error) {
	state, err := l.kept.value(State)
	if err != nil {
		return nil, err
	}
	result, err := f.Finish(ctx, handshake.OpenID2Return{Params: l.params, RedirectURI: l.redirectURI, State: state, Accept: l.accept})
	if err != nil {
		return nil, providerError(err)
	}
	return &statement{tokens: result.Tokens, profile: result.Profile}, nil
}
