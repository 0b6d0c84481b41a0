package handshake

import (
	"net/http"
	"net/url"
	"slices"

	"github.com/pintleauth/pintle/oauth"
)

// proves reports whether requests carry a proof of the key of [Provider].Proofs.
func (p *Provider) proves(m *metadata) bool {
	switch {
	case p.DPoP == oauth.DPoPRequired, p.FAPI:
		return true
	case p.DPoP == oauth.DPoPWhenOffered:
		return slices.Contains(m.proofAlgs, string(oauth.ES256))
	default:
		return false
	}
}

// prove adds a proof to a request that is about to be sent.
func (p *Provider) prove(m *metadata, r *oauth.TokenRequest) error {
	if !p.proves(m) {
		return nil
	}
	u, err := url.Parse(r.URL)
	if err != nil {
		return p.errorf("the URL of the token endpoint cannot be used")
	}
	proof, err := p.Proofs.Proof(http.MethodPost, u, "")
	if err != nil {
		return p.errorf("DPoP proof: %w", err)
	}
	r.Header.Set("DPoP", proof)
	return nil
}

// learn remembers the nonce of an answer, and reports whether it had one.
func (p *Provider) learn(m *metadata, address string, answer http.Header) bool {
	if !p.proves(m) {
		return false
	}
	u, err := url.Parse(address)
	return err == nil && p.Proofs.Learn(u, answer)
}

// asksForNonce reports whether the provider rejects a proof because of its nonce.
//
// https://www.rfc-editor.org/rfc/rfc9449#section-8
func (e *TokenError) asksForNonce() bool {
	return e.Code == "use_dpop_nonce" && (e.Status == http.StatusBadRequest || e.Status == http.StatusUnauthorized)
}
