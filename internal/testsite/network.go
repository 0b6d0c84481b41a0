package testsite

import (
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"runtime/debug"
	"sync"
)

// A Network is an Internet without sockets: a request goes to the handler that
// has the host of its URL. Tests on it are fast, may give their sites any name,
// https included, and run in a synctest bubble, where a month takes no time.
type Network map[string]http.Handler

// RoundTrip serves a request as net/http would, in a new goroutine.
func (n Network) RoundTrip(r *http.Request) (*http.Response, error) {
	handler := n[r.URL.Host]
	if handler == nil {
		return nil, fmt.Errorf("dial %s: no such host", r.URL.Host)
	}
	received, err := asReceived(r)
	if err != nil {
		return nil, err
	}
	body, sender := io.Pipe()
	w := &wire{header: http.Header{}, begun: make(chan struct{}), body: sender}
	go func() {
		defer func() {
			switch failure := recover(); failure {
			case nil:
				w.WriteHeader(http.StatusOK)
				sender.Close()
			case http.ErrAbortHandler:
				w.abort(io.ErrUnexpectedEOF)
			default:
				w.abort(fmt.Errorf("the handler panicked: %v\n%s", failure, debug.Stack()))
			}
		}()
		handler.ServeHTTP(w, received)
	}()
	select {
	case <-w.begun:
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	if w.failure != nil {
		return nil, w.failure
	}
	return &http.Response{
		Status: http.StatusText(w.status), StatusCode: w.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.sent, Body: body, ContentLength: -1, Request: r,
	}, nil
}

// asReceived is r as the server's end sees it.
func asReceived(r *http.Request) (*http.Request, error) {
	target, err := url.ParseRequestURI(r.URL.RequestURI())
	if err != nil {
		return nil, err
	}
	in := r.Clone(r.Context())
	in.URL, in.RequestURI, in.RemoteAddr = target, r.URL.RequestURI(), "192.0.2.1:50000"
	if in.Host == "" {
		in.Host = r.URL.Host
	}
	if r.URL.Scheme == "https" {
		in.TLS = &tls.ConnectionState{}
	}
	if in.Body == nil {
		in.Body = http.NoBody
	}
	return in, nil
}

// A wire is the writer of a response that is read while it is written.
type wire struct {
	header http.Header
	body   *io.PipeWriter

	once    sync.Once
	begun   chan struct{} // closed when the following are set
	status  int
	sent    http.Header
	failure error
}

func (w *wire) Header() http.Header { return w.header }

func (w *wire) WriteHeader(status int) {
	w.once.Do(func() {
		w.status, w.sent = status, w.header.Clone()
		close(w.begun)
	})
}

func (w *wire) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(b)
}

func (w *wire) abort(failure error) {
	w.once.Do(func() {
		w.failure = failure
		close(w.begun)
	})
	w.body.CloseWithError(failure)
}
