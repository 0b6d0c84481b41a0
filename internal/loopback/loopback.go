// Package loopback decides which hosts are this machine. What is sent there crosses
// no network, so it needs no TLS; and a link to such a host leads to the machine of
// its reader, so that an attacker gains nothing by a forged Host header.
package loopback

import (
	"net/netip"
	"strings"
)

// Host reports whether a host name or IP address, without a port and without
// brackets, is this machine: localhost and every name below it, in capitals or not,
// and the addresses in 127.0.0.0/8 and ::1.
//
// The names are reserved: resolvers should return a loopback address for them and not
// query the DNS. They need not, so what the configuration sends to such a name without
// TLS depends on the resolver of this machine. A final dot, short forms of addresses
// such as 127.1, and addresses with a zone are rejected: programs disagree about their
// meaning.
//
// https://www.rfc-editor.org/rfc/rfc6761#section-6.3
func Host(name string) bool {
	lower := strings.ToLower(name)
	if lower == "localhost" || strings.HasSuffix(lower, ".localhost") {
		return true
	}
	addr, err := netip.ParseAddr(name)
	return err == nil && addr.IsLoopback() && addr.Zone() == ""
}
