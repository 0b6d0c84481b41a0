package main

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"
)

// examineMailServer connects to the server of SMTP_URL, which package smtp reads,
// and leaves after its greeting. It does not sign in.
func (e environment) examineMailServer(ctx context.Context, r *report) {
	raw := e.get("SMTP_URL")
	if raw == "" {
		return
	}
	u, err := url.Parse(raw)
	if err != nil || u.Hostname() == "" || u.Scheme != "smtp" && u.Scheme != "smtps" {
		// The value is not printed: it holds a password.
		r.problem("SMTP_URL is not an address such as smtps://user:password@mail.example.com")
		return
	}
	host := net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), map[string]string{"smtp": "587", "smtps": "465"}[u.Scheme]))
	if err := greeting(ctx, u, host); err != nil {
		r.problem("SMTP_URL: the mail server %s: %v", host, err)
		return
	}
	r.good("SMTP_URL: the mail server %s answers", host)
}

// greeting connects and reads the first line that a mail server sends.
//
// https://www.rfc-editor.org/rfc/rfc5321#section-3.1
func greeting(ctx context.Context, u *url.URL, host string) error {
	ctx, cancel := context.WithTimeout(ctx, answer)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", host)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(answer)); err != nil {
		return err
	}
	if u.Scheme == "smtps" {
		secure := tls.Client(conn, &tls.Config{ServerName: u.Hostname(), MinVersion: tls.VersionTLS12})
		if err := secure.HandshakeContext(ctx); err != nil {
			return err
		}
		conn = secure
	}
	line, err := bufio.NewReaderSize(conn, 1024).ReadSlice('\n')
	switch {
	case err != nil && !errors.Is(err, bufio.ErrBufferFull):
		return errors.New("it sends no greeting: is the port the right one, and smtps:// for TLS from the start?")
	case !strings.HasPrefix(string(line), "220"):
		return fmt.Errorf("it greets with %q", strings.TrimSpace(string(line[:min(len(line), 80)])))
	}
	_, err = conn.Write([]byte("QUIT\r\n"))
	return err
}
