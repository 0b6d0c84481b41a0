package apiclient

import (
	"net/netip"
	"strings"
)

// isLoopback reports whether a host name or IP address is this machine. It is the
// rule of internal/loopback of the core, which this module does not import because
// it is released on its own.
//
// https://www.rfc-editor.org/rfc/rfc6761#section-6.3
func isLoopback(name string) bool {
	lower := strings.ToLower(name)
	if lower == "localhost" || strings.HasSuffix(lower, ".localhost") {
		return true
	}
	addr, err := netip.ParseAddr(name)
	return err == nil && addr.IsLoopback() && addr.Zone() == ""
}
