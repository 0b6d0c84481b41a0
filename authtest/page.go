package authtest

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// The pages are of one file of HTML and one of CSS, sent inline so that a
// page needs no second request, and allowed by their hashes so that nothing
// else on it runs or loads.
var (
	//go:embed page.html
	pageHTML string
	//go:embed page.css
	pageCSS string

	pages = template.Must(template.New("").Parse(pageHTML))

	styleSource  = sourceHash(pageCSS)
	scriptSource = sourceHash(submitScript)
)

const submitScript = "document.forms[0].submit()"

// sourceHash allows one inline element in a policy.
//
// https://www.w3.org/TR/CSP3/#grammardef-hash-source
func sourceHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// A page has the data that all pages need.
type page struct {
	Provider string
	Title    string
}

// Style is the content of the style element.
func (page) Style() template.CSS { return template.CSS(pageCSS) }

// show sends the named page. The browser may post its forms only to this
// server and to formTarget, where the answer sends it on to: Chromium holds a
// redirect after a form post to the policy of the form.
func (p *IdentityProvider) show(w http.ResponseWriter, status int, name string, data any, formTarget string, more ...string) {
	var body bytes.Buffer
	if err := pages.ExecuteTemplate(&body, name, data); err != nil {
		http.Error(w, "authtest: "+err.Error(), http.StatusInternalServerError)
		return
	}
	policy := append([]string{
		"default-src 'none'",
		"style-src " + styleSource,
		strings.TrimSpace("form-action 'self' " + formTarget),
		"base-uri 'none'",
		"frame-ancestors 'none'",
	}, more...)
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", strings.Join(policy, "; "))
	h.Set("X-Frame-Options", "DENY")
	// Not "no-referrer": that would blank the Origin that sameOrigin reads, and
	// the one an application sees on a form_post.
	h.Set("Referrer-Policy", "strict-origin")
	w.WriteHeader(status)
	w.Write(body.Bytes())
}

// originOf returns the source expression for the origin of target, or "" if it has
// none. Callers have compared target with the registered URIs.
func originOf(target string) string {
	u, err := url.Parse(target)
	if err != nil || u.Scheme == "" {
		return ""
	}
	if u.Host == "" {
		return u.Scheme + ":"
	}
	return u.Scheme + "://" + u.Host
}

// A notice is a page with a text and no form.
type notice struct {
	page
	Text string
}

// showProblem shows a page with the fault that the developer has to correct. It
// never redirects, because the redirect URI is at fault.
func (p *IdentityProvider) showProblem(w http.ResponseWriter, text string) {
	n := notice{page{p.opts.Name, "This request cannot be answered"}, text}
	p.show(w, http.StatusBadRequest, "notice", n, "")
}

func (p *IdentityProvider) showSignedOut(w http.ResponseWriter) {
	n := notice{page{p.opts.Name, "You are signed out"}, "You can close this page."}
	p.show(w, http.StatusOK, "notice", n, "")
}

// showFormPost sends the answer to an authorization request as a form that
// submits itself.
//
// https://openid.net/specs/oauth-v2-form-post-response-mode-1_0.html
func (p *IdentityProvider) showFormPost(w http.ResponseWriter, target string, answer url.Values) {
	type field struct{ Name, Value string }
	form := struct {
		page
		Action string
		Fields []field
		Script template.JS
	}{page: page{p.opts.Name, "Signing you in"}, Action: target, Script: submitScript}
	for name, values := range answer {
		for _, value := range values {
			form.Fields = append(form.Fields, field{name, value})
		}
	}
	slices.SortStableFunc(form.Fields, func(a, b field) int { return strings.Compare(a.Name, b.Name) })
	p.show(w, http.StatusOK, "formpost", form, originOf(target), "script-src "+scriptSource)
}
