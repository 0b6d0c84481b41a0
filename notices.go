package pintle

import (
	"context"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/pintleauth/pintle/internal/clip"
)

// A notice is a configuration mistake of the operator that becomes visible in
// requests. Each is logged once per configuration: requests are many, and
// clients can cause them.
type notice int

const (
	noticeUntrustedHost notice = iota
	noticeAddress
	noticeHost
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
const fixSecrets = "all processes of a site need the same Config.Secrets (AUTH_SECRET), and a secret that was replaced has to stay in the list until what it made has expired"

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
	s.log.LogAttrs(ctx, slog.LevelWarn, "pintle: a browser has a cookie that was not made with a current secret, so that its sign-in or session is lost",
		slog.String("code", string(codeForeignSecret)), slog.String("cookie", name), slog.String("fix", fixSecrets+"; other applications on the same host need other names in Config.Cookies"))
}

// noteForgotten logs once that a browser has a session that is missing from the
// memory where sessions are kept.
func (s *settings) noteForgotten(ctx context.Context) {
	if !s.records.can.InMemory || !s.notices.first(noticeForgottenSession) {
		return
	}
	s.log.LogAttrs(ctx, slog.LevelWarn, "pintle: a browser has a session that is not in memory, where sessions are kept: the program was restarted, another process made the session, or it was ended elsewhere",
		slog.String("code", string(codeForgottenSession)), slog.String("fix", "where sessions have to outlive the program, or where it runs in several processes, keep them in a database, or set Config.Session.Strategy to StrategyJWT"))
}

// noteNoClaims logs once that a sign-in has ended without a session: the user
// sees the sign-in page again, and no error.
func (x *exchange) noteNoClaims(provider string) {
	if !x.notices.first(noticeNoClaims) {
		return
	}
	x.log.LogAttrs(x.ctx, slog.LevelWarn, "pintle: Callbacks.JWT returned nil claims at a sign-in, so that the user is not signed in",
		slog.String("code", string(codeNoClaims)), slog.String("provider", provider),
		slog.String("fix", "return t.Claims at a sign-in; to refuse one, return an error, from Callbacks.SignIn where the user is to see why"))
}

// noteMisdirectedForm logs once that a form with credentials or a passkey was
// posted to the route that begins sign-ins elsewhere. The user sees the sign-in
// page again, and no error.
func (x *exchange) noteMisdirectedForm() {
	if !x.notices.first(noticeMisdirectedForm) {
		return
	}
	x.log.LogAttrs(x.ctx, slog.LevelWarn, "pintle: a form for a provider whose sign-ins end at the callback route was posted to the sign-in route, and nothing in it was looked at",
		slog.String("code", string(codeMisdirectedForm)), slog.String("provider", x.provider.id),
		slog.String("fix", "post the form to "+x.base+"/callback/"+x.provider.id+", or call Auth.SignIn in a handler of the application"))
}

// noteNoAccountID logs once that a Profile function returns no id, so that the
// application cannot recognise a returning user.
func (x *exchange) noteNoAccountID(provider string) {
	if !x.notices.first(noticeNoAccountID) {
		return
	}
	x.log.LogAttrs(x.ctx, slog.LevelWarn, "pintle: OAuth.Profile returned a user without an ID, so that the account has another id at each sign-in",
		slog.String("code", string(codeNoAccountID)), slog.String("provider", provider),
		slog.String("fix", "set User.ID to what the provider identifies its user by, such as Profile.ID(\"sub\"); with a Config.Store such a sign-in is an error"))
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
	fix := "let Callbacks.Redirect return URLs of that site, and no others but those of this one; or return a path of this site from " + callback + ", where a page leads there"
	if x.Callbacks.Redirect != nil {
		fix = "Callbacks.Redirect does not return the URL: let it accept that site"
	}
	x.log.LogAttrs(x.ctx, slog.LevelWarn, "pintle: a callback sends a browser to another site, which the redirect rules do not allow: it goes to the home page",
		slog.String("code", string(codeRefusedTarget)), slog.String("callback", callback), slog.String("target", site), slog.String("site", x.origin), slog.String("fix", fix))
}
