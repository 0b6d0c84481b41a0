package handshake_test

import (
	"crypto"
	"encoding/base64"
	"fmt"
	"math/big"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/pintleauth/pintle/internal/handshake"
)

// foreign signs a token that a stranger sends, with the id of a key.
func (o *op) foreign(key any, id string) string {
	header := map[string]any{"alg": "RS256", "typ": "logout+jwt"}
	if id != "" {
		header["kid"] = id
	}
	return signRaw(key, jose.RS256, header, map[string]any{"iss": o.issuer, "sub": "sub-alice", "aud": clientID})
}

// forged is a token with a signature that no key made.
func (o *op) forged(id string) string {
	return signRaw(nil, jose.RS256, map[string]any{"alg": "RS256", "kid": id}, map[string]any{"iss": o.issuer}) + encode("forged")
}

func TestATokenThatAnyoneCanSendIsOfTheProvider(t *testing.T) {
	o := newOP(t)
	p := o.provider()
	token, err := p.VerifyUnsolicited(t.Context(), o.foreign(rsaKey(), "key-1"))
	if err != nil {
		t.Fatal(err)
	}
	if token.Type != "logout+jwt" || token.Claims["sub"] != "sub-alice" {
		t.Errorf("the token is %+v", token)
	}
	if text := fmt.Sprint(token.LogValue()); strings.Contains(text, "alice") {
		t.Errorf("the log has %s", text)
	}
	claims := map[string]any{"iss": o.issuer, "sub": "sub-alice"}
	for _, tt := range []struct{ name, raw, want string }{
		{"another key", o.foreign(otherKey(), "key-1"), "no key of the provider"},
		{"no signature", signRaw(nil, "none", map[string]any{"alg": "none"}, claims), "signature algorithm"},
		{"SH-28 a signature with the public key as secret", signRaw([]byte("x"), "HS256", map[string]any{"alg": "HS256"}, claims), "HS256"},
		{"another issuer", signRaw(rsaKey(), jose.RS256, map[string]any{"alg": "RS256", "kid": "key-1"}, map[string]any{"iss": "https://issuer.example.test"}), "issued by"},
		{"no issuer", signRaw(rsaKey(), jose.RS256, map[string]any{"alg": "RS256", "kid": "key-1"}, map[string]any{"sub": "x"}), "issued by"},
		{"no object", signRaw(rsaKey(), jose.RS256, map[string]any{"alg": "RS256", "kid": "key-1"}, []string{}), "a list"},
		{"no token", "x", "compact form"},
		{"RPX-125 a long token", o.foreign(rsaKey(), "key-1"+strings.Repeat("x", 13<<10)), "at most 16384 bytes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			token, err := p.VerifyUnsolicited(t.Context(), tt.raw)
			wantError(t, err, tt.want)
			if token != nil {
				t.Error("SH-51 there is a token beside the error")
			}
		})
	}
}

// RPT-64, RPX-121. What strangers send does not use up the fetches that sign-ins need.
func TestAFloodOfKeyIDsDoesNotStopSignIns(t *testing.T) {
	outage(t, func(t *testing.T, o *op, p *handshake.Provider, _ func() []oldCopy) {
		if err := redeem(t, p); err != nil {
			t.Fatal(err)
		}
		flood := func(from int) {
			for i := range 500 {
				if _, err := p.VerifyUnsolicited(t.Context(), o.forged(fmt.Sprint("made up ", from, i))); err == nil {
					t.Fatal("a forged token is accepted")
				}
			}
		}
		flood(0)
		if n := o.count("/jwks"); n != 1 {
			t.Errorf("RPT-64 while the keys are young they were fetched %d times", n)
		}
		for minute := range 5 {
			time.Sleep(time.Minute)
			flood(minute + 1)
			if n := o.count("/jwks"); n != minute+2 {
				t.Errorf("RPT-64 after %d minutes the keys were fetched %d times", minute+1, n)
			}
		}
		o.mu.Lock()
		o.key, o.keys, o.header = otherKey(), []map[string]any{jwk(otherKey(), "key-2", jose.RS256)}, map[string]any{"kid": "key-2"}
		o.mu.Unlock()
		if err := redeem(t, p); err != nil {
			t.Errorf("RPT-64 a sign-in after the keys changed: %v", err)
		}
		if _, err := p.VerifyUnsolicited(t.Context(), o.foreign(otherKey(), "key-2")); err != nil {
			t.Errorf("a token after the keys changed: %v", err)
		}
	})
	outage(t, func(t *testing.T, o *op, p *handshake.Provider, _ func() []oldCopy) {
		if err := redeem(t, p); err != nil {
			t.Fatal(err)
		}
		o.header = map[string]any{"kid": "made up"}
		_ = redeem(t, p) // uses up the allowance of sign-ins
		time.Sleep(time.Minute)
		_ = redeem(t, p)
		time.Sleep(time.Minute)
		o.mu.Lock()
		o.keys = append(o.keys, jwk(otherKey(), "key-2", jose.RS256))
		o.mu.Unlock()
		if _, err := p.VerifyUnsolicited(t.Context(), o.foreign(otherKey(), "key-2")); err != nil {
			t.Errorf("RPX-121 a token with a new key: %v", err)
		}
	})
}

func TestAnUnknownKeyIDIsFetchedForOnceAMinute(t *testing.T) {
	outage(t, func(t *testing.T, o *op, p *handshake.Provider, _ func() []oldCopy) {
		send := func(key crypto.Signer, id string) error {
			_, err := p.VerifyUnsolicited(t.Context(), o.foreign(key, id))
			return err
		}
		if err := send(rsaKey(), "key-1"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		for range 60 { // for ten minutes
			wantError(t, send(otherKey(), "made up"), "no key of the provider")
			time.Sleep(10 * time.Second)
		}
		fetched := o.count("/jwks")
		if fetched < 2 || fetched > 11 {
			t.Errorf("RPX-121 one id had the keys fetched %d times in ten minutes, want at most once a minute", fetched-1)
		}
		for range 10 {
			wantError(t, send(otherKey(), "key-1"), "no key of the provider")
		}
		if n := o.count("/jwks"); n != fetched {
			t.Errorf("RPX-121 the id of a key that is known had the keys fetched %d times", n-fetched)
		}
		o.mu.Lock()
		o.keys = append(o.keys, jwk(otherKey(), "key-2", jose.RS256))
		o.mu.Unlock()
		if err := send(otherKey(), "key-2"); err != nil {
			t.Errorf("RPX-121 the id of a new key: %v", err)
		}
		time.Sleep(time.Minute)
		o.down("/jwks", unavailable)
		before := o.count("/jwks")
		wantError(t, send(otherKey(), "key-3"), "status 503")
		for range 55 {
			time.Sleep(time.Second)
			wantError(t, send(otherKey(), "key-4"), "a moment ago")
		}
		if n := o.count("/jwks") - before; n != 1 {
			t.Errorf("RPX-121 while the keys are out of reach they were asked for %d times in a minute", n)
		}
	})
}

// RPX-121: an attacker who knows the id of the next key cannot keep it out.
func TestForgedTokensDoNotHideANewKey(t *testing.T) {
	outage(t, func(t *testing.T, o *op, p *handshake.Provider, _ func() []oldCopy) {
		send := func(key crypto.Signer) error {
			_, err := p.VerifyUnsolicited(t.Context(), o.foreign(key, "key-2"))
			return err
		}
		for range 20 {
			wantError(t, send(weakKey()), "no key of the provider")
			time.Sleep(10 * time.Second)
		}
		o.mu.Lock()
		o.keys = append(o.keys, jwk(otherKey(), "key-2", jose.RS256))
		o.mu.Unlock()
		rotated := time.Now()
		for send(otherKey()) != nil {
			if time.Since(rotated) > 2*time.Minute {
				t.Fatal("the new key is not used after two minutes")
			}
			_ = send(weakKey())
			time.Sleep(10 * time.Second)
		}
	})
}

// RPT-79, RPX-126. A verification is work, and a token without a key id fits every key.
func TestFewKeysAreTriedForOneSignature(t *testing.T) {
	for _, tt := range []struct {
		name   string
		before int    // other keys in the set
		id     string // of the other keys
		token  string // the key id in the token
		kind   func(*op, string) string
		ok     bool
	}{
		{"a token of the provider, eighth key", 7, "", "", nil, true},
		{"a token of the provider, ninth key", 8, "", "", nil, false},
		{"a token of the provider that names the last key", 60, "", "key-1", nil, true},
		{"a token of the provider that names a key of nine", 8, "key-1", "key-1", nil, false},
		{"a token of a stranger, second key", 1, "", "", (*op).stranger, true},
		{"a token of a stranger, third key", 2, "", "", (*op).stranger, false},
		{"a token of a stranger that names the last key", 60, "", "key-1", (*op).stranger, true},
	} {
		t.Run("RPT-79 "+tt.name, func(t *testing.T) {
			outage(t, func(t *testing.T, o *op, p *handshake.Provider, _ func() []oldCopy) {
				// Keys of other types are not tried.
				keys := []map[string]any{jwk(ecdsaKey(), "", ""), jwk(ed25519Key(), "", "")}
				for range tt.before {
					keys = append(keys, jwk(otherKey(), tt.id, ""))
				}
				o.keys = append(keys, o.keys...)
				var err error
				if tt.kind != nil {
					_, err = p.VerifyUnsolicited(t.Context(), tt.kind(o, tt.token))
				} else {
					o.header = map[string]any{"kid": nil}
					if tt.token != "" {
						o.header = nil
					}
					err = redeem(t, p)
				}
				if (err == nil) != tt.ok {
					t.Errorf("the error is %v, want ok %t", err, tt.ok)
				}
			})
		})
	}
}

// stranger is a genuine token, sent by a stranger.
func (o *op) stranger(id string) string { return o.foreign(rsaKey(), id) }

// modulus is a number of so many bits, in a key.
func modulus(bits uint) string {
	n := new(big.Int).Lsh(big.NewInt(1), bits-1)
	return base64.RawURLEncoding.EncodeToString(n.SetBit(n, 0, 1).Bytes())
}

func TestHostileKeySetsAreBounded(t *testing.T) {
	odd := func(change func(m map[string]any)) map[string]any {
		m := jwk(otherKey(), "key-1", jose.RS256)
		change(m)
		return m
	}
	for name, keys := range map[string][]map[string]any{
		"a modulus of 65537 bits": {odd(func(m map[string]any) { m["n"] = modulus(65537) })},
		"a modulus of 8193 bits":  {odd(func(m map[string]any) { m["n"] = modulus(8193) })},
		"an exponent of 1":        {odd(func(m map[string]any) { m["e"] = "AQ" })},
		"an even exponent":        {odd(func(m map[string]any) { m["e"] = "AQAA" })},
		"a key id of 100 KiB":     {odd(func(m map[string]any) { m["kid"] = strings.Repeat("x", 100<<10) })},
		"an algorithm of 100 KiB": {odd(func(m map[string]any) { m["alg"] = strings.Repeat("x", 100<<10) })},
		"an issuer of 100 KiB":    {odd(func(m map[string]any) { m["issuer"] = strings.Repeat("x", 100<<10) })},
	} {
		t.Run("RPT-79 "+name, func(t *testing.T) {
			outage(t, func(t *testing.T, o *op, p *handshake.Provider, _ func() []oldCopy) {
				o.keys = keys
				want := "no key that can verify"
				if name == "an even exponent" {
					want = "no key of the provider" // crypto/rsa refuses it
				}
				wantError(t, redeem(t, p), want)
			})
		})
	}
	t.Run("RPT-79 10000 keys", func(t *testing.T) {
		outage(t, func(t *testing.T, o *op, p *handshake.Provider, _ func() []oldCopy) {
			one := `{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"},`
			list := saying(200, "application/json", `{"keys":[`+strings.TrimSuffix(strings.Repeat(one, 10000), ",")+`]}`)
			o.down("/jwks", func(w http.ResponseWriter, r *http.Request) { list(w, r) })
			wantError(t, redeem(t, p), "no key of the provider")
		})
	})
}
