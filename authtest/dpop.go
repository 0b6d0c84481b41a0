package authtest

import (
	"crypto"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// Faults of tokens that are bound to a key, and of the nonces of proofs.
const (
	TokenTypeBearer      Fault = "calls a bound token a bearer token"
	TokenTypeBound       Fault = "calls a bearer token a bound one"
	DPoPNonceNeverRight  Fault = "asks for another DPoP nonce with every answer"
	DPoPNonceMalformed   Fault = "sends DPoP nonces with white space"
	DPoPNonceMissing     Fault = "asks for a DPoP nonce and sends none"
	DPoPChallengeOddCase Fault = "writes the scheme of a DPoP challenge in another case" // honest
)

// ChangeDPoPNonces makes the nonces of proofs other ones: those that were sent are rejected
// from now on.
func (p *IdentityProvider) ChangeDPoPNonces() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.nonce, p.apiNonce = rand.Text(), rand.Text()
}

// dpopNonce returns the nonce that proofs to the endpoint of x must have, and sends it. It
// is empty if none is asked for.
//
// https://www.rfc-editor.org/rfc/rfc9449#section-8
func (p *IdentityProvider) dpopNonce(w http.ResponseWriter, x *exchange) string {
	if !p.opts.DPoPNonces && !x.faults.has(DPoPNonceNeverRight) && !x.faults.has(DPoPNonceMalformed) && !x.faults.has(DPoPNonceMissing) {
		return ""
	}
	if x.faults.has(DPoPNonceNeverRight) {
		p.ChangeDPoPNonces()
	}
	p.mu.Lock()
	nonce := p.nonce
	if x.endpoint == UserInfoEndpoint || x.endpoint == UserEndpoint {
		nonce = p.apiNonce
	}
	p.mu.Unlock()
	switch {
	case x.faults.has(DPoPNonceMissing):
	case x.faults.has(DPoPNonceMalformed):
		w.Header().Set("DPoP-Nonce", nonce+" more")
	default:
		w.Header().Set("DPoP-Nonce", nonce)
	}
	return nonce
}

// checkProof returns the thumbprint of the key of the proof in x, or "" without a proof.
// token is the access token at a profile endpoint.
//
// https://www.rfc-editor.org/rfc/rfc9449#section-4.3
func (p *IdentityProvider) checkProof(w http.ResponseWriter, x *exchange, token string) (jkt string, failed *protocolError) {
	wrong := func(format string, args ...any) (string, *protocolError) {
		return "", &protocolError{"invalid_dpop_proof", fmt.Sprintf(format, args...)}
	}
	proofs := x.r.Header.Values("DPoP")
	switch {
	case len(proofs) == 0 && p.opts.FAPI2:
		return wrong("there is no proof")
	case len(proofs) == 0:
		return "", nil
	case len(proofs) > 1:
		return wrong("there are several proofs")
	}
	// Each answer to a proof has the nonce.
	nonce := p.dpopNonce(w, x)
	jws, err := jose.ParseSignedCompact(proofs[0], []jose.SignatureAlgorithm{jose.ES256})
	if err != nil {
		return wrong("the proof is not a JWT signed with ES256: %v", err)
	}
	header := jws.Signatures[0].Header
	if header.JSONWebKey == nil || !header.JSONWebKey.IsPublic() || header.ExtraHeaders[jose.HeaderType] != "dpop+jwt" {
		return wrong("the header of the proof needs a public jwk, and the typ dpop+jwt")
	}
	payload, err := jws.Verify(header.JSONWebKey.Key)
	if err != nil {
		return wrong("the signature of the proof is wrong")
	}
	var claims struct {
		ID     string `json:"jti"`
		Method string `json:"htm"`
		URL    string `json:"htu"`
		At     int64  `json:"iat"`
		Hash   string `json:"ath"`
		Nonce  string `json:"nonce"`
	}
	if err := json.Unmarshal(payload, &claims); err != nil {
		return wrong("the claims of the proof are malformed")
	}
	want := ""
	if token != "" {
		sum := sha256.Sum256([]byte(token))
		want = base64.RawURLEncoding.EncodeToString(sum[:])
	}
	age := time.Since(time.Unix(claims.At, 0))
	switch {
	case claims.Method != x.r.Method || claims.URL != x.url(x.endpoint):
		return wrong("the proof is for %s %s", claims.Method, claims.URL)
	case age < -time.Minute || age > time.Minute:
		return wrong("the proof is older than a minute, or from the future")
	case claims.Hash != want:
		return wrong("ath of the proof is not the hash of the access token")
	case len(claims.ID) < 22 || !p.first("proof "+claims.ID, time.Now().Add(5*time.Minute)):
		return wrong("jti of the proof is short, or was used before")
	case claims.Nonce != nonce && nonce != "":
		return "", &protocolError{"use_dpop_nonce", "the proof needs the nonce of this answer"}
	case claims.Nonce != "" && nonce == "":
		return wrong("the proof has a nonce, which was never sent")
	}
	sum, err := header.JSONWebKey.Thumbprint(crypto.SHA256)
	if err != nil {
		return wrong("the key of the proof has no thumbprint")
	}
	return base64.RawURLEncoding.EncodeToString(sum), nil
}

// challengeProof answers an API call whose proof is refused.
func (x *exchange) challengeProof(w http.ResponseWriter, e *protocolError) {
	scheme := "DPoP"
	if x.faults.has(DPoPChallengeOddCase) {
		scheme = "dPoP"
	}
	w.Header().Set("WWW-Authenticate", fmt.Sprintf("%s error=%q, algs=\"ES256\"", scheme, e.code))
	writeJSON(w, http.StatusUnauthorized, map[string]any{"error": e.code, "error_description": e.description})
}

var boundTypes = []change[map[string]any]{
	{TokenTypeBearer, set("token_type", "Bearer")},
	{TokenTypeBound, set("token_type", "DPoP")},
}
