package authtest_test

import (
	"crypto"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/dghubble/oauth1"
	"github.com/go-jose/go-jose/v4"
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

func leftHash(token any) string {
	text, _ := token.(string)
	sum := sha256.Sum256([]byte(text))
	return base64.RawURLEncoding.EncodeToString(sum[:16])
}

// baseString is the signature base of a request without query and form.
func baseString(r *http.Request, params map[string]string) string {
	var pairs []string
	for _, name := range slices.Sorted(maps.Keys(params)) {
		if name != "oauth_signature" {
			pairs = append(pairs, oauth1.PercentEncode(name)+"="+oauth1.PercentEncode(params[name]))
		}
	}
	address := "http://" + r.URL.Host + r.URL.EscapedPath()
	return strings.Join([]string{r.Method, oauth1.PercentEncode(address), oauth1.PercentEncode(strings.Join(pairs, "&"))}, "&")
}
