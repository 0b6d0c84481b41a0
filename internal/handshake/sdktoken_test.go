package handshake_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/pintleauth/pintle/internal/handshake"
	"github.com/pintleauth/pintle/oauth"
)

const sdkNonce = "a nonce that was given to an SDK"

// sdkToken signs the ID token of an SDK for the client web, after the changes. A nil
// value removes a claim.
func (o *op) sdkToken(changes map[string]any, header map[string]any) string {
	now := time.Now().Unix()
	claims := map[string]any{
		"iss": o.issuer, "sub": "sub-alice", "aud": "web", "nonce": sdkNonce, "iat": now, "exp": now + 3600,
	}
	for name, value := range changes {
		if claims[name] = value; value == nil {
			delete(claims, name)
		}
	}
	head := map[string]any{"alg": "RS256", "kid": "key-1"}
	maps.Copy(head, header)
	return signRaw(rsaKey(), jose.RS256, head, claims)
}

func TestTheIDTokenOfAnSDKIsForOneOfTheClients(t *testing.T) {
	type m = map[string]any
	o := newOP(t)
	web := handshake.SDKToken{Audiences: []string{"web", "ios"}, Nonce: sdkNonce}
	android := web
	android.Parties = []string{"android"}
	now := time.Now().Unix()
	for _, tt := range []struct {
		name          string
		claims        m
		header        m
		want          handshake.SDKToken
		refusedFor    string
		alsoOtherName string
	}{
		{name: "one audience", want: web},
		{name: "a list of one", claims: m{"aud": []string{"ios"}}, want: web},
		{name: "azp that is the audience", claims: m{"azp": "web"}, want: web},
		{name: "azp of an Android client", claims: m{"azp": "android"}, want: android},
		{name: "RPT-60 the other name of the issuer", claims: m{"iss": "op.example"}, want: web, alsoOtherName: "op.example"},
		{name: "a hash of an access token that did not come", claims: m{"at_hash": "x", "c_hash": "y"}, want: web},
		{name: "typ JWT", header: m{"typ": "JWT"}, want: web},

		{name: "RPT-54 another client of the same provider", claims: m{"aud": "other"}, want: web, refusedFor: "Audiences"},
		{name: "RPT-54 the client of the code flow, which is not listed", claims: m{"aud": clientID}, want: web, refusedFor: "Audiences"},
		{name: "RPT-54 several audiences", claims: m{"aud": []string{"web", "other"}}, want: web, refusedFor: "Audiences"},
		{name: "RPT-54 several audiences that are listed", claims: m{"aud": []string{"web", "ios"}}, want: web, refusedFor: "Audiences"},
		{name: "RPT-54 no audience", claims: m{"aud": nil}, want: web, refusedFor: "Audiences"},
		{name: "RPT-54 an audience that is empty", claims: m{"aud": ""}, want: handshake.SDKToken{Audiences: []string{""}, Nonce: sdkNonce}, refusedFor: "Audiences"},
		{name: "RPT-54 a foreign azp", claims: m{"azp": "other"}, want: web, refusedFor: "azp"},
		{name: "RPT-54 the azp of another audience", claims: m{"azp": "ios"}, want: web, refusedFor: "azp"},
		{name: "RPT-54 an azp that is no text", claims: m{"azp": []string{"web"}}, want: web, refusedFor: "azp"},
		{name: "RPT-54 no azp where it is required", want: android, refusedFor: "azp"},
		{name: "RPT-54 an azp that is not listed", claims: m{"azp": "web"}, want: android, refusedFor: "azp"},

		{name: "RPT-60 the other name at a provider without one", claims: m{"iss": "op.example"}, want: web, refusedFor: "issued by"},
		{name: "RPT-60 a name of another service", claims: m{"iss": "evil.example"}, want: web, alsoOtherName: "op.example", refusedFor: "issued by"},

		{name: "RPT-59 a logout token", header: m{"typ": "logout+jwt"}, want: web, refusedFor: "typ"},
		{name: "RPT-59 an access token", header: m{"typ": "at+jwt"}, want: web, refusedFor: "typ"},
		{name: "RPT-59 a typ that is no text", header: m{"typ": 1}, want: web, refusedFor: "typ"},
		{name: "RPT-59 events", claims: m{"events": m{}}, want: web, refusedFor: "events"},
		{name: "RPT-59 events that are null", claims: m{"events": (*int)(nil)}, want: web, refusedFor: "events"},

		{name: "no sub", claims: m{"sub": nil}, want: web, refusedFor: "sub"},
		{name: "a long sub", claims: m{"sub": strings.Repeat("x", 256)}, want: web, refusedFor: "sub"},
		{name: "no exp", claims: m{"exp": nil}, want: web, refusedFor: "exp"},
		{name: "expired", claims: m{"exp": now - 31}, want: web, refusedFor: "expired"},
		{name: "no iat", claims: m{"iat": nil}, want: web, refusedFor: "iat"},
		{name: "issued in the future", claims: m{"iat": now + 60}, want: web, refusedFor: "future"},
		{name: "RPX-92 issued more than an hour ago", claims: m{"iat": now - 3700}, want: web, refusedFor: "ago"},

		{name: "no nonce", claims: m{"nonce": nil}, want: web, refusedFor: "nonce"},
		{name: "RPT-56 another nonce", claims: m{"nonce": "x"}, want: web, refusedFor: "nonce"},
		{name: "a nonce that is no text", claims: m{"nonce": 1}, want: web, refusedFor: "nonce"},
		{name: "a nonce where none was given", want: handshake.SDKToken{Audiences: web.Audiences}, refusedFor: "nonce"},
		{name: "an empty nonce where none was given", claims: m{"nonce": ""}, want: handshake.SDKToken{Audiences: web.Audiences}, refusedFor: "nonce"},
		{name: "RPX-90 no nonce, and new", claims: m{"nonce": nil, "iat": now - 299}, want: handshake.SDKToken{Audiences: web.Audiences}},
		{name: "RPX-90 no nonce, and old", claims: m{"nonce": nil, "iat": now - 340}, want: handshake.SDKToken{Audiences: web.Audiences}, refusedFor: "ago"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := o.provider()
			p.OtherIssuer = tt.alsoOtherName
			claims, err := p.VerifySDKToken(t.Context(), o.sdkToken(tt.claims, tt.header), tt.want)
			if tt.refusedFor == "" {
				if err != nil || claims["sub"] != "sub-alice" || claims["iss"] != o.issuer {
					t.Errorf("%v, %v", claims, err)
				}
				return
			}
			wantError(t, err, tt.refusedFor)
			if _, bad := errors.AsType[*handshake.UnsolicitedTokenError](err); !bad || claims != nil {
				t.Errorf("the error is a %T, beside %v", err, claims)
			}
		})
	}
	t.Run("RPT-59 no signature", func(t *testing.T) {
		raw := signRaw(nil, "none", map[string]any{"alg": "none"}, map[string]any{"iss": o.issuer, "sub": "x", "aud": "web"})
		_, err := o.provider().VerifySDKToken(t.Context(), raw, web)
		if _, bad := errors.AsType[*handshake.UnsolicitedTokenError](err); !bad {
			t.Errorf("the error is %v", err)
		}
	})
	t.Run("a hook refuses the claims", func(t *testing.T) {
		p := o.provider()
		p.CheckClaims = func(map[string]any) error { return errors.New("another tenant") }
		_, err := p.VerifySDKToken(t.Context(), o.sdkToken(nil, nil), web)
		wantError(t, err, "another tenant")
	})
	t.Run("a provider that is down is no fault of the token", func(t *testing.T) {
		p := o.provider()
		p.Issuer = "https://gone.example.test"
		_, err := p.VerifySDKToken(t.Context(), o.sdkToken(nil, nil), web)
		if _, bad := errors.AsType[*handshake.UnsolicitedTokenError](err); bad || err == nil {
			t.Errorf("the error is a %T: %v", err, err)
		}
	})
}

// RPX-88
func TestAnSDKMayHashTheNonce(t *testing.T) {
	o := newOP(t)
	sum := sha256.Sum256([]byte(sdkNonce))
	forms := map[string]string{
		"raw": sdkNonce, "hex": hex.EncodeToString(sum[:]), "base64url": base64.RawURLEncoding.EncodeToString(sum[:]),
		"hex in capitals": strings.ToUpper(hex.EncodeToString(sum[:])), "half": hex.EncodeToString(sum[:16]),
	}
	for hash, good := range map[oauth.NonceHash][]string{
		oauth.NonceUnchanged: {"raw"}, oauth.NonceSHA256Hex: {"raw", "hex"}, oauth.NonceSHA256Base64: {"raw", "base64url"}, 7: {"raw"},
	} {
		for form, claim := range forms {
			_, err := o.provider().VerifySDKToken(t.Context(), o.sdkToken(map[string]any{"nonce": claim}, nil),
				handshake.SDKToken{Audiences: []string{"web"}, Nonce: sdkNonce, NonceHash: hash})
			if want := strings.Contains(" "+strings.Join(good, " ")+" ", " "+form+" "); (err == nil) != want {
				t.Errorf("with %d the nonce in the form %s: %v", hash, form, err)
			}
		}
	}
}

// RPX-95
func TestTheCodeOfAnSDKIsExchangedWithoutARedirect(t *testing.T) {
	o := newOP(t)
	p := o.provider()
	tokens, err := p.RedeemSDKCode(t.Context(), "a-code", "sub-alice")
	if err != nil || tokens["access_token"] == nil {
		t.Fatalf("%v", err)
	}
	form := o.last(t, "/token").form
	if form.Get("code") != "a-code" || form.Get("grant_type") != "authorization_code" || form.Has("redirect_uri") || form.Has("code_verifier") {
		t.Errorf("the request has %v", form)
	}
	if tokens, err := p.RedeemSDKCode(t.Context(), "a-code", "another"); err == nil || tokens != nil {
		t.Errorf("the tokens of another user are accepted: %v", tokens)
	}
}
