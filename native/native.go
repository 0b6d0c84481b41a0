// Package native describes applications on phones and desktops that sign users in with
// the browser of the system, and get a session of their own for it: see
// pintle.Config.Native. (RFC 8252)
package native

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// An Application is a native application of this site. It is a public client: it has no
// secret, and shows by PKCE that it is the one that began a sign-in.
type Application struct {
	// ID is the client_id. Name is shown to the user who is asked, and in the list of the
	// user's devices.
	ID, Name string

	// RedirectURLs are the addresses at which the application receives codes. Each is of
	// one of these forms, and a request has to have it byte for byte:
	//
	//   - https://app.example.com/signed-in: an address that the operating system has
	//     verified to belong to the application (a claimed address).
	//   - http://127.0.0.1/signed-in or http://[::1]/signed-in: the application listens
	//     on this machine. A request may add any port. The name localhost can be resolved
	//     elsewhere, and is refused.
	//   - com.example.app:/signed-in, with DangerouslyAllowPrivateScheme.
	//
	// None has a user name, a query or a fragment.
	RedirectURLs []string

	// FirstParty leaves out the page that asks the user, where the code goes to an https
	// address: another application cannot receive it there. Set it for applications of
	// the operator of the site only.
	FirstParty bool

	// DangerouslyAllowPrivateScheme permits addresses with a scheme of the application's,
	// which has a dot. Any application of the device can claim the same scheme, and then
	// receives codes. It cannot exchange them, but it can begin a sign-in in the name of
	// this application.
	DangerouslyAllowPrivateScheme bool
}

// MaxRedirectURL is the length of the longest address for a redirect, in bytes.
const MaxRedirectURL = 512

// The loopback addresses that a request may add a port to.
var loopbacks = []string{"http://127.0.0.1", "http://[::1]"}

// Check returns an error for an application that cannot work, or should not.
func (a Application) Check() error {
	switch {
	case a.ID == "" || len(a.ID) > 64 || strings.Trim(a.ID, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~") != "":
		return fmt.Errorf("native: the ID %.70q: use 1 to 64 letters, digits and - . _ ~", a.ID)
	case a.Name == "" || len(a.Name) > 128:
		return fmt.Errorf("native: application %s has no Name of 1 to 128 bytes, by which users recognise it", a.ID)
	case len(a.RedirectURLs) == 0:
		return fmt.Errorf("native: application %s has no RedirectURLs", a.ID)
	}
	for _, address := range a.RedirectURLs {
		if err := a.checkURL(address); err != nil {
			return fmt.Errorf("native: application %s: RedirectURLs has %.100q: %w", a.ID, address, err)
		}
	}
	return nil
}

func (a Application) checkURL(address string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil || len(address) > MaxRedirectURL || strings.ContainsFunc(address, unprintable):
		return errors.New("it is no URL of at most 512 bytes")
	case u.User != nil || strings.ContainsAny(address, "@?#"):
		return errors.New("it has a user name, a query or a fragment")
	case u.Scheme == "https":
		if u.Host == "" {
			return errors.New("it has no host")
		}
	case u.Scheme == "http":
		if _, path, _ := cutLoopback(address); !strings.HasPrefix(path, "/") {
			return errors.New("http is for http://127.0.0.1/path and http://[::1]/path, without a port")
		}
	case !strings.Contains(u.Scheme, "."):
		// https://www.rfc-editor.org/rfc/rfc8252#section-7.1
		return errors.New("the scheme has no dot")
	case !a.DangerouslyAllowPrivateScheme:
		return errors.New("any application can claim the scheme: use an https address, or set DangerouslyAllowPrivateScheme")
	}
	return nil
}

// unprintable reports what no address for a redirect has, and what browsers read in
// another way than net/url.
func unprintable(r rune) bool {
	return r <= ' ' || r >= 0x7f || strings.ContainsRune("\\\"'<>`{}|^", r)
}

func cutLoopback(address string) (base, rest string, found bool) {
	for _, base := range loopbacks {
		if rest, found := strings.CutPrefix(address, base); found {
			return base, rest, true
		}
	}
	return "", "", false
}

// Allows reports whether a code may be sent to an address. The texts are compared, since
// browsers do not read an address as net/url does.
func (a Application) Allows(address string) bool {
	if address == "" || len(address) > MaxRedirectURL {
		return false
	}
	for _, registered := range a.RedirectURLs {
		if address == registered {
			return true
		}
		base, path, loopback := cutLoopback(registered)
		if !loopback {
			continue
		}
		// https://www.rfc-editor.org/rfc/rfc8252#section-7.3
		port, isBase := strings.CutPrefix(address, base+":")
		port, isPath := strings.CutSuffix(port, path)
		if isBase && isPath && isPort(port) {
			return true
		}
	}
	return false
}

func isPort(s string) bool { return len(s) >= 1 && len(s) <= 5 && strings.Trim(s, "0123456789") == "" }

// Claims reports whether the operating system has verified that an address of the
// application belongs to it.
func Claims(address string) bool { return strings.HasPrefix(address, "https://") }
