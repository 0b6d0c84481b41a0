package authtest

import (
	"fmt"
	"io"
	"net/http"
	"strings"
)

// An Outage is a way for a whole endpoint to fail; see [At].
type Outage string

// The ways for an endpoint to fail.
const (
	ServerError  Outage = "answers 500"
	Unavailable  Outage = "answers 503 with Retry-After"
	Unauthorized Outage = "answers 401"
	NotFound     Outage = "answers 404"
	RateLimited  Outage = "answers 429 with Retry-After"
	HTMLBody     Outage = "answers 200 with an HTML page"
	EmptyBody    Outage = "answers 200 with an empty body"
	CutOffJSON   Outage = "answers with JSON that ends in the middle"
	JSONArray    Outage = "answers with a JSON array"
	JSONNull     Outage = "answers with a JSON null"
	NoContent    Outage = "answers 204"
	Drops        Outage = "closes the connection without an answer"

	// HugeBody streams 50 MB of valid JSON, until the client has had enough.
	HugeBody Outage = "answers with 50 MB"
	// Hangs sends nothing, until the client gives up.
	Hangs Outage = "never answers"
	// Redirects answers 307: a client that follows it repeats the request, with
	// its secrets, at [ElsewhereEndpoint].
	Redirects Outage = "redirects elsewhere"
)

const hugeBody = 50 << 20

var outages = map[Outage]func(w http.ResponseWriter, x *exchange){
	ServerError:  respondWith(http.StatusInternalServerError, "text/plain; charset=utf-8", "Internal Server Error\n"),
	Unavailable:  respondWith(http.StatusServiceUnavailable, "text/plain; charset=utf-8", "Service Unavailable\n", "Retry-After", "120"),
	Unauthorized: respondWith(http.StatusUnauthorized, "application/json", `{"error":"invalid_token"}`, "WWW-Authenticate", `Bearer error="invalid_token"`),
	NotFound:     respondWith(http.StatusNotFound, "text/plain; charset=utf-8", "Not Found\n"),
	RateLimited:  respondWith(http.StatusTooManyRequests, "application/json", `{"error":"slow_down"}`, "Retry-After", "120"),
	HTMLBody:     respondWith(http.StatusOK, "text/html; charset=utf-8", "<!doctype html><title>Maintenance</title><h1>Back soon</h1>\n"),
	EmptyBody:    respondWith(http.StatusOK, "application/json", ""),
	CutOffJSON:   respondWith(http.StatusOK, "application/json", `{"access_token":"at-0","issuer":"https://`),
	JSONArray:    respondWith(http.StatusOK, "application/json", `[]`),
	JSONNull:     respondWith(http.StatusOK, "application/json", `null`),
	NoContent:    respondWith(http.StatusNoContent, "", ""),

	// The server recognises this value, logs nothing and closes the connection.
	Drops: func(http.ResponseWriter, *exchange) { panic(http.ErrAbortHandler) },

	HugeBody: func(w http.ResponseWriter, _ *exchange) {
		w.Header().Set("Content-Type", "application/json")
		chunk := strings.Repeat("x", 64<<10)
		io.WriteString(w, `{"padding":"`)
		for sent := 0; sent < hugeBody; sent += len(chunk) {
			if _, err := io.WriteString(w, chunk); err != nil {
				return
			}
		}
		io.WriteString(w, `"}`)
	},
	Hangs: func(_ http.ResponseWriter, x *exchange) {
		<-x.r.Context().Done()
		panic(http.ErrAbortHandler) // returning would send an empty 200
	},
	Redirects: func(w http.ResponseWriter, x *exchange) {
		http.Redirect(w, x.r, x.url(ElsewhereEndpoint), http.StatusTemporaryRedirect)
	},
}

// respondWith returns a handler with the same response to every request. Headers
// are pairs of name and value.
func respondWith(status int, contentType, body string, headers ...string) func(http.ResponseWriter, *exchange) {
	return func(w http.ResponseWriter, _ *exchange) {
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		if contentType != "" {
			w.Header().Set("Content-Type", contentType)
		}
		w.WriteHeader(status)
		if body != "" {
			fmt.Fprint(w, body)
		}
	}
}

// outage returns the handler that stands in for the endpoint of x, if the
// endpoint is out.
func (x *exchange) outage() (func(http.ResponseWriter, *exchange), bool) {
	for _, f := range x.faults {
		if rest, ok := strings.CutPrefix(string(f), string(x.endpoint)+" "); ok {
			serve, ok := outages[Outage(rest)]
			return serve, ok
		}
	}
	return nil, false
}
