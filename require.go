package pintle

import (
	"cmp"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/pintleauth/pintle/internal/page"
	"github.com/pintleauth/pintle/internal/query"
)

// ServeHTTP writes the default answer.
func (f Refusal) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if f.Status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", page.RetryAfter)
	}
	switch {
	case f.Navigation && f.SignIn != "":
		w.Header()["Location"] = []string{asciiURL(f.SignIn)}
		w.WriteHeader(http.StatusFound)
	case (f.Navigation || postsForm(r)) && f.settings != nil:
		f.page(w, r)
	case f.Status == http.StatusConflict:
		w.Header().Set("Content-Type", typeJSON)
		w.WriteHeader(f.Status)
		_, _ = io.WriteString(w, `{"error":"acting_ended"}`) // a client that has gone needs no answer
	default:
		http.Error(w, http.StatusText(f.Status), f.Status)
	}
}

// page writes the page for a browser.
func (f Refusal) page(w http.ResponseWriter, r *http.Request) {
	status := f.Status
	if status == http.StatusForbidden && f.Session == nil {
		status = http.StatusInternalServerError // the configuration is at fault
	}
	var site page.Site
	if origin, err := f.settings.site(r); err == nil {
		site.Origin = string(origin)
		site.Acting = f.banner(w, r)
		if f.signInPage != "" {
			site.SignInURL = query.Append((&exchange{origin: site.Origin}).absolute(f.signInPage), "callbackUrl", site.Origin)
		}
	}
	shown := f.settings.pagesFor(r).Refusal(site, status)
	if status == http.StatusConflict {
		shown = f.settings.pagesFor(r).ActingRefused(site, status)
	}
	maps.Copy(w.Header(), shown.Header)
	w.WriteHeader(f.Status)
	_, _ = w.Write(shown.Body) // a browser that has gone needs no answer
}

// banner is the one of a page while an operator acts as a user, or nil. Its form needs a token.
func (f Refusal) banner(w http.ResponseWriter, r *http.Request) *page.Acting {
	if f.Session == nil || f.Session.Actor == nil {
		return nil
	}
	x := &exchange{settings: f.settings, ctx: r.Context(), w: w, r: r, acting: f.Session, inside: true}
	if x.configFault() != nil {
		return nil
	}
	x.csrfToken = x.tokenBeingSet(w.Header())
	x.formToken()
	setCookies(w, x.answer.cookies)
	return x.actingBanner()
}

// allows reports whether a request may pass, with the request to pass on.
// Otherwise it has answered the request.
func (a *Auth) allows(w http.ResponseWriter, r *http.Request) (*http.Request, bool) {
	s, known, err := a.settings(r)
	if err == nil && s.fault != nil {
		err = s.fault
	}
	if err != nil {
		if c := sessionContextOf(r.Context()); c == nil || c.loader != a || c.settings != s { // else Load has logged it
			a.logCall(r.Context(), "Require", err)
		}
		refusal := Refusal{Status: faultStatus(classified(err)), Navigation: isNavigation(r), settings: s}
		refusal.ServeHTTP(w, r)
		return nil, false
	}
	if !a.loaded(r, s) && !hasGivenSession(r) {
		var ok bool
		if r, ok = a.load(w, r); !ok {
			return nil, false
		}
		known = r
	}
	session := SessionFrom(r.Context())
	if session != nil && !session.hasUser() {
		session = nil
	}
	access := Access{Allowed: session != nil}
	if s.Callbacks.Authorized != nil {
		if access, err = s.Callbacks.Authorized(known, session); err != nil {
			s.log.LogAttrs(r.Context(), slog.LevelError, "pintle: Callbacks.Authorized failed, so the request may not pass",
				slog.String("code", string(CodeAccessDenied)), slog.Any("error", err))
			access = Access{}
		}
	}
	if access.Allowed && access.Response == nil {
		return r, true
	}
	// The answer depends on the session, so no cache may give it to others.
	h := w.Header()
	h.Set("Cache-Control", "private, no-cache, no-store")
	h.Add("Vary", "Cookie")
	s.varyByLanguage(h)
	if access.Response != nil {
		s.log.debug(r.Context(), "request answered by Callbacks.Authorized")
		access.Response.ServeHTTP(w, known)
		return nil, false
	}
	c := sessionContextOf(r.Context())
	if c == nil {
		c = &sessionContext{}
	}
	refusal := s.refusal(r, session, c)
	if refusal.Status == http.StatusUnauthorized && !refusal.Navigation && s.Session.AllowBearer {
		// https://www.rfc-editor.org/rfc/rfc6750#section-3
		h.Set("WWW-Authenticate", "Bearer")
	}
	s.log.debug(r.Context(), "request refused by Require", "status", strconv.Itoa(refusal.Status))
	if s.Refuse != nil {
		s.Refuse(w, known, refusal)
	} else {
		refusal.ServeHTTP(w, known)
	}
	return nil, false
}

// refuseMeantForUser answers a request that was meant for the user as whom an operator has
// acted.
func (s *settings) refuseMeantForUser(w http.ResponseWriter, r *http.Request) {
	mode := r.Header.Get("Sec-Fetch-Mode")
	refusal := Refusal{
		Status: http.StatusConflict, settings: s,
		Navigation: mode == "navigate" || mode == "" && strings.Contains(r.Header.Get("Accept"), "text/html"),
	}
	h := w.Header()
	h.Set("Cache-Control", "private, no-cache, no-store")
	h.Add("Vary", "Cookie")
	if s.Refuse != nil {
		s.Refuse(w, r, refusal)
		return
	}
	refusal.ServeHTTP(w, r)
}

// refusal returns why a request may not pass and where its user can sign in.
func (s *settings) refusal(r *http.Request, session *Session, c *sessionContext) Refusal {
	f := Refusal{Navigation: isNavigation(r), settings: s}
	page := cmp.Or(c.page, s.signInPagePath())
	switch {
	case session != nil:
		f.Status, f.Session = http.StatusForbidden, session
	case c.away:
		// A sign-in would fail as well, and a client that gets 401 would drop its
		// session.
		f.Status = http.StatusServiceUnavailable
	case f.Navigation && s.isPage(page, r):
		// A redirect would lead here again, until the browser gives up.
		f.Status = http.StatusForbidden
		s.logGuardedSignIn(r, page)
	default:
		f.Status, f.SignIn, f.signInPage = http.StatusUnauthorized, withWayBack(page, r), page
		s.noteGuardedRoute(r)
		if s.Refuse == nil {
			s.noteUnreached(r)
		}
	}
	return f
}

// loaded reports whether a has looked for the session of a request by its
// configuration s. If s is nil, loaded finds the configuration when it needs
// it.
//
// A request without credentials has no session to look for. The result of
// another Auth does not count here, nor does the result of another
// configuration from before a handler changed the host of the request.
func (a *Auth) loaded(r *http.Request, s *settings) bool {
	c := sessionContextOf(r.Context())
	switch {
	case c == nil || c.loader == nil:
		return len(r.Header["Cookie"]) == 0 && len(r.Header["Authorization"]) == 0
	case s == nil && a.chosen != nil:
		s, _ = a.chosenFor(r) // load reports why there is no configuration
	case s == nil:
		s = a.fixed
	}
	return c.loader.root() == a.root() && c.settings == s
}

// hasGivenSession reports whether [WithSession] has signed a request in.
func hasGivenSession(r *http.Request) bool {
	c := sessionContextOf(r.Context())
	return c != nil && c.given && c.session != nil
}

// withWayBack returns a page with the way back to a request. The way
// back is a path, so that it does not depend on the host in the request.
func withWayBack(page string, r *http.Request) string {
	back := r.URL.EscapedPath()
	if !strings.HasPrefix(back, "/") || strings.HasPrefix(back, "//") {
		back = "/"
	}
	if r.URL.RawQuery != "" {
		back += "?" + r.URL.RawQuery
	}
	return query.Append(page, "callbackUrl", back)
}

// isPage reports whether a request is for a page, which may be configured as a path or as
// a URL of this site.
func (s *settings) isPage(page string, r *http.Request) bool {
	u, err := url.Parse(page)
	if err != nil || u.Path != r.URL.Path {
		return false
	}
	site, err := s.site(r)
	return u.Host == "" || err == nil && strings.EqualFold(u.Host, site.Host())
}
