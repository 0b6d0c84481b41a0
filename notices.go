package pintle

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pintleauth/pintle/internal/clientaddr"
	"github.com/pintleauth/pintle/internal/clip"
	"github.com/pintleauth/pintle/internal/origin"
)

// A notice is a configuration mistake of the operator that becomes visible in
// requests. Each is logged once per configuration: requests are many, and
// clients can cause them.
type notice int

const (
	noticeUntrustedHost notice = iota
	noticeAddress
	noticeUnlistedProxy
	noticeGuardedSignIn
	noticeMount
	noticeLongToken
	noticeForeignSecret
	noticeForgottenSession
	noticeNoClaims
	noticeGuardedRoute
	noticeMisdirectedForm
	noticeNoAccountID
	noticeCookies
	noticeUnknownProvider
	noticeCount
)

// notices records which notices have been logged.
type notices [noticeCount]atomic.Bool

// first reports whether a notice has not been logged yet, and records that it
// is logged now.
func (n *notices) first(which notice) bool { return !n[which].Swap(true) }

// maxOnceEach bounds the names of a onceEach. Those that a callback returns may be
// taken from requests.
const maxOnceEach = 16

// onceEach reports for each name once that it is new, up to a bound.
type onceEach struct {
	mu    sync.Mutex
	names map[string]bool
}

func (o *onceEach) first(name string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.names[name] || len(o.names) >= maxOnceEach {
		return false
	}
	if o.names == nil {
		o.names = map[string]bool{}
	}
	o.names[name] = true
	return true
}

// fixSecrets tells the operator what to do about cookies that cannot be opened.
const fixSecrets = "all processes of a site need the same Config.Secrets (AUTH_SECRET), and a secret that was " +
	"replaced has to stay in the list until what it made has expired"

// noteForeign logs once that a browser has a cookie of another secret: of
// another process with a secret that differs, of the time before the secret was
// replaced, or of another application on the same host. A value that looks
// neither sealed nor hashed comes from a scanner.
func (s *settings) noteForeign(ctx context.Context, name, value string) {
	sealed := strings.HasPrefix(value, "eyJ") && strings.Count(value, ".") == 4
	hashed := len(value) > 100 && strings.Count(value, "|") == 1
	if !sealed && !hashed || !s.notices.first(noticeForeignSecret) {
		return
	}
	s.log.LogAttrs(ctx, slog.LevelWarn, "pintle: a browser has a cookie that was not made with a current secret, "+
		"so that its sign-in or session is lost",
		slog.String("code", string(codeForeignSecret)), slog.String("cookie", name),
		slog.String("fix", fixSecrets+"; other applications on the same host need other names in Config.Cookies"))
}

// noteForgotten logs once that a browser has a session that is missing from the
// memory where sessions are kept.
func (s *settings) noteForgotten(ctx context.Context) {
	if !s.records.can.InMemory || !s.notices.first(noticeForgottenSession) {
		return
	}
	s.log.LogAttrs(ctx, slog.LevelWarn, "pintle: a browser has a session that is not in memory, where sessions are "+
		"kept: the program was restarted, another process made the session, or it was ended elsewhere",
		slog.String("code", string(codeForgottenSession)), slog.String("fix", "where sessions have to outlive the "+
			"program, or where it runs in several processes, keep them in a database, or set "+
			"Config.Session.Strategy to StrategyJWT"))
}

// noteNoClaims logs once that a sign-in has ended without a session: the user
// sees the sign-in page again, and no error.
func (x *exchange) noteNoClaims(provider string) {
	if !x.notices.first(noticeNoClaims) {
		return
	}
	x.log.LogAttrs(x.ctx, slog.LevelWarn, "pintle: Callbacks.JWT returned nil claims at a sign-in, so that the user is not signed in",
		slog.String("code", string(codeNoClaims)), slog.String("provider", provider),
		slog.String("fix", "return t.Claims at a sign-in; to refuse one, return an error, from Callbacks.SignIn "+
			"where the user is to see why"))
}

// noteMisdirectedForm logs once that a form with credentials or a passkey was
// posted to the route that begins sign-ins elsewhere. The user sees the sign-in
// page again, and no error.
func (x *exchange) noteMisdirectedForm() {
	if !x.notices.first(noticeMisdirectedForm) {
		return
	}
	x.log.LogAttrs(x.ctx, slog.LevelWarn, "pintle: a form for a provider whose sign-ins end at the callback route "+
		"was posted to the sign-in route, and nothing in it was looked at",
		slog.String("code", string(codeMisdirectedForm)), slog.String("provider", x.provider.id),
		slog.String("fix", "post the form to "+x.base+"/callback/"+x.provider.id+", or call Auth.SignIn in a handler of the application"))
}

// noteUnknownProvider logs once that the application began a sign-in with a provider that is
// not configured. The user sees the sign-in page, and no error. The id may come from a request.
func (x *exchange) noteUnknownProvider(id string) {
	if id == "" || !x.notices.first(noticeUnknownProvider) {
		return
	}
	known := make([]string, 0, len(x.providers))
	for _, p := range x.providers {
		known = append(known, p.id)
	}
	x.log.LogAttrs(x.ctx, slog.LevelWarn, "pintle: Auth.SignIn was called with the id of no provider, so the user is sent to the sign-in page",
		slog.String("code", string(codeUnknownProvider)), slog.String("provider", clip.Text(id, clip.Max)),
		slog.String("fix", "pass one of the ids in Config.Providers ("+strings.Join(known, ", ")+"), or \"\" for the sign-in page"))
}

// noteNoAccountID logs once that a Profile function returns no id, so that the
// application cannot recognise a returning user.
func (x *exchange) noteNoAccountID(provider string) {
	if !x.notices.first(noticeNoAccountID) {
		return
	}
	x.log.LogAttrs(x.ctx, slog.LevelWarn, "pintle: OAuth.Profile returned a user without an ID, so that the "+
		"account has another id at each sign-in",
		slog.String("code", string(codeNoAccountID)), slog.String("provider", provider),
		slog.String("fix", "set User.ID to what the provider identifies its user by, such as Profile.ID(\"sub\"); "+
			"with a Config.Store such a sign-in is an error"))
}

// noteRefusedTarget logs, once for each site, that a callback sends a browser to a
// site that the redirect rules do not allow.
func (x *exchange) noteRefusedTarget(callback, wish, target string) {
	u, err := url.Parse(wish)
	if err != nil || u.Host == "" || target != x.origin || strings.EqualFold(u.Scheme+"://"+u.Host, x.origin) {
		return
	}
	site := clip.Text(u.Scheme+"://"+u.Host, clip.Max)
	if !x.refusedTargets.first(site) {
		return
	}
	fix := "let Callbacks.Redirect return URLs of that site, and no others but those of this one; or return a path " +
		"of this site from " + callback + ", where a page leads there"
	if x.Callbacks.Redirect != nil {
		fix = "Callbacks.Redirect does not return the URL: let it accept that site"
	}
	x.log.LogAttrs(x.ctx, slog.LevelWarn, "pintle: a callback sends a browser to another site, which the redirect "+
		"rules do not allow: it goes to the home page",
		slog.String("code", string(codeRefusedTarget)), slog.String("callback", callback),
		slog.String("target", site), slog.String("site", x.origin), slog.String("fix", fix))
}

// baseSource names the source of the base path.
func baseSource(given, completed string) string {
	switch {
	case given != "":
		return "Config.BasePath"
	case completed != "":
		return "the path of Config.URL (AUTH_URL)"
	}
	return "the default of Config.BasePath"
}

// mountedAt describes where the Auth must be mounted.
func (s *settings) mountedAt() string {
	return fmt.Sprintf("mount the Auth at %s/, which is %s", s.base, s.baseSource)
}

// logGuardedSignIn logs once that a guard is in front of the page to which it sends users:
// the sign-in page, or that of Callbacks.Accept.
func (s *settings) logGuardedSignIn(r *http.Request, page string) {
	if !s.notices.first(noticeGuardedSignIn) {
		return
	}
	fix := s.mountedAt() + ", and outside Auth.Require"
	switch {
	case page != s.signInPagePath():
		fix = "serve the page that Callbacks.Accept returns outside Auth.Require"
	case s.Pages.SignIn != "":
		fix = "serve Config.Pages.SignIn outside Auth.Require, or let it pass in Callbacks.Authorized"
	}
	s.log.LogAttrs(r.Context(), slog.LevelError, "pintle: the sign-in page is behind Auth.Require, so no user can sign in",
		slog.String("code", string(codeSignInPageLoop)), slog.String("page", page), slog.String("fix", fix))
}

// noteGuardedRoute logs once that a guard rejects a request for a route. The
// guard receives such a request if the application's patterns do not lead it to
// the Auth.
func (s *settings) noteGuardedRoute(r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodPost {
		return // which is no route, and mostly a scanner
	}
	if _, _, ok := s.parsePath(r.URL.EscapedPath()); !ok || !s.notices.first(noticeGuardedRoute) {
		return
	}
	s.log.LogAttrs(r.Context(), slog.LevelWarn, "pintle: a request for a route of the Auth reached Auth.Require instead, which refuses it",
		slog.String("code", string(codeGuardedRoute)), slog.String("method", r.Method),
		slog.String("path", clip.Text(r.URL.EscapedPath(), clip.Max)),
		slog.String("fix", s.mountedAt()+", for GET and POST and outside Auth.Require: the pattern \"GET /auth/\" "+
			"of http.ServeMux leaves the forms to other patterns"))
}

// maxUnreached is the number of browsers that guards send to the sign-in page
// before any request reaches a route; then the log reports it. With several
// processes behind a balancer another process may have served the page.
const maxUnreached = 4

// noteUnreached counts the browsers that guards send to the sign-in page. If
// the page is served at another address, the application answers with status
// 404, and the Auth does not see the request.
func (s *settings) noteUnreached(r *http.Request) {
	if s.Pages.SignIn != "" || s.reached.Load() || r.Header.Get("Sec-Fetch-Mode") != "navigate" || s.unreached.Add(1) != maxUnreached {
		return
	}
	s.log.LogAttrs(r.Context(), slog.LevelWarn, "pintle: Auth.Require has sent browsers to the sign-in page, and "+
		"none has reached it in this process",
		slog.String("code", string(codeSignInPageMissing)), slog.String("page", s.signInPagePath()),
		slog.String("fix", "if it is not found there, "+s.mountedAt()+": a pattern of http.ServeMux ends with a slash"))
}

// misrouted reports whether a request names a route at another path than those
// below the base path, and logs it once: the Auth is mounted elsewhere than
// configured, or something in front of it has changed the path.
func (x *exchange) misrouted() bool {
	path := x.r.URL.EscapedPath()
	fix := ""
	switch base, ok := routedBelow(path); {
	case !ok || strings.HasPrefix(path, x.base+"/"):
		return false // mostly a scanner
	case base == "":
		fix = "the prefix " + x.base + " was removed: mount the Auth without http.StripPrefix, and have proxies pass the whole path on"
	default:
		fix = x.mountedAt() + "; or set Config.BasePath to " + clip.Quote(base)
	}
	if x.notices.first(noticeMount) {
		x.log.LogAttrs(x.ctx, slog.LevelWarn, "pintle: a request for a route reached the Auth at another path than "+
			"its base path, and is refused",
			slog.String("code", string(codeBasePathMismatch)), slog.String("path", clip.Text(path, clip.Max)),
			slog.String("basePath", x.base), slog.String("fix", fix))
	}
	return true
}

// routedBelow returns the base path for which a path would name a route.
func routedBelow(path string) (base string, ok bool) {
	path = "/" + strings.Trim(path, "/") // http.StripPrefix may leave no slash
	last := max(strings.LastIndexByte(path, '/'), 0)
	for _, end := range []int{max(strings.LastIndexByte(path[:last], '/'), 0), last} {
		if act, _, ok := parseRoute(path[:end], path); ok && act != actionAccount {
			return path[:end], true
		}
	}
	return "", false
}

// Advice for the operator about an address, without a setting, with TrustHost
// and with a URL.
const (
	fixUntrusted = "set Config.URL (AUTH_URL) to the public URL of the application, or Config.TrustHost " +
		"(AUTH_TRUST_HOST=true) behind a proxy that sets the headers Host or X-Forwarded-Host, and X-Forwarded-Proto"
	fixHeaders = "have the proxy send X-Forwarded-Host, or pass the Host header on, and X-Forwarded-Proto; or " +
		"set Config.URL (AUTH_URL) to the public URL of the application"
	fixURL = "set Config.URL (AUTH_URL) to the address that users open, or have them open the site there"
)

// checkAddress compares the site with the address that the browser reports. It
// returns an error if the site seems to be on this machine although it is not:
// sign-ins would send users to their own machines.
func (x *exchange) checkAddress(site origin.Origin) *Error {
	seen, ok := origin.OfBrowser(x.r.Header)
	switch {
	case ok && seen == site:
	case ok && x.URL == "" && !x.TrustHost:
		return fail(codeUntrustedHost,
			fmt.Errorf("the request is for %s, and its page is at %s, so a proxy changed the Host header: %s", site,
				seen, fixUntrusted))
	case ok:
		x.noteAddress(site, string(seen))
	case x.URL == "" && !site.Secure() && !site.Loopback() && origin.OverTLS(x.r.Header):
		x.noteAddress(site, "an https address")
	case x.URL != "" && x.opensSignInPage():
		x.noteOpened(site)
	case x.URL != "", x.TrustHost:
		x.noteHost(site)
	}
	x.noteUnlistedProxy()
	return nil
}

// opensSignInPage reports whether a request of a client is for the sign-in page.
func (x *exchange) opensSignInPage() bool {
	return !x.inside && x.r.Method == http.MethodGet && x.action == actionSignIn && x.provider == nil
}

// checkSender does so with the Origin header of a form that repeats the token of
// this browser, so that the form is one of this site's. It is for browsers that
// send no Sec-Fetch-Site, as to sites without TLS.
func (x *exchange) checkSender() {
	if x.r.Method != http.MethodPost || !x.csrfVerified || x.DangerouslySkipCSRFCheck || x.r.Header.Get("Sec-Fetch-Site") != "" {
		return
	}
	sent := x.r.Header.Get("Origin")
	if sent == "" || sent == x.origin { // the usual cases, without parsing
		return
	}
	if sender, err := origin.Parse(sent); err == nil && string(sender) != x.origin {
		x.noteAddress(origin.Origin(x.origin), string(sender))
	}
}

// noteAddress logs once that a browser reports another address of the site.
// Clients other than browsers can send any address, so the operator has to
// judge it.
func (x *exchange) noteAddress(site origin.Origin, seen string) {
	if !x.notices.first(noticeAddress) {
		return
	}
	host, _, _ := origin.Said(x.r)
	x.openedAt.first(clip.Text(host, clip.Max)) // whose record would say less
	fix := fixUntrusted
	switch {
	case x.URL != "":
		fix = fixURL
	case x.TrustHost:
		fix = fixHeaders
	}
	x.log.LogAttrs(x.ctx, slog.LevelWarn, "pintle: a browser has this site at another address than it is believed "+
		"to be at: redirects, links and cookies are those of the latter",
		slog.String("code", string(codeAddressMismatch)), slog.String("site", string(site)),
		slog.String("browser", clip.Text(seen, clip.Max)), slog.String("fix", fix))
}

// noteOpened logs, once for each host, that the sign-in page was opened at another address
// than that of Config.URL, as far as headers tell: the page names the latter, and its forms
// are posted there, where this process may never see them. Any client can write the headers,
// so it is not a warning. A host that only this machine or its network knows is mostly that
// of the upstream, which a proxy wrote into the Host header.
func (x *exchange) noteOpened(site origin.Origin) {
	host, scheme, header := origin.Said(x.r)
	if header == "Host" && (isUpstream(host) || isThisMachine(host) && origin.IsForwarded(x.r.Header)) {
		return
	}
	if x.fault != nil || !site.Elsewhere(host, scheme) || !x.openedAt.first(clip.Text(host, clip.Max)) {
		return
	}
	attrs := []slog.Attr{
		slog.String("code", string(codeAddressMismatch)), slog.String("site", string(site)),
		slog.String("host", clip.Text(host, clip.Max)), slog.String("header", header),
	}
	if scheme != "" {
		attrs = append(attrs, slog.String("scheme", clip.Text(scheme, clip.Max)))
	}
	x.log.LogAttrs(x.ctx, slog.LevelInfo, "pintle: the sign-in page was opened at another address than that of "+
		"Config.URL (AUTH_URL), as a header of the request says: the page names the latter, and its forms are posted there",
		append(attrs, slog.String("fix", noFixIfOpen(site)+fixURL))...)
}

// isThisMachine reports whether a host, perhaps with a port, is this machine.
func isThisMachine(host string) bool { return origin.Origin("http://" + host).Loopback() }

// isUpstream reports whether a host is a name that only a network knows, such as "app:3000".
func isUpstream(host string) bool {
	name, _, _ := strings.Cut(host, ":")
	return !strings.ContainsAny(name, ".[") && !isThisMachine(host)
}

// noFixIfOpen begins the advice about an address that a header names: the mistake is one only
// if users have that address.
func noFixIfOpen(site origin.Origin) string {
	return "none is needed if users open " + string(site) + "; otherwise "
}

// noteHost logs, once for each host, that the Host header names no public site, and that no
// proxy reports another host. It is not a warning: with a URL, a proxy may put
// the address of its upstream there, and with TrustHost the site may run on a
// developer's machine.
func (x *exchange) noteHost(site origin.Origin) {
	inner := isThisMachine(x.r.Host) || x.TrustHost && isUpstream(x.r.Host)
	if x.fault != nil || !inner || x.URL != "" && site.Loopback() || origin.IsForwarded(x.r.Header) || !x.openedAt.first(clip.Text(x.r.Host, clip.Max)) {
		return
	}
	fix := fixHeaders
	if x.URL != "" {
		fix = fixURL
	}
	x.log.LogAttrs(x.ctx, slog.LevelInfo, "pintle: a request is for a host that only this machine or its network "+
		"knows, as behind a proxy that changes the Host header: users are sent to the site",
		slog.String("code", string(codeAddressMismatch)), slog.String("site", string(site)),
		slog.String("host", clip.Text(x.r.Host, clip.Max)), slog.String("fix", noFixIfOpen(site)+fix))
}

// noteUnlistedProxy logs once that a proxy of this machine or its network seems to be missing
// from Config.TrustedProxies. Then all users have the address of the proxy: the wrong passwords
// of one use up the attempts of all. It is a warning, except where the site is on this machine:
// clients elsewhere cause it only through the proxy that is missing, and once.
func (x *exchange) noteUnlistedProxy() {
	if x.inside || x.ownClientAddress || x.fault != nil {
		return
	}
	peer, header := clientaddr.Unlisted(x.r, x.TrustedProxies)
	if !peer.IsValid() || !x.notices.first(noticeUnlistedProxy) {
		return
	}
	level := slog.LevelWarn
	if x.isLocal() {
		level = slog.LevelInfo
	}
	x.log.LogAttrs(x.ctx, level, "pintle: requests come through a proxy that is not in Config.TrustedProxies, as their "+
		"headers say: all users behind it share one limit of attempts, and records name the proxy as the client",
		slog.String("code", string(codeUnlistedProxy)), slog.String("proxy", peer.String()), slog.String("header", header),
		slog.String("fix", fmt.Sprintf("if it is a proxy of yours that sets X-Forwarded-For, and passes on none that a client made up, set "+
			"cfg.TrustedProxies = []netip.Prefix{netip.MustParsePrefix(%q)}; otherwise have it set the header, or set Config.ClientAddress",
			netip.PrefixFrom(peer, peer.BitLen()))))
}

// repeated returns the level for an error that may have been logged already:
// any client can send requests that a configuration without an address rejects,
// or with cookies that do not suit the scheme of the request.
func (s *settings) repeated(e *Error, level slog.Level) slog.Level {
	which := noticeUntrustedHost
	switch {
	case level <= slog.LevelInfo:
		return level
	case e.Code == codeUntrustedHost:
	case e == s.plain.fault || e == s.secure.fault:
		which = noticeCookies
	default:
		return level
	}
	if !s.notices.first(which) {
		return slog.LevelInfo
	}
	return level
}

// noteOldCopy returns what logs that a provider does not answer, and that an older
// copy of its metadata or its keys serves.
func (s *settings) noteOldCopy(provider string) func(ctx context.Context, document string, since time.Time, err error) {
	return func(ctx context.Context, document string, since time.Time, err error) {
		s.log.LogAttrs(ctx, slog.LevelWarn, "pintle: a provider does not answer as it should, and an older copy serves",
			slog.String("code", string(codeOldCopy)), slog.String("provider", provider), slog.String("of", document), slog.Time("since", since),
			slog.String("error", err.Error()),
			slog.String("fix", "look whether the provider has an outage, and whether this server can reach it"))
	}
}
