package main

import (
	"cmp"
	"embed"
	"html/template"
	"log/slog"
	"net/http"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
)

//go:embed *.html passkeys.js style.css
var files embed.FS

var pages = template.Must(template.ParseFS(files, "*.html"))

// site is the application: public pages, and pages for signed-in users.
type site struct {
	auth     *pintle.Auth
	strategy pintle.SessionStrategy
	users    *account.Accounts

	// policy is the Content-Security-Policy of the pages.
	policy string
}

// newSite routes requests. auth serves its own below /auth/; for all others it
// looks up the session first. Requests forged by other sites end here, as the
// forms below rely on.
func newSite(auth *pintle.Auth, strategy pintle.SessionStrategy, users *account.Accounts, idp string) http.Handler {
	s := &site{auth: auth, strategy: strategy, users: users}
	// Only our style sheet and our script load, which requests the options of a
	// passkey from Pintle. form-action includes the identity provider, since
	// browsers apply it to the redirects of a form, too.
	s.policy = "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; form-action 'self' " + idp + "; base-uri 'none'; frame-ancestors 'none'"
	own := http.NewServeMux()
	own.HandleFunc("GET /{$}", s.home)
	own.Handle("/account", auth.Require(s.accountPages()))
	own.Handle("/account/", auth.Require(s.accountPages()))
	own.Handle("/operators", s.operatorPages())
	own.Handle("/operators/", s.operatorPages())
	own.HandleFunc("POST /signout", s.signOut)
	own.Handle("GET /style.css", http.FileServerFS(files))
	own.Handle("GET /passkeys.js", http.FileServerFS(files))

	all := http.NewServeMux()
	all.Handle("/auth/", auth)
	all.Handle("/", auth.Load(http.NewCrossOriginProtection().Handler(own)))
	return all
}

func (s *site) home(w http.ResponseWriter, r *http.Request) {
	s.show(w, r, "home", demoUsers)
}

func (s *site) signOut(w http.ResponseWriter, r *http.Request) {
	if _, err := s.auth.SignOut(w, r, pintle.SignOutOptions{RedirectTo: "/"}); err != nil {
		s.fail(w, r, err)
		return
	}
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

// show answers with a page.
func (s *site) show(w http.ResponseWriter, r *http.Request, page string, content any) {
	session := pintle.SessionFrom(r.Context())
	name, _ := displayName.Get(session)
	if name == "" && session != nil {
		name = cmp.Or(session.User.Name, session.User.Email)
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", s.policy)
	h.Set("Cache-Control", "private, no-store") // it shows the signed-in user
	err := pages.ExecuteTemplate(w, page, map[string]any{
		"Session": session, "Name": name, "Strategy": s.strategy, "Notice": noticeFor(r.URL.Query()), "Content": content,
	})
	if err != nil {
		slog.WarnContext(r.Context(), "page not sent", "error", err)
	}
}

func (s *site) fail(w http.ResponseWriter, r *http.Request, err error) {
	slog.ErrorContext(r.Context(), "request failed", "path", r.URL.Path, "error", err)
	http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
}
