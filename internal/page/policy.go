package page

import (
	"crypto/sha256"
	"encoding/base64"
	"html/template"
	"net/http"
	"slices"
	"strings"
)

// policy is what a page needs to be allowed, from which its headers follow.
type policy struct {
	styles  []template.CSS
	images  []string // sources beside 'self', which is there for the favicon
	script  template.JS
	hasForm bool

	// connects allows the script to send requests to this site.
	connects bool

	// settings is a page of the settings of a user, whose address holds no secret.
	settings bool
}

// header returns the headers of a page.
//
// Caching is forbidden because pages carry the CSRF token of one browser.
//
// Cross-Origin-Opener-Policy cuts the tie to a window of another site that opened
// the page. With it, a site that waits for the user to press a button here could
// then send this window to a callback URL of the attacker's flow. A page that the
// application itself opened in a window loses that tie too.
//
// https://html.spec.whatwg.org/multipage/browsers.html#the-coop-headers
//
// X-Frame-Options repeats frame-ancestors for browsers and scanners that know
// only the older header.
func (p policy) header() http.Header {
	return http.Header{
		"Content-Type":            {"text/html; charset=utf-8"},
		"Content-Security-Policy": {p.contentSecurityPolicy()},
		"X-Content-Type-Options":  {"nosniff"},
		"X-Frame-Options":         {"DENY"},

		"Cross-Origin-Opener-Policy": {"same-origin"},

		"Referrer-Policy": {p.referrerPolicy()},
		"Cache-Control":   {"private, no-cache, no-store"},
		"Expires":         {"0"},
		"Pragma":          {"no-cache"},
	}
}

// contentSecurityPolicy allows what stands in the page and nothing else.
//
// A page with a form has no form-action. Browsers apply that directive not
// only to the form's action but to every redirect that follows the submission
// (https://www.w3.org/TR/CSP3/#directive-form-action; Chromium does so), and a
// sign-in goes from here to a provider, from there to any page where that company
// signs its users in, and back to a page the host chooses: origins that cannot be
// listed beforehand. The directive would stop injected markup
// that posts the form elsewhere; all values are escaped, base-uri keeps
// relative actions at home, and the credentials of a provider are never typed
// here. Pages without a form forbid forms.
func (p policy) contentSecurityPolicy() string {
	var csp strings.Builder
	csp.WriteString("default-src 'none'; style-src")
	for _, style := range p.styles {
		csp.WriteString(" " + hashSource(string(style)))
	}
	csp.WriteString("; img-src 'self'")
	slices.Sort(p.images)
	for _, source := range slices.Compact(p.images) {
		csp.WriteString(" " + source)
	}
	if p.script != "" {
		csp.WriteString("; script-src " + hashSource(string(p.script)))
	}
	if p.connects {
		csp.WriteString("; connect-src 'self'")
	}
	if !p.hasForm {
		csp.WriteString("; form-action 'none'")
	}
	csp.WriteString("; base-uri 'none'; frame-ancestors 'none'")
	return csp.String()
}

// referrerPolicy keeps the address of the page, which may hold the token of a
// sign-in link, to the page. no-referrer would also turn the Origin header of
// a posted form into "null" (https://fetch.spec.whatwg.org/#append-a-request-origin-header),
// which our own and other cross-site checks refuse; strict-origin does not. From a
// page of settings this site learns the address, so that a user who has to confirm a
// form comes back to it.
func (p policy) referrerPolicy() string {
	if p.settings {
		return "same-origin"
	}
	if p.hasForm {
		return "strict-origin"
	}
	return "no-referrer"
}

// hashSource returns the source expression that allows an inline element with
// exactly this content.
//
// https://www.w3.org/TR/CSP3/#grammardef-hash-source
func hashSource(content string) string {
	sum := sha256.Sum256([]byte(content))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
