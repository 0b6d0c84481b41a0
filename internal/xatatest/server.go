// Package xatatest is a fake of the REST API of a hosted Xata database, for the
// tests of package xatastore.
//
// It rejects all that the service would reject: values must have the types of
// their columns, links must lead to records that exist, unique columns must be
// unique, and names that are not in the schema or not in the API are errors. Where
// the service's behaviour is not documented, a field of [Server] selects one of
// the possibilities, and the store must work with each.
package xatatest

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"time"
)

// The database every server has, and the key to it.
const (
	Key      = "xau_key-of-the-test-server"
	Database = "app"
	Branch   = "main"
)

// A Server is a database. It is an [http.Handler], and a transport that needs
// no socket. Its fields must not change while requests are made.
type Server struct {
	// Restrict makes the service reject the removal of a record that is linked
	// to. False means that the links become null.
	Restrict bool

	// Nulls makes responses include the columns that are null.
	Nulls bool

	// Conflict is the status for a value that exists already. Zero means 400.
	Conflict int

	// Fault returns how to spoil the response to a request. Nil, or a nil
	// result, spoils nothing. It may be called concurrently.
	Fault func(*http.Request) *Fault

	mu       sync.Mutex
	tables   map[string]*table
	cursors  map[string]query
	requests int
	clock    time.Time
}

// New returns an empty database with the tables of a schema file.
func New(schema []byte) (*Server, error) {
	s := &Server{cursors: map[string]query{}}
	var err error
	s.tables, err = parseSchema(schema)
	return s, err
}

// Requests returns how many requests the server received.
func (s *Server) Requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests
}

// RoundTrip implements [http.RoundTripper].
func (s *Server) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	if r.Body == nil {
		r.Body = http.NoBody
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	if err := r.Context().Err(); err != nil {
		return nil, err // the caller gave up
	}
	return w.Result(), nil
}

// A Fault describes how a response is spoiled.
type Fault struct {
	// Delay is how long the response takes. A request that is cancelled
	// meanwhile is not carried out.
	Delay time.Duration

	// Lost makes the server carry out the request before it spoils the response.
	Lost bool

	// Status and Body replace those of the response, if Status is not zero.
	// Header is added in any case.
	Status int
	Header map[string]string
	Body   string

	// Cut leaves out the second half of the response.
	Cut bool
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.requests++
	id := fmt.Sprintf("req-%d", s.requests)
	s.mu.Unlock()
	w.Header().Set("X-Request-Id", id)
	var f *Fault
	if s.Fault != nil {
		f = s.Fault(r)
	}
	if f == nil {
		s.serve(w, r, id)
		return
	}
	if f.Delay > 0 {
		select {
		case <-time.After(f.Delay):
		case <-r.Context().Done():
			return
		}
	}
	answer := httptest.NewRecorder()
	if f.Lost || f.Status == 0 {
		s.serve(answer, r, id)
	}
	if f.Status != 0 {
		answer = httptest.NewRecorder()
		answer.Code = f.Status
		answer.Body.WriteString(f.Body)
	}
	for name, value := range f.Header {
		w.Header().Set(name, value)
	}
	w.WriteHeader(answer.Code)
	text := answer.Body.Bytes()
	if f.Cut {
		text = text[:len(text)/2]
	}
	_, _ = w.Write(text)
}

// maxRequest is the longest request that is read.
const maxRequest = 20 << 20

func (s *Server) serve(w http.ResponseWriter, r *http.Request, id string) {
	status, answer, err := s.answer(r)
	if err != nil {
		status, answer = refusal(err, id)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if answer != nil {
		_ = json.NewEncoder(w).Encode(answer)
	}
}

// answer returns the response to a request.
func (s *Server) answer(r *http.Request) (status int, answer any, err error) {
	if r.Header.Get("Authorization") != "Bearer "+Key {
		return 0, nil, refuse(http.StatusUnauthorized, "invalid API key")
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxRequest+1))
	if err != nil || len(body) > maxRequest {
		return 0, nil, refuse(http.StatusRequestEntityTooLarge, "the request is too large")
	}
	if len(body) > 0 && r.Header.Get("Content-Type") != "application/json" {
		return 0, nil, refuse(http.StatusUnsupportedMediaType, "the request is not JSON")
	}
	parameters, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return 0, nil, refuse(http.StatusBadRequest, "the query of the URL cannot be read")
	}
	path, ok := strings.CutPrefix(r.URL.EscapedPath(), "/db/"+Database+":"+Branch)
	if !ok {
		return 0, nil, refuse(http.StatusNotFound, "there is no such branch")
	}
	var segments []string
	for segment := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		text, err := url.PathUnescape(segment)
		if err != nil {
			return 0, nil, refuse(http.StatusBadRequest, "the path cannot be read")
		}
		segments = append(segments, text)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.route(r.Method, segments, parameters, body)
}

// route finds the handler of a request. The caller holds the lock.
func (s *Server) route(method string, path []string, parameters url.Values, body []byte) (int, any, error) {
	switch {
	case method == http.MethodGet && len(path) == 1 && path[0] == "":
		return http.StatusOK, s.schema(), nil
	case method == http.MethodPost && len(path) == 1 && path[0] == "transaction":
		answer, err := s.transaction(body)
		return http.StatusOK, answer, err
	case len(path) < 3 || path[0] != "tables":
		return 0, nil, refuse(http.StatusNotFound, "there is no such address")
	}
	t := s.tables[path[1]]
	if t == nil {
		return 0, nil, refuse(http.StatusNotFound, "table [%s] not found", path[1])
	}
	switch {
	case method == http.MethodPost && len(path) == 3 && path[2] == "query":
		answer, err := s.query(t, body)
		return http.StatusOK, answer, err
	case method == http.MethodPost && len(path) == 3 && path[2] == "data":
		// The service chooses the id, as with Auth.js's adapter.
		return s.data(http.MethodPut, t, "rec_"+strings.ToLower(rand.Text()), parameters, body)
	case len(path) == 4 && path[2] == "data":
		return s.data(method, t, path[3], parameters, body)
	}
	return 0, nil, refuse(http.StatusNotFound, "there is no such address")
}

// now returns a time that is later than every earlier result.
func (s *Server) now() time.Time {
	now := time.Now().UTC().Truncate(time.Microsecond)
	if !now.After(s.clock) {
		now = s.clock.Add(time.Microsecond)
	}
	s.clock = now
	return now
}
