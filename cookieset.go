package pintle

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/pintleauth/pintle/internal/cookie"
	"github.com/pintleauth/pintle/internal/seal"
	"github.com/pintleauth/pintle/internal/sealed"
	"github.com/pintleauth/pintle/token"
)

// checkMaxAge is how long a person has to come back from a provider.
const checkMaxAge = 15 * time.Minute

// A cookieSet is the cookies of a site, with secure names or plain ones. The
// names are also the salts under which their contents are sealed, so that a
// value cannot be moved from one cookie to another.
type cookieSet struct {
	session, callbackURL, csrf    namedCookie
	pkce, state, nonce, challenge namedCookie
	addressProof, pending         namedCookie

	// The routes below signout alone receive these; see [signOutHint], [leaving].
	signOutHint, leaving namedCookie

	// lastProvider names the provider that was used last in this browser, and typed has
	// what was typed into its form: see [exchange.rememberProvider], [typed].
	lastProvider, typed namedCookie

	// acting names the operator who acts as a user. [Callbacks].Act knows what it holds.
	acting namedCookie

	// salt is what session tokens are sealed under: the name of their cookie and,
	// where there is one, the tenant.
	salt                                      string
	tokens                                    *token.Codec
	pkceBox, stateBox, nonceBox, challengeBox *sealed.Box
	addressProofBox, pendingBox               *sealed.Box
	signOutHintBox, leavingBox                *sealed.Box
	typedBox                                  *sealed.Box

	// secure reports that cookies of the site have the attribute Secure.
	secure bool

	// fault describes the cookies of the set that a browser would reject.
	fault *Error
}

// A namedCookie is a cookie's name and attributes.
type namedCookie struct {
	name  string
	attrs cookie.Attributes
}

func (c namedCookie) line(value string) string { return cookie.Line(c.name, value, c.attrs) }

func (c namedCookie) clear() string { return cookie.ClearLine(c.name, c.attrs) }

func (c namedCookie) lasting(d time.Duration) cookie.Attributes {
	attrs := c.attrs
	attrs.Expires = time.Now().Add(d)
	return attrs
}

func (s *settings) resolveCookies() *Error {
	secureModes := [2]bool{false, true}
	switch s.SecureCookies {
	case SecureAlways:
		secureModes = [2]bool{true, true}
	case SecureNever:
		secureModes = [2]bool{false, false}
	}
	for i, slot := range []**cookieSet{&s.plain, &s.secure} {
		set, err := s.newCookieSet(secureModes[i])
		if err != nil {
			set.fault = fail(CodeConfiguration, err)
		}
		*slot = set
	}
	if s.plain.fault != nil && s.secure.fault == nil {
		s.plain.fault.Err = fmt.Errorf("%w: %s; open the site by https, set Config.URL (AUTH_URL) to its https URL "+
			"where a proxy ends the TLS connection, or leave the name as it is in development", s.plain.fault.Err,
			s.plainBecause())
	}
	// While the scheme of the site is not known, a request shows it, and a
	// fault in one of the sets is reported then.
	switch known := strings.ToLower(s.URL); {
	case strings.HasPrefix(known, "https:"):
		return s.secure.fault
	case strings.HasPrefix(known, "http:"):
		return s.plain.fault
	case s.plain.fault != nil:
		return s.secure.fault
	}
	return nil
}

// plainBecause returns the reason for the cookies of a site without TLS.
func (s *settings) plainBecause() string {
	if s.URL != "" {
		return "Config.URL (AUTH_URL) is http"
	}
	return "this request came by http"
}

func (s *settings) newCookieSet(secure bool) (*cookieSet, error) {
	set := &cookieSet{secure: secure}
	taken := map[string]bool{}
	prefix, hostPrefix := "", ""
	if secure {
		prefix, hostPrefix = "__Secure-", "__Host-"
	}
	for _, c := range []struct {
		cookie   *namedCookie
		name     string
		override Cookie
		maxAge   time.Duration
	}{
		{&set.session, prefix + "authjs.session-token", s.Cookies.SessionToken, 0},
		{&set.callbackURL, prefix + "authjs.callback-url", s.Cookies.CallbackURL, 0},
		{&set.csrf, hostPrefix + "authjs.csrf-token", s.Cookies.CSRFToken, 0},
		{&set.pkce, prefix + "authjs.pkce.code_verifier", s.Cookies.PKCECodeVerifier, checkMaxAge},
		{&set.state, prefix + "authjs.state", s.Cookies.State, checkMaxAge},
		{&set.nonce, prefix + "authjs.nonce", s.Cookies.Nonce, checkMaxAge},
		{&set.challenge, prefix + "authjs.challenge", s.Cookies.WebAuthnChallenge, checkMaxAge},
		// Other hosts of the domain cannot plant it, so their proofs cannot
		// confirm an address for the user who signs in here.
		{&set.addressProof, hostPrefix + "authjs.address-proof", Cookie{}, checkMaxAge},
		{&set.pending, hostPrefix + "authjs.pending-sign-in", s.Cookies.PendingSignIn, pendingMaxAge},
		{&set.signOutHint, prefix + "pintle.hint", Cookie{}, browserMaxAge},
		{&set.leaving, prefix + "pintle.signout", Cookie{}, leavingMaxAge},
		{&set.lastProvider, hostPrefix + "pintle.last-provider", Cookie{}, lastProviderMaxAge},
		{&set.typed, hostPrefix + "pintle.typed", Cookie{}, typedMaxAge},
		{&set.acting, hostPrefix + s.actingName(), s.actingLikeSession(), 0},
	} {
		*c.cookie = c.override.over(c.name, secure, c.maxAge)
		if err := cookie.Check(c.cookie.name, c.cookie.attrs); err != nil {
			return set, fmt.Errorf("Config.Cookies: cookie %q: %w", c.cookie.name, err)
		}
		// The name is the salt: with one name, what is sealed for one cookie would
		// pass for the content of the other.
		if taken[c.cookie.name] {
			return set, fmt.Errorf("Config.Cookies: two cookies have the name %q: give each its own", c.cookie.name)
		}
		taken[c.cookie.name] = true
	}
	if len(s.jwtSecrets) == 0 {
		return set, nil // resolveSecrets reports it
	}
	var err error
	set.salt = seal.Salt(set.session.name, s.Tenant)
	if set.tokens, err = token.NewTenant(s.Tenant, set.session.name, s.jwtSecrets...); err != nil {
		return set, err
	}
	for box, name := range map[**sealed.Box]string{
		&set.pkceBox: set.pkce.name, &set.stateBox: set.state.name,
		&set.nonceBox: set.nonce.name, &set.challengeBox: set.challenge.name,
		&set.addressProofBox: set.addressProof.name,
	} {
		if *box, err = sealed.NewBox(s.jwtSecrets, seal.Salt(name, s.Tenant), checkMaxAge); err != nil {
			return set, err
		}
	}
	for _, kept := range []struct {
		box    **sealed.Box
		name   string
		maxAge time.Duration
	}{
		{&set.pendingBox, set.pending.name, set.pendingAge()},
		{&set.signOutHintBox, set.signOutHint.name, browserMaxAge},
		{&set.leavingBox, set.leaving.name, leavingMaxAge},
		{&set.typedBox, set.typed.name, typedMaxAge},
	} {
		if *kept.box, err = sealed.NewBox(s.jwtSecrets, seal.Salt(kept.name, s.Tenant), kept.maxAge); err != nil {
			return set, err
		}
	}
	return set, nil
}

// actingName returns the name of the cookie of an operator who acts as a user, without its prefix.
func (s *settings) actingName() string {
	return cookie.ActingName(s.Cookies.SessionToken.Name, s.Cookies.SessionToken.Path, s.Tenant)
}

// actingLikeSession returns what the cookie of an operator who acts as a user has of the session
// cookie, so that requests from other sites carry both or none. With the session alone, a request
// that is meant for the user would be one of the operator.
func (s *settings) actingLikeSession() Cookie {
	like := Cookie{SameSite: s.Cookies.SessionToken.SameSite, Partitioned: s.Cookies.SessionToken.Partitioned}
	if s.Cookies.SessionToken.Secure == SecureAlways {
		like.Secure = SecureAlways
	}
	return like
}

// over lays the override over the defaults of a cookie.
func (o Cookie) over(name string, secure bool, maxAge time.Duration) namedCookie {
	attrs := cookie.Attributes{
		Path:        cmp.Or(o.Path, "/"),
		Domain:      o.Domain,
		HTTPOnly:    !o.DangerouslyAllowScripts,
		Secure:      secure && o.Secure != SecureNever || o.Secure == SecureAlways,
		SameSite:    cookie.SameSite(o.SameSite),
		Partitioned: o.Partitioned,
		Priority:    o.Priority,
	}
	if o.MaxAge > 0 {
		maxAge = o.MaxAge
	}
	if maxAge > 0 {
		attrs.HasMaxAge, attrs.MaxAge = true, int(maxAge/time.Second)
	}
	if o.Name != "" {
		name = o.Name
	}
	return namedCookie{name: strings.TrimSpace(name), attrs: attrs}
}

// clearSession returns the lines that make a browser forget its session, whole
// and in parts, orphaned parts included.
func (c *cookieSet) clearSession(h http.Header) []string {
	received := cookie.Received(h, c.session.name)
	lines := make([]string, 0, len(received))
	for _, name := range received {
		lines = append(lines, cookie.ClearLine(name, c.session.attrs))
	}
	return lines
}

// clearSessionParts returns the lines that clear the parts of a token that a
// database session has taken the place of.
func (c *cookieSet) clearSessionParts(h http.Header) []string {
	var lines []string
	for _, name := range cookie.Received(h, c.session.name) {
		if name != c.session.name {
			lines = append(lines, cookie.ClearLine(name, c.session.attrs))
		}
	}
	return lines
}

// answered returns the header of a request with the session cookies that the browser
// has after a response, and whether the response sets or clears any. Server code that
// has begun another session, or ended the one of the request, must not go on with the
// cookies that came: they would sign the user of before in again.
func (c *cookieSet) answered(request, response http.Header) (h http.Header, answered bool) {
	set := map[string]string{}
	for _, line := range response["Set-Cookie"] {
		pair, _, _ := strings.Cut(line, ";")
		name, value, _ := strings.Cut(pair, "=")
		if len(cookie.Received(http.Header{"Cookie": {name + "=x"}}, c.session.name)) > 0 {
			set[name] = value
		}
	}
	if len(set) == 0 {
		return request, false
	}
	var pairs []string
	for _, line := range request["Cookie"] {
		for pair := range strings.SplitSeq(line, ";") {
			name, _, _ := strings.Cut(strings.TrimSpace(pair), "=")
			if _, replaced := set[name]; !replaced {
				pairs = append(pairs, strings.TrimSpace(pair))
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(set)) {
		pairs = append(pairs, name+"="+set[name]) // an empty one counts as none
	}
	h = request.Clone()
	h["Cookie"] = []string{strings.Join(pairs, "; ")}
	return h, true
}

// actingHeld returns the value of the cookie of an operator who acts as a user, or "".
func (c *cookieSet) actingHeld(request http.Header) string {
	value, _ := cookie.Get(request, c.acting.name)
	return value
}

// actingAfter is actingHeld for the browser of a request after a response with Set-Cookie lines.
func (c *cookieSet) actingAfter(request http.Header, lines []string) string {
	for _, line := range slices.Backward(lines) {
		pair, _, _ := strings.Cut(line, ";")
		if value, set := cookie.Get(http.Header{"Cookie": {pair}}, c.acting.name); set {
			return value
		}
	}
	return c.actingHeld(request)
}

// pendingAge is how long a sign-in is held.
func (c *cookieSet) pendingAge() time.Duration {
	return time.Duration(c.pending.attrs.MaxAge) * time.Second
}

// clearPending returns the lines that remove the cookie, whole and in parts.
func (c *cookieSet) clearPending(h http.Header) []string {
	return cookie.WriteChunked(c.pending.name, "", cookie.Received(h, c.pending.name), c.pending.attrs)
}

// leavingMaxAge is how long a browser may take to come back from the provider at which
// it ends its session.
const leavingMaxAge = 15 * time.Minute

// pendingMaxAge is how long a sign-in is held, unless the host says otherwise.
const pendingMaxAge = 10 * time.Minute

// lastProviderMaxAge is how long a browser knows which provider was used last.
const lastProviderMaxAge = 365 * 24 * time.Hour

// typedMaxAge is how long a browser keeps what was typed into a form.
const typedMaxAge = 15 * time.Minute

// isConflict reports whether a session was not read because the request carries
// several of different users.
func isConflict(err error) bool { return errors.Is(err, cookie.ErrConflict) }
