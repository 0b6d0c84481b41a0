// Package dpop makes proofs that a client has the key to which its tokens are bound:
// DPoP, RFC 9449. A token that is stolen is then of no use without the key.
package dpop

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/pintleauth/pintle/internal/lru"
)

const (
	// maxNonce is the longest nonce that is sent back, and maxOrigins how many servers'
	// nonces are remembered.
	maxNonce   = 512
	maxOrigins = 1000
)

// A Key signs proofs, by ES256.
type Key struct {
	private    *ecdsa.PrivateKey
	header     string // of proofs, encoded
	thumbprint string
}

// Derive returns the key for a purpose, which is the same in every process that has the
// secret: there is nothing to store.
func Derive(secret, purpose string) (*Key, error) {
	// A number is no private key if it is not below the order of the curve, once in 2^32.
	for attempt := range 8 {
		scalar, err := hkdf.Key(sha256.New, []byte(secret), nil, "pintle dpop ES256 "+strconv.Itoa(attempt)+" "+purpose, 32)
		if err != nil {
			return nil, err
		}
		if private, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), scalar); err == nil {
			return newKey(private)
		}
	}
	return nil, errors.New("dpop: the secret yields no key")
}

func newKey(private *ecdsa.PrivateKey) (*Key, error) {
	point, err := private.PublicKey.Bytes()
	if err != nil {
		return nil, err
	}
	x, y := encode(point[1:33]), encode(point[33:])
	// The members of RFC 7638 section 3.2, in their order.
	jwk := fmt.Sprintf(`{"crv":"P-256","kty":"EC","x":%q,"y":%q}`, x, y)
	sum := sha256.Sum256([]byte(jwk))
	return &Key{private, encode([]byte(`{"typ":"dpop+jwt","alg":"ES256","jwk":` + jwk + `}`)), encode(sum[:])}, nil
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// A Prover makes proofs for one kind of servers, and remembers their nonces. It may be
// used concurrently.
type Prover struct {
	key *Key

	mu     sync.Mutex
	nonces lru.Map[string, string]
}

// NewProver returns a prover that knows no nonces.
func NewProver(key *Key) *Prover {
	p := &Prover{key: key}
	p.nonces.Max = maxOrigins
	return p
}

// Thumbprint is that of the key (RFC 7638).
func (p *Prover) Thumbprint() string { return p.key.thumbprint }

// Proof returns the header DPoP of a request. accessToken is the token in its header
// Authorization, or "".
//
// https://www.rfc-editor.org/rfc/rfc9449#section-4.2
func (p *Prover) Proof(method string, u *url.URL, accessToken string) (string, error) {
	target := *u
	target.User, target.RawQuery, target.ForceQuery, target.Fragment, target.RawFragment = nil, "", false, "", ""
	claims := struct {
		ID     string `json:"jti"`
		Method string `json:"htm"`
		URL    string `json:"htu"`
		At     int64  `json:"iat"`
		Hash   string `json:"ath,omitempty"`
		Nonce  string `json:"nonce,omitempty"`
	}{ID: rand.Text(), Method: method, URL: target.String(), At: time.Now().Unix()}
	if accessToken != "" {
		sum := sha256.Sum256([]byte(accessToken))
		claims.Hash = encode(sum[:])
	}
	p.mu.Lock()
	claims.Nonce, _ = p.nonces.Get(originOf(u))
	p.mu.Unlock()
	payload, err := json.Marshal(claims)
	if err != nil {
		return "", err
	}
	input := p.key.header + "." + encode(payload)
	digest := sha256.Sum256([]byte(input))
	r, s, err := ecdsa.Sign(rand.Reader, p.key.private, digest[:])
	if err != nil {
		return "", err
	}
	var signature [64]byte
	r.FillBytes(signature[:32])
	s.FillBytes(signature[32:])
	return input + "." + encode(signature[:]), nil
}

// Learn remembers the nonce of an answer to a request for u. It reports whether there was
// one that can be sent.
//
// https://www.rfc-editor.org/rfc/rfc9449#section-8.2
func (p *Prover) Learn(u *url.URL, answer http.Header) bool {
	nonce := answer.Get("DPoP-Nonce")
	if nonce == "" || len(nonce) > maxNonce || !isNonce(nonce) {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.nonces.Put(originOf(u), nonce)
	return true
}

// isNonce reports whether a text has only the characters of RFC 9449 section 8.1.
func isNonce(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == '\\' }) < 0
}

// AsksForNonce reports whether an API rejects a proof because of its nonce. It does not
// look for the scheme of the challenge, which servers spell differently: a needless second
// request has the same answer.
//
// https://www.rfc-editor.org/rfc/rfc9449#section-9
func AsksForNonce(status int, answer http.Header) bool {
	if status != http.StatusUnauthorized {
		return false
	}
	for _, challenge := range answer.Values("WWW-Authenticate") {
		if strings.Contains(strings.ToLower(challenge), "use_dpop_nonce") {
			return true
		}
	}
	return false
}

// originOf names the server of a URL.
func originOf(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"https": "443", "http": "80"}[strings.ToLower(u.Scheme)]
	}
	return strings.ToLower(u.Scheme) + "://" + strings.ToLower(u.Hostname()) + ":" + port
}
