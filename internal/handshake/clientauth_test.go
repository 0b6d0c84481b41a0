package handshake_test

import (
	"context"
	"crypto"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/pintleauth/pintle/internal/handshake"
)

func TestClientAuthentication(t *testing.T) {
	const oddID, oddSecret = "odd id:&=%+", "odd secret:&=%+/?~*é-0123456789abcdef0123456789"
	tests := []struct {
		name  string
		set   func(*handshake.Provider)
		check func(*testing.T, request)
	}{
		{"RP-4 client_secret_basic encodes both before joining them", func(p *handshake.Provider) {
			p.ClientID, p.ClientSecret = oddID, oddSecret
		}, func(t *testing.T, r request) {
			raw, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(r.header.Get("Authorization"), "Basic "))
			const want = "odd+id%3A%26%3D%25%2B:odd+secret%3A%26%3D%25%2B%2F%3F~*%C3%A9-0123456789abcdef0123456789"
			if err != nil || string(raw) != want {
				t.Errorf("credentials = %q, want %q", raw, want)
			}
			if r.form.Has("client_id") || r.form.Has("client_secret") {
				t.Error("credentials are in the body too")
			}
		}},
		{"client_secret_post", func(p *handshake.Provider) { p.AuthMethod = "client_secret_post" }, func(t *testing.T, r request) {
			if r.form.Get("client_id") != clientID || r.form.Get("client_secret") != clientSecret || r.header.Get("Authorization") != "" {
				t.Errorf("form = %v", r.form)
			}
		}},
		{"none", func(p *handshake.Provider) { p.AuthMethod, p.ClientSecret = "none", "" }, func(t *testing.T, r request) {
			if r.form.Get("client_id") != clientID || r.form.Has("client_secret") || r.header.Get("Authorization") != "" {
				t.Errorf("form = %v", r.form)
			}
		}},
		{"client_secret_jwt", func(p *handshake.Provider) { p.AuthMethod = "client_secret_jwt" }, func(t *testing.T, r request) {
			checkAssertion(t, r, []byte(clientSecret), jose.HS256, "")
		}},
		{"BCP-16 private_key_jwt RS256", func(p *handshake.Provider) {
			p.AuthMethod, p.PrivateKey, p.PrivateKeyID = "private_key_jwt", rsaKey(), "k1"
		}, func(t *testing.T, r request) { checkAssertion(t, r, rsaKey().Public(), jose.RS256, "k1") }},
		{"private_key_jwt ES256", func(p *handshake.Provider) {
			p.AuthMethod, p.PrivateKey, p.PrivateKeyID = "private_key_jwt", ecdsaKey(), "k2"
		}, func(t *testing.T, r request) { checkAssertion(t, r, ecdsaKey().Public(), jose.ES256, "k2") }},
		{"private_key_jwt EdDSA", func(p *handshake.Provider) {
			p.AuthMethod, p.PrivateKey = "private_key_jwt", ed25519Key()
		}, func(t *testing.T, r request) { checkAssertion(t, r, ed25519Key().Public(), jose.EdDSA, "") }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := newOP(t)
			p := o.oauth2()
			p.Issuer = "https://op.example.test"
			tt.set(p)
			if _, err := p.Redeem(t.Context(), options()); err != nil {
				t.Fatal(err)
			}
			tt.check(t, o.last(t, "/token"))
			if _, err := p.Refresh(t.Context(), "refresh-1", ""); err != nil {
				t.Fatal(err)
			}
			// SH-29: a refresh authenticates the client, too.
			tt.check(t, o.last(t, "/token"))
		})
	}
}

var assertionsSeen = map[string]bool{}

// checkAssertion makes the checks of a token endpoint: SH-74.
func checkAssertion(t *testing.T, r request, key any, alg jose.SignatureAlgorithm, keyID string) {
	t.Helper()
	if got := r.form.Get("client_assertion_type"); got != "urn:ietf:params:oauth:client-assertion-type:jwt-bearer" {
		t.Errorf("client_assertion_type = %q", got)
	}
	if r.form.Get("client_id") != clientID || r.form.Has("client_secret") || r.header.Get("Authorization") != "" {
		t.Errorf("form = %v", r.form)
	}
	jws, err := jose.ParseSignedCompact(r.form.Get("client_assertion"), []jose.SignatureAlgorithm{alg})
	if err != nil {
		t.Fatal(err)
	}
	payload, err := jws.Verify(key)
	if err != nil {
		t.Fatal(err)
	}
	if got := jws.Signatures[0].Header.KeyID; got != keyID {
		t.Errorf("kid = %q, want %q", got, keyID)
	}
	var c struct {
		Iss, Sub, Jti string
		Aud           any
		Iat, Nbf, Exp int64
	}
	if err := json.Unmarshal(payload, &c); err != nil {
		t.Fatal(err)
	}
	now := time.Now().Unix()
	if c.Iss != clientID || c.Sub != clientID || c.Exp-c.Iat > 60 || c.Iat > now || c.Nbf > now || c.Exp < now {
		t.Errorf("claims = %+v", c)
	}
	const issuer = "https://op.example.test"
	switch aud := c.Aud.(type) {
	case string:
		if alg != jose.HS256 || aud != issuer {
			t.Errorf("aud = %q", aud)
		}
	case []any:
		if len(aud) != 2 || aud[0] != issuer || !strings.HasSuffix(aud[1].(string), "/token") {
			t.Errorf("aud = %q", aud)
		}
	default:
		t.Errorf("aud = %v", c.Aud)
	}
	if len(c.Jti) < 22 || assertionsSeen[c.Jti] {
		t.Errorf("jti %q is short or used before", c.Jti)
	}
	assertionsSeen[c.Jti] = true
}

func TestCredentialsThatAreMissing(t *testing.T) {
	tests := []struct {
		name   string
		change func(*handshake.Provider)
		want   string
	}{
		{"SH-29 the secret", func(p *handshake.Provider) { p.ClientSecret = "" }, "AUTH_OP_SECRET"},
		{"the id", func(p *handshake.Provider) { p.ClientID = "" }, "AUTH_OP_ID"},
		{"the key", func(p *handshake.Provider) { p.AuthMethod = "private_key_jwt" }, "PrivateKey"},
		{"a known method", func(p *handshake.Provider) { p.AuthMethod = "tls" }, `"tls" is not supported`},
		{"a secret that cannot be made", func(p *handshake.Provider) {
			p.ClientSecretFunc = func(context.Context) (string, error) { return "", errors.New("key is locked") }
		}, "key is locked"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := newOP(t)
			p := o.oauth2()
			tt.change(p)
			_, err := p.Redeem(t.Context(), options())
			wantError(t, err, tt.want)
			if o.count("/token") != 0 {
				t.Error("a token request was sent without client authentication")
			}
		})
	}
}

// Apple's client secret is a JWT that the application signs.
func TestSecretMadeForEachRequest(t *testing.T) {
	o := newOP(t)
	p := o.provider()
	p.AuthMethod, p.ClientSecret = "client_secret_post", ""
	p.ClientSecretFunc = func(context.Context) (string, error) {
		return handshake.SignJWT(ecdsaKey(), "ABC123", map[string]any{"iss": "TEAM", "sub": clientID})
	}
	if _, err := p.Redeem(t.Context(), options()); err != nil {
		t.Fatal(err)
	}
	jws, err := jose.ParseSignedCompact(o.last(t, "/token").form.Get("client_secret"), []jose.SignatureAlgorithm{jose.ES256})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := jws.Verify(ecdsaKey().Public()); err != nil || jws.Signatures[0].Header.KeyID != "ABC123" {
		t.Errorf("secret is not a JWT of our key: %v", err)
	}
	if _, err := handshake.SignJWT(nil, "", nil); err == nil {
		t.Error("SignJWT without a key succeeded")
	}
	if _, err := handshake.SignJWT(oddKey{}, "", nil); err == nil {
		t.Error("SignJWT with a key of no known kind succeeded")
	}
}

type oddKey struct{ crypto.Signer }

func (oddKey) Public() crypto.PublicKey { return "no key" }
