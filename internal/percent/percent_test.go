package percent_test

import (
	"encoding/hex"
	"testing"

	"github.com/pintleauth/pintle/internal/percent"
)

func TestEveryPairOfBytes(t *testing.T) {
	for high := range 256 {
		for low := range 256 {
			want, err := hex.DecodeString(string([]byte{byte(high), byte(low)}))
			got, ok := percent.Byte(byte(high), byte(low))
			if ok != (err == nil) || ok && got != want[0] {
				t.Fatalf("Byte(%q, %q) = %#x, %t, want %x, %v", byte(high), byte(low), got, ok, want, err)
			}
		}
	}
}
