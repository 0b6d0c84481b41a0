// Package seal turns bytes into Auth.js tokens and back: JWE in compact form,
// key management dir, content encryption A256CBC-HS512, keys derived from a
// secret and a salt. It reads A256GCM too, which earlier versions wrote.
//
// A token is opened on every request of a signed-in user. All values that depend
// only on the secret are therefore computed once, in [New], and a token whose
// header is the one we write is recognised without parsing it.
//
//	https://www.rfc-editor.org/rfc/rfc7516
//	https://www.rfc-editor.org/rfc/rfc7518#section-5.2
package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"sync"
)

// b64 rejects non-zero trailing bits, so that each value has one spelling.
var b64 = base64.RawURLEncoding.Strict()

// Keys seals with one secret and opens with several. Make it with [New]. Its
// methods may be called concurrently.
type Keys struct {
	all []*key // newest first, never empty
}

// key is everything that follows from one secret and one salt.
type key struct {
	header    []byte // the encoded protected header of a token we seal
	prefix    string // header and the empty second part: "header.."
	kid       string // RFC 7638 thumbprint of the 64-byte key, by SHA-512
	kidGCM    string // the same of the 32-byte key, by SHA-256
	macKey    []byte
	block     cipher.Block
	blockGCM  cipher.AEAD
	scratches sync.Pool // of *scratch
}

// New derives a key from each secret; salt keeps tokens of different purposes
// apart. The first secret seals, all of them open, so a new secret is put in
// front and the old one is dropped when its last token has expired.
//
// The salt of a session token is the name of its cookie.
func New(secrets []string, salt string) (*Keys, error) {
	if len(secrets) == 0 {
		return nil, errors.New("seal: there is no secret: give at least one")
	}
	if salt == "" {
		return nil, errors.New("seal: the salt is empty: it must name the purpose of the tokens")
	}
	keys := &Keys{all: make([]*key, len(secrets))}
	for i, secret := range secrets {
		if secret == "" {
			return nil, fmt.Errorf("seal: secret %d of %d is empty", i+1, len(secrets))
		}
		k, err := derive(secret, salt)
		if err != nil {
			return nil, fmt.Errorf("seal: derive key %d of %d: %w", i+1, len(secrets), err)
		}
		keys.all[i] = k
	}
	return keys, nil
}

// Salt returns the salt of a cookie's tokens, which is its name. If tenants may
// share a secret, the name of the tenant follows, so that a token of one is not
// valid for another. The name of a cookie has no space, so no two pairs have the
// same salt.
func Salt(cookie, tenant string) string {
	if tenant == "" {
		return cookie
	}
	return cookie + " " + tenant
}

// derive computes the keys as Auth.js does: the UTF-8 of the secret is the
// input key, never its hex or base64 decoding, and the A256GCM key is the
// first half of the A256CBC-HS512 key.
func derive(secret, salt string) (*key, error) {
	info := "Auth.js Generated Encryption Key (" + salt + ")"
	cek, err := hkdf.Key(sha256.New, []byte(secret), []byte(salt), info, 64)
	if err != nil {
		return nil, err
	}

	// "The initial key is split": MAC key first, then the encryption key.
	// https://www.rfc-editor.org/rfc/rfc7518#section-5.2.2.1
	block, err := aes.NewCipher(cek[32:])
	if err != nil {
		return nil, err
	}
	half, err := aes.NewCipher(cek[:32])
	if err != nil {
		return nil, err
	}
	gcm, err := cipher.NewGCM(half)
	if err != nil {
		return nil, err
	}

	long := sha512.Sum512(jwk(cek))
	short := sha256.Sum256(jwk(cek[:32]))
	k := &key{
		kid:      b64.EncodeToString(long[:]),
		kidGCM:   b64.EncodeToString(short[:]),
		macKey:   cek[:32],
		block:    block,
		blockGCM: gcm,
	}
	k.header = b64.AppendEncode(nil, []byte(`{"alg":"dir","enc":"A256CBC-HS512","kid":"`+k.kid+`"}`))
	k.prefix = string(k.header) + ".."
	k.scratches.New = func() any { return &scratch{mac: hmac.New(sha512.New, k.macKey)} }
	return k, nil
}

// jwk is the text from which a symmetric key's thumbprint is computed.
//
// https://www.rfc-editor.org/rfc/rfc7638#section-3.2
func jwk(cek []byte) []byte {
	return []byte(`{"k":"` + b64.EncodeToString(cek) + `","kty":"oct"}`)
}

// scratch holds the buffers of one operation, which the next may use again. Its
// arrays are here because values passed through an interface move to the heap.
type scratch struct {
	mac  hash.Hash
	enc  cipher.BlockMode // made by the first seal
	dec  cipher.BlockMode // made by the first open
	iv   [aes.BlockSize]byte
	bits [8]byte
	sum  [sha512.Size]byte
	text []byte // ciphertext on its way out; never plaintext
}

// keepText bounds the buffer that an idle scratch holds on to.
const keepText = 64 << 10

func (k *key) scratch() *scratch { return k.scratches.Get().(*scratch) }

func (k *key) release(s *scratch) {
	if cap(s.text) > keepText {
		s.text = nil
	}
	k.scratches.Put(s)
}

// tag returns the authentication tag: the first half of HMAC-SHA-512 over
// header, IV, ciphertext and the header's length in bits. It is valid until the
// scratch is released.
//
// https://www.rfc-editor.org/rfc/rfc7518#section-5.2.2.1
func (s *scratch) tag(header, ciphertext []byte) []byte {
	binary.BigEndian.PutUint64(s.bits[:], uint64(len(header))*8)
	s.mac.Reset()
	s.mac.Write(header)
	s.mac.Write(s.iv[:])
	s.mac.Write(ciphertext)
	s.mac.Write(s.bits[:])
	return s.mac.Sum(s.sum[:0])[:tagSize]
}

// encrypter returns CBC encryption that starts from s.iv.
func (s *scratch) encrypter(block cipher.Block) cipher.BlockMode {
	s.enc = restart(s.enc, block, s.iv[:], cipher.NewCBCEncrypter)
	return s.enc
}

// decrypter returns CBC decryption that starts from s.iv.
func (s *scratch) decrypter(block cipher.Block) cipher.BlockMode {
	s.dec = restart(s.dec, block, s.iv[:], cipher.NewCBCDecrypter)
	return s.dec
}

// restart sets a new IV on a used mode, as crypto/tls does. It makes another mode
// if there is no used one or its IV cannot be set. Reuse saves the copy of the key
// schedule that each mode carries, half a kilobyte.
func restart(mode cipher.BlockMode, block cipher.Block, iv []byte, fresh func(cipher.Block, []byte) cipher.BlockMode) cipher.BlockMode {
	if m, ok := mode.(interface{ SetIV(iv []byte) }); ok {
		m.SetIV(iv)
		return mode
	}
	return fresh(block, iv)
}
