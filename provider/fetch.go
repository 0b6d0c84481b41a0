package provider

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/handshake"
	"github.com/pintleauth/pintle/oauth"
)

// An apiRequest is a request to the API of a service that is more than a GET with
// a bearer token: for a profile, a token, or to send a mail.
type apiRequest struct {
	method   string // empty: GET, or POST with a body
	endpoint oauth.Endpoint

	// query, header and body may hold credentials. The body is a url.Values or
	// parts, sent as a form, or anything else, sent as JSON.
	query  map[string]string
	header map[string]string
	body   any
}

// bearer adds the access token of a token response as a bearer token (RFC 6750).
func (q apiRequest) bearer(tokens pintle.Profile) apiRequest {
	return q.with("Authorization", "Bearer "+tokens.Text("access_token"))
}

func (q apiRequest) with(name, value string) apiRequest {
	header := map[string]string{name: value}
	maps.Copy(header, q.header)
	q.header = header
	return q
}

// do sends the request and returns the JSON value of the response.
func (q apiRequest) do(ctx context.Context, c *http.Client) (any, error) {
	req, err := q.request(ctx)
	if err != nil {
		return nil, err
	}
	return handshake.Fetch(c, req)
}

// object is do for responses that are objects.
func (q apiRequest) object(ctx context.Context, c *http.Client) (map[string]any, error) {
	answer, err := q.do(ctx, c)
	if err != nil {
		return nil, err
	}
	object, ok := answer.(map[string]any)
	if !ok {
		return nil, errors.New("the answer is not a JSON object")
	}
	return object, nil
}

func (q apiRequest) request(ctx context.Context) (*http.Request, error) {
	u, err := url.Parse(q.endpoint.URL)
	if err != nil {
		return nil, errors.New("the address of the profile cannot be parsed")
	}
	params := u.Query()
	for _, m := range []map[string]string{q.endpoint.Params, q.query} {
		for name, value := range m {
			params.Set(name, value)
		}
	}
	u.RawQuery = params.Encode()

	method, media, body := q.method, "", []byte(nil)
	switch b := q.body.(type) {
	case nil:
		method = cmp.Or(method, http.MethodGet)
	case url.Values:
		method, media, body = http.MethodPost, "application/x-www-form-urlencoded", []byte(b.Encode())
	case parts:
		method = http.MethodPost
		media, body = b.encode()
	default:
		method, media = http.MethodPost, "application/json"
		if body, err = json.Marshal(b); err != nil {
			return nil, fmt.Errorf("encode the request: %w", err)
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("the address of the profile cannot be used")
	}
	if media != "" {
		req.Header.Set("Content-Type", media)
	}
	for name, value := range q.header {
		req.Header.Set(name, value)
	}
	return req, nil
}

// withProfileRequest makes p fetch its profile by the request that build returns.
// build receives the completed provider, so that changed endpoints and variables
// take effect.
func withProfileRequest(p *pintle.OAuth, build func(own *pintle.OAuth, tokens pintle.Profile) (apiRequest, error)) *pintle.OAuth {
	return completing(p, func(own *pintle.OAuth) error {
		if own.Quirks.FetchProfile == nil {
			own.Quirks.FetchProfile = func(ctx context.Context, c *http.Client, tokens map[string]any) (map[string]any, error) {
				q, err := build(own, tokens)
				if err != nil {
					return nil, err
				}
				return q.object(ctx, c)
			}
		}
		return nil
	})
}

// tokenInQuery makes p send the access token as a parameter of the profile's
// address, for services that accept it nowhere else.
func tokenInQuery(p *pintle.OAuth, name string) *pintle.OAuth {
	return withProfileRequest(p, func(own *pintle.OAuth, tokens pintle.Profile) (apiRequest, error) {
		return apiRequest{endpoint: own.UserInfo, query: map[string]string{name: tokens.Text("access_token")}}, nil
	})
}

// oauthScheme makes p send the access token with the scheme of a draft of OAuth 2,
// which some services require.
func oauthScheme(p *pintle.OAuth) *pintle.OAuth {
	return withProfileRequest(p, func(own *pintle.OAuth, tokens pintle.Profile) (apiRequest, error) {
		return apiRequest{endpoint: own.UserInfo}.with("Authorization", "OAuth "+tokens.Text("access_token")), nil
	})
}

// userAgent is sent to services that rate-limit requests without a User-Agent.
const userAgent = "pintle (+https://github.com/pintleauth/pintle)"

// withHeaders makes p request the profile with additional headers.
func withHeaders(p *pintle.OAuth, header map[string]string) *pintle.OAuth {
	return withProfileRequest(p, func(own *pintle.OAuth, tokens pintle.Profile) (apiRequest, error) {
		return apiRequest{endpoint: own.UserInfo, header: header}.bearer(tokens), nil
	})
}

// unwrap returns a function that takes the profile from the member at a path of
// the response.
func unwrap(path string) func(context.Context, *http.Client, *oauth.Answer) error {
	return func(_ context.Context, _ *http.Client, a *oauth.Answer) (err error) {
		a.Profile, err = object(a.Profile, path)
		return err
	}
}

// inPath appends an id of the token response to the address of an endpoint, as one
// segment of its path.
func inPath(e oauth.Endpoint, tokens pintle.Profile, name string) (oauth.Endpoint, error) {
	id, err := accountID(tokens[name])
	if err != nil {
		return e, fmt.Errorf("the token response has no %q", name)
	}
	if id == "." || id == ".." {
		return e, fmt.Errorf("the token response has a %q that is no id", name)
	}
	address, query, _ := strings.Cut(e.URL, "?")
	e.URL = strings.TrimSuffix(address, "/") + "/" + url.PathEscape(id)
	if query != "" {
		e.URL += "?" + query
	}
	return e, nil
}
