package dpop_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle/internal/dpop"
)

func prover(t *testing.T) *dpop.Prover {
	t.Helper()
	key, err := dpop.Derive("a secret for tests, 32 characters or more", "acme")
	if err != nil {
		t.Fatal(err)
	}
	return dpop.NewProver(key)
}

func address(t *testing.T, raw string) *url.URL {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// claims verifies a proof with the key in it, and returns its header and its claims.
func claims(t *testing.T, p *dpop.Prover, method, raw, token string) (header, claims map[string]any) {
	t.Helper()
	proof, err := p.Proof(method, address(t, raw), token)
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(proof, ".")
	decoded := make([][]byte, 3)
	for i := range decoded {
		if decoded[i], err = base64.RawURLEncoding.DecodeString(parts[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := json.Unmarshal(decoded[0], &header); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(decoded[1], &claims); err != nil {
		t.Fatal(err)
	}
	jwk, _ := header["jwk"].(map[string]any)
	point := []byte{4}
	for _, name := range []string{"x", "y"} {
		half, err := base64.RawURLEncoding.DecodeString(jwk[name].(string))
		if err != nil {
			t.Fatal(err)
		}
		point = append(point, half...)
	}
	public, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), point)
	if err != nil {
		t.Fatal(err)
	}
	digest := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	r, s := new(big.Int).SetBytes(decoded[2][:32]), new(big.Int).SetBytes(decoded[2][32:])
	if len(decoded[2]) != 64 || !ecdsa.Verify(public, digest[:], r, s) {
		t.Error("the signature is wrong")
	}
	return header, claims
}

// RPX-129.
func TestAProofNamesItsRequest(t *testing.T) {
	p := prover(t)
	header, c := claims(t, p, "GET", "https://api.example:8443/a%20b/c?d=e#f", "token")
	if header["typ"] != "dpop+jwt" || header["alg"] != "ES256" || len(header) != 3 || len(header["jwk"].(map[string]any)) != 4 {
		t.Errorf("header = %v", header)
	}
	// RFC 7638 section 3.1
	canonical, _ := json.Marshal(header["jwk"]) // sorted by name
	sum := sha256.Sum256(canonical)
	if got := base64.RawURLEncoding.EncodeToString(sum[:]); got != p.Thumbprint() {
		t.Errorf("thumbprint %s, want %s", p.Thumbprint(), got)
	}
	hash := sha256.Sum256([]byte("token"))
	if c["htm"] != "GET" || c["htu"] != "https://api.example:8443/a%20b/c" || c["ath"] != base64.RawURLEncoding.EncodeToString(hash[:]) || c["nonce"] != nil {
		t.Errorf("claims = %v", c)
	}
	if at := time.Unix(int64(c["iat"].(float64)), 0); time.Since(at).Abs() > time.Minute {
		t.Errorf("iat = %v", at)
	}
	_, again := claims(t, p, "GET", "https://user:secret@api.example/", "")
	if again["jti"] == c["jti"] || len(c["jti"].(string)) < 22 || again["ath"] != nil || again["htu"] != "https://api.example/" {
		t.Errorf("claims = %v", again)
	}
}

// RPT-43, RPX-130: the newest nonce of an origin is sent there, and nowhere else. A nonce that
// is no header value, or a long one, is dropped.
func TestNoncesAreThoseOfAnOrigin(t *testing.T) {
	p := prover(t)
	learn := func(from, nonce string) bool {
		return p.Learn(address(t, from), http.Header{"Dpop-Nonce": {nonce}})
	}
	nonce := func(to string) any {
		_, c := claims(t, p, "POST", to, "")
		return c["nonce"]
	}
	if !learn("https://a.example/token", "one") || !learn("https://A.example:443/par", "two") {
		t.Error("a nonce is not learned")
	}
	for _, bad := range []string{"", "a b", "a\r\nb", "a\"b", `a\b`, "ü", strings.Repeat("a", 513)} {
		if learn("https://a.example/token", bad) {
			t.Errorf("%q is learned", bad)
		}
	}
	if got := nonce("https://a.example/other"); got != "two" {
		t.Errorf("nonce = %v", got)
	}
	for _, other := range []string{"https://b.example/", "https://a.example:8443/", "http://a.example/"} {
		if got := nonce(other); got != nil {
			t.Errorf("%s is sent the nonce %v", other, got)
		}
	}
	if !learn("https://a.example/", strings.Repeat("~", 512)) {
		t.Error("a long nonce is not learned")
	}
	for i := range 1000 {
		learn(fmt.Sprintf("https://%d.example/", i), "n")
	}
	if nonce("https://a.example/") != nil || nonce("https://999.example/") != "n" {
		t.Error("more than 1000 nonces are kept")
	}
}

func TestAChallengeForANonce(t *testing.T) {
	for challenge, want := range map[string]bool{
		`DPoP error="use_dpop_nonce"`: true, `dPoP algs="ES256", error="use_dpop_nonce"`: true, `DPoP error=use_dpop_nonce`: true,
		`DPoP error="invalid_token"`: false, `Bearer`: false, ``: false,
	} {
		h := http.Header{"Www-Authenticate": {`Basic realm="x"`, challenge}}
		if got := dpop.AsksForNonce(http.StatusUnauthorized, h); got != want {
			t.Errorf("%s: %v", challenge, got)
		}
		if dpop.AsksForNonce(http.StatusForbidden, h) {
			t.Errorf("%s with status 403 counts", challenge)
		}
	}
}
