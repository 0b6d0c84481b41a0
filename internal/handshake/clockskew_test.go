package handshake_test

import (
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/pintleauth/pintle/internal/handshake"
)

// RPX-123: each time in what a provider has signed is read with the ClockSkew of this
// provider, and with half a minute where it has none.
func TestTheTimesOfAProviderAreReadWithItsClockSkew(t *testing.T) {
	const margin = 3 * time.Second
	redeem := func(o *op, p *handshake.Provider, proof handshake.Proof) error {
		asked := options()
		asked.Proof = proof
		_, err := p.Redeem(t.Context(), asked)
		return err
	}
	idToken := func(claim string, sign time.Duration) func(*op, *handshake.Provider, time.Duration) error {
		return func(o *op, p *handshake.Provider, off time.Duration) error {
			fromNow(claim, sign*off)(o) //nolint:durationcheck // sign is 1 or -1
			return redeem(o, p, handshake.Proof{})
		}
	}
	for name, check := range map[string]func(o *op, p *handshake.Provider, off time.Duration) error{
		"exp of an ID token": idToken("exp", -1),
		"iat of an ID token": idToken("iat", 1),
		"nbf of an ID token": idToken("nbf", 1),
		"auth_time before MaxAge": func(o *op, p *handshake.Provider, off time.Duration) error {
			p.MaxAge = time.Hour
			return idToken("auth_time", -1)(o, p, time.Hour+off)
		},
		"auth_time before Since": func(o *op, p *handshake.Provider, off time.Duration) error {
			fromNow("auth_time", -off)(o)
			return redeem(o, p, handshake.Proof{Since: time.Now()})
		},
		"auth_time after now": func(o *op, p *handshake.Provider, off time.Duration) error {
			fromNow("auth_time", off)(o)
			return redeem(o, p, handshake.Proof{Since: time.Now()})
		},
		"exp of a signed userinfo": func(o *op, p *handshake.Provider, off time.Duration) error {
			p.ProfileFromUserInfo = true
			claims := object{"sub": "sub-alice", "exp": time.Now().Add(-off).Unix()}
			o.answer["/userinfo"] = saying(200, "application/jwt", signRaw(rsaKey(), jose.RS256, object{"alg": "RS256", "kid": "key-1"}, claims))
			return redeem(o, p, handshake.Proof{})
		},
		"age of the token of an SDK": func(o *op, p *handshake.Provider, off time.Duration) error {
			raw := o.sdkToken(object{"nonce": nil, "iat": time.Now().Add(-5*time.Minute - off).Unix()}, nil)
			_, err := p.VerifySDKToken(t.Context(), raw, handshake.SDKToken{Audiences: []string{"web"}})
			return err
		},
		"iat of the token of an SDK": func(o *op, p *handshake.Provider, off time.Duration) error {
			raw := o.sdkToken(object{"iat": time.Now().Add(off).Unix()}, nil)
			_, err := p.VerifySDKToken(t.Context(), raw, handshake.SDKToken{Audiences: []string{"web"}, Nonce: sdkNonce})
			return err
		},
		"exp of a logout token": func(o *op, p *handshake.Provider, off time.Duration) error {
			_, err := p.VerifyLogoutToken(t.Context(), o.logoutToken(nil, object{"exp": time.Now().Add(-off).Unix()}), false)
			return err
		},
		"iat of a logout token": func(o *op, p *handshake.Provider, off time.Duration) error {
			_, err := p.VerifyLogoutToken(t.Context(), o.logoutToken(nil, object{"iat": time.Now().Add(off).Unix(), "exp": time.Now().Add(time.Hour).Unix()}), false)
			return err
		},
	} {
		for configured, skew := range map[time.Duration]time.Duration{0: 30 * time.Second, 5 * time.Second: 5 * time.Second, 2 * time.Minute: 2 * time.Minute} {
			t.Run(name+", "+configured.String(), func(t *testing.T) {
				for off, good := range map[time.Duration]bool{skew - margin: true, skew + margin: false} {
					o := newOP(t)
					p := o.provider()
					p.ClockSkew = configured
					if err := check(o, p, off); (err == nil) != good {
						t.Errorf("off by %s: %v", off, err)
					}
				}
			})
		}
	}
}

func TestTheClockSkewHasABound(t *testing.T) {
	for skew, good := range map[time.Duration]bool{
		-time.Nanosecond: false, 0: true, time.Nanosecond: true, 2 * time.Minute: true, 2*time.Minute + 1: false,
	} {
		p := newOP(t).provider()
		p.ClockSkew = skew
		if err := p.Check(); (err == nil) != good || err != nil && !strings.Contains(err.Error(), "ClockSkew is "+skew.String()) {
			t.Errorf("%s: %v", skew, err)
		}
	}
}
