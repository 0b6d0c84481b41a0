package testsite

import (
	"context"
	"encoding/binary"
	"net"
	"net/netip"
)

// A cleaner is the part of a test that [Resolver] needs.
type cleaner interface {
	Helper()
	Context() context.Context
	Cleanup(func())
	Fatal(args ...any)
}

// Resolver resolves every name to what lookup returns for it, addresses of both kinds
// among each other. A lookup asks once for each kind.
func Resolver(t cleaner, lookup func(name string) []netip.Addr) *net.Resolver {
	t.Helper()
	conn, err := (&net.ListenConfig{}).ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	go func() {
		buf := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			_, _ = conn.WriteTo(answer(buf[:n], lookup), from)
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

// answer returns the answer to a question.
//
// https://www.rfc-editor.org/rfc/rfc1035#section-4
func answer(question []byte, lookup func(name string) []netip.Addr) []byte {
	const header, typeA, typeAAAA = 12, 1, 28
	name, end := "", header
	for question[end] != 0 {
		label := question[end+1 : end+1+int(question[end])]
		name, end = name+string(label)+".", end+1+len(label)
	}
	end += 5 // the root, the type and the class
	kind := binary.BigEndian.Uint16(question[end-4:])
	out := append([]byte{}, question[:end]...)
	out[2], out[3] = 0x81, 0x80 // an answer, without error
	clear(out[6:header])
	for _, ip := range lookup(name) {
		if (kind != typeA || !ip.Is4()) && (kind != typeAAAA || !ip.Is6()) {
			continue
		}
		out[7]++
		out = append(out, 0xc0, header, 0, byte(kind), 0, 1, 0, 0, 0, 60, 0, byte(ip.BitLen()/8)) //nolint:gosec // 4 or 16
		out = append(out, ip.AsSlice()...)
	}
	return out
}
