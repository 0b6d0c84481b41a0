package pintle_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A pipeListener accepts the connections that are sent to it.
type pipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}
func (l *pipeListener) Close() error   { close(l.closed); return nil }
func (l *pipeListener) Addr() net.Addr { return &net.TCPAddr{} }

func TestABodyThatTricklesIsGivenUp(t *testing.T) {
	trickle := func(t *testing.T, change func(*http.Server)) (status string, took time.Duration) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			s := newSite(t)
			l := &pipeListener{make(chan net.Conn), make(chan struct{})}
			srv := &http.Server{Handler: s.handler()} // without time-outs
			change(srv)
			go func() { _ = srv.Serve(l) }()
			// The server leaves a client time to read before it closes.
			defer time.Sleep(time.Second)
			defer srv.Close()
			client, server := net.Pipe()
			var sending sync.WaitGroup
			defer sending.Wait()
			defer client.Close()
			l.conns <- server
			began := time.Now()
			sending.Go(func() {
				_, _ = io.WriteString(client, "POST /auth/signin/acme HTTP/1.1\r\nHost: localhost:3000\r\n"+
					"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 100000\r\n\r\n")
				for range 1000 {
					time.Sleep(time.Second)
					if _, err := io.WriteString(client, "a"); err != nil {
						return
					}
				}
			})
			line, _ := bufio.NewReader(client).ReadString('\n')
			status, took = strings.TrimSpace(line), time.Since(began)
		})
		return status, took
	}
	t.Run("SA-L17 by a server without time-outs", func(t *testing.T) {
		status, took := trickle(t, func(*http.Server) {})
		if !strings.Contains(status, "408") || took > time.Minute {
			t.Errorf("it is answered %q after %s", status, took)
		}
	})
	t.Run("the time-out of the server counts", func(t *testing.T) {
		_, took := trickle(t, func(srv *http.Server) { srv.ReadTimeout = 5 * time.Second })
		if took > 6*time.Second {
			t.Errorf("it takes %s", took)
		}
	})
}
