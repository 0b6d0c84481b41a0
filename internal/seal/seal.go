package seal

import (
	"crypto/aes"
	"crypto/rand"
	"slices"
)

// AppendSeal seals plaintext with the first secret and appends the token to
// dst. It makes tokens longer than [MaxToken], too, but Open rejects them.
func (k *Keys) AppendSeal(dst, plaintext []byte) []byte {
	first := k.all[0]
	s := first.scratch()
	defer first.release(s)

	rand.Read(s.iv[:])
	text := append(s.text[:0], plaintext...)
	pad := aes.BlockSize - len(plaintext)%aes.BlockSize
	for range pad {
		text = append(text, byte(pad))
	}
	s.text = text
	s.encrypter(first.block).CryptBlocks(text, text)

	dst = slices.Grow(dst, len(first.prefix)+b64.EncodedLen(len(s.iv))+1+b64.EncodedLen(len(text))+1+b64.EncodedLen(tagSize))
	dst = append(dst, first.prefix...)
	dst = b64.AppendEncode(dst, s.iv[:])
	dst = append(dst, '.')
	dst = b64.AppendEncode(dst, text)
	dst = append(dst, '.')
	return b64.AppendEncode(dst, s.tag(first.header, text))
}
