package handshake

import (
	"strings"
	"testing"
	"time"
)

// SH-49 and SH-50: rejecting text that cannot be a token allocates no memory.
func TestHostileTokensAreRefusedWithoutAllocating(t *testing.T) {
	for _, raw := range []string{strings.Repeat(".", 1e6), strings.Repeat("x", 1e6), "", "a.b", "{}..", "a.b.c\n"} {
		if n := testing.AllocsPerRun(10, func() {
			if isCompact(raw) {
				t.Fatal("accepted")
			}
		}); n != 0 {
			t.Errorf("%d bytes of %.5q cost %v allocations", len(raw), raw, n)
		}
	}
}

func TestNoncesAreBounded(t *testing.T) {
	var n nonces
	now := time.Unix(1795113600, 0)
	if !n.first("a", now) || n.first("a", now) {
		t.Error("a nonce is good once")
	}
	if n.first("a", now.Add(2*openIDNonceAge)) {
		t.Error("a nonce was forgotten while its assertion is still young enough")
	}
	if !n.first("a", now.Add(2*openIDNonceAge+time.Second)) {
		t.Error("a nonce was kept longer than its assertion is good")
	}
	n = nonces{}
	for i := range 3 * maxNonces {
		n.first(string(rune(i))+"x", now)
	}
	if len(n.seen) > maxNonces || len(n.order) > maxNonces {
		t.Errorf("%d nonces are kept, want at most %d", len(n.order), maxNonces)
	}
}
