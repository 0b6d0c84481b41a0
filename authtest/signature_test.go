package authtest_test

import (
	"crypto"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"strings"

	"github.com/go-jose/go-jose/v4"
	"github.com/pintleauth/pintle/authtest"
)

// verifies reports whether the first key of the JWKS signed the ID token.
func verifies(v *visit) bool {
	jws, err := jose.ParseSignedCompact(v.idToken, []jose.SignatureAlgorithm{jose.ES256})
	if err != nil {
		return false
	}
	_, err = jws.Verify(publicKey(v))
	return err == nil
}

func publicKey(v *visit) crypto.PublicKey {
	encoded, err := json.Marshal(v.keys[0])
	if err != nil {
		return nil
	}
	var key jose.JSONWebKey
	if key.UnmarshalJSON(encoded) != nil {
		return nil
	}
	return key.Key
}

func publicPEM(v *visit) []byte {
	der, err := x509.MarshalPKIXPublicKey(publicKey(v))
	if err != nil {
		return nil
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
}

func macVerifies(token string, secret []byte) bool {
	dot := strings.LastIndex(token, ".")
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(token[:dot]))
	return token[dot+1:] == base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// leftHash is the at_hash of an access token beside an ID token signed so.
func leftHash(token any, alg string) string {
	text, _ := token.(string)
	if alg == authtest.EdDSA {
		sum := sha512.Sum512([]byte(text))
		return base64.RawURLEncoding.EncodeToString(sum[:32])
	}
	sum := sha256.Sum256([]byte(text))
	return base64.RawURLEncoding.EncodeToString(sum[:16])
}
