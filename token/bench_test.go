package token_test

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle/token"
)

// benchSizes are session tokens of 0.5, 2 and 8 KB; a long URL of a picture
// makes the difference.
var benchSizes = []struct {
	name string
	pad  int
}{{"512B", 0}, {"2KB", 1104}, {"8KB", 5664}}

// eachSize runs f with a token of each size.
func eachSize(b *testing.B, f func(b *testing.B, codec *token.Codec, sealed string)) {
	codec := newCodec(b, sessionCookie, secret)
	for _, size := range benchSizes {
		sealed := encode(b, codec, json.RawMessage(`{"name":"Ada Lovelace 1","email":"ada1@example.com",`+
			`"picture":"https://example.com/ada.png`+strings.Repeat("x", size.pad)+`","sub":"user-000001"}`), 30*24*time.Hour)
		b.Run(size.name, func(b *testing.B) {
			b.ReportAllocs()
			f(b, codec, sealed)
		})
	}
}

// BenchmarkFloor is what decoding is measured against: HMAC-SHA-512 and
// AES-256-CBC over bytes already taken out of base64url.
func BenchmarkFloor(b *testing.B) {
	key, err := hkdf.Key(sha256.New, []byte(secret), []byte(sessionCookie),
		"Auth.js Generated Encryption Key ("+sessionCookie+")", 64)
	if err != nil {
		b.Fatal(err)
	}
	block, err := aes.NewCipher(key[32:])
	if err != nil {
		b.Fatal(err)
	}
	mac := hmac.New(sha512.New, key[:32])
	eachSize(b, func(b *testing.B, _ *token.Codec, sealed string) {
		parts := strings.Split(sealed, ".")
		header := []byte(parts[0])
		var raw [3][]byte
		for i := range raw {
			raw[i], _ = base64.RawURLEncoding.DecodeString(parts[i+2])
		}
		iv, text, tag := raw[0], raw[1], raw[2]
		length := []byte{0, 0, 0, 0, 0, 0, byte(len(header) * 8 >> 8), byte(len(header) * 8)}
		work := make([]byte, len(text))
		var sum [64]byte
		for b.Loop() {
			mac.Reset()
			mac.Write(header)
			mac.Write(iv)
			mac.Write(text)
			mac.Write(length)
			if subtle.ConstantTimeCompare(mac.Sum(sum[:0])[:32], tag) != 1 {
				b.Fatal("the floor does not verify")
			}
			cipher.NewCBCDecrypter(block, iv).CryptBlocks(work, text)
		}
	})
}

// BenchmarkDecode goes from the token to name and expiry.
func BenchmarkDecode(b *testing.B) {
	eachSize(b, func(b *testing.B, codec *token.Codec, sealed string) {
		for b.Loop() {
			tok, err := codec.Decode(sealed)
			if err != nil || tok.Name() == "" || tok.Expires().IsZero() {
				b.Fatal(tok, err)
			}
		}
	})
}

// BenchmarkFromRequest goes from the Cookie header to name and expiry.
func BenchmarkFromRequest(b *testing.B) {
	eachSize(b, func(b *testing.B, codec *token.Codec, sealed string) {
		r := &http.Request{Header: http.Header{"Cookie": {"authjs.csrf-token=x%7Cy; " + cookieHeader(sealed)}}}
		for b.Loop() {
			tok, err := codec.FromRequest(r)
			if err != nil || tok.Name() == "" || tok.Expires().IsZero() {
				b.Fatal(tok, err)
			}
		}
	})
}

// BenchmarkDecodeClaims goes from the token to all claims in a map.
func BenchmarkDecodeClaims(b *testing.B) {
	eachSize(b, func(b *testing.B, codec *token.Codec, sealed string) {
		for b.Loop() {
			tok, err := codec.Decode(sealed)
			if err != nil {
				b.Fatal(err)
			}
			if claims, err := tok.Claims(); err != nil || claims["name"] == nil {
				b.Fatal(claims, err)
			}
		}
	})
}

func BenchmarkRenew(b *testing.B) {
	eachSize(b, func(b *testing.B, codec *token.Codec, sealed string) {
		tok, err := codec.Decode(sealed)
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			if _, err := codec.Renew(tok, time.Hour); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkEncode(b *testing.B) {
	codec := newCodec(b, sessionCookie, secret)
	claims := token.Claims{"name": "Ada Lovelace 1", "email": "ada1@example.com", "sub": "user-000001"}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := codec.Encode(claims, time.Hour); err != nil {
			b.Fatal(err)
		}
	}
}

// cookieHeader writes a token as the browser sends it back.
func cookieHeader(sealed string) string {
	const chunk = 3936
	if len(sealed) <= chunk {
		return sessionCookie + "=" + sealed
	}
	var pairs []string
	for i := 0; sealed != ""; i++ {
		n := min(chunk, len(sealed))
		pairs = append(pairs, sessionCookie+"."+strconv.Itoa(i)+"="+sealed[:n])
		sealed = sealed[n:]
	}
	return strings.Join(pairs, "; ")
}
