package authtest

import (
	"bufio"
	"context"
	"crypto/subtle"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/textproto"
	"strings"
	"time"
)

const (
	maxCommand = 8 << 10
	maxMail    = 25 << 20
	maxTo      = 100

	// commandTimeout is how long the server waits for a command.
	commandTimeout = time.Minute
)

// An smtpSession is one client talking to the mailbox.
//
// https://www.rfc-editor.org/rfc/rfc5321
type smtpSession struct {
	box  *Mailbox
	conn net.Conn

	// text reads through limit, which is refilled for every command: a line
	// without end must not become memory without end.
	text  *textproto.Reader
	limit *io.LimitedReader

	greeted  bool
	secure   bool
	username string // empty until AUTH succeeded

	// The mail transaction.
	from    string
	to      []string
	hasFrom bool
}

func newSMTPSession(box *Mailbox, conn net.Conn) *smtpSession {
	s := &smtpSession{box: box}
	s.use(conn)
	return s
}

// use makes conn the connection to the client. It discards the bytes that were
// read ahead on the old one: plaintext sent after STARTTLS must not become part of
// the encrypted session (command injection).
//
// https://www.rfc-editor.org/rfc/rfc3207#section-4.2
func (s *smtpSession) use(conn net.Conn) {
	s.conn = conn
	s.limit = &io.LimitedReader{R: conn}
	s.text = textproto.NewReader(bufio.NewReader(s.limit))
	s.greeted, s.username = false, ""
	s.reset()
}

func (s *smtpSession) reset() { s.from, s.to, s.hasFrom = "", nil, false }

// reply sends an answer, and reports whether the session can go on. All lines
// but the last have a hyphen behind the code.
func (s *smtpSession) reply(code int, lines ...string) bool {
	var b strings.Builder
	for i, line := range lines {
		separator := "-"
		if i == len(lines)-1 {
			separator = " "
		}
		fmt.Fprintf(&b, "%d%s%s\r\n", code, separator, line)
	}
	_, err := io.WriteString(s.conn, b.String())
	return err == nil
}

// hang waits until the client gives up or the mailbox closes.
func (s *smtpSession) hang() bool {
	s.conn.SetDeadline(time.Time{})
	_, _ = io.Copy(io.Discard, s.conn) // ends with the connection, one way or another
	return false
}

func (s *smtpSession) serve() {
	s.conn.SetDeadline(time.Now().Add(commandTimeout))
	switch {
	case s.box.has(MailHangs):
		s.hang()
		return
	case s.box.has(MailBusy):
		s.reply(421, "4.3.2 too busy")
		return
	}
	for more := s.reply(220, "authtest ESMTP"); more; {
		s.conn.SetDeadline(time.Now().Add(commandTimeout))
		line, err := s.line()
		if err != nil {
			return
		}
		verb, rest, _ := strings.Cut(line, " ")
		more = s.command(strings.ToUpper(verb), strings.TrimSpace(rest))
	}
}

func (s *smtpSession) line() (string, error) {
	s.limit.N = maxCommand
	return s.text.ReadLine()
}

// command obeys one command, and reports whether the session can go on.
func (s *smtpSession) command(verb, rest string) bool {
	switch verb {
	case "HELO":
		s.greeted = true
		return s.reply(250, "authtest")
	case "EHLO":
		s.greeted = true
		return s.reply(250, s.extensions()...)
	case "STARTTLS":
		return s.startTLS()
	case "AUTH":
		return s.auth(rest)
	case "MAIL":
		return s.mail(rest)
	case "RCPT":
		return s.recipient(rest)
	case "DATA":
		return s.data()
	case "RSET":
		s.reset()
		return s.reply(250, "2.0.0 forgotten")
	case "NOOP":
		return s.reply(250, "2.0.0 done")
	case "VRFY":
		return s.reply(252, "2.1.5 every address is accepted")
	case "QUIT":
		s.reply(221, "2.0.0 bye")
		return false
	}
	return s.reply(500, "5.5.2 unknown command")
}

// offersTLS reports whether STARTTLS can be used now.
func (s *smtpSession) offersTLS() bool {
	return s.box.opts.STARTTLS && !s.secure && !s.box.has(MailHidesTLS)
}

func (s *smtpSession) extensions() []string {
	lines := []string{"authtest", "8BITMIME", "SMTPUTF8", "PIPELINING", fmt.Sprint("SIZE ", maxMail)}
	if s.offersTLS() {
		return append(lines, "STARTTLS") // and no AUTH before it
	}
	if s.box.opts.Username != "" {
		lines = append(lines, "AUTH PLAIN")
	}
	return lines
}

func (s *smtpSession) startTLS() bool {
	if !s.offersTLS() {
		return s.reply(502, "5.5.1 not offered")
	}
	if s.box.has(MailRefusesTLS) {
		return s.reply(454, "4.7.0 TLS is not available")
	}
	certificate := s.box.cert.own
	if s.box.has(MailForeignCertificate) {
		certificate = s.box.cert.foreign
	}
	if !s.reply(220, "2.0.0 go ahead") {
		return false
	}
	conn := tls.Server(s.conn, &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12})
	ctx, cancel := context.WithTimeout(context.Background(), commandTimeout)
	defer cancel()
	if conn.HandshakeContext(ctx) != nil {
		return false
	}
	s.secure = true
	s.use(conn)
	return true
}

// auth checks a password.
//
// https://www.rfc-editor.org/rfc/rfc4616#section-2
func (s *smtpSession) auth(rest string) bool {
	mechanism, initial, _ := strings.Cut(rest, " ")
	switch {
	case !s.greeted || s.username != "" || s.hasFrom:
		return s.reply(503, "5.5.1 not now")
	case s.offersTLS():
		return s.reply(538, "5.7.11 only after STARTTLS")
	case s.box.opts.Username == "" || !strings.EqualFold(mechanism, "PLAIN"):
		return s.reply(504, "5.5.4 unknown mechanism")
	}
	if initial == "" {
		if !s.reply(334, "") {
			return false
		}
		line, err := s.line()
		if err != nil {
			return false
		}
		initial = line
	}
	decoded, err := base64.StdEncoding.DecodeString(initial)
	fields := strings.Split(string(decoded), "\x00")
	if err != nil || len(fields) != 3 {
		return s.reply(501, "5.5.2 malformed")
	}
	right := subtle.ConstantTimeCompare([]byte(fields[1]), []byte(s.box.opts.Username)) &
		subtle.ConstantTimeCompare([]byte(fields[2]), []byte(s.box.opts.Password))
	if right != 1 || s.box.has(MailRefusesAuth) {
		return s.reply(535, "5.7.8 wrong name or password")
	}
	s.username = fields[1]
	return s.reply(235, "2.7.0 welcome")
}
