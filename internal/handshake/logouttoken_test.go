package handshake_test

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/pintleauth/pintle/internal/handshake"
)

const logoutEvent = "http://schemas.openid.net/event/backchannel-logout"

// logoutClaims are those of a good logout token.
func (o *op) logoutClaims() map[string]any {
	now := time.Now()
	return map[string]any{
		"iss": o.issuer, "aud": clientID, "sub": "sub-alice", "sid": "session-1", "jti": "jti-1",
		"iat": now.Unix(), "exp": now.Add(2 * time.Minute).Unix(), "events": map[string]any{logoutEvent: map[string]any{}},
	}
}

// logoutToken returns a logout token after changes of its header and its claims. A nil
// value removes a member.
func (o *op) logoutToken(header, claims map[string]any) string {
	h := map[string]any{"alg": "RS256", "kid": "key-1", "typ": "logout+jwt"}
	c := o.logoutClaims()
	for into, changes := range map[*map[string]any]map[string]any{&h: header, &c: claims} {
		for name, value := range changes {
			if (*into)[name] = value; value == nil {
				delete(*into, name)
			}
		}
	}
	return signRaw(rsaKey(), jose.RS256, h, c)
}

type object = map[string]any

func TestAGoodLogoutTokenIsAccepted(t *testing.T) {
	o := newOP(t)
	p := o.provider()
	now := time.Now().Unix()
	for name, raw := range map[string]string{
		"all claims":                  o.logoutToken(nil, nil),
		"typ JWT":                     o.logoutToken(object{"typ": "JWT"}, nil),
		"typ with its prefix":         o.logoutToken(object{"typ": "application/LOGOUT+jwt"}, nil),
		"no typ":                      o.logoutToken(object{"typ": nil}, nil),
		"no key id":                   o.logoutToken(object{"kid": nil}, nil),
		"no sid":                      o.logoutToken(nil, object{"sid": nil}),
		"no sub":                      o.logoutToken(nil, object{"sub": nil}),
		"a list with this client":     o.logoutToken(nil, object{"aud": []string{clientID}}),
		"no exp":                      o.logoutToken(nil, object{"exp": nil}),
		"a fraction of a second":      o.logoutToken(nil, object{"iat": float64(now) + 0.5}),
		"a clock half a minute ahead": o.logoutToken(nil, object{"iat": now + 29}),
		"a further event":             o.logoutToken(nil, object{"events": object{logoutEvent: object{}, "https://example.test/event": object{}}}),
		"an unknown claim":            o.logoutToken(nil, object{"trace": "x"}),
	} {
		t.Run(name, func(t *testing.T) {
			token, err := p.VerifyLogoutToken(t.Context(), raw, false)
			if err != nil {
				t.Fatal(err)
			}
			if token.Issuer != o.issuer || token.ID != "jti-1" || token.Issued.IsZero() || token.Subject == "" && token.SessionID == "" {
				t.Errorf("the token is %+v", token)
			}
			if _, err = p.VerifyLogoutToken(t.Context(), raw, true); (err == nil) != (strings.Contains(name, "prefix") || !strings.Contains(name, "typ")) {
				t.Errorf("where the typ is required: %v", err)
			}
		})
	}
}

// RPT-15
func TestALogoutTokenPassesEveryCheck(t *testing.T) {
	o := newOP(t)
	p := o.provider()
	now := time.Now().Unix()
	long := strings.Repeat("x", 256)
	head, rest, _ := strings.Cut(o.logoutToken(nil, nil), ".")
	payload, signature, _ := strings.Cut(rest, ".")
	flipped := []byte(signature)
	flipped[10] = map[bool]byte{true: 'B', false: 'A'}[flipped[10] == 'A']
	for _, tt := range []struct {
		check handshake.LogoutCheck
		name  string
		raw   string
	}{
		{1, "nothing", ""},
		{1, "two parts", head + "." + payload},
		{1, "five parts", head + "." + payload + ".x.y." + signature},
		{1, "JSON serialization", `{"payload":"` + payload + `","signatures":[]}`},
		{1, "more than 16 KiB", o.logoutToken(nil, object{"trace": strings.Repeat("x", 16<<10)})},
		{1, "a header that is no object", encode([]int{}) + "." + payload + "." + signature},
		{1, "a header that is no base64url", "A." + payload + "." + signature},
		{1, "claims that are no object", signRaw(rsaKey(), jose.RS256, object{"alg": "RS256", "kid": "key-1"}, []string{})},
		{2, "alg none", encode(object{"alg": "none"}) + "." + payload + "."},
		{2, "alg nOnE", encode(object{"alg": "nOnE"}) + "." + payload + "."},
		{2, "no alg", encode(object{"typ": "logout+jwt"}) + "." + payload + "." + signature},
		{2, "SH-28 HS256 with the client secret", signRaw([]byte(clientSecret), jose.HS256, object{"alg": "HS256"}, o.logoutClaims())},
		{2, "an algorithm that the provider does not list", signRaw(ecdsaKey(), jose.ES512, object{"alg": "ES512", "kid": "key-1"}, o.logoutClaims())},
		{3, "typ at+jwt", o.logoutToken(object{"typ": "at+jwt"}, nil)},
		{3, "an empty typ", o.logoutToken(object{"typ": ""}, nil)},
		{3, "a typ that is no text", o.logoutToken(object{"typ": 1}, nil)},
		{4, "crit", o.logoutToken(object{"crit": []string{"exp"}}, nil)},
		{4, "an empty crit", o.logoutToken(object{"crit": []string{}}, nil)},
		{4, "b64", o.logoutToken(object{"b64": true}, nil)},
		{5, "a changed signature", head + "." + payload + "." + string(flipped)},
		{5, "no signature", head + "." + payload + "."},
		{5, "another key", signRaw(otherKey(), jose.RS256, object{"alg": "RS256", "kid": "key-1"}, o.logoutClaims())},
		{5, "a key in the header", signRaw(otherKey(), jose.RS256, object{"alg": "RS256", "kid": "key-1", "jwk": jwk(otherKey(), "key-1", jose.RS256)}, o.logoutClaims())},
		{6, "another issuer", o.logoutToken(nil, object{"iss": "https://issuer.example.test"})},
		{6, "the issuer with a slash", o.logoutToken(nil, object{"iss": o.issuer + "/"})},
		{6, "no issuer", o.logoutToken(nil, object{"iss": nil})},
		{7, "another client", o.logoutToken(nil, object{"aud": "client-2"})},
		{7, "no audience", o.logoutToken(nil, object{"aud": nil})},
		{7, "no audience in the list", o.logoutToken(nil, object{"aud": []string{}})},
		{7, "an audience that is no text", o.logoutToken(nil, object{"aud": []any{clientID, 1}})},
		{7, "an object", o.logoutToken(nil, object{"aud": object{clientID: true}})},
		{7, "a second client", o.logoutToken(nil, object{"aud": []string{clientID, "client-2"}})},
		{7, "a second client, and this one as azp", o.logoutToken(nil, object{"aud": []string{clientID, "client-2"}, "azp": clientID})},
		{8, "no iat", o.logoutToken(nil, object{"iat": nil})},
		{8, "an iat that is text", o.logoutToken(nil, object{"iat": fmt.Sprint(now)})},
		{8, "an iat in the future", o.logoutToken(nil, object{"iat": now + 40})},
		{8, "an iat six minutes ago without exp", o.logoutToken(nil, object{"iat": now - 360, "exp": nil})},
		{8, "an nbf in the future", o.logoutToken(nil, object{"nbf": now + 40})},
		{9, "an exp in the past", o.logoutToken(nil, object{"iat": now - 100, "exp": now - 40})},
		{9, "an exp that is text", o.logoutToken(nil, object{"exp": fmt.Sprint(now + 60)})},
		{9, "an exp in two days", o.logoutToken(nil, object{"exp": now + 48*3600})},
		{10, "no events", o.logoutToken(nil, object{"events": nil})},
		{10, "events that are a list", o.logoutToken(nil, object{"events": []string{logoutEvent}})},
		{10, "another event", o.logoutToken(nil, object{"events": object{"https://example.test/event": object{}}})},
		{10, "an event that is no object", o.logoutToken(nil, object{"events": object{logoutEvent: true}})},
		{11, "a nonce", o.logoutToken(nil, object{"nonce": "n"})},
		{11, "an empty nonce", o.logoutToken(nil, object{"nonce": ""})},
		{12, "neither sub nor sid", o.logoutToken(nil, object{"sub": nil, "sid": nil})},
		{12, "an empty sub", o.logoutToken(nil, object{"sub": ""})},
		{12, "an empty sid", o.logoutToken(nil, object{"sid": ""})},
		{12, "a sub that is no text", o.logoutToken(nil, object{"sub": 1})},
		{12, "a sid that is no text", o.logoutToken(nil, object{"sid": []string{"x"}})},
		{12, "a long sid", o.logoutToken(nil, object{"sid": long})},
		{12, "a long sub", o.logoutToken(nil, object{"sub": long})},
		{13, "no jti", o.logoutToken(nil, object{"jti": nil})},
		{13, "an empty jti", o.logoutToken(nil, object{"jti": ""})},
		{13, "a long jti", o.logoutToken(nil, object{"jti": long})},
		{13, "a jti that is no text", o.logoutToken(nil, object{"jti": 1})},
	} {
		t.Run(tt.name, func(t *testing.T) {
			token, err := p.VerifyLogoutToken(t.Context(), tt.raw, false)
			refused, is := errors.AsType[*handshake.LogoutTokenError](err)
			if !is || refused.Check != tt.check || tt.check.String() == "" {
				t.Errorf("the error is %v, want check %d", err, tt.check)
			}
			if token != nil {
				t.Error("SH-51 there is a token beside the error")
			}
		})
	}
}

// RPT-16: each of the two kinds of token has the signature, the issuer and the audience of
// the other.
func TestAnIDTokenIsNoLogoutToken(t *testing.T) {
	o := newOP(t)
	p := o.provider()
	now := time.Now().Unix()
	claims := object{"iss": o.issuer, "aud": clientID, "sub": "sub-alice", "sid": "session-1", "jti": "jti-1", "iat": now, "exp": now + 60}
	for name, more := range map[string]object{"with a nonce": {"nonce": theNonce}, "without a nonce": {}} {
		maps.Copy(more, claims)
		_, err := p.VerifyLogoutToken(t.Context(), signRaw(rsaKey(), jose.RS256, object{"alg": "RS256", "kid": "key-1", "typ": "JWT"}, more), false)
		if refused, is := errors.AsType[*handshake.LogoutTokenError](err); !is || refused.Check != 10 {
			t.Errorf("an ID token %s: %v", name, err)
		}
	}
}

// A provider that signs with the client secret is configured so.
func TestALogoutTokenIsSignedWithTheClientSecretWhereIDTokensAre(t *testing.T) {
	o := newOP(t)
	p := o.provider()
	p.SigningAlg = "HS256"
	if _, err := p.VerifyLogoutToken(t.Context(), signRaw([]byte(clientSecret), jose.HS256, object{"alg": "HS256"}, o.logoutClaims()), false); err != nil {
		t.Error(err)
	}
	for check, raw := range map[handshake.LogoutCheck]string{
		5: signRaw([]byte("another secret, of 32 characters or more"), jose.HS256, object{"alg": "HS256"}, o.logoutClaims()),
		2: o.logoutToken(nil, nil),
	} {
		_, err := p.VerifyLogoutToken(t.Context(), raw, false)
		if refused, is := errors.AsType[*handshake.LogoutTokenError](err); !is || refused.Check != check {
			t.Errorf("the error is %v, want check %d", err, check)
		}
	}
}

// An outage is no fault of the token, which can be sent again.
func TestAnOutageRefusesNoLogoutToken(t *testing.T) {
	outage(t, func(t *testing.T, o *op, p *handshake.Provider, _ func() []oldCopy) {
		o.down("/jwks", unavailable)
		_, err := p.VerifyLogoutToken(t.Context(), o.logoutToken(nil, nil), false)
		if _, is := errors.AsType[*handshake.LogoutTokenError](err); err == nil || is {
			t.Errorf("the error is %v", err)
		}
	})
}
