package seal

import (
	"crypto/aes"
	"crypto/subtle"
	"errors"
	"slices"
	"strings"
)

// MaxToken is the longest token that is read, in bytes: far more than cookies
// can carry, and little enough to decrypt for an anonymous client.
const MaxToken = 1 << 20

// ErrInvalid is the only error of [Keys.Open]. It does not give the reason,
// because an attacker could learn from that.
var ErrInvalid = errors.New("seal: the token is not valid")

const (
	tagSize = 32

	ivText  = 22 // characters of 16 bytes in base64url
	tagText = 43 // characters of 32 bytes
)

// Open verifies and decrypts a token, and appends the plaintext to dst. Each
// token has one valid spelling: changing any byte makes it invalid.
func (k *Keys) Open(dst []byte, token string) ([]byte, error) {
	if len(token) > MaxToken {
		return nil, ErrInvalid
	}
	for _, key := range k.all {
		if rest, ok := strings.CutPrefix(token, key.prefix); ok {
			return key.openCBC(dst, key.header, rest)
		}
	}
	return k.openForeign(dst, token)
}

// openForeign opens a token whose header is not literally one of ours: another
// member order, no kid, or A256GCM.
func (k *Keys) openForeign(dst []byte, token string) ([]byte, error) {
	text, rest, _ := strings.Cut(token, ".")
	// The second part would be an encrypted key. With dir it is "the empty
	// octet sequence": https://www.rfc-editor.org/rfc/rfc7518#section-4.5
	rest, ok := strings.CutPrefix(rest, ".")
	if !ok {
		return nil, ErrInvalid
	}
	h, ok := parseHeader(text)
	if !ok {
		return nil, ErrInvalid
	}
	key := k.find(h)
	if key == nil {
		return nil, ErrInvalid
	}
	if h.enc == a256GCM {
		return key.openGCM(dst, []byte(text), rest)
	}
	return key.openCBC(dst, []byte(text), rest)
}

// find returns the key that a header names, or nil. A header without kid means
// the first secret only: trying them all would make each stray token cost as
// many decryptions as there are secrets.
func (k *Keys) find(h header) *key {
	if !h.hasKid {
		return k.all[0]
	}
	for _, key := range k.all {
		if h.enc == a256CBC && h.kid == key.kid || h.enc == a256GCM && h.kid == key.kidGCM {
			return key
		}
	}
	return nil
}

// openCBC opens "iv.ciphertext.tag". The lengths of the first and last part are
// fixed, so an extra dot lands inside a part, where it is not base64url.
//
// https://www.rfc-editor.org/rfc/rfc7518#section-5.2.2.2
func (k *key) openCBC(dst, header []byte, parts string) ([]byte, error) {
	n := len(parts) - tagText
	if n-1 <= ivText || parts[ivText] != '.' || parts[n-1] != '.' {
		return nil, ErrInvalid
	}
	var tag [tagSize]byte
	s := k.scratch()
	defer k.release(s)
	if !decodeInto(s.iv[:], parts[:ivText]) || !decodeInto(tag[:], parts[n:]) {
		return nil, ErrInvalid
	}
	out, ok := appendDecode(dst, parts[ivText+1:n-1])
	text := out[len(dst):]
	if !ok || len(text) == 0 || len(text)%aes.BlockSize != 0 {
		return nil, ErrInvalid
	}
	if subtle.ConstantTimeCompare(tag[:], s.tag(header, text)) != 1 {
		return nil, ErrInvalid
	}
	s.decrypter(k.block).CryptBlocks(text, text)
	pad, ok := padding(text)
	if !ok {
		clear(text)
		return nil, ErrInvalid
	}
	return out[:len(out)-pad], nil
}

// openGCM opens "iv.ciphertext.tag" as written before A256CBC-HS512 became the
// default.
//
// https://www.rfc-editor.org/rfc/rfc7518#section-5.3
func (k *key) openGCM(dst, header []byte, parts string) ([]byte, error) {
	ivPart, parts, _ := strings.Cut(parts, ".")
	textPart, tagPart, _ := strings.Cut(parts, ".")
	var iv [12]byte
	var tag [16]byte
	if !decodeInto(iv[:], ivPart) || !decodeInto(tag[:], tagPart) {
		return nil, ErrInvalid
	}
	out, ok := appendDecode(dst, textPart)
	if !ok {
		return nil, ErrInvalid
	}
	text := append(out[len(dst):], tag[:]...)
	plain, err := k.blockGCM.Open(text[:0], iv[:], text, header)
	if err != nil {
		return nil, ErrInvalid
	}
	return append(dst, plain...), nil
}

// padding returns the length of the PKCS #7 padding at the end of text, which
// must not be empty. Only a holder of the key gets this far, because the tag is
// verified first. The time it takes does not depend on the bytes all the same.
func padding(text []byte) (n int, ok bool) {
	last := text[len(text)-aes.BlockSize:]
	pad := last[aes.BlockSize-1]
	n = int(pad)
	good := subtle.ConstantTimeLessOrEq(1, n) & subtle.ConstantTimeLessOrEq(n, aes.BlockSize)
	for i, b := range last {
		inside := subtle.ConstantTimeLessOrEq(aes.BlockSize-i, n)
		good &= subtle.ConstantTimeSelect(inside, subtle.ConstantTimeByteEq(b, pad), 1)
	}
	return n, good == 1
}

// appendDecode appends the bytes of the base64url text. It is stricter than the
// decoder, which skips line breaks: then the result is shorter than it should
// be.
func appendDecode(dst []byte, text string) ([]byte, bool) {
	size := b64.DecodedLen(len(text))
	out := slices.Grow(dst, size)[:len(dst)+size]
	n, err := b64.Decode(out[len(dst):], []byte(text))
	return out, err == nil && n == size
}

// decodeInto fills dst with the bytes of the base64url text. It reports whether
// they fit exactly.
func decodeInto(dst []byte, text string) bool {
	if len(text) != b64.EncodedLen(len(dst)) {
		return false
	}
	n, err := b64.Decode(dst, []byte(text))
	return err == nil && n == len(dst)
}
