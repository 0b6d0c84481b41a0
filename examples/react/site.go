package main

import (
	"embed"
	"encoding/json"
	"io/fs"
	"net/http"

	"github.com/pintleauth/pintle"
)

// The files that npm builds are in the repository, so that the program needs only
// Go.
//
//go:generate npm --prefix page ci
//go:generate npm --prefix page run build
//go:embed page/dist
var built embed.FS

// site is the application: the page and its requests.
func site(auth *pintle.Auth) http.Handler {
	page, err := fs.Sub(built, "page/dist")
	if err != nil {
		panic(err) // unreachable: the path is a constant
	}
	mux := http.NewServeMux()
	mux.Handle("/api/auth/", auth)
	mux.Handle("GET /api/greeting", auth.Require(http.HandlerFunc(greeting)))
	mux.Handle("/", strict(http.FileServerFS(page)))
	return auth.Load(mux)
}

// greeting greets the user of the session; Require rejects anonymous requests.
func greeting(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "private, no-store") // it is about one user
	name := pintle.SessionFrom(r.Context()).User.Name
	_ = json.NewEncoder(w).Encode(map[string]string{"text": "The server knows you as " + name + "."}) // an error means that the client has gone
}

// strict sets a policy with which only the page's own scripts run.
func strict(page http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy",
			"default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
		page.ServeHTTP(w, r)
	})
}
