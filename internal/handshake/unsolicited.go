package handshake

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/go-jose/go-jose/v4"
)

// unsolicited is what remains of tokens that anyone can send.
type unsolicited struct {
	renewal allowance // of keys; guarded by the cell of the keys
}

// A SignedToken is a token with a signature of the provider.
type SignedToken struct {
	// Type is the typ of the header. It is empty if the header has none, or one
	// that is not text.
	Type string

	// Claims are the claims, numbers as [json.Number].
	Claims map[string]any

	typ any // of the header
}

// An UnsolicitedTokenError is a token that is not good. Any other error means that it
// could not be verified now.
type UnsolicitedTokenError struct{ err error }

func (e *UnsolicitedTokenError) Error() string { return e.err.Error() }

func (e *UnsolicitedTokenError) Unwrap() error { return e.err }

// LogValue leaves out the claims.
func (t *SignedToken) LogValue() slog.Value { return slog.StringValue(t.Type) }

// VerifyUnsolicited verifies a token that came with a request that anyone can
// send, such as the ID token of an SDK, and not from the provider
// itself. It checks that the provider signed it and issued it, and nothing else: the
// caller judges type, audience, times and the rest. A token that is not good is an
// [*UnsolicitedTokenError].
//
// The claim iss of the result is the issuer, also where the token has OtherIssuer.
//
// Such a token costs little, whatever it is. Its size and the number of keys that
// are tried are bounded. An unknown key id has the keys fetched at most once a
// minute, apart from the fetches for the provider's own tokens: otherwise a flood of
// invented ids would use those up, and sign-ins would fail when the provider changes
// its keys.
func (p *Provider) VerifyUnsolicited(ctx context.Context, raw string) (*SignedToken, error) {
	if len(raw) > maxUnsolicited || !isCompact(raw) {
		return nil, p.refuseUnsolicited(fmt.Errorf("not a signed token in compact form of at most %d bytes", maxUnsolicited))
	}
	m, err := p.resolve(ctx)
	if err != nil {
		return nil, err
	}
	token, err := p.verifyUnsolicited(ctx, m, raw)
	if err != nil {
		return nil, err
	}
	claims, err := decodeObject(token.payload)
	if err != nil {
		return nil, p.refuseUnsolicited(err)
	}
	if iss, _ := claims["iss"].(string); iss != "" && iss == p.OtherIssuer {
		claims["iss"] = m.issuer
	}
	if err := checkIssuer(m, token, claims); err != nil {
		return nil, p.refuseUnsolicited(err)
	}
	typ, _ := token.typ.(string)
	return &SignedToken{Type: typ, Claims: claims, typ: token.typ}, nil
}

func (p *Provider) refuseUnsolicited(err error) error {
	return &UnsolicitedTokenError{p.errorf("token: %w", err)}
}

func (p *Provider) verifyUnsolicited(ctx context.Context, m *metadata, raw string) (*verified, error) {
	algs, err := p.allowedAlgs(m)
	if err != nil {
		return nil, p.errorf("token: %w", err)
	}
	if err := checkAlg(raw, algs); err != nil {
		return nil, p.refuseUnsolicited(err)
	}
	jws, err := parseToken(raw, algs)
	if err != nil {
		return nil, p.refuseUnsolicited(err)
	}
	token, err := p.verifyForeign(ctx, m, jws)
	switch {
	case errors.Is(err, errNoKey) || errors.Is(err, errOtherSecret):
		return nil, p.refuseUnsolicited(err)
	case err != nil:
		return nil, p.errorf("token: %w", err)
	}
	return token, nil
}

// verifyForeign verifies the signature of a token that anyone can send.
func (p *Provider) verifyForeign(ctx context.Context, m *metadata, jws *jose.JSONWebSignature) (*verified, error) {
	header := jws.Signatures[0].Header
	if isSymmetric(header.Algorithm) {
		return p.verifyWithSecret(jws)
	}
	from := p.keySource(m)
	known, err := p.keys.get(ctx, from)
	if err != nil {
		return nil, err
	}
	if v, ok := known.verify(jws, unsolicitedTries); ok {
		return v, nil
	}
	// A forged signature with the id of a key that is known says nothing about newer
	// keys.
	if known.has(header.KeyID) {
		return nil, errNoKey
	}
	known, err = p.keys.renew(ctx, &p.unsolicited.renewal, limit{unsolicitedPause, unsolicitedYoung}, from)
	if errors.Is(err, errTooSoon) {
		return nil, fmt.Errorf("%w: %w", ErrUnknownKey, err)
	}
	if err != nil {
		return nil, err
	}
	if v, ok := known.verify(jws, unsolicitedTries); ok {
		return v, nil
	}
	return nil, errNoKey
}

// ErrUnknownKey means that the key of a token that anyone can send is not known, and that
// the keys of the provider are not fetched now because of it. The token may be good: the
// provider may have a new key, and a forged token may have caused the last fetch.
var ErrUnknownKey = errors.New("no key of the provider that is known here fits the signature")

var errOtherSecret = errors.New("the signature was not made with ClientSecret")

// verifyWithSecret verifies a signature whose key is the client secret.
func (p *Provider) verifyWithSecret(jws *jose.JSONWebSignature) (*verified, error) {
	if p.ClientSecret == "" {
		return nil, missing(p.ID, p.Env, "ClientSecret", "SECRET")
	}
	payload, err := jws.Verify([]byte(p.ClientSecret))
	if err != nil {
		return nil, errOtherSecret
	}
	return newVerified(jws, payload, ""), nil
}
