package seal_test

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha512"
	"crypto/subtle"
	"strings"
	"testing"
)

// benchSizes are session tokens of 0.5, 2 and 8 KB; a long URL of a picture
// makes the difference.
var benchSizes = []struct {
	name string
	pad  int
}{{"512B", 0}, {"2KB", 1104}, {"8KB", 5664}}

func benchClaims(pad int) []byte {
	return []byte(`{"name":"Ada Lovelace 1","email":"ada1@example.com","picture":"https://example.com/ada.png` +
		strings.Repeat("x", pad) + `","sub":"user-000001","iat":1795197406,"exp":4002717406,"jti":"6b6b2025-17dd-4e3a-bb54-854cd7ea90c3"}`)
}

// BenchmarkFloor is the cryptography that cannot be avoided: HMAC-SHA-512 and
// AES-256-CBC over bytes already decoded.
func BenchmarkFloor(b *testing.B) {
	key, _, _ := vectorKey(b, sessionSalt)
	for _, size := range benchSizes {
		parts := strings.Split(string(newKeys(b, sessionSalt, secret).AppendSeal(nil, benchClaims(size.pad))), ".")
		header := []byte(parts[0])
		iv, _ := b64.DecodeString(parts[2])
		text, _ := b64.DecodeString(parts[3])
		tag, _ := b64.DecodeString(parts[4])
		mac := hmac.New(sha512.New, key[:32])
		block, err := aes.NewCipher(key[32:])
		if err != nil {
			b.Fatal(err)
		}
		length := []byte{0, 0, 0, 0, 0, 0, byte(len(header) * 8 >> 8), byte(len(header) * 8)}
		work := make([]byte, len(text))
		var sum [64]byte
		b.Run(size.name, func(b *testing.B) {
			b.ReportAllocs()
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
}

func BenchmarkOpen(b *testing.B) {
	keys := newKeys(b, sessionSalt, secret)
	for _, size := range benchSizes {
		token := string(keys.AppendSeal(nil, benchClaims(size.pad)))
		var dst []byte
		b.Run(size.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var err error
				if dst, err = keys.Open(dst[:0], token); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkSeal(b *testing.B) {
	keys := newKeys(b, sessionSalt, secret)
	for _, size := range benchSizes {
		claims := benchClaims(size.pad)
		var dst []byte
		b.Run(size.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				dst = keys.AppendSeal(dst[:0], claims)
			}
		})
	}
}
