package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// provider serves the metadata of providers, right and wrong ones.
func provider(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		issuer := "http://" + r.Host + "/" + name
		offset := map[string]time.Duration{"ahead": 10 * time.Minute, "behind": -10 * time.Minute}[name]
		w.Header().Set("Date", time.Now().Add(offset).UTC().Format(http.TimeFormat))
		switch name {
		case "good", "ahead", "behind":
		case "elsewhere":
			issuer = "https://elsewhere.example"
		case "page":
			_, _ = io.WriteString(w, "<html>")
			return
		case "empty":
			_, _ = io.WriteString(w, "{}")
			return
		default:
			http.NotFound(w, r)
			return
		}
		_, _ = fmt.Fprintf(w, `{"issuer": %q, "authorization_endpoint": %q}`, issuer, issuer+"/authorize")
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// mailServer sends the same greeting to all clients.
func mailServer(t *testing.T, greeting string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				_, _ = io.WriteString(conn, greeting+"\r\n")
				_, _ = io.Copy(io.Discard, conn)
			}()
		}
	}()
	return l.Addr().String()
}
