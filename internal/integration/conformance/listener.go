package main

import (
	"bytes"
	"fmt"
	"net"
)

// listener passes requests whose target is not a URL, such as /session%zz, to the
// service. net/http rejects those itself, in plain text and before any handler
// runs.
type listener struct{ net.Listener }

func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return conn{c}, nil
}

type conn struct{ net.Conn }

const badRequest = `"Bad request."`

func (c conn) Write(p []byte) (int, error) {
	if !bytes.HasPrefix(p, []byte("HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain")) {
		return c.Conn.Write(p)
	}
	_, err := fmt.Fprintf(c.Conn, "HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", len(badRequest), badRequest)
	if err != nil {
		return 0, err
	}
	return len(p), nil
}
