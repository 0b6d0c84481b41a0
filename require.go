package pintle

import (
	"log/slog"
	"net/http"
	"net/url"
	"strings"

	"github.com/pintleauth/pintle/internal/query"
)

// allows answers the request itself unless it may pass.
func (a *Auth) allows(w http.ResponseWriter, r *http.Request) bool {
	s, known, err := a.settings(r)
	if err != nil || s.fault != nil {
		http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
		return false
	}
	session := SessionFrom(r.Context())
	allowed := session != nil
	if s.Callbacks.Authorized != nil {
		if allowed, err = s.Callbacks.Authorized(known, session); err != nil {
			s.log.LogAttrs(r.Context(), slog.LevelError, "pintle: Callbacks.Authorized failed, so the request may not pass",
				slog.String("code", string(ErrAccessDenied)), slog.Any("error", err))
			allowed = false
		}
	}
	if allowed {
		return true
	}
	h := w.Header()
	h.Set("Cache-Control", "private, no-cache, no-store")
	h.Add("Vary", "Cookie")
	switch {
	case session != nil:
		http.Error(w, http.StatusText(http.StatusForbidden), http.StatusForbidden)
	case r.Context().Value(unreadKey{}) != nil:
		// Signing in anew would fail as well, and a client that is told 401
		// would forget who it is.
		http.Error(w, http.StatusText(http.StatusServiceUnavailable), http.StatusServiceUnavailable)
	case isNavigation(r):
		s.sendToSignIn(w, r)
	default:
		if s.Session.AllowBearer {
			// https://www.rfc-editor.org/rfc/rfc6750#section-3
			h.Set("WWW-Authenticate", "Bearer")
		}
		http.Error(w, http.StatusText(http.StatusUnauthorized), http.StatusUnauthorized)
	}
	return false
}

// isNavigation reports whether a person is looking at the answer.
func isNavigation(r *http.Request) bool {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return false
	}
	if mode := r.Header.Get("Sec-Fetch-Mode"); mode != "" {
		// https://www.w3.org/TR/fetch-metadata/#sec-fetch-mode-header
		return mode == "navigate"
	}
	return strings.Contains(r.Header.Get("Accept"), "text/html")
}

// sendToSignIn redirects to the sign-in page, with the way back. The way back is
// a path, so that it does not depend on what the request says of its host.
func (s *settings) sendToSignIn(w http.ResponseWriter, r *http.Request) {
	page := s.Pages.SignIn
	if page == "" {
		page = s.base + "/signin"
	}
	back := r.URL.EscapedPath()
	if !strings.HasPrefix(back, "/") || strings.HasPrefix(back, "//") {
		back = "/"
	}
	if r.URL.RawQuery != "" {
		back += "?" + r.URL.RawQuery
	}
	if s.isAt(r, page) {
		// The sign-in page of the host is behind its own guard. Going round in
		// circles would only hide that.
		http.Error(w, http.StatusText(http.StatusForbidden), http.StatusForbidden)
		return
	}
	w.Header()["Location"] = []string{asciiURL(query.Append(page, "callbackUrl", back))}
	w.WriteHeader(http.StatusFound)
}

// isAt reports whether a request is for a page of the host's, which may be
// configured as a path or as a URL of this site.
func (s *settings) isAt(r *http.Request, page string) bool {
	u, err := url.Parse(page)
	if err != nil || u.Path != r.URL.Path {
		return false
	}
	site, err := s.site(r)
	return u.Host == "" || err == nil && strings.EqualFold(u.Host, site.Host())
}
