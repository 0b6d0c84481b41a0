package handshake_test

import (
	"crypto"
	"net/http"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"

	"github.com/pintleauth/pintle/internal/handshake"
)

func TestUserinfo(t *testing.T) {
	info := func(claims map[string]any, key crypto.Signer) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/jwt; charset=utf-8")
			raw := signRaw(key, jose.RS256, map[string]any{"alg": "RS256", "kid": "key-1"}, claims)
			_, _ = w.Write([]byte(raw + "\n"))
		}
	}
	alice := map[string]any{"sub": "sub-alice", "name": "Alice From Userinfo"}
	tests := []struct {
		name string
		lie  func(*op, *handshake.Provider)
		want string // empty: accepted
	}{
		{"the profile is that of userinfo", func(*op, *handshake.Provider) {}, ""},
		{"RP-12 another subject", func(o *op, _ *handshake.Provider) { o.profile = func(m map[string]any) { m["sub"] = "sub-bob" } }, "sub is not that"},
		{"RP-12 no subject", func(o *op, _ *handshake.Provider) { o.profile = func(m map[string]any) { delete(m, "sub") } }, "sub is not that"},
		{"RP-12 a subject that is an object", func(o *op, _ *handshake.Provider) {
			o.profile = func(m map[string]any) { m["sub"] = map[string]any{} }
		}, "sub is not that"},
		{"Q11 unauthorized", func(o *op, _ *handshake.Provider) {
			o.answer["/userinfo"] = saying(401, "application/json", `{"sub":"sub-alice"}`)
		}, "status 401"},
		{"Q11 a profile in an error", func(o *op, _ *handshake.Provider) {
			o.answer["/userinfo"] = saying(403, "application/json", `{"sub":"sub-alice"}`)
		}, "status 403"},
		{"Q11 a redirect", func(o *op, _ *handshake.Provider) {
			o.answer["/userinfo"] = func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
			}
		}, "status 307"},
		{"a page", func(o *op, _ *handshake.Provider) { o.answer["/userinfo"] = saying(200, "text/html", "<h1>hi</h1>") }, "not JSON"},
		{"null", func(o *op, _ *handshake.Provider) {
			o.answer["/userinfo"] = saying(200, "application/json", "null")
		}, "not a JSON object but null"},
		{"BCP-21 a profile without end", func(o *op, _ *handshake.Provider) {
			o.answer["/userinfo"] = saying(200, "application/json", strings.Repeat(" ", 2<<20))
		}, "larger than"},
		{"RP-13 signed", func(o *op, _ *handshake.Provider) { o.answer["/userinfo"] = info(alice, rsaKey()) }, ""},
		{"RP-13 signed, as BankID does", func(o *op, p *handshake.Provider) {
			p.UserInfoSigningAlg = "RS256"
			o.answer["/userinfo"] = info(with(alice, map[string]any{"iss": o.issuer, "aud": []string{clientID}}), rsaKey())
		}, ""},
		{"RP-13 signed by an unknown key", func(o *op, _ *handshake.Provider) { o.answer["/userinfo"] = info(alice, otherKey()) }, "no key of the provider"},
		{"RP-13 text that is not a JWT", func(o *op, _ *handshake.Provider) {
			o.answer["/userinfo"] = saying(200, "application/jwt", "a.b.c")
		}, "userinfo"},
		{"an encrypted answer", func(o *op, _ *handshake.Provider) {
			o.answer["/userinfo"] = saying(200, "application/jwt", encode(map[string]any{"alg": "RSA-OAEP", "enc": "A256GCM"})+".a.b.c.d")
		}, "encrypted, which is not supported: have the provider send it signed only, by removing userinfo_encrypted_response_alg"},
		{"RP-13 unsigned", func(o *op, _ *handshake.Provider) {
			o.answer["/userinfo"] = saying(200, "application/jwt", encode(map[string]any{"alg": "none"})+"."+encode(alice)+".")
		}, "userinfo"},
		{"RP-13 stripped of its signature", func(_ *op, p *handshake.Provider) { p.UserInfoSigningAlg = "RS256" }, "not the signed JWT"},
		{"RP-13 signed for another client", func(o *op, _ *handshake.Provider) {
			o.answer["/userinfo"] = info(with(alice, map[string]any{"aud": "client-2"}), rsaKey())
		}, "aud is another client"},
		{"RP-13 signed for other clients", func(o *op, _ *handshake.Provider) {
			o.answer["/userinfo"] = info(with(alice, map[string]any{"aud": []string{"client-2"}}), rsaKey())
		}, "aud does not contain"},
		{"RP-13 signed for another provider", func(o *op, _ *handshake.Provider) {
			o.answer["/userinfo"] = info(with(alice, map[string]any{"iss": "https://evil.example"}), rsaKey())
		}, "iss is another provider"},
		{"RP-13 signed long ago", func(o *op, _ *handshake.Provider) {
			o.answer["/userinfo"] = info(with(alice, map[string]any{"exp": 1}), rsaKey())
		}, "past"},
		{"RP-12 signed for another subject", func(o *op, _ *handshake.Provider) {
			o.answer["/userinfo"] = info(with(alice, map[string]any{"sub": "sub-bob"}), rsaKey())
		}, "sub is not that"},
		{"Q15 no userinfo endpoint", func(o *op, _ *handshake.Provider) {
			o.document = func(d map[string]any) { delete(d, "userinfo_endpoint") }
		}, "no userinfo endpoint: set UserInfo.URL"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := newOP(t)
			p := o.provider()
			p.ProfileFromUserInfo = true
			tt.lie(o, p)
			r, err := p.Redeem(t.Context(), options())
			if tt.want != "" {
				wantError(t, err, tt.want)
				if r != nil || o.count("/elsewhere") > 0 {
					t.Error("there is a result beside the error, or a redirect was followed")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if r.Profile["name"] != "Alice From Userinfo" || r.IDTokenClaims["name"] != "Alice Example" {
				t.Errorf("profile = %v, claims = %v", r.Profile, r.IDTokenClaims)
			}
		})
	}
}

func TestUserinfoEndpointIsOnlyRequiredIfUsed(t *testing.T) {
	o := newOP(t)
	o.document = func(d map[string]any) { delete(d, "userinfo_endpoint") }
	if _, err := o.provider().Redeem(t.Context(), options()); err != nil {
		t.Errorf("Q15 %v", err)
	}
}
