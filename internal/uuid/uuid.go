// Package uuid makes the ids that Auth.js makes with crypto.randomUUID: UUIDs of
// version 4, whose 122 bits are random.
//
// https://www.rfc-editor.org/rfc/rfc9562#section-5.4
package uuid

import (
	"crypto/rand"
	"encoding/hex"
)

// size is how many characters a UUID has.
const size = 36

// New returns a random UUID in lower case.
func New() string {
	var buf [size]byte
	return string(Append(buf[:0]))
}

// Append appends a random UUID to dst.
func Append(dst []byte) []byte {
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails
	return appendOf(dst, id)
}

// Of returns a version 4 UUID made of a hash: six bits of id are replaced.
func Of(id [16]byte) string {
	var buf [size]byte
	return string(appendOf(buf[:0], id))
}

func appendOf(dst []byte, id [16]byte) []byte {
	id[6] = id[6]&0x0f | 4<<4 // version
	id[8] = id[8]&0x3f | 2<<6 // variant
	for i, part := range [...][]byte{id[:4], id[4:6], id[6:8], id[8:10], id[10:]} {
		if i > 0 {
			dst = append(dst, '-')
		}
		dst = hex.AppendEncode(dst, part)
	}
	return dst
}
