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
)

// A question is a request for a profile that is more than a GET with a bearer
// token.
type question struct {
	method   string // GET, or POST when there is a body, if empty
	endpoint pintle.Endpoint

	// query, header and body may hold credentials. The body is a url.Values or
	// parts, sent as a form, or anything else, sent as JSON.
	query  map[string]string
	header map[string]string
	body   any
}

// bearer adds the access token of a token response as RFC 6750 has it.
func (q question) bearer(tokens pintle.Profile) question {
	return q.with("Authorization", "Bearer "+tokens.Text("access_token"))
}

func (q question) with(name, value string) question {
	header := map[string]string{name: value}
	maps.Copy(header, q.header)
	q.header = header
	return q
}

// ask sends the question and returns the JSON value of the answer.
func (q question) ask(ctx context.Context, c *http.Client) (any, error) {
	req, err := q.request(ctx)
	if err != nil {
		return nil, err
	}
	return handshake.Fetch(c, req)
}

// object is ask for answers that are objects.
func (q question) object(ctx context.Context, c *http.Client) (map[string]any, error) {
	answer, err := q.ask(ctx, c)
	if err != nil {
		return nil, err
	}
	object, ok := answer.(map[string]any)
	if !ok {
		return nil, errors.New("the answer is not a JSON object")
	}
	return object, nil
}

func (q question) request(ctx context.Context) (*http.Request, error) {
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

// asking has the profile of p fetched by the question that build returns. It is
// built from the completed provider, so that changed endpoints and variables
// count.
func asking(p *pintle.OAuth, build func(own *pintle.OAuth, tokens pintle.Profile) (question, error)) *pintle.OAuth {
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

// tokenInQuery has the access token sent as a parameter of the profile's
// address. It is for services that read it nowhere else.
func tokenInQuery(p *pintle.OAuth, name string) *pintle.OAuth {
	return asking(p, func(own *pintle.OAuth, tokens pintle.Profile) (question, error) {
		return question{endpoint: own.UserInfo, query: map[string]string{name: tokens.Text("access_token")}}, nil
	})
}

// oauthScheme has the access token sent with the scheme that some services have
// from a draft of OAuth 2.
func oauthScheme(p *pintle.OAuth) *pintle.OAuth {
	return asking(p, func(own *pintle.OAuth, tokens pintle.Profile) (question, error) {
		return question{endpoint: own.UserInfo}.with("Authorization", "OAuth "+tokens.Text("access_token")), nil
	})
}

// userAgent is what services are told that throttle clients without a name of
// their own.
const userAgent = "pintle (+https://github.com/pintleauth/pintle)"

// withHeaders has the profile asked for with further headers.
func withHeaders(p *pintle.OAuth, header map[string]string) *pintle.OAuth {
	return asking(p, func(own *pintle.OAuth, tokens pintle.Profile) (question, error) {
		return question{endpoint: own.UserInfo, header: header}.bearer(tokens), nil
	})
}

// unwrap takes the profile out of the member at a path of the answer.
func unwrap(path string) func(context.Context, *http.Client, *pintle.ProviderAnswer) error {
	return func(_ context.Context, _ *http.Client, a *pintle.ProviderAnswer) (err error) {
		a.Profile, err = object(a.Profile, path)
		return err
	}
}

// inPath appends to the address of an endpoint an id that the token response
// has, as one segment of its path.
func inPath(e pintle.Endpoint, tokens pintle.Profile, name string) (pintle.Endpoint, error) {
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
