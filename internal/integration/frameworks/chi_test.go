package frameworks_test

import (
	"net/http"

	"github.com/go-chi/chi/v5"
)

// chiRouter is the application with chi, whose handlers and middleware are
// net/http's.
func chiRouter(s setting) http.Handler {
	s.trustByConfig()
	app := handlers{s.auth}
	r := chi.NewRouter()
	r.Use(http.NewCrossOriginProtection().Handler, s.auth.Load)
	r.Handle(s.base+"/*", s.auth)
	r.Get("/", app.home)
	r.Group(func(r chi.Router) {
		r.Use(s.auth.Require)
		r.Get("/account", app.home)
		r.Get("/admin", app.home)
	})
	r.Post("/login", app.login)
	r.Post("/leave", app.leave)
	r.Post("/logout", app.logout)
	r.Get("/role", app.role)
	r.Post("/role", app.setRole)
	r.Get("/devices", app.devices)
	r.Get("/stream", app.stream)
	r.Get("/late", app.late)
	r.Get("/upgrade", app.upgrade)
	return r
}
