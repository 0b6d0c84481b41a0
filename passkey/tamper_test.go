package passkey_test

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/fxamacker/cbor/v2"

	"github.com/pintleauth/pintle/passkey/passkeytest"
)

func b64(data []byte) string { return base64.RawURLEncoding.EncodeToString(data) }

// response is the member of an answer that holds what was signed.
func response(answer map[string]any) map[string]any { return answer["response"].(map[string]any) }

// flip changes one bit of a member in base64url.
func flip(members map[string]any, name string, at int) {
	data, err := base64.RawURLEncoding.DecodeString(members[name].(string))
	if err != nil {
		panic(err)
	}
	if at < 0 {
		at += len(data)
	}
	data[at] ^= 1
	members[name] = b64(data)
}

// A misdeed is a fault of a browser or an authenticator, or an attack between
// them and the site.
type misdeed struct {
	name string
	do   func(*passkeytest.Authenticator)

	// fine means that the site must accept it.
	fine bool
}

func clientData(name string, value any) func(*passkeytest.Authenticator) {
	return func(k *passkeytest.Authenticator) {
		k.ClientData = func(data map[string]any) {
			if data[name] = value; value == nil {
				delete(data, name)
			}
		}
	}
}

func flags(set byte) func(*passkeytest.Authenticator) {
	return func(k *passkeytest.Authenticator) { k.Flags = set }
}

func data(change func([]byte) []byte) func(*passkeytest.Authenticator) {
	return func(k *passkeytest.Authenticator) { k.AuthenticatorData = change }
}

func answer(change func(map[string]any)) func(*passkeytest.Authenticator) {
	return func(k *passkeytest.Authenticator) { k.Answer = change }
}

// bothCeremonies are misdeeds of both ceremonies.
var bothCeremonies = []misdeed{
	{"nothing", func(*passkeytest.Authenticator) {}, true},

	{"WA-3 another challenge", clientData("challenge", b64(make([]byte, 32))), false},
	{"WA-3 no challenge", clientData("challenge", nil), false},
	{"WA-3 an empty challenge", clientData("challenge", ""), false},
	{"WA-3 the challenge as another text", clientData("challenge", []string{"x"}), false},

	{"WA-4 another site", clientData("origin", "https://evil.example"), false},
	{"WA-4 another scheme", clientData("origin", "https://localhost:3000"), false},
	{"WA-4 another port", clientData("origin", "http://localhost:3001"), false},
	{"WA-4 a subdomain", clientData("origin", "http://app.localhost:3000"), false},
	{"WA-4 a path behind the origin", clientData("origin", origin+"/evil"), false},
	{"WA-4 user information in the origin", clientData("origin", "http://evil@localhost:3000"), false},
	{"WA-4 the origin in capitals", clientData("origin", "HTTP://LOCALHOST:3000"), false},
	{"WA-4 the origin and more", clientData("origin", origin+".evil.example"), false},
	{"WA-4 an opaque origin", clientData("origin", "null"), false},
	{"WA-4 no origin", clientData("origin", nil), false},
	{"WA-4 an application that is not listed", clientData("origin", "android:apk-key-hash:AAAA"), false},
	{"WA-4 in a frame of another site", clientData("crossOrigin", true), false},
	{"WA-4 in a frame of a named site", func(k *passkeytest.Authenticator) {
		k.ClientData = func(data map[string]any) {
			data["crossOrigin"], data["topOrigin"] = true, "https://evil.example"
		}
	}, false},
	{"WA-4 in a frame of another site without crossOrigin", clientData("topOrigin", "https://evil.example"), false},

	{"WA-2 unknown members", clientData("new_keys_may_be_added_here", "do not compare clientDataJSON against a template"), true},
	{"WA-2 no type", clientData("type", nil), false},
	{"WA-2 the type of a payment", clientData("type", "payment.get"), false},

	{"WA-5 another relying party", data(func(d []byte) []byte {
		other := sha256.Sum256([]byte("evil.example"))
		return append(other[:], d[32:]...)
	}), false},
	{"WA-5 no relying party", data(func(d []byte) []byte { return append(make([]byte, 32), d[32:]...) }), false},

	{"WA-6 user not present", flags(passkeytest.UserVerified), false},
	{"WA-6 user not verified", flags(passkeytest.UserPresent), false},
	{"WA-6 no flags", flags(0), false},

	{"WA-7 backed up and never to be", flags(passkeytest.UserPresent | passkeytest.UserVerified | passkeytest.BackupState), false},

	{"WA-14 bytes behind the authenticator data", data(func(d []byte) []byte { return append(d, 0) }), false},
	{"WA-14 an empty map behind it", data(func(d []byte) []byte { return append(d, 0xa0) }), false},
	{"WA-14 the flag of extensions without any", data(func(d []byte) []byte { d[32] |= 1 << 7; return d }), false},
	{"WA-14 unsolicited extensions", data(func(d []byte) []byte {
		d[32] |= 1 << 7
		return append(d, 0xa1, 0x63, 'x', 'y', 'z', 0xf5) // {"xyz": true}
	}), true},
	{"WA-14 an extension twice", data(func(d []byte) []byte {
		d[32] |= 1 << 7
		return append(d, 0xa2, 0x63, 'x', 'y', 'z', 0xf5, 0x63, 'x', 'y', 'z', 0xf5)
	}), false},
	{"WA-14 extensions of no definite length", data(func(d []byte) []byte {
		d[32] |= 1 << 7
		return append(d, 0xbf, 0x63, 'x', 'y', 'z', 0xf5, 0xff)
	}), false},
	{"WA-14 extensions nested deeply", data(func(d []byte) []byte {
		d[32] |= 1 << 7
		return append(append(append(d, 0xa1, 0x61, 'x'), bytes.Repeat([]byte{0x81}, 1000)...), 0x00)
	}), false},
	{"WA-14 results of unsolicited extensions", answer(func(a map[string]any) {
		a["clientExtensionResults"] = map[string]any{"appid": true, "largeBlob": map[string]any{"blob": "AAAA"}, "prf": 1}
	}), true},

	{"the authenticator data cut short", data(func(d []byte) []byte { return d[:36] }), false},
	{"no authenticator data", data(func([]byte) []byte { return nil }), false},

	{"another type of credential", answer(func(a map[string]any) { a["type"] = "password" }), false},
	{"no type of credential", answer(func(a map[string]any) { delete(a, "type") }), false},
	{"no id", answer(func(a map[string]any) { delete(a, "id") }), false},
	{"an id that is not the raw id", answer(func(a map[string]any) { a["rawId"] = b64([]byte("another")) }), false},
	{"no raw id", answer(func(a map[string]any) { delete(a, "rawId") }), false},
	{"the raw id as a number", answer(func(a map[string]any) { a["rawId"] = 7 }), false},
	{"no response", answer(func(a map[string]any) { delete(a, "response") }), false},
	{"client data that is no JSON", answer(func(a map[string]any) { response(a)["clientDataJSON"] = b64([]byte("{")) }), false},
	{"no client data", answer(func(a map[string]any) { delete(response(a), "clientDataJSON") }), false},
	{"unknown members", answer(func(a map[string]any) { a["more"], response(a)["more"] = 1, 2 }), true},
}

func TestForgedRegistrationsAreRejected(t *testing.T) {
	object := func(name string, value any) func(*passkeytest.Authenticator) {
		return func(k *passkeytest.Authenticator) {
			k.Attestation = func(object map[string]any) {
				if object[name] = value; value == nil {
					delete(object, name)
				}
			}
		}
	}
	public := func(make func(*passkeytest.Authenticator) []byte) func(*passkeytest.Authenticator) {
		return func(k *passkeytest.Authenticator) {
			k.AuthenticatorData = func(d []byte) []byte { return append(d[:55+32], make(k)...) }
		}
	}
	key := func(members map[int]any) func(*passkeytest.Authenticator) {
		return public(func(*passkeytest.Authenticator) []byte { return encode(members) })
	}
	point := ecKey(elliptic.P256())
	tests := append(slices.Clone(bothCeremonies), []misdeed{
		{"WA-2 an answer of the other ceremony", clientData("type", "webauthn.get"), false},

		{"WA-7 may be backed up", flags(passkeytest.UserPresent | passkeytest.UserVerified | passkeytest.BackupEligible), true},
		{"WA-7 is backed up", flags(passkeytest.UserPresent | passkeytest.UserVerified | passkeytest.BackupEligible | passkeytest.BackupState), true},

		{"WA-8 ES256", func(k *passkeytest.Authenticator) { k.Algorithm = passkeytest.ES256 }, true},
		{"WA-8 EdDSA", func(k *passkeytest.Authenticator) { k.Algorithm = passkeytest.EdDSA }, true},
		{"WA-8 RS256", func(k *passkeytest.Authenticator) { k.Algorithm = passkeytest.RS256 }, true},
		{"WA-8 ES384, which was not offered", key(map[int]any{1: 2, 3: -35, -1: 2, -2: ecKey(elliptic.P384())[0], -3: ecKey(elliptic.P384())[1]}), false},
		{"WA-8 ES256 on another curve", key(map[int]any{1: 2, 3: -7, -1: 2, -2: ecKey(elliptic.P384())[0], -3: ecKey(elliptic.P384())[1]}), false},
		{"WA-8 ES256 without a curve", key(map[int]any{1: 2, 3: -7, -2: point[0], -3: point[1]}), false},
		{"WA-8 a point that is not on the curve", key(map[int]any{1: 2, 3: -7, -1: 1, -2: point[0], -3: point[0]}), false},
		{"WA-8 a coordinate that is too short", key(map[int]any{1: 2, 3: -7, -1: 1, -2: point[0][1:], -3: point[1]}), false},
		{"WA-8 an elliptic key labelled as RSA", key(map[int]any{1: 3, 3: -257, -1: 1, -2: point[0], -3: point[1]}), false},
		{"WA-8 an elliptic key for EdDSA", key(map[int]any{1: 2, 3: -8, -1: 1, -2: point[0], -3: point[1]}), false},
		{"WA-8 an Edwards key for ES256", key(map[int]any{1: 1, 3: -7, -1: 6, -2: make([]byte, 32)}), false},
		{"WA-8 an Edwards key that is too short", key(map[int]any{1: 1, 3: -8, -1: 6, -2: make([]byte, 31)}), false},
		{"WA-8 RSA for ES256", key(map[int]any{1: 3, 3: -7, -1: rsaKey(2048), -2: []byte{1, 0, 1}}), false},
		{"WA-8 RSA with SHA-1", key(map[int]any{1: 3, 3: -65535, -1: rsaKey(2048), -2: []byte{1, 0, 1}}), false},
		{"WA-8 RSA with 1024 bits", key(map[int]any{1: 3, 3: -257, -1: rsaKey(1024), -2: []byte{1, 0, 1}}), false},
		{"WA-8 RSA with 8192 bits", key(map[int]any{1: 3, 3: -257, -1: append([]byte{1}, make([]byte, 1023)...), -2: []byte{1, 0, 1}}), false},
		{"WA-8 RSA with the exponent 0", key(map[int]any{1: 3, 3: -257, -1: rsaKey(2048), -2: []byte{0}}), false},
		{"WA-8 a symmetric key", key(map[int]any{1: 4, 3: -7, -1: make([]byte, 32)}), false},
		{"WA-8 no key", key(map[int]any{}), false},
		{"WA-14 a member of the key twice", public(func(*passkeytest.Authenticator) []byte {
			return []byte{0xa2, 0x01, 0x02, 0x01, 0x02}
		}), false},

		{"WA-9 none with a statement", object("attStmt", map[string]any{"sig": []byte("x")}), false},
		{"WA-9 an unknown format", object("fmt", "homemade"), false},
		{"WA-9 no format", object("fmt", nil), false},
		{"WA-9 packed without a statement", object("fmt", "packed"), false},
		{"WA-9 fido-u2f without a statement", object("fmt", "fido-u2f"), false},
		{"WA-9 apple without a statement", object("fmt", "apple"), false},
		{"WA-9 tpm without a statement", object("fmt", "tpm"), false},
		{"WA-9 android-key without a statement", object("fmt", "android-key"), false},
		{"WA-9 android-safetynet without a statement", object("fmt", "android-safetynet"), false},
		{"WA-9 compound without a statement", object("fmt", "compound"), false},
		{"WA-9 packed, signed with its own key", selfAttested(nil), true},
		{"WA-9 packed, with a wrong signature", selfAttested(func(statement map[string]any) {
			statement["sig"].([]byte)[9] ^= 1
		}), false},
		{"WA-9 packed, with another algorithm", selfAttested(func(statement map[string]any) { statement["alg"] = -257 }), false},
		{"WA-9 packed, with an invalid certificate", selfAttested(func(statement map[string]any) {
			statement["x5c"] = []any{[]byte("certificate")}
		}), false},
		{"no authenticator data in the object", object("authData", nil), false},
		{"WA-14 bytes behind the object", answer(func(a map[string]any) {
			object, _ := base64.RawURLEncoding.DecodeString(response(a)["attestationObject"].(string))
			response(a)["attestationObject"] = b64(append(object, 0))
		}), false},
		{"an object that is no CBOR", answer(func(a map[string]any) { response(a)["attestationObject"] = b64([]byte("{}")) }), false},
		{"no object", answer(func(a map[string]any) { delete(response(a), "attestationObject") }), false},

		{"WA-10 the id of another credential", answer(func(a map[string]any) {
			a["id"], a["rawId"] = b64([]byte("another")), b64([]byte("another"))
		}), false},
		{"WA-10 an empty id", func(k *passkeytest.Authenticator) {
			k.AuthenticatorData = func(d []byte) []byte {
				binary.BigEndian.PutUint16(d[53:], 0)
				return slices.Delete(d, 55, 55+32)
			}
			k.Answer = func(a map[string]any) { a["id"], a["rawId"] = "", "" }
		}, false},
		{"WA-10 an id of 1023 bytes", longID(1023), true},
		{"WA-10 an id of 1024 bytes", longID(1024), false},
		{"an id that is longer than its data", data(func(d []byte) []byte {
			binary.BigEndian.PutUint16(d[53:], 60000)
			return d
		}), false},
	}...)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newSite(t)
			k := passkeytest.New()
			tt.do(k)
			b := s.browser()
			code := b.try(k, "email", "ada@example.com")
			who := b.signedInAs()
			if tt.fine {
				if code != "" || who != "ada@example.com" {
					t.Fatalf("error %q, signed in %q; log:\n%s", code, who, &s.log)
				}
				k.AuthenticatorData, k.Attestation = nil, nil
				if code := s.browser().try(k); code != "" && k.Answer == nil {
					t.Errorf("the credential cannot sign in: %q; log:\n%s", code, &s.log)
				}
				return
			}
			if code != "WebAuthnVerificationError" || who != "" {
				t.Errorf("error %q, signed in %q; log:\n%s", code, who, &s.log)
			}
			if len(s.events) > 0 {
				t.Errorf("events %q", s.events)
			}
		})
	}
}

func TestForgedAssertionsAreRejected(t *testing.T) {
	tests := append(slices.Clone(bothCeremonies), []misdeed{
		{"WA-2 an answer of the other ceremony", clientData("type", "webauthn.create"), false},

		{"WA-7 may be backed up, which it could not be", flags(passkeytest.UserPresent | passkeytest.UserVerified | passkeytest.BackupEligible), false},

		{"WA-11 the user handle of another user", answer(func(a map[string]any) { response(a)["userHandle"] = "someone" }), true},
		{"WA-11 no user handle", answer(func(a map[string]any) { delete(response(a), "userHandle") }), true},
		{"WA-11 the id of no credential", answer(func(a map[string]any) {
			a["id"], a["rawId"] = b64([]byte("unknown")), b64([]byte("unknown"))
		}), false},

		{"WA-12 a bit of the signature", answer(func(a map[string]any) { flip(response(a), "signature", -1) }), false},
		{"WA-12 a bit of the flags", answer(func(a map[string]any) { flip(response(a), "authenticatorData", 36) }), false},
		{"WA-12 a bit of the client data", answer(func(a map[string]any) {
			data, _ := base64.RawURLEncoding.DecodeString(response(a)["clientDataJSON"].(string))
			response(a)["clientDataJSON"] = b64(append(data, ' '))
		}), false},
		{"WA-12 no signature", answer(func(a map[string]any) { delete(response(a), "signature") }), false},
		{"WA-12 an empty signature", answer(func(a map[string]any) { response(a)["signature"] = "" }), false},
		{"WA-12 bytes behind the signature", answer(func(a map[string]any) {
			signature, _ := base64.RawURLEncoding.DecodeString(response(a)["signature"].(string))
			response(a)["signature"] = b64(append(signature, 0))
		}), false},
		{"WA-12 another key", func(k *passkeytest.Authenticator) {
			other, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
			if err != nil {
				panic(err)
			}
			k.Credentials[0].Key = other
		}, false},

		{"WA-13 the counter stays", func(k *passkeytest.Authenticator) { k.Step = 0; k.Credentials[0].Counter = 1 }, false},
		{"WA-13 the counter goes back", func(k *passkeytest.Authenticator) { k.Credentials[0].Counter = 0; k.Step = 0 }, false},
		{"WA-13 the counter grows by more than one", func(k *passkeytest.Authenticator) { k.Step = 1 << 20 }, true},
	}...)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newSite(t)
			k := passkeytest.New()
			s.browser().signIn(k, "email", "ada@example.com")
			s.browser().signIn(k) // the counter is 1 now
			s.events = nil

			tt.do(k)
			b := s.browser()
			code := b.try(k)
			who := b.signedInAs()
			switch {
			case tt.fine && (code != "" || who != "ada@example.com"):
				t.Errorf("error %q, signed in %q; log:\n%s", code, who, &s.log)
			case !tt.fine && (code != "WebAuthnVerificationError" || who != ""):
				t.Errorf("error %q, signed in %q; log:\n%s", code, who, &s.log)
			}
			if cloned := strings.HasPrefix(tt.name, "WA-13") && !tt.fine; cloned != (len(s.clones) == 1) {
				t.Errorf("%d clones were reported", len(s.clones))
			}
		})
	}
}

// WA-2: the byte order mark that may precede JSON is signed, and ignored by the
// parser.
func TestClientDataWithAByteOrderMark(t *testing.T) {
	s := newSite(t)
	k := passkeytest.New()
	s.browser().signIn(k, "email", "ada@example.com")
	b := s.browser()
	action, text := b.answering(k)
	var a map[string]any
	if err := json.Unmarshal(text, &a); err != nil {
		t.Fatal(err)
	}
	client, _ := base64.RawURLEncoding.DecodeString(response(a)["clientDataJSON"].(string))
	client = append([]byte("\ufeff"), client...)
	authenticator, _ := base64.RawURLEncoding.DecodeString(response(a)["authenticatorData"].(string))
	hash := sha256.Sum256(client)
	digest := sha256.Sum256(append(authenticator, hash[:]...))
	signature, err := k.Credentials[0].Key.Sign(rand.Reader, digest[:], crypto.SHA256)
	if err != nil {
		t.Fatal(err)
	}
	response(a)["clientDataJSON"], response(a)["signature"] = b64(client), b64(signature)
	text, _ = json.Marshal(a)
	if code := b.send(action, text); code != "" {
		t.Errorf("error %q; log:\n%s", code, &s.log)
	}
}

// selfAttested makes an authenticator attest its credentials with their own
// keys.
//
// https://www.w3.org/TR/webauthn-3/#sctn-packed-attestation
func selfAttested(spoil func(statement map[string]any)) func(*passkeytest.Authenticator) {
	return func(k *passkeytest.Authenticator) {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			panic(err)
		}
		k.AuthenticatorData = func(d []byte) []byte {
			public, err := passkeytest.COSEKey(key.Public())
			if err != nil {
				panic(err)
			}
			return append(d[:55+32], public...)
		}
		var client []byte
		k.ClientData = func(data map[string]any) { client, _ = json.Marshal(data) }
		k.Attestation = func(object map[string]any) {
			hash := sha256.Sum256(client)
			digest := sha256.Sum256(append(slices.Clone(object["authData"].([]byte)), hash[:]...))
			signature, err := ecdsa.SignASN1(rand.Reader, key, digest[:])
			if err != nil {
				panic(err)
			}
			statement := map[string]any{"alg": passkeytest.ES256, "sig": signature}
			if spoil != nil {
				spoil(statement)
			}
			object["fmt"], object["attStmt"] = "packed", statement
		}
		k.Answer = func(a map[string]any) {}
	}
}

// longID makes an authenticator give its credentials ids of n bytes.
func longID(n int) func(*passkeytest.Authenticator) {
	id := bytes.Repeat([]byte{7}, n)
	return func(k *passkeytest.Authenticator) {
		k.AuthenticatorData = func(d []byte) []byte {
			binary.BigEndian.PutUint16(d[53:], uint16(n))
			return slices.Replace(d, 55, 55+32, id...)
		}
		k.Answer = func(a map[string]any) { a["id"], a["rawId"] = b64(id), b64(id) }
	}
}

func encode(members map[int]any) []byte {
	mode, err := cbor.CTAP2EncOptions().EncMode()
	if err != nil {
		panic(err)
	}
	text, err := mode.Marshal(members)
	if err != nil {
		panic(err)
	}
	return text
}

// ecKey returns the coordinates of a new key.
func ecKey(curve elliptic.Curve) [2][]byte {
	key, err := ecdsa.GenerateKey(curve, rand.Reader)
	if err != nil {
		panic(err)
	}
	point, err := key.PublicKey.Bytes()
	if err != nil {
		panic(err)
	}
	half := (len(point) - 1) / 2
	return [2][]byte{point[1 : 1+half], point[1+half:]}
}

// rsaKey returns the modulus of a new key.
func rsaKey(bits int) []byte {
	if bits < 2048 {
		return append([]byte{0x80}, bytes.Repeat([]byte{1}, bits/8-1)...)
	}
	key, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		panic(err)
	}
	return key.N.Bytes()
}
