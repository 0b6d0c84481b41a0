package smtp

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/wneessen/go-mail/smtp"
)

// deliver has the conversation with the server, from the greeting to its word
// that the mail is taken.
func (s *Sender) deliver(ctx context.Context, l *letter) error {
	conn, err := s.dial(ctx)
	if err != nil {
		return &failure{connecting, err}
	}
	defer conn.Close()
	// The client below knows nothing of contexts: closing its connection is
	// what wakes it up.
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()

	client, err := smtp.NewClient(conn, s.opts.Host)
	if err != nil {
		return &failure{greeting, err}
	}
	if err := client.Hello(s.localName()); err != nil {
		return &failure{greeting, err}
	}
	if err := s.encrypt(client); err != nil {
		return &failure{encrypting, err}
	}
	if err := s.authenticate(client); err != nil {
		return &failure{authenticating, err}
	}
	if err := client.Mail("<" + l.from + ">"); err != nil {
		return &failure{namingSender, err}
	}
	if err := client.Rcpt("<" + l.to + ">"); err != nil {
		return &failure{namingRecipient, err}
	}
	body, err := client.Data()
	if err != nil {
		return &failure{handingOver, err}
	}
	if _, err := l.text.WriteTo(body); err != nil {
		return &failure{handingOver, err}
	}
	if err := body.Close(); err != nil {
		return &failure{handingOver, err}
	}
	_ = client.Quit() // the mail is taken, whatever the server says to good-bye
	return nil
}

func (s *Sender) dial(ctx context.Context) (net.Conn, error) {
	address := net.JoinHostPort(s.opts.Host, strconv.Itoa(s.opts.Port))
	if s.opts.Encryption == ImplicitTLS {
		return (&tls.Dialer{Config: s.tlsConfig()}).DialContext(ctx, "tcp", address)
	}
	return new(net.Dialer).DialContext(ctx, "tcp", address)
}

func (s *Sender) tlsConfig() *tls.Config {
	c := s.opts.TLSConfig.Clone()
	if c == nil {
		c = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	if c.ServerName == "" {
		c.ServerName = s.opts.Host
	}
	return c
}

func (s *Sender) localName() string {
	if s.opts.LocalName != "" {
		return s.opts.LocalName
	}
	if name, err := os.Hostname(); err == nil && name != "" {
		return name
	}
	return "localhost"
}

var errNoSTARTTLS = errors.New("the server does not offer STARTTLS")

// encrypt starts TLS on a connection that has none yet. What the server did not
// offer is not done without: whoever is in the middle could have removed it.
func (s *Sender) encrypt(client *smtp.Client) error {
	if s.opts.Encryption == ImplicitTLS || s.opts.Encryption == NoEncryption {
		return nil
	}
	if offered, _ := client.Extension("STARTTLS"); !offered {
		if s.opts.Encryption == ByPort && s.opts.onLoopback() {
			return nil
		}
		return errNoSTARTTLS
	}
	return client.StartTLS(s.tlsConfig())
}

// authenticate proves who sends, by the best of the ways the server knows.
func (s *Sender) authenticate(client *smtp.Client) error {
	user, password := s.opts.Username, s.opts.Password
	if user == "" {
		return nil
	}
	_, offered := client.Extension("AUTH")
	// Without TLS, PLAIN and LOGIN refuse every server but one on loopback.
	known := []struct {
		name string
		auth smtp.Auth
	}{
		{"SCRAM-SHA-256", smtp.ScramSHA256Auth(user, password)},
		{"PLAIN", smtp.PlainAuth("", user, password, s.opts.Host, false)},
		{"LOGIN", smtp.LoginAuth(user, password, s.opts.Host, false)},
	}
	mechanisms := strings.Fields(strings.ToUpper(offered))
	for _, way := range known {
		if slices.Contains(mechanisms, way.name) {
			return client.Auth(way.auth)
		}
	}
	return fmt.Errorf("%w: it offers %q", errNoAuth, offered)
}

var errNoAuth = errors.New("the server knows none of SCRAM-SHA-256, PLAIN and LOGIN")
