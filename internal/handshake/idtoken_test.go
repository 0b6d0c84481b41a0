package handshake_test

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/pintleauth/pintle/internal/handshake"
)

func claim(name string, v any) func(*op) {
	return func(o *op) { o.claims = func(m map[string]any) { m[name] = v } }
}

func noClaim(name string) func(*op) {
	return func(o *op) { o.claims = func(m map[string]any) { delete(m, name) } }
}

// fromNow is a NumericDate.
func fromNow(name string, d time.Duration) func(*op) {
	return func(o *op) { o.claims = func(m map[string]any) { m[name] = time.Now().Add(d).Unix() } }
}

func rawIDToken(raw string) func(*op) {
	return func(o *op) { o.tokens = func(m map[string]any) { m["id_token"] = raw } }
}

func signing(alg jose.SignatureAlgorithm, key any) func(*op) {
	return func(o *op) { o.alg, o.key = alg, key }
}

// rawHeader signs the usual claims below a header that maps cannot hold.
func rawHeader(o *op, header string) {
	o.tokens = func(m map[string]any) {
		_, rest, _ := strings.Cut(o.idToken(), ".")
		claims, _, _ := strings.Cut(rest, ".")
		m["id_token"] = signInput(o.key, o.alg, base64.RawURLEncoding.EncodeToString([]byte(header))+"."+claims)
	}
}

// rawPayload signs any payload, claims or not.
func rawPayload(o *op, payload string) {
	o.tokens = func(m map[string]any) {
		header := encode(map[string]any{"alg": string(o.alg), "kid": "key-1"})
		m["id_token"] = signInput(o.key, o.alg, header+"."+base64.RawURLEncoding.EncodeToString([]byte(payload)))
	}
}

// repeated signs good claims followed by members that may be there already.
func repeated(o *op, members string) {
	now := time.Now().Unix()
	rawPayload(o, fmt.Sprintf(`{"iss":%q,"sub":"sub-alice","aud":%q,"iat":%d,"exp":%d,"nonce":%q,%s}`, o.issuer, clientID, now, now+60, theNonce, members))
}

// unencoded signs the claims themselves, as RFC 7797 describes, and not their
// encoded form in the token.
func unencoded(o *op, header map[string]any) {
	o.tokens = func(m map[string]any) {
		parts := strings.Split(o.idToken(), ".")
		claims := must(base64.RawURLEncoding.DecodeString(parts[1]))
		signed := signInput(o.key, o.alg, encode(header)+"."+string(claims))
		m["id_token"] = encode(header) + "." + parts[1] + signed[strings.LastIndex(signed, "."):]
	}
}

// typed sets the typ of the header.
func typed(v any) func(*op) { return func(o *op) { o.header = map[string]any{"typ": v} } }

func TestIDTokensThatAreRefused(t *testing.T) {
	tests := []struct {
		name string
		lie  func(*op)
		want string
	}{
		{"RP-6 another issuer", claim("iss", "https://issuer.example.test"), "issued by"},
		{"RP-6 the issuer with a slash", func(o *op) { claim("iss", o.issuer+"/")(o) }, "issued by"},
		{"RP-6 no issuer", noClaim("iss"), "issued by"},
		{"RP-6 an issuer by another case of the name", func(o *op) {
			o.claims = func(m map[string]any) { m["ISS"] = m["iss"]; delete(m, "iss") }
		}, "issued by"},
		{"ASVS-10.5.4 another audience", claim("aud", "another-client"), "aud is another client"},
		{"SH-52 an audience list without us", claim("aud", []string{"api", "other"}), "aud does not contain this client"},
		{"SH-52 an empty audience list", claim("aud", []string{}), "aud does not contain this client"},
		{"SH-52 an empty audience", claim("aud", ""), "aud is another client"},
		{"SH-52 no audience", noClaim("aud"), "aud is missing"},
		{"SH-52 an audience that is an object", claim("aud", map[string]any{clientID: clientID}), "aud is missing"},
		{"SH-52 an audience that is a number", claim("aud", 5), "aud is missing"},
		{"SH-52 an audience in two cases of the name", func(o *op) {
			o.tokens = func(m map[string]any) {
				now := time.Now().Unix()
				raw := fmt.Sprintf(`{"iss":%q,"sub":"sub-alice","iat":%d,"exp":%d,"nonce":%q,"aud":"another-client","AUD":%q}`, o.issuer, now, now+60, theNonce, clientID)
				m["id_token"] = signRaw(o.key, o.alg, map[string]any{"alg": "RS256", "kid": "key-1"}, json.RawMessage(raw))
			}
		}, "aud is another client"},
		{"SH-52 an audience by another case of the name", func(o *op) {
			o.claims = func(m map[string]any) { m["AUD"] = clientID; delete(m, "aud") }
		}, "aud is missing"},
		{"RP-6 several audiences and no authorized party", claim("aud", []string{clientID, "api"}), "azp"},
		{"RP-6 another authorized party", claim("azp", "another-client"), "azp"},
		{"RP-6 an authorized party that is no text", claim("azp", map[string]any{}), "azp"},
		{"RP-8 expired", fromNow("exp", -31*time.Second), "expired"},
		{"RP-8 no expiry", noClaim("exp"), "exp is missing"},
		{"RP-8 an expiry that is text", claim("exp", "9999999999"), "exp is missing or not a number"},
		{"RP-8 an expiry beyond all numbers", claim("exp", json.RawMessage("1e400")), "exp is missing or not a number"},
		{"RP-8 an expiry beyond all calendars", claim("exp", 1e18), "exp is missing or not a number"},
		{"RP-8 no issue time", noClaim("iat"), "iat is missing"},
		{"RP-8 issued in the future", fromNow("iat", 10*time.Minute), "future"},
		{"RP-8 not yet valid", claim("nbf", int64(4102444800)), "nbf"},
		{"RP-8 valid from text", claim("nbf", "0"), "nbf"},
		{"no subject", noClaim("sub"), "sub is missing"},
		{"an empty subject", claim("sub", ""), "sub is missing"},
		{"a subject that is a number", claim("sub", 12345), "sub is missing"},
		{"a subject by another case of the name", func(o *op) {
			o.claims = func(m map[string]any) { m["SUB"] = m["sub"]; delete(m, "sub") }
		}, "sub is missing"},
		{"RP-9 ASVS-10.5.1 no nonce", noClaim("nonce"), "nonce is missing"},
		{"RP-9 another nonce", claim("nonce", "another"), "nonce is missing, or not the one"},
		{"RP-9 an empty nonce", claim("nonce", ""), "nonce"},
		{"RP-9 a nonce that is no text", claim("nonce", 5), "nonce is missing"},
		{"RP-11 the hash of another access token", claim("at_hash", "77QmUPtjPfzWtF2AnpK9RQ"), "at_hash"},
		{"RP-11 a hash that is no text", claim("at_hash", nil), "at_hash"},
		{"RPX-96 a logout token", typed("logout+jwt"), "not an ID token"},
		{"RPX-96 an access token", typed("at+jwt"), "not an ID token"},
		{"RPX-96 an access token by the whole name of its type", typed("application/at+jwt"), "not an ID token"},
		{"RPX-96 a security event", typed("secevent+JWT"), "not an ID token"},
		{"RPX-96 an empty type", typed(""), "not an ID token"},
		{"RPX-96 a type that is no text", typed([]string{"JWT"}), "not an ID token"},
		{"Q9 ASVS-6.8.2 signed by an unknown key", signing(jose.RS256, otherKey()), "signature"},
		{"SH-28 RP-7 unsigned", signing("none", nil), "unexpected signature algorithm"},
		{"SH-28 unsigned, by another spelling", signing("nOnE", nil), "unexpected signature algorithm"},
		{"SH-28 unsigned, with a signature", func(o *op) {
			o.alg, o.header = jose.RS256, map[string]any{"alg": "none"}
		}, "unexpected signature algorithm"},
		{"ASVS-6.8.2 HS256 with the public key as the secret", signing(jose.HS256, must(x509.MarshalPKIXPublicKey(rsaKey().Public()))), "signed with HS256"},
		{"RP-7 HS256 with the client secret, which is not configured", signing(jose.HS256, []byte(clientSecret)), `set SigningAlg to "HS256"`},
		{"RP-7 HS256 because the document lists it", func(o *op) {
			signing(jose.HS256, []byte(clientSecret))(o)
			o.document = func(d map[string]any) {
				d["id_token_signing_alg_values_supported"] = []string{"RS256", "HS256", "none"}
			}
		}, "signed with HS256"},
		{"SH-28 unsigned because the document lists it", func(o *op) {
			signing("none", nil)(o)
			o.document = func(d map[string]any) { d["id_token_signing_alg_values_supported"] = []string{"RS256", "none"} }
		}, "unexpected signature algorithm"},
		{"RP-7 an algorithm the document does not list", func(o *op) {
			o.document = func(d map[string]any) { d["id_token_signing_alg_values_supported"] = []string{"ES256"} }
		}, "unexpected signature algorithm"},
		{"RP-7 no algorithm with public keys", func(o *op) {
			o.document = func(d map[string]any) { d["id_token_signing_alg_values_supported"] = []string{"HS256"} }
		}, "set SigningAlg"},
		{"RP-7 only RS256 without a list", func(o *op) {
			signing(jose.ES256, ecdsaKey())(o)
			o.keys = append(o.keys, jwk(ecdsaKey(), "key-1", jose.ES256))
			o.document = func(d map[string]any) { delete(d, "id_token_signing_alg_values_supported") }
		}, "unexpected signature algorithm"},
		{"RP-17 an unknown key id", func(o *op) { o.header = map[string]any{"kid": "unknown"} }, "no key of the provider"},
		{"ASVS-9.1.3 a key that the token brings", func(o *op) {
			o.key = otherKey()
			o.header = map[string]any{"jwk": jwk(otherKey(), "key-1", jose.RS256)}
		}, "no key of the provider"},
		{"ASVS-9.1.3 a key that the token points to", func(o *op) {
			o.key = otherKey()
			o.header = map[string]any{"jku": o.issuer + "/evil-jwks", "x5u": o.issuer + "/evil-x5u"}
			o.answer["/evil-jwks"] = func(w http.ResponseWriter, _ *http.Request) {
				sendJSON(w, map[string]any{"keys": []any{jwk(otherKey(), "key-1", jose.RS256)}})
			}
		}, "no key of the provider"},
		{"a header that must be understood and is not", func(o *op) { o.header = map[string]any{"crit": []string{"exp"}} }, "the header has crit"},
		{"an empty list of headers that must be understood", func(o *op) { o.header = map[string]any{"crit": []string{}} }, "the header has crit"},
		{"a signature over other bytes, which go-jose understands", func(o *op) {
			unencoded(o, map[string]any{"alg": "RS256", "kid": "key-1", "b64": false, "crit": []string{"b64"}})
		}, "the header has"},
		{"a signature over other bytes, not marked as critical", func(o *op) {
			unencoded(o, map[string]any{"alg": "RS256", "kid": "key-1", "b64": false})
		}, "the header has b64"},
		{"an algorithm that occurs twice", func(o *op) { rawHeader(o, `{"alg":"none","alg":"RS256","kid":"key-1"}`) }, "invalid protected header"},
		{"a key id that occurs twice", func(o *op) { rawHeader(o, `{"alg":"RS256","kid":"key-0","kid":"key-1"}`) }, "invalid protected header"},
		{"a key id that is no text", func(o *op) { o.header = map[string]any{"kid": 1} }, "not a token we accept"},
		{"no algorithm", func(o *op) { o.header = map[string]any{"alg": nil} }, "unexpected signature algorithm"},
		{"an algorithm by another case of the name", func(o *op) { o.header = map[string]any{"alg": nil, "ALG": "RS256"} }, "unexpected signature algorithm"},
		{"an algorithm in a list", func(o *op) { o.header = map[string]any{"alg": []string{"RS256"}} }, "not a token we accept"},
		{"a header that is a list", func(o *op) { rawHeader(o, `["RS256"]`) }, "not a token we accept"},
		{"a header that is null", func(o *op) { rawHeader(o, `null`) }, "not a token we accept"},
		{"BCP-21 an algorithm without end", func(o *op) { o.header = map[string]any{"alg": strings.Repeat("x", 32<<10)} }, "not a token we accept"},
		{"claims that are a list", func(o *op) { rawPayload(o, `[{"sub":"sub-alice"}]`) }, "not a JSON object"},
		{"claims that are null", func(o *op) { rawPayload(o, `null`) }, "not a JSON object"},
		{"claims twice", func(o *op) { rawPayload(o, `{"sub":"sub-alice"}{"sub":"sub-bob"}`) }, "more than one JSON value"},
		{"claims that are not JSON", func(o *op) { rawPayload(o, `sub=sub-alice`) }, "not JSON"},
		{"RFC 7519 section 4, an audience twice, ours first", func(o *op) {
			repeated(o, `"aud":"`+clientID+`","aud":"another-client"`)
		}, "aud is another client"},
		{"no key id, several keys, no matching one", func(o *op) {
			o.header = map[string]any{"kid": nil}
			o.keys = []map[string]any{jwk(otherKey(), "key-0", jose.RS256), jwk(otherKey(), "key-1", jose.RS256)}
		}, "no key of the provider"},
		{"RP-17 a key for encryption", func(o *op) { o.keys[0]["use"] = "enc" }, "no key that can verify"},
		{"RP-17 a key of another algorithm", func(o *op) { o.keys[0]["alg"] = "PS256" }, "no key of the provider"},
		{"RP-17 a key too short", func(o *op) {
			o.key, o.keys = weakKey(), []map[string]any{jwk(weakKey(), "key-1", jose.RS256)}
		}, "no key that can verify"},
		{"RP-17 a private key", func(o *op) {
			var m map[string]any
			raw := must(json.Marshal(jose.JSONWebKey{Key: rsaKey(), KeyID: "key-1"}))
			_ = json.Unmarshal(raw, &m)
			o.keys = []map[string]any{m}
		}, "no key that can verify"},
		{"RP-17 no keys", func(o *op) { o.keys = nil }, "no key that can verify"},
		{"RP-17 keys that cannot be had", func(o *op) { o.answer["/jwks"] = saying(500, "text/plain", "no") }, "status 500"},
		{"RP-17 keys that are a page", func(o *op) { o.answer["/jwks"] = saying(200, "text/html", "<h1>hi</h1>") }, "JWKS"},
		{"RP-17 no address of keys", func(o *op) { o.document = func(d map[string]any) { delete(d, "jwks_uri") } }, "no jwks_uri"},
		{"BCP-21 keys without end", func(o *op) {
			o.answer["/jwks"] = saying(200, "application/json", strings.Repeat(" ", 2<<20))
		}, "larger than"},
		{"not three parts", rawIDToken("not.a-jwt"), "compact form"},
		{"not JSON inside", rawIDToken("bm90.anNvbg.c2ln"), "id token"},
		{"encrypted", rawIDToken("eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2R0NNIn0..a.b.c"), "encrypted, which is not supported: have the provider send it signed only, by removing id_token_encrypted_response_alg"},
		{"SH-54 in the form with several signatures", rawIDToken(`{"payload":"e30","signatures":[{"protected":"e30","signature":"x.y."}]}`), "compact form"},
		{"SH-49 SH-50 a million dots", rawIDToken(strings.Repeat(".", 1e5)), "compact form"},
		{"BCP-21 longer than any ID token", func(o *op) { claim("x", strings.Repeat("x", 64<<10))(o) }, "compact form"},
		{"no header", rawIDToken(".e30.c2ln"), "id token"},
		{"no claims", rawIDToken("e30..c2ln"), "id token"},
		{"nothing but dots", rawIDToken(".."), "id token"},
		{"four parts", rawIDToken("e30.e30.c2ln.c2ln"), "compact form"},
		{"two parts", rawIDToken("e30.e30"), "compact form"},
		{"padding", rawIDToken("e30=.e30=.c2ln"), "compact form"},
		{"the other alphabet of base64", rawIDToken("e30.e30.+/"), "compact form"},
		{"a space in front", func(o *op) {
			o.tokens = func(m map[string]any) { m["id_token"] = " " + m["id_token"].(string) }
		}, "compact form"},
		{"without its signature", func(o *op) {
			o.tokens = func(m map[string]any) {
				raw := m["id_token"].(string)
				m["id_token"] = raw[:strings.LastIndex(raw, ".")+1]
			}
		}, "no key of the provider"},
		{"line breaks inside", func(o *op) {
			o.tokens = func(m map[string]any) { m["id_token"] = strings.Replace(m["id_token"].(string), ".", "\n.", 1) }
		}, "compact form"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := newOP(t)
			tt.lie(o)
			r, err := o.provider().Redeem(t.Context(), options())
			wantError(t, err, tt.want)
			if r != nil {
				t.Error("SH-51 there is a result beside the error")
			}
			if len(err.Error()) > 1000 {
				t.Errorf("BCP-21 the error has %d bytes", len(err.Error()))
			}
			if o.count("/evil-jwks")+o.count("/evil-x5u") > 0 {
				t.Error("a token chose where its key comes from")
			}
		})
	}
}

func TestIDTokensThatAreAccepted(t *testing.T) {
	hash := sha256.Sum256([]byte("access-5d41402a"))
	tests := []struct {
		name  string
		truth func(*op, *handshake.Provider)
	}{
		{"RS256", func(*op, *handshake.Provider) {}},
		{"ES256", func(o *op, _ *handshake.Provider) {
			signing(jose.ES256, ecdsaKey())(o)
			o.keys = append(o.keys, jwk(ecdsaKey(), "key-1", jose.ES256))
		}},
		{"EdDSA", func(o *op, _ *handshake.Provider) {
			signing(jose.EdDSA, ed25519Key())(o)
			o.keys = append(o.keys, jwk(ed25519Key(), "key-1", jose.EdDSA))
		}},
		{"PS256 because the client configures it", func(o *op, p *handshake.Provider) {
			signing(jose.PS256, rsaKey())(o)
			o.keys[0]["alg"], p.SigningAlg = "PS256", "PS256"
		}},
		{"RP-7 LINE: HS256 with the client secret, without fetching keys", func(o *op, p *handshake.Provider) {
			signing(jose.HS256, []byte(clientSecret))(o)
			p.SigningAlg = "HS256"
			o.answer["/jwks"] = saying(500, "text/plain", "no")
		}},
		{"RFC 7519 section 4, a subject twice: the last counts", func(o *op, _ *handshake.Provider) {
			repeated(o, `"sub":"sub-mallory","sub":"sub-alice"`)
		}},
		{"RPX-96 the type JWT", func(o *op, _ *handshake.Provider) { typed("JWT")(o) }},
		{"RPX-96 the type in another case", func(o *op, _ *handshake.Provider) { typed("jwt")(o) }},
		{"RPX-96 the type by its whole name", func(o *op, _ *handshake.Provider) { typed("application/JWT")(o) }},
		{"no key id, one key", func(o *op, _ *handshake.Provider) { o.header = map[string]any{"kid": nil} }},
		{"no key id, several keys", func(o *op, _ *handshake.Provider) {
			o.header = map[string]any{"kid": nil}
			o.keys = append([]map[string]any{jwk(otherKey(), "key-0", jose.RS256)}, o.keys...)
		}},
		{"a key without id, use or algorithm", func(o *op, _ *handshake.Provider) {
			delete(o.keys[0], "kid")
			delete(o.keys[0], "use")
			delete(o.keys[0], "alg")
		}},
		{"RP-17 beside keys of unknown types", func(o *op, _ *handshake.Provider) {
			o.keys = append([]map[string]any{
				{"kty": "oct", "k": "c2VjcmV0", "kid": "key-1"},
				{"kty": "OKP", "crv": "Ed448", "x": "AAAA", "kid": "key-1"},
				{"kty": "RSA", "kid": "key-1", "n": "!"},
				{},
			}, o.keys...)
		}},
		{"several audiences and our authorized party", func(o *op, _ *handshake.Provider) {
			o.claims = func(m map[string]any) { m["aud"], m["azp"] = []string{"api", clientID}, clientID }
		}},
		{"an audience list of one", func(o *op, _ *handshake.Provider) { claim("aud", []string{clientID})(o) }},
		{"expired a few seconds ago", func(o *op, _ *handshake.Provider) { fromNow("exp", -10*time.Second)(o) }},
		{"issued by a clock a little ahead", func(o *op, _ *handshake.Provider) { fromNow("iat", 20*time.Second)(o) }},
		{"issued long ago", func(o *op, _ *handshake.Provider) { fromNow("iat", -24*time.Hour)(o) }},
		{"times with a fraction", func(o *op, _ *handshake.Provider) {
			claim("exp", json.RawMessage("4102444800.25"))(o)
		}},
		{"RP-11 the hash of its access token", func(o *op, _ *handshake.Provider) {
			claim("at_hash", base64.RawURLEncoding.EncodeToString(hash[:16]))(o)
		}},
		{"RP-14 claims that are elsewhere", func(o *op, _ *handshake.Provider) {
			o.claims = func(m map[string]any) {
				m["_claim_names"] = map[string]any{"salary": "src1"}
				m["_claim_sources"] = map[string]any{"src1": map[string]any{"endpoint": o.issuer + "/salary", "access_token": "x"}}
			}
		}},
		{"without a nonce, when none was sent", func(o *op, p *handshake.Provider) {
			p.Nonce = false
			noClaim("nonce")(o)
		}},
		{"keys at a configured address, without any document", func(o *op, p *handshake.Provider) {
			*p = *o.oauth2()
			p.OIDC, p.Nonce, p.Issuer, p.JWKS = true, true, o.issuer, o.issuer+"/jwks"
			o.answer[wellKnown] = saying(500, "text/plain", "no")
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := newOP(t)
			p := o.provider()
			tt.truth(o, p)
			r, err := p.Redeem(t.Context(), options())
			if err != nil {
				t.Fatal(err)
			}
			if r.Profile["sub"] != "sub-alice" {
				t.Errorf("profile = %v", r.Profile)
			}
			if o.count("/salary") > 0 {
				t.Error("RP-14 a token made us send a request")
			}
		})
	}
}

// A client without a secret has no key to verify a symmetric signature with: the
// empty secret is public.
func TestEmptySecretVerifiesNothing(t *testing.T) {
	o := newOP(t)
	signing(jose.HS256, []byte{})(o)
	p := o.provider()
	p.AuthMethod, p.ClientSecret, p.SigningAlg = "none", "", "HS256"
	_, err := p.Redeem(t.Context(), options())
	wantError(t, err, "ClientSecret is missing")
}

func TestUnsolicitedNonceIsRejected(t *testing.T) {
	o := newOP(t)
	p := o.provider()
	p.Nonce = false
	_, err := p.Redeem(t.Context(), options())
	wantError(t, err, "nonce where none was sent")
}

func TestAgeOfTheSignInAtTheProvider(t *testing.T) {
	tests := []struct {
		name string
		lie  func(*op)
		ok   bool
	}{
		{"RP-10 recent", fromNow("auth_time", -time.Minute), true},
		{"RP-10 too long ago", fromNow("auth_time", -2*time.Hour), false},
		{"RP-10 not said", func(*op) {}, false},
		{"RP-10 as text", claim("auth_time", "now"), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := newOP(t)
			tt.lie(o)
			p := o.provider()
			p.MaxAge = time.Hour
			if _, err := p.Redeem(t.Context(), options()); (err == nil) != tt.ok {
				t.Errorf("Redeem: %v, want ok %t", err, tt.ok)
			}
			begun, err := begin(t.Context(), p)
			if err != nil || !strings.Contains(begun.URL, "max_age=3600") {
				t.Errorf("Begin = %v, %v", begun.URL, err)
			}
		})
	}
}

// RP-17: a key that is newer than our copy of the keys is fetched at once, and
// unknown keys do not cause a request each time.
func TestKeyRotation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &op{issuer: "https://op.example.test", key: rsaKey(), alg: jose.RS256, answer: map[string]http.HandlerFunc{}}
		o.keys = []map[string]any{jwk(rsaKey(), "key-1", jose.RS256)}
		p := o.provider()
		p.Client = &http.Client{Transport: direct{o}}
		signIn := func() error { _, err := p.Redeem(t.Context(), options()); return err }
		want := func(step string, fetched int, ok bool, err error) {
			t.Helper()
			if (err == nil) != ok {
				t.Errorf("%s: %v, want ok %t", step, err, ok)
			}
			if n := o.count("/jwks"); n != fetched {
				t.Errorf("%s: keys were fetched %d times, want %d", step, n, fetched)
			}
		}
		want("first sign-in", 1, true, signIn())
		want("second sign-in", 1, true, signIn())

		o.key, o.keys = otherKey(), []map[string]any{jwk(otherKey(), "key-2", jose.RS256)}
		o.header = map[string]any{"kid": "key-2"}
		want("after rotation", 2, true, signIn())

		o.header = map[string]any{"kid": "key-3"}
		want("unknown key at once", 2, false, signIn())
		want("unknown key again", 2, false, signIn())
		time.Sleep(11 * time.Second)
		want("unknown key after a pause", 3, false, signIn())

		o.header = map[string]any{"kid": "key-2"}
		want("known key", 3, true, signIn())
		o.keys = []map[string]any{jwk(rsaKey(), "key-4", jose.RS256)}
		want("withdrawn key, from our copy", 3, true, signIn())
		time.Sleep(time.Hour)
		// Two requests: our copy was too old, and the new one has no such key.
		want("withdrawn key, after an hour", 5, false, signIn())
	})
}

// The common endpoints of Microsoft Entra ID sign in users of any tenant.
func TestTenantIssuer(t *testing.T) {
	const tenant = "72f988bf-86f1-41af-91ab-2d7cd011db47"
	tests := []struct {
		name string
		lie  func(o *op, claims map[string]any)
		want string // empty: accepted
	}{
		{"the tenant of the token", func(*op, map[string]any) {}, ""},
		{"another tenant than its tid claim", func(_ *op, c map[string]any) { c["iss"] = "https://login.example.test/other/v2.0" }, "issued by"},
		{"no tenant", func(_ *op, c map[string]any) { delete(c, "tid") }, "issued by"},
		{"neither tenant nor issuer", func(_ *op, c map[string]any) { delete(c, "tid"); delete(c, "iss") }, "issued by"},
		{"the template itself", func(_ *op, c map[string]any) {
			c["tid"], c["iss"] = "{tenantid}", "https://login.example.test/{tenantid}/v2.0"
		}, "issued by"},
		{"a tenant that is a path", func(_ *op, c map[string]any) {
			c["tid"], c["iss"] = "a/../b", "https://login.example.test/a/../b/v2.0"
		}, "issued by"},
		{"a key of that tenant", func(o *op, _ map[string]any) {
			o.keys[0]["issuer"] = "https://login.example.test/" + tenant + "/v2.0"
		}, ""},
		{"a key of every tenant", func(o *op, _ map[string]any) {
			o.keys[0]["issuer"] = "https://login.example.test/{tenantid}/v2.0"
		}, ""},
		{"a key of another tenant", func(o *op, _ map[string]any) {
			o.keys[0]["issuer"] = "https://login.example.test/9188040d-6c67-4c5b-b112-36a304b66dad/v2.0"
		}, "key of another issuer"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := &op{issuer: "https://login.example.test", key: rsaKey(), alg: jose.RS256, answer: map[string]http.HandlerFunc{}}
			o.keys = []map[string]any{jwk(rsaKey(), "key-1", jose.RS256)}
			o.document = func(d map[string]any) { d["issuer"] = "https://login.example.test/{tenantid}/v2.0" }
			o.claims = func(m map[string]any) {
				m["tid"], m["iss"] = tenant, "https://login.example.test/"+tenant+"/v2.0"
				tt.lie(o, m)
			}
			_ = o.idToken() // lets a lie about keys take effect before they are fetched
			p := o.provider()
			p.Issuer, p.TenantIssuer = "https://login.example.test/common/v2.0", true
			p.Client = &http.Client{Transport: direct{o}}
			_, err := p.Redeem(t.Context(), options())
			if tt.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			wantError(t, err, tt.want)
		})
	}

	o := &op{issuer: "https://login.example.test", answer: map[string]http.HandlerFunc{}}
	o.document = func(d map[string]any) { d["issuer"] = "https://login.example.test/{tenantid}/v2.0" }
	p := o.provider()
	p.Issuer, p.Client = "https://login.example.test/common/v2.0", &http.Client{Transport: direct{o}}
	_, err := begin(t.Context(), p)
	wantError(t, err, "document is of issuer")
}

// RP-10, ASVS-6.8.4, RPT-40: what a sign-in has to prove is in the verified ID token, byte for byte.
func TestWhatAnIDTokenHasToShow(t *testing.T) {
	now := time.Now()
	since := handshake.Proof{Since: now}
	classes := handshake.Proof{ACR: []string{"phr", "mfa"}}
	at := func(d time.Duration) map[string]any { return map[string]any{"auth_time": now.Add(d).Unix()} }
	acr := func(v any) map[string]any { return map[string]any{"acr": v} }
	tests := []struct {
		name   string
		proof  handshake.Proof
		claims map[string]any
		met    bool
	}{
		{"nothing is required", handshake.Proof{}, nil, true},
		{"a sign-in of now", since, at(time.Second), true},
		{"by a clock that is behind", since, at(-28 * time.Second), true},
		{"by a clock that is far behind", since, at(-33 * time.Second), false},
		{"by a clock that is far ahead", since, at(2 * time.Minute), false},
		{"no time", since, nil, false},
		{"a time that is text", since, map[string]any{"auth_time": "9999999999"}, false},
		{"a time that is null", since, map[string]any{"auth_time": nil}, false},
		{"a class that was asked for", classes, acr("mfa"), true},
		{"another class", classes, acr("pwd"), false},
		{"a class in another case", classes, acr("MFA"), false},
		{"two classes in one", classes, acr("phr mfa"), false},
		{"the empty class", classes, acr(""), false},
		{"the empty class, in the list", handshake.Proof{ACR: []string{""}}, acr(""), false},
		{"a list of classes", classes, acr([]string{"mfa"}), false},
		{"a class that is a number", classes, acr(2), false},
		{"no class", classes, nil, false},
		{"a class without the time", handshake.Proof{Since: now, ACR: []string{"mfa"}}, acr("mfa"), false},
		{"a time without the class", handshake.Proof{Since: now, ACR: []string{"mfa"}}, at(0), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := newOP(t)
			o.claims = func(m map[string]any) { maps.Copy(m, tt.claims) }
			asked := options()
			asked.Proof = tt.proof
			_, err := o.provider().Redeem(t.Context(), asked)
			if met := err == nil; met != tt.met || !met && !isUnmet(err) {
				t.Errorf("met: %t, %v", met, err)
			}
			if _, said := tt.claims["auth_time"].(int64); err != nil && !said && tt.proof.ACR == nil && !strings.Contains(err.Error(), "auth_time is missing or not a number") {
				t.Errorf("the error is %v", err)
			}
		})
	}
	t.Run("by plain OAuth 2, whose ID token may be missing", func(t *testing.T) {
		o := newOP(t)
		p := o.provider()
		p.OIDC, p.Nonce = false, false
		asked := options()
		asked.Proof = since
		if _, err := p.Redeem(t.Context(), asked); !isUnmet(err) || o.count("/token") != 0 {
			t.Errorf("%v, after %d token requests", err, o.count("/token"))
		}
	})
}

func isUnmet(err error) bool {
	_, is := errors.AsType[*handshake.UnmetError](err)
	return is
}
