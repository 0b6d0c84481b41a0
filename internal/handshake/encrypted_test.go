package handshake_test

import (
	"crypto/rsa"
	"net/http"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"

	"github.com/pintleauth/pintle/internal/handshake"
)

// encrypted returns a token that is encrypted to a key of the client.
func encrypted(t *testing.T, alg jose.KeyAlgorithm, to any, zip bool, content string) string {
	t.Helper()
	options := (&jose.EncrypterOptions{}).WithContentType("JWT")
	if zip {
		options.Compression = jose.DEFLATE
	}
	e := must(jose.NewEncrypter(jose.A256GCM, jose.Recipient{Algorithm: alg, Key: to, PBES2Count: 1000}, options))
	return must(must(e.Encrypt([]byte(content))).CompactSerialize())
}

// RPT-42. Encrypted tokens are not supported. Each of them has the same error, before any key of
// the provider is fetched, and nothing is decrypted: there is no work to bound, and no difference
// that tells anything about a key.
func TestEncryptedTokensAreRejectedUnread(t *testing.T) {
	o := newOP(t)
	signed := must(o.provider().Redeem(t.Context(), options())).Tokens["id_token"].(string)
	public := rsaKey().Public().(*rsa.PublicKey)
	sealed := encrypted(t, jose.RSA_OAEP_256, public, false, signed)
	header := func(members map[string]any) string { return encode(members) + sealed[strings.Index(sealed, "."):] }
	for name, token := range map[string]string{
		"a good one":                sealed,
		"nested twice":              encrypted(t, jose.RSA_OAEP_256, public, false, sealed),
		"without a signature in it": encrypted(t, jose.RSA_OAEP_256, public, false, `{"sub":"alice"}`),
		"compressed":                encrypted(t, jose.RSA_OAEP_256, public, true, signed),
		"RSA1_5":                    encrypted(t, jose.RSA1_5, public, false, signed),
		"PBES2":                     encrypted(t, jose.PBES2_HS256_A128KW, []byte("password"), false, signed),
		"the client secret":         encrypted(t, jose.DIRECT, []byte(clientSecret)[:32], false, signed),
		"a key id that is unknown":  header(map[string]any{"alg": "RSA-OAEP-256", "enc": "A256GCM", "kid": "other"}),
		"no header":                 sealed[strings.Index(sealed, "."):],
		"70 KiB":                    encrypted(t, jose.RSA_OAEP_256, public, false, strings.Repeat("x", 52<<10)),
	} {
		t.Run("RPT-42 "+name, func(t *testing.T) {
			for where, tt := range map[string]struct {
				send  func(o *op)
				wants string
			}{
				"an ID token": {func(o *op) { rawIDToken(token)(o) }, "id_token_encrypted_response_alg"},
				"userinfo":    {func(o *op) { o.answer["/userinfo"] = saying(http.StatusOK, "application/jwt", token) }, "userinfo_encrypted_response_alg"},
			} {
				o := newOP(t)
				tt.send(o)
				p := o.provider()
				p.ProfileFromUserInfo = where == "userinfo"
				r, err := p.Redeem(t.Context(), options())
				wantError(t, err, "the token is encrypted, which is not supported: have the provider send it signed only, by removing "+tt.wants)
				if r != nil || len(err.Error()) > 250 || strings.Contains(err.Error(), "eyJ") {
					t.Errorf("%s: %v, %v", where, r, err)
				}
				if where == "an ID token" && o.count("/jwks") > 0 {
					t.Error("keys were fetched")
				}
			}
			if _, err := newOP(t).provider().VerifyLogoutToken(t.Context(), token, false); err == nil {
				t.Error("the logout token is accepted")
			}
		})
	}
}

// RPT-41: what would have a provider sign its answers is a mistake of the configuration.
func TestSignedAnswersCannotBeAskedFor(t *testing.T) {
	for _, mode := range []string{"jwt", "query.jwt", "fragment.jwt", "form_post.jwt"} {
		p := newOP(t).provider()
		p.Authorization.Params.Add("response_mode", mode)
		wantError(t, p.Check(), "response_mode "+mode+" asks for signed answers")
		q := newOP(t).provider()
		q.Authorization = handshake.Endpoint{URL: "https://op.example/authorize?response_mode=" + mode}
		wantError(t, q.Check(), "response_mode "+mode+" asks for signed answers")
	}
	for _, mode := range []string{"query", "form_post", "web_message"} {
		p := newOP(t).provider()
		p.Authorization.Params.Add("response_mode", mode)
		if err := p.Check(); err != nil {
			t.Error(err)
		}
	}
}
