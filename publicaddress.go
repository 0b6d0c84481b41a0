package pintle

import (
	"fmt"
	"log/slog"
	"net/http"
	"strings"

	"github.com/pintleauth/pintle/internal/clip"
	"github.com/pintleauth/pintle/internal/origin"
)

// site returns the origin at which the browser sees the request. Links in mails
// and redirects are made from it. Any client can set the headers, so they are
// trusted only on this machine, where they can do no harm, or where the host
// trusts them.
func (s *settings) site(r *http.Request) (origin.Origin, error) {
	site, err := s.origins.Resolve(r)
	if err != nil {
		return "", fail(codeUntrustedHost, byClient(err))
	}
	if s.URL != "" || s.TrustHost {
		return site, nil
	}
	if !site.Loopback() {
		return "", fail(codeUntrustedHost, fmt.Errorf("the request says that it is for %s: %s", site, fixUntrusted))
	}
	if header, elsewhere := origin.PassedOn(r.Header, site); elsewhere {
		return "", fail(codeUntrustedHost, fmt.Errorf("the request is for %s, and a proxy passed it on from elsewhere (%s): %s", site, header, fixUntrusted))
	}
	return site, nil
}

// Advice for the operator about an address, without a setting, with TrustHost
// and with a URL.
const (
	fixUntrusted = "set Config.URL (AUTH_URL) to the public URL of the application, or Config.TrustHost (AUTH_TRUST_HOST=true) behind a proxy that sets the headers Host or X-Forwarded-Host, and X-Forwarded-Proto"
	fixHeaders   = "have the proxy send X-Forwarded-Host, or pass the Host header on, and X-Forwarded-Proto; or set Config.URL (AUTH_URL) to the public URL of the application"
	fixURL       = "set Config.URL (AUTH_URL) to the address that users open, or have them open the site there"
)

// checkAddress compares the site with the address that the browser reports. It
// returns an error if the site seems to be on this machine although it is not:
// sign-ins would send users to their own machines.
func (x *exchange) checkAddress(site origin.Origin) *Error {
	seen, ok := origin.OfBrowser(x.r.Header)
	switch {
	case ok && seen == site:
	case ok && x.URL == "" && !x.TrustHost:
		return fail(codeUntrustedHost, fmt.Errorf("the request is for %s, and its page is at %s, so a proxy changed the Host header: %s", site, seen, fixUntrusted))
	case ok:
		x.noteAddress(site, string(seen))
	case x.URL == "" && !site.Secure() && !site.Loopback() && origin.OverTLS(x.r.Header):
		x.noteAddress(site, "an https address")
	case x.URL != "", x.TrustHost:
		x.noteHost(site)
	}
	return nil
}

// checkSender does so with the Origin header of a form that repeats the token of
// this browser, so that the form is one of this site's. It is for browsers that
// send no Sec-Fetch-Site, as to sites without TLS.
func (x *exchange) checkSender() {
	if x.r.Method != http.MethodPost || !x.csrfVerified || x.DangerouslySkipCSRFCheck || x.r.Header.Get("Sec-Fetch-Site") != "" {
		return
	}
	if sender, err := origin.Parse(x.r.Header.Get("Origin")); err == nil && string(sender) != x.origin {
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
	x.notices.first(noticeHost) // which would say less
	fix := fixUntrusted
	switch {
	case x.URL != "":
		fix = fixURL
	case x.TrustHost:
		fix = fixHeaders
	}
	x.log.LogAttrs(x.ctx, slog.LevelWarn, "pintle: a browser has this site at another address than it is believed to be at: redirects, links and cookies are those of the latter",
		slog.String("code", string(codeAddressMismatch)), slog.String("site", string(site)), slog.String("browser", clip.Text(seen, clip.Max)), slog.String("fix", fix))
}

// noteHost logs once that the Host header names no public site, and that no
// proxy reports another host. It is not a warning: with a URL, a proxy may put
// the address of its upstream there, and with TrustHost the site may run on a
// developer's machine.
func (x *exchange) noteHost(site origin.Origin) {
	name, _, _ := strings.Cut(x.r.Host, ":")
	inner := origin.Origin("http://"+x.r.Host).Loopback() || x.TrustHost && !strings.ContainsAny(name, ".[")
	if x.fault != nil || !inner || x.URL != "" && site.Loopback() || origin.IsForwarded(x.r.Header) || !x.notices.first(noticeHost) {
		return
	}
	fix := fixHeaders
	if x.URL != "" {
		fix = fixURL
	}
	fix = "none is needed if users open " + string(site) + "; otherwise " + fix
	x.log.LogAttrs(x.ctx, slog.LevelInfo, "pintle: a request is for a host that only this machine or its network knows, as behind a proxy that changes the Host header: users are sent to the site",
		slog.String("code", string(codeAddressMismatch)), slog.String("site", string(site)), slog.String("host", clip.Text(x.r.Host, clip.Max)), slog.String("fix", fix))
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
