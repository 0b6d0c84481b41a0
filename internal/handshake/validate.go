package handshake

import (
	"context"
	"crypto/subtle"

	"github.com/pintleauth/pintle/internal/query"
)

// Validate checks the parameters of the callback and returns the authorization
// code. wantState is the state that was sealed when the sign-in began. It is
// required with the State check, and compared whenever it is not empty. If a
// parameter is repeated, the last value counts.
//
// A [*ResponseError] is the provider's own error. It is returned only after
// issuer and state are verified, so that another site cannot make it up. An
// [*AnswerError] is about the other parameters. Further errors are those of
// discovery.
//
// https://www.rfc-editor.org/rfc/rfc9207#section-2.4
func (p *Provider) Validate(ctx context.Context, params query.Values, wantState string) (code string, err error) {
	if err := checkLengths(p.ID, params, "response", "iss", "state", "error", "error_description", "error_uri", "id_token", "token", "code"); err != nil {
		return "", err
	}
	if _, ok := params.Last("response"); ok {
		return "", p.answerErrorf("JWT-secured responses are not supported")
	}
	if err := p.checkResponseIssuer(ctx, params); err != nil {
		return "", err
	}
	if p.State || wantState != "" {
		state, _ := params.Last("state")
		if wantState == "" || !equalSecrets(state, wantState) {
			return "", p.answerErrorf("state does not match %w", ErrOtherFlow)
		}
	}
	if e := responseError(params); e != nil {
		return "", p.errorf("callback: %w", e)
	}
	// An implicit or hybrid response was not requested, and its tokens have
	// passed through the browser.
	for _, name := range []string{"id_token", "token"} {
		if _, ok := params.Last(name); ok {
			return "", p.answerErrorf("%s in the response to a request for a code", name)
		}
	}
	code, _ = params.Last("code")
	if code == "" {
		return "", p.answerErrorf("code is missing")
	}
	return code, nil
}

// checkResponseIssuer stops a code of one provider from being sent to another:
// the mix-up attack of RFC 9207. Without a configured issuer there is nothing to
// compare with; each provider has another redirect URI, which stops the attack as
// well.
func (p *Provider) checkResponseIssuer(ctx context.Context, params query.Values) error {
	m, err := p.resolve(ctx)
	if err != nil {
		return err
	}
	iss, sent := params.Last("iss")
	switch {
	case !sent && m.sendsIssuer:
		return p.answerErrorf("the provider promises an iss parameter, but the response has none")
	case !sent && (p.RequireIssuer || p.FAPI):
		return p.answerErrorf("the response has no iss parameter, which RequireIssuerParameter requires")
	case !sent, m.issuer == "", iss == m.issuer, m.matchesTenant(iss):
		return nil
	default:
		return p.answerErrorf("response of issuer %q, expected %q", clip(iss), m.issuer)
	}
}

// responseError returns the error that the provider sent with the browser.
func responseError(params query.Values) *ResponseError {
	code, _ := params.Last("error")
	if code == "" {
		return nil
	}
	description, _ := params.Last("error_description")
	uri, _ := params.Last("error_uri")
	return &ResponseError{Code: code, Description: description, URI: uri}
}

// checkLengths bounds the parameters of a request before anything else reads them.
func checkLengths(id string, params query.Values, names ...string) error {
	for _, name := range names {
		if v, _ := params.Last(name); len(v) > maxParam {
			return &AnswerError{errorOf(id, "callback: %s is longer than %d bytes", name, maxParam)}
		}
	}
	return nil
}

// equalSecrets compares in a time that does not depend on where they differ.
func equalSecrets(a, b string) bool {
	return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1
}
