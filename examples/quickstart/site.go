package main

import (
	"embed"
	"encoding/json"
	"html/template"
	"log/slog"
	"net/http"
	"strings"

	"github.com/pintleauth/pintle"
)

//go:embed page.html style.css
var files embed.FS

var pages = template.Must(template.ParseFS(files, "page.html"))

// site is the application: pages for everybody, pages for those signed in.
type site struct {
	auth     *pintle.Auth
	strategy pintle.SessionStrategy
}

// newSite routes requests. auth serves its own below /auth/; for all others it
// looks up the session first. Requests forged by other sites end here, as the
// forms below rely on.
func newSite(auth *pintle.Auth, strategy pintle.SessionStrategy) http.Handler {
	s := &site{auth, strategy}
	own := http.NewServeMux()
	own.HandleFunc("GET /{$}", s.home)
	own.Handle("GET /account", auth.Require(http.HandlerFunc(s.account)))
	own.Handle("POST /account", auth.Require(http.HandlerFunc(s.rename)))
	own.HandleFunc("POST /signout", s.signOut)
	own.Handle("GET /style.css", http.FileServerFS(files))

	all := http.NewServeMux()
	all.Handle("/auth/", auth)
	all.Handle("/", auth.Load(http.NewCrossOriginProtection().Handler(own)))
	return all
}

func (s *site) home(w http.ResponseWriter, r *http.Request) {
	s.show(w, r, "home", demoUsers)
}

func (s *site) account(w http.ResponseWriter, r *http.Request) {
	shown, err := json.MarshalIndent(pintle.SessionFrom(r.Context()), "", "  ")
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.show(w, r, "account", string(shown))
}

// rename changes what the session carries.
func (s *site) rename(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, 4<<10)
	name := []rune(strings.TrimSpace(r.PostFormValue("name")))
	displayName.Set(pintle.SessionFrom(r.Context()), string(name[:min(len(name), 60)]))
	if _, err := s.auth.UpdateSession(w, r, nil); err != nil {
		s.fail(w, r, err)
		return
	}
	http.Redirect(w, r, "/account", http.StatusSeeOther)
}

func (s *site) signOut(w http.ResponseWriter, r *http.Request) {
	if _, err := s.auth.SignOut(w, r, "/"); err != nil {
		s.fail(w, r, err)
		return
	}
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

// show answers with a page. No script may run on it, and nothing may be loaded
// but the style sheet.
func (s *site) show(w http.ResponseWriter, r *http.Request, page string, content any) {
	session := pintle.SessionFrom(r.Context())
	name, _ := displayName.Get(session)
	if name == "" && session != nil {
		name = session.User.Name
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	h.Set("Cache-Control", "private, no-store") // it shows who is signed in
	err := pages.ExecuteTemplate(w, page, map[string]any{
		"Session": session, "Name": name, "Strategy": s.strategy, "Content": content,
	})
	if err != nil {
		slog.WarnContext(r.Context(), "page not sent", "error", err)
	}
}

func (s *site) fail(w http.ResponseWriter, r *http.Request, err error) {
	slog.ErrorContext(r.Context(), "request failed", "path", r.URL.Path, "error", err)
	http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
}
