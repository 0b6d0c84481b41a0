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
	if c.Aud != "https://op.example.test" {
		t.Errorf("aud = %v, want the issuer alone", c.Aud)
	}
	if len(c.Jti) < 22 || assertionsSeen[c.Jti] {
		t.Errorf("jti %q is short or used before", c.Jti)
	}
	assertionsSeen[c.Jti] = true
}

// SH-74, RPT-33. An assertion is good at one provider, whatever the metadata of another says:
// CVE-2025-27370, CVE-2025-27371.
func TestAnAssertionIsForTheIssuerAlone(t *testing.T) {
	const other = "https://other.example.test"
	audience := func(t *testing.T, o *op) any {
		t.Helper()
		_, payload, _ := strings.Cut(o.last(t, "/token").form.Get("client_assertion"), ".")
		payload, _, _ = strings.Cut(payload, ".")
		var claims map[string]any
		if err := json.Unmarshal(must(base64.RawURLEncoding.DecodeString(payload)), &claims); err != nil {
			t.Fatal(err)
		}
		return claims["aud"]
	}
	for _, method := range []string{"private_key_jwt", "client_secret_jwt"} {
		t.Run("RPT-33 metadata that names another provider in every field, by "+method, func(t *testing.T) {
			o := newOP(t)
			o.document = func(d map[string]any) {
				for name := range d {
					if text, ok := d[name].(string); ok && name != "issuer" && name != "token_endpoint" && name != "jwks_uri" {
						d[name] = strings.Replace(text, o.issuer, other, 1)
					}
				}
				d["token_endpoint"] = o.issuer + "/token?at=" + other + "/token"
				d["audience"], d["mtls_endpoint_aliases"] = other, map[string]any{"token_endpoint": other + "/token"}
			}
			p := o.provider()
			p.AuthMethod, p.PrivateKey = method, ecdsaKey()
			if _, err := p.Redeem(t.Context(), options()); err != nil {
				t.Fatal(err)
			}
			if got := audience(t, o); got != o.issuer {
				t.Errorf("aud = %v, want %s", got, o.issuer)
			}
		})
		t.Run("RPT-33 metadata with the issuer of another provider, by "+method, func(t *testing.T) {
			o := newOP(t)
			o.document = func(d map[string]any) { d["issuer"] = other }
			p := o.provider()
			p.AuthMethod, p.PrivateKey = method, ecdsaKey()
			_, err := p.Redeem(t.Context(), options())
			wantError(t, err, "document is of issuer")
			if o.count("/token") != 0 {
				t.Error("an assertion was sent")
			}
		})
	}
	for _, tt := range []struct {
		name string
		set  func(*op, *handshake.Provider)
		want func(*op) string
	}{
		{"the metadata's spelling", func(o *op, _ *handshake.Provider) {
			o.document = func(d map[string]any) { d["issuer"] = o.issuer + "/" }
			o.claims = func(c map[string]any) { c["iss"] = o.issuer + "/" }
		}, func(o *op) string { return o.issuer + "/" }},
		{"the configured issuer, where the metadata has a template", func(o *op, p *handshake.Provider) {
			p.TenantIssuer, p.Issuer = true, o.issuer+"/common"
			o.document = func(d map[string]any) { d["issuer"] = o.issuer + "/{tenantid}" }
			o.claims = func(c map[string]any) { c["iss"], c["tid"] = o.issuer+"/t1", "t1" }
		}, func(o *op) string { return o.issuer + "/common" }},
		{"the token endpoint, where there is no issuer", func(o *op, p *handshake.Provider) {
			p.OIDC, p.Issuer, p.Nonce = false, "", false
			p.Authorization.URL, p.Token.URL, p.UserInfo.URL = o.issuer+"/authorize", o.issuer+"/token", o.issuer+"/userinfo"
		}, func(o *op) string { return o.issuer + "/token" }},
		{"the configured audience", func(_ *op, p *handshake.Provider) {
			p.AssertionAudience = "https://login.example.test/token"
		}, func(*op) string { return "https://login.example.test/token" }},
	} {
		t.Run("RPT-33 "+tt.name, func(t *testing.T) {
			o := newOP(t)
			p := o.provider()
			tt.set(o, p)
			p.AuthMethod, p.PrivateKey = "private_key_jwt", ecdsaKey()
			if _, err := p.Redeem(t.Context(), options()); err != nil {
				t.Fatal(err)
			}
			if got, want := audience(t, o), tt.want(o); got != want {
				t.Errorf("aud = %v, want %v", got, want)
			}
		})
	}
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
