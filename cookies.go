package pintle

import (
	"net/http"
	"time"
)

// Cookies overrides names and attributes of the cookies, one by one.
type Cookies struct {
	SessionToken      Cookie
	CallbackURL       Cookie
	CSRFToken         Cookie
	PKCECodeVerifier  Cookie
	State             Cookie
	Nonce             Cookie
	WebAuthnChallenge Cookie

	// PendingSignIn is the cookie of a sign-in that [Callbacks.Hold] holds. Its
	// MaxAge is also how long the sign-in can be completed: ten minutes by default.
	PendingSignIn Cookie
}

// A Cookie overrides what a cookie is called and how it is set. Zero fields
// keep the default.
type Cookie struct {
	// Name is the whole name, with its prefix if it is to have one. It is the
	// salt of what the cookie holds sealed: servers that share a cookie must
	// agree on it.
	Name string

	// Domain widens the cookie to a domain and its subdomains, every one of
	// which can then read and set it.
	Domain string

	// Path narrows the cookie. The default is "/".
	Path string

	// SameSite is the attribute of that name. The default is
	// [http.SameSiteLaxMode].
	SameSite http.SameSite

	// MaxAge is the lifetime in the browser of a cookie that has no fixed
	// lifetime.
	MaxAge time.Duration

	// Secure determines when the cookie is marked as secure. Zero means as
	// [Config.SecureCookies] says. [SecureNever] exposes the cookie to the
	// network.
	Secure SecureCookies

	// DangerouslyAllowScripts leaves out the attribute HttpOnly, so that scripts
	// of the page can read the cookie.
	DangerouslyAllowScripts bool

	// Partitioned and Priority set the attributes of those names.
	Partitioned bool
	Priority    string
}
