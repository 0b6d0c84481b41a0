package handshake

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/pintleauth/pintle/internal/endpoint"
	"github.com/pintleauth/pintle/internal/query"
	"github.com/pintleauth/pintle/oauth"
)

const maxRequestURI = 512 // bytes; those of providers have some 80

// pushes reports whether the parameters of a sign-in go to the provider directly.
func (p *Provider) pushes(m *metadata) bool {
	return p.Push == oauth.PushAlways || p.FAPI || p.Push == oauth.PushWhenRequired && m.requiresPush
}

// pushed returns the query with which a browser goes to the authorization endpoint after
// the parameters were pushed. There is no way back: a browser with the parameters could
// change them, which is what a push prevents.
func (p *Provider) pushed(ctx context.Context, m *metadata, params query.Values) (query.Values, error) {
	if _, found := params.First("request_uri"); found {
		return nil, p.errorf("begin: request_uri cannot be pushed: remove it from Authorization")
	}
	if m.issuer == "" || m.push == "" {
		var err error
		if m, err = p.forPush(ctx); err != nil {
			return nil, err
		}
	}
	u, err := p.endpoint(m, p.PushedAuthorization, m.push, "PushedAuthorization.URL", "pushed authorization request endpoint")
	if err != nil {
		return nil, err
	}
	form := url.Values{}
	for _, param := range params {
		form.Add(param.Key, param.Value)
	}
	answer, err := p.post(endpoint.With(ctx, endpoint.Push), m, u, form)
	if err != nil {
		return nil, p.errorf("pushed authorization request: %w", err)
	}
	uri, err := requestURI(answer)
	if err != nil {
		return nil, p.errorf("pushed authorization request: answer of %s: %w", u.Host, err)
	}
	return query.Values{{Key: "client_id", Value: p.ClientID}, {Key: "request_uri", Value: uri}}, nil
}

// forPush returns metadata that has the issuer and the endpoint, if they can be known.
func (p *Provider) forPush(ctx context.Context) (*metadata, error) {
	m, err := p.resolve(ctx)
	if err == nil && m.push == "" && !m.discovered && (p.Issuer != "" || p.WellKnown != "") {
		if m, err = p.document(ctx); err != nil {
			err = p.errorf("discovery: %w", err)
		}
	}
	return m, err
}

// requestURI reads the answer to a pushed request.
//
// https://www.rfc-editor.org/rfc/rfc9126#section-2.2
func requestURI(answer *reply) (string, error) {
	body, err := decodeObject(answer.body)
	if err != nil {
		return "", err
	}
	uri := text(body, "request_uri")
	if uri == "" || len(uri) > maxRequestURI || strings.IndexFunc(uri, func(r rune) bool { return r <= ' ' || r > '~' }) >= 0 {
		return "", fmt.Errorf("request_uri is not a text of at most %d characters without white space", maxRequestURI)
	}
	number, _ := body["expires_in"].(json.Number)
	if seconds, err := number.Float64(); err != nil || seconds <= 0 {
		return "", errors.New("expires_in is not a positive number")
	}
	return uri, nil
}

// post sends the form of a pushed request with the client's credentials, and once more if
// the provider asks for another nonce in the proof.
func (p *Provider) post(ctx context.Context, m *metadata, u *url.URL, form url.Values) (*reply, error) {
	for again := false; ; again = true {
		r := &oauth.TokenRequest{URL: u.String(), Header: make(http.Header), Form: cloneForm(form)}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded;charset=UTF-8")
		r.Header.Set("Accept", "application/json")
		secret, err := p.authenticate(ctx, m, r)
		if err != nil {
			return nil, err
		}
		if err := p.prove(m, r); err != nil {
			return nil, err
		}
		sent := []string{secret, p.ClientSecret, r.Form.Get("client_assertion"), form.Get("state"), form.Get("nonce")}
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.URL, strings.NewReader(encodeSorted(r.Form)))
		if err != nil {
			return nil, errors.New("the URL of the endpoint cannot be used")
		}
		req.Header = r.Header
		answer, err := do(p.client(), req)
		if err != nil {
			return nil, conceal(err, sent...)
		}
		learned := p.learn(m, r.URL, answer.header)
		if answer.status == http.StatusCreated || answer.status == http.StatusOK {
			return answer, nil
		}
		body, _ := decodeObject(answer.body) // the status says enough
		refusal := &TokenError{
			Endpoint: "pushed authorization request", Status: answer.status, Code: text(body, "error"),
			Description: text(body, "error_description"), URI: text(body, "error_uri"),
		}
		if !again && learned && refusal.asksForNonce() {
			continue
		}
		return nil, fmt.Errorf("%w%s", conceal(refusal, sent...), p.remedy(refusal))
	}
}

// cloneForm returns a copy that can be changed.
func cloneForm(form url.Values) url.Values {
	own := make(url.Values, len(form)+4)
	for name, values := range form {
		own[name] = append([]string(nil), values...)
	}
	return own
}
