package frameworks_test

import (
	"errors"
	"io"
	"net/http"

	"github.com/pintleauth/pintle"
)

// netHTTP is the application with the standard library alone.
func netHTTP(s setting) http.Handler {
	s.trustByConfig()
	app := handlers{s.auth}
	mux := http.NewServeMux()
	mux.Handle(s.base+"/", s.auth)
	mux.HandleFunc("GET /{$}", app.home)
	mux.Handle("GET /account", s.auth.Require(http.HandlerFunc(app.home)))
	mux.Handle("GET /admin", s.auth.Require(http.HandlerFunc(app.home)))
	mux.HandleFunc("POST /login", app.login)
	mux.HandleFunc("POST /leave", app.leave)
	mux.HandleFunc("POST /logout", app.logout)
	mux.HandleFunc("GET /role", app.role)
	mux.HandleFunc("POST /role", app.setRole)
	mux.HandleFunc("GET /devices", app.devices)
	mux.HandleFunc("GET /stream", app.stream)
	mux.HandleFunc("GET /late", app.late)
	mux.HandleFunc("GET /upgrade", app.upgrade)
	return http.NewCrossOriginProtection().Handler(s.auth.Load(mux))
}

// trustByConfig is the setting for frameworks without trusted proxies: the headers
// of every peer are trusted, or those of no peer.
func (s *setting) trustByConfig() {
	if s.proxy == notBehind {
		s.TrustHost = false
		s.auth = must(pintle.New(s.Config))
	}
}

func must(auth *pintle.Auth, err error) *pintle.Auth {
	if err != nil {
		panic(err)
	}
	return auth
}

// handlers are those of an application that is written for net/http.
type handlers struct{ auth *pintle.Auth }

func (h handlers) home(w http.ResponseWriter, r *http.Request) {
	io.WriteString(w, greeting(pintle.SessionFrom(r.Context())))
}

func (h handlers) login(w http.ResponseWriter, r *http.Request) {
	next, err := h.auth.SignIn(w, r, "password", pintle.SignInOptions{
		RedirectTo: "/account",
		Fields:     map[string]any{"username": r.PostFormValue("username"), "password": r.PostFormValue("password")},
	})
	switch {
	case errors.Is(err, pintle.CodeCredentials):
		http.Error(w, "wrong password", http.StatusUnauthorized)
	case err != nil:
		http.Error(w, "sign-in failed", http.StatusInternalServerError)
	default:
		http.Redirect(w, r, next, http.StatusSeeOther)
	}
}

func (h handlers) leave(w http.ResponseWriter, r *http.Request) {
	next, err := h.auth.SignIn(w, r, "acme", pintle.SignInOptions{RedirectTo: "/account"})
	if err != nil {
		http.Error(w, "sign-in failed", http.StatusInternalServerError)
		return
	}
	http.Redirect(w, r, next, http.StatusSeeOther)
}

func (h handlers) logout(w http.ResponseWriter, r *http.Request) {
	next, err := h.auth.SignOut(w, r, pintle.SignOutOptions{RedirectTo: "/"})
	if err != nil {
		http.Error(w, "sign-out failed", http.StatusInternalServerError)
		return
	}
	http.Redirect(w, r, next, http.StatusSeeOther)
}

func (h handlers) role(w http.ResponseWriter, r *http.Request) {
	value, _ := role.Get(pintle.SessionFrom(r.Context()))
	io.WriteString(w, value)
}

func (h handlers) setRole(w http.ResponseWriter, r *http.Request) {
	if h.update(w, r, r.PostFormValue("role")) {
		h.role(w, r)
	}
}

func (h handlers) devices(w http.ResponseWriter, r *http.Request) {
	io.WriteString(w, devices(r.Context(), h.auth))
}

func (h handlers) update(w http.ResponseWriter, r *http.Request, value string) bool {
	session := pintle.SessionFrom(r.Context())
	if session == nil {
		http.Error(w, "not signed in", http.StatusUnauthorized)
		return false
	}
	role.Set(session, value)
	if _, err := h.auth.UpdateSession(w, r, nil); err != nil {
		http.Error(w, "update failed", http.StatusInternalServerError)
		return false
	}
	return true
}

func (h handlers) stream(w http.ResponseWriter, r *http.Request) {
	flush := http.NewResponseController(w).Flush
	for range 2 {
		io.WriteString(w, greeting(pintle.SessionFrom(r.Context()))+"\n")
		if err := flush(); err != nil {
			panic(err)
		}
	}
}

func (h handlers) late(w http.ResponseWriter, r *http.Request) {
	if h.update(w, r, "late") {
		h.stream(w, r)
	}
}

// upgrade answers as a WebSocket server does, without the frames.
func (h handlers) upgrade(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Connection", "Upgrade")
	w.Header().Set("Upgrade", "echo")
	w.WriteHeader(http.StatusSwitchingProtocols)
	conn, sent, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err)
	}
	defer conn.Close()
	_, _ = io.Copy(conn, sent) // until the browser hangs up
}
