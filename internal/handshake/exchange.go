package handshake

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/pintleauth/pintle/internal/endpoint"
	"github.com/pintleauth/pintle/internal/query"
	"github.com/pintleauth/pintle/oauth"
)

// exchange sends a token request with the client's credentials and returns the
// checked response. If the provider asks for another nonce in the proof, the request is
// made anew, once.
func (p *Provider) exchange(ctx context.Context, m *metadata, request url.Values, callback map[string]string) (map[string]any, error) {
	u, err := p.endpoint(m, p.Token, m.token, "Token.URL", "token endpoint")
	if err != nil {
		return nil, err
	}
	if !p.proves(m) {
		tokens, _, err := p.attempt(ctx, m, u.String(), request, callback)
		return tokens, err
	}
	tokens, again, err := p.attempt(ctx, m, u.String(), cloneForm(request), callback)
	if again {
		tokens, _, err = p.attempt(ctx, m, u.String(), cloneForm(request), callback)
	}
	return tokens, err
}

// attempt sends one token request. again reports that the provider asks for the nonce
// that its answer has.
func (p *Provider) attempt(ctx context.Context, m *metadata, address string, request url.Values, callback map[string]string) (tokens map[string]any, again bool, err error) {
	r := &oauth.TokenRequest{URL: address, Header: make(http.Header), Form: request, Callback: callback}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded;charset=UTF-8")
	r.Header.Set("Accept", "application/json")
	sent := []string{request.Get("code"), request.Get("code_verifier"), request.Get("refresh_token")}
	secret, err := p.authenticate(ctx, m, r)
	if err != nil {
		return nil, false, err
	}
	sent = append(sent, secret, p.ClientSecret, request.Get("client_assertion"))

	response, err := p.send(ctx, m, r)
	if err != nil {
		return nil, false, conceal(p.errorf("token request: %w", err), sent...)
	}
	learned := p.learn(m, r.URL, response.Header)
	if p.TokenResponse != nil {
		if err := p.TokenResponse(response); err != nil {
			return nil, false, conceal(p.errorf("token response: %w", err), sent...)
		}
	}
	if err := p.checkTokens(m, response); err != nil {
		refusal, refused := errors.AsType[*TokenError](err)
		again = learned && refused && refusal.asksForNonce()
		sent = append(sent, secretsOf(response.Body)...)
		// Twice: the text of an error has the beginning of a long description only, in
		// which a part of a secret would not be found.
		err = conceal(err, sent...)
		return nil, again, conceal(p.errorf("token response: %w%s", err, p.remedy(err)), sent...)
	}
	return response.Body, false, nil
}

// remedy returns a hint if the token endpoint does not know the client, or "".
//
// https://www.rfc-editor.org/rfc/rfc6749#section-5.2
func (p *Provider) remedy(err error) string {
	refusal, ok := errors.AsType[*TokenError](err)
	if !ok || refusal.Code != "invalid_client" && refusal.Status != http.StatusUnauthorized {
		return ""
	}
	if p.authMethod() == authPrivateKeyJWT {
		return fmt.Sprintf(": compare ClientID (%s), and the keys or the assertion of the client, with what the provider has", variable(p.ID, p.Env, "ID"))
	}
	return fmt.Sprintf(": compare ClientID and ClientSecret (%s, %s) and ClientAuth with what the provider has", variable(p.ID, p.Env, "ID"), variable(p.ID, p.Env, "SECRET"))
}

func (p *Provider) send(ctx context.Context, m *metadata, r *oauth.TokenRequest) (*oauth.TokenResponse, error) {
	ctx = endpoint.With(ctx, endpoint.Token)
	if p.TokenRequest != nil {
		if err := p.TokenRequest(r); err != nil {
			return nil, err
		}
	}
	if err := p.prove(m, r); err != nil {
		return nil, err
	}
	if p.Exchange != nil {
		response, err := p.Exchange(ctx, p.client(), r)
		if err == nil && response == nil {
			err = errors.New("the Exchange hook returned nothing")
		}
		return response, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.URL, strings.NewReader(encodeSorted(r.Form)))
	if err != nil {
		return nil, errors.New("the URL of the token endpoint cannot be used")
	}
	req.Header = r.Header
	answer, err := do(p.client(), req)
	if err != nil {
		return nil, err
	}
	return &oauth.TokenResponse{Status: answer.status, Header: answer.header, Body: p.readTokens(answer)}, nil
}

// readTokens returns the body as a map, or nil if it is not an object. It ignores
// the Content-Type of JSON: some providers send text/plain.
func (p *Provider) readTokens(r *reply) map[string]any {
	body, err := decodeObject(r.body)
	if err == nil || !p.FormTokenBody {
		return body
	}
	media, _, _ := mime.ParseMediaType(r.header.Get("Content-Type"))
	if media != "application/x-www-form-urlencoded" && media != "text/plain" {
		return nil
	}
	members, err := query.Parse(strings.TrimSpace(string(r.body)))
	if err != nil {
		return nil
	}
	body = make(map[string]any)
	for _, m := range members {
		body[m.Key] = m.Value
	}
	return body
}

// checkTokens applies the rules for a token response and brings its body into
// the form that [Result] promises.
//
// https://www.rfc-editor.org/rfc/rfc6749#section-5.1
func (p *Provider) checkTokens(m *metadata, r *oauth.TokenResponse) error {
	refusal := &TokenError{
		Status: r.Status, Code: text(r.Body, "error"),
		Description: text(r.Body, "error_description"), URI: text(r.Body, "error_uri"),
		RetryAfter: retryAfter(r.Header.Get("Retry-After"), time.Now()),
	}
	switch {
	case r.Status != http.StatusOK:
		return refusal
	case r.Header.Get("WWW-Authenticate") != "":
		return fmt.Errorf("answer has a WWW-Authenticate challenge: %w", refusal)
	case r.Body == nil:
		return errors.New("body is not a JSON object")
	case text(r.Body, "access_token") == "" && refusal.Code != "":
		return refusal // GitHub and others report errors with status 200
	}

	// Some serialisers write null for an absent member.
	for _, name := range []string{"refresh_token", "id_token", "scope", "expires_in", "token_type"} {
		if v, ok := r.Body[name]; ok && v == nil {
			delete(r.Body, name)
		}
	}
	if text(r.Body, "access_token") == "" {
		return errors.New("access_token is missing or not text")
	}
	for _, name := range []string{"refresh_token", "id_token"} {
		if v, ok := r.Body[name]; ok && text(r.Body, name) == "" {
			return fmt.Errorf("%s is %s, expected text that is not empty", name, kindOf(v))
		}
	}
	if v, ok := r.Body["scope"]; ok {
		if _, ok := v.(string); !ok {
			return fmt.Errorf("scope is %s, expected text", kindOf(v))
		}
	}
	if err := p.checkTokenType(m, r.Body); err != nil {
		return err
	}
	return setExpiry(r.Body, time.Now())
}

// maxRetryAfter is a week: a longer wait cannot be told from never.
const maxRetryAfter = 7 * 24 * time.Hour

// retryAfter reads a number of seconds or a date.
func retryAfter(header string, now time.Time) time.Duration {
	wait := time.Duration(0)
	if seconds, err := strconv.ParseUint(header, 10, 64); err == nil || errors.Is(err, strconv.ErrRange) {
		wait = time.Duration(min(seconds, uint64(maxRetryAfter/time.Second))) * time.Second
	} else if at, err := http.ParseTime(header); err == nil {
		wait = at.Sub(now)
	}
	return min(max(wait, 0), maxRetryAfter)
}

// checkTokenType accepts only tokens that can be used: the type decides how.
//
// https://www.rfc-editor.org/rfc/rfc6749#section-7.1
func (p *Provider) checkTokenType(m *metadata, body map[string]any) error {
	v, ok := body["token_type"]
	if !ok && p.TokenTypeOptional && !p.requiresProof() {
		body["token_type"] = "bearer"
		return nil
	}
	s, _ := v.(string)
	switch s = strings.ToLower(s); s {
	case "bearer":
		if p.requiresProof() {
			// A copy of such a token can be used.
			return errors.New("token_type is bearer, but DPoP is required: have the provider bind the tokens of this client")
		}
		body["token_type"] = s
		return nil
	case "dpop":
		if p.proves(m) {
			body["token_type"] = s
			return nil
		}
		// No proof of possession was sent, and none is made for the userinfo
		// endpoint.
		return errors.New("token_type is dpop, but no proof was sent: set DPoP, or have the provider issue bearer tokens to this client")
	case "":
		return errors.New("token_type is missing: set TokenTypeOptional for a provider that leaves it out")
	default:
		return fmt.Errorf("token_type %q is not bearer", clip(s))
	}
}

// requiresProof reports whether bearer tokens are rejected.
func (p *Provider) requiresProof() bool { return p.DPoP == oauth.DPoPRequired || p.FAPI }

// setExpiry turns expires_in, a number or a numeral in text, into a number and
// adds expires_at.
func setExpiry(body map[string]any, now time.Time) error {
	delete(body, "expires_at") // only set below
	var numeral string
	switch v := body["expires_in"].(type) {
	case nil:
		return nil
	case json.Number:
		numeral = v.String()
	case string:
		numeral = strings.TrimSpace(v)
	}
	seconds, err := strconv.ParseFloat(numeral, 64)
	// Beyond 2^53 sums are no longer exact, and no token lives that long.
	if err != nil || math.IsNaN(seconds) || seconds < 0 || seconds > 1<<53 {
		return errors.New("expires_in is not a number of seconds")
	}
	body["expires_in"] = json.Number(strconv.FormatFloat(seconds, 'f', -1, 64))
	if seconds != 0 {
		body["expires_at"] = now.Unix() + int64(seconds)
	}
	return nil
}
