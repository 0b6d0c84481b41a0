package handshake

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

const theIssuer = "https://op.example.test"

// verifier returns a provider whose keys are fetched already, and its metadata.
func verifier(tb testing.TB, keys ...jose.JSONWebKey) (*Provider, *metadata) {
	tb.Helper()
	body, err := json.Marshal(jose.JSONWebKeySet{Keys: keys})
	if err != nil {
		tb.Fatal(err)
	}
	set, err := readKeys(body)
	if err != nil && len(keys) > 0 {
		tb.Fatal(err)
	}
	p := &Provider{ID: "op", OIDC: true, Issuer: theIssuer, ClientID: "client-1", ClientSecret: "s3cret", Nonce: true}
	p.keys.keep(fetched[*keySet]{&set, keysAge})
	p.renewal.taken = time.Now()
	return p, &metadata{issuer: theIssuer, jwks: theIssuer + "/jwks", algs: []string{"RS256", "ES256"}, discovered: true}
}

func signed(tb testing.TB, alg jose.SignatureAlgorithm, key any, claims any) string {
	tb.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: key}, new(jose.SignerOptions).WithHeader("kid", string(alg)))
	if err != nil {
		tb.Fatal(err)
	}
	payload, err := json.Marshal(claims)
	if err != nil {
		tb.Fatal(err)
	}
	jws, err := signer.Sign(payload)
	if err != nil {
		tb.Fatal(err)
	}
	raw, err := jws.CompactSerialize()
	if err != nil {
		tb.Fatal(err)
	}
	return raw
}

func TestAnAudienceIsNotComparedWithNothing(t *testing.T) {
	for _, aud := range []any{"", []any{""}, []any{}, nil} {
		if (&Provider{ID: "op"}).checkParty(map[string]any{"aud": aud, "azp": ""}) == nil {
			t.Errorf("SH-52 the audience %v is that of a client without an id", aud)
		}
	}
}

// Only signed bytes are accepted: a changed token is rejected or its signed part
// is unchanged.
func FuzzIDTokenText(f *testing.F) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		f.Fatal(err)
	}
	p, m := verifier(f, jose.JSONWebKey{Key: key.Public(), KeyID: "ES256", Algorithm: "ES256", Use: "sig"})
	now := time.Now().Unix()
	genuine := signed(f, jose.ES256, key, map[string]any{
		"iss": theIssuer, "sub": "sub-alice", "aud": "client-1", "iat": now, "exp": now + 36000, "nonce": "n",
	})
	signedPart := genuine[:strings.LastIndex(genuine, ".")]
	// Tokens in a corpus would be signed by keys of earlier runs and therefore
	// useless, so the fuzzer describes how to change the genuine one.
	f.Add(0, 0, "")
	f.Add(len(signedPart), len(genuine), ".")
	f.Add(0, len(genuine), "e30.e30.c2ln")
	f.Add(0, strings.Index(genuine, "."), base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none"}`)))
	f.Add(0, strings.Index(genuine, "."), base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"ES256","crit":["b64"],"b64":false}`)))
	f.Fuzz(func(t *testing.T, from, to int, with string) {
		from, to = min(max(from, 0), len(genuine)), min(max(to, 0), len(genuine))
		raw := genuine[:from] + with + genuine[max(from, to):]
		claims, err := p.verifyIDToken(t.Context(), m, raw, expected{nonce: "n"})
		if err != nil {
			if len(err.Error()) > 1000 {
				t.Errorf("the error has %d bytes", len(err.Error()))
			}
			return
		}
		if got, _, _ := cutLast(raw, "."); got != signedPart || claims["sub"] != "sub-alice" {
			t.Errorf("accepted %q with %v", raw, claims)
		}
	})
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// A signed token is accepted only if its claims match this client, this sign-in
// and this hour, according to a second implementation that reads the same bytes.
func FuzzIDTokenContent(f *testing.F) {
	p, m := verifier(f)
	p.SigningAlg = "HS256"
	mac := func(header, payload string) string {
		input := base64.RawURLEncoding.EncodeToString([]byte(header)) + "." + base64.RawURLEncoding.EncodeToString([]byte(payload))
		h := hmac.New(sha256.New, []byte(p.ClientSecret))
		h.Write([]byte(input))
		return input + "." + base64.RawURLEncoding.EncodeToString(h.Sum(nil))
	}
	const header = `{"alg":"HS256"}`
	good := fmt.Sprintf(`{"iss":%q,"sub":"s","aud":"client-1","iat":1,"exp":9999999999,"nonce":"n"`, theIssuer)
	for _, payload := range []string{
		good + "}", good + `,"aud":["x","client-1"],"azp":"client-1"}`, good + `,"nbf":1.5,"at_hash":"77QmUPtjPfzWtF2AnpK9RQ"}`,
		good + `,"AUD":"other","Sub":"other","exp":1e9}`, good + `,"sub":"","nonce":"m"}`, "[" + good + "}]", good + `,"tid":"{tenantid}"}`,
	} {
		f.Add(header, payload)
	}
	for _, h := range []string{`{"alg":"none"}`, `{"alg":"HS256","crit":["b64"],"b64":false}`, `{"alg":"HS256","kid":"x","jwk":{}}`, `{"ALG":"HS256"}`, `{"alg":"RS256","alg":"HS256"}`} {
		f.Add(h, good+"}")
	}
	f.Fuzz(func(t *testing.T, header, payload string) {
		claims, err := p.verifyIDToken(t.Context(), m, mac(header, payload), expected{nonce: "n", accessToken: "a"})
		if err != nil {
			return
		}
		var head, body map[string]any
		if json.Unmarshal([]byte(header), &head) != nil || json.Unmarshal([]byte(payload), &body) != nil {
			t.Fatalf("accepted %q.%q, which encoding/json does not", header, payload)
		}
		list, isList := body["aud"].([]any)
		switch {
		case head["alg"] != "HS256", head["crit"] != nil, head["b64"] != nil:
			t.Errorf("accepted the header %s", header)
		case body["iss"] != theIssuer, body["nonce"] != "n", body["sub"] == "", body["sub"] != claims["sub"]:
			t.Errorf("accepted the claims %s", payload)
		case !isList && body["aud"] != "client-1", isList && !slices.Contains(list, any("client-1")), len(list) > 1 && body["azp"] != "client-1":
			t.Errorf("accepted the audience of %s", payload)
		case body["exp"].(float64) < float64(time.Now().Add(-time.Minute).Unix()), body["iat"].(float64) > float64(time.Now().Add(time.Minute).Unix()):
			t.Errorf("accepted the times of %s", payload)
		}
	})
}

func BenchmarkVerifyIDToken(b *testing.B) {
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		b.Fatal(err)
	}
	ecKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		b.Fatal(err)
	}
	p, m := verifier(b,
		jose.JSONWebKey{Key: rsaKey.Public(), KeyID: "RS256", Algorithm: "RS256", Use: "sig"},
		jose.JSONWebKey{Key: ecKey.Public(), KeyID: "ES256", Algorithm: "ES256", Use: "sig"},
	)
	now := time.Now().Unix()
	claims := map[string]any{
		"iss": theIssuer, "sub": "sub-alice", "aud": "client-1", "iat": now, "exp": now + 3600, "nonce": "nonce-0123456789",
		"name": "Alice Example", "email": "alice@example.test", "email_verified": true, "picture": "https://op.example.test/alice.png",
	}
	for alg, key := range map[jose.SignatureAlgorithm]any{jose.RS256: rsaKey, jose.ES256: ecKey} {
		raw := signed(b, alg, key, claims)
		b.Run(string(alg), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.verifyIDToken(b.Context(), m, raw, expected{nonce: "nonce-0123456789"}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
