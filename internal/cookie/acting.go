package cookie

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
)

// ActingName returns the name of the cookie of an operator who acts as a user, without a prefix.
// session and path are the name and the path that a configuration gives to its session cookie,
// and tenant is its tenant; all three may be empty.
//
// Configurations of one host whose sessions are apart have different names. With one name, the
// page of one tenant would clear the cookie of another, and forms that were meant for a user would
// then change the account of the operator. The hash has no key: a new secret must not hide the
// cookie, since the request would then be one of the operator.
func ActingName(session, path, tenant string) string {
	const name = "pintle.acting"
	session, path = strings.TrimSpace(session), cmp.Or(path, "/")
	if session == "" && path == "/" && tenant == "" {
		return name
	}
	sum := sha256.Sum256([]byte(session + "\x00" + path + "\x00" + tenant))
	return name + "-" + hex.EncodeToString(sum[:8])
}

// SameSite returns the value of the attribute SameSite.
func SameSite(mode http.SameSite) string {
	switch mode {
	case http.SameSiteStrictMode:
		return "Strict"
	case http.SameSiteNoneMode:
		return "None"
	default:
		return "Lax"
	}
}
