package smtp

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/textproto"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/wneessen/go-mail"
	"github.com/wneessen/go-mail/log"
	"github.com/wneessen/go-mail/smtp"
)

// deliver hands msg to the server. The conversation is go-mail's; it lasts no
// longer than ctx, which has to end afterwards.
func (s *Sender) deliver(ctx context.Context, msg *mail.Msg) error {
	c := &conversation{opts: &s.opts, ctx: ctx, at: connecting}
	client, err := mail.NewClient(s.opts.Host, c.options()...)
	if err != nil {
		return err
	}
	client.ErrorHandlerRegistry.SetDefaultHandler(c)
	err = client.DialAndSendWithContext(ctx, msg)
	if err == nil || msg.IsDelivered() {
		return nil // the mail is taken, whatever the server says to good-bye
	}
	return c.failure(err)
}

// A conversation follows what go-mail and one server say to each other. It is
// what go-mail dials with, signs in by and reports to, because its own errors
// name neither the stage nor, after signing in, the answer of the server.
type conversation struct {
	opts *Options
	ctx  context.Context // of this mail; go-mail ends the one it dials with when it has dialed

	at      stage
	greeted bool  // the server answered EHLO
	answer  error // the first answer to a command that was not the one hoped for

	smtp.Auth // the mechanism that Start chose
}

func (c *conversation) options() []mail.Option {
	options := []mail.Option{
		mail.WithPort(c.opts.Port),
		mail.WithTimeout(2 * c.opts.Timeout), // the context is first, and says why
		mail.WithHELO(c.opts.localName()),
		mail.WithTLSConfig(c.opts.tlsConfig()),
		mail.WithDialContextFunc(c.dial),
		mail.WithDebugLog(), mail.WithLogger(c), // without what is said to sign in
		mail.WithoutNoop(), mail.WithoutRset(), // one mail to a connection
	}
	if c.opts.Username != "" {
		options = append(options, mail.WithSMTPAuthCustom(c))
	}
	return append(options, c.opts.encryption())
}

// encryption is the policy of go-mail for Encryption. What a server did not offer
// is not done without, other than on loopback: someone in the middle could have
// removed the offer.
func (o *Options) encryption() mail.Option {
	switch {
	case o.Encryption == ImplicitTLS:
		return mail.WithSSL()
	case o.Encryption == NoEncryption:
		return mail.WithTLSPolicy(mail.NoTLS)
	case o.Encryption == ByPort && o.onLoopback():
		return mail.WithTLSPolicy(mail.TLSOpportunistic)
	default:
		return mail.WithTLSPolicy(mail.TLSMandatory)
	}
}

func (o *Options) tlsConfig() *tls.Config {
	c := o.TLSConfig.Clone()
	if c == nil {
		c = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	if c.ServerName == "" {
		c.ServerName = o.Host
	}
	return c
}

func (o *Options) localName() string {
	if o.LocalName != "" {
		return o.LocalName
	}
	if name, err := os.Hostname(); err == nil && name != "" {
		return name
	}
	return "localhost"
}

// dial connects. go-mail knows nothing of contexts after that, and leaves a
// connection open on which it did not get as far as sending. Send ends the
// context of the mail when it returns, so closing the connection then is the
// answer to both.
func (c *conversation) dial(ctx context.Context, network, address string) (conn net.Conn, err error) {
	if c.opts.Encryption == ImplicitTLS {
		conn, err = (&tls.Dialer{Config: c.opts.tlsConfig()}).DialContext(ctx, network, address)
	} else {
		conn, err = new(net.Dialer).DialContext(ctx, network, address)
	}
	if err != nil {
		return nil, err
	}
	c.at = greeting
	context.AfterFunc(c.ctx, func() { conn.Close() }) //nolint:contextcheck // ctx ends when go-mail has dialed
	return conn, nil
}

// stages are those that begin with a command.
var stages = map[string]stage{
	"STARTTLS": encrypting, "MAIL": namingSender, "RCPT": namingRecipient, "DATA": handingOver,
}

// Debugf implements [log.Logger]: go-mail tells it each command before sending
// it, and each answer that was the one hoped for.
func (c *conversation) Debugf(l log.Log) {
	command, _, _ := strings.Cut(l.Format, " ")
	if next, ok := stages[command]; ok && l.Direction == log.DirClientToServer {
		c.at = next
	}
	c.greeted = c.greeted || l.Direction == log.DirServerToClient
}

// Infof, Warnf and Errorf implement [log.Logger].
func (c *conversation) Infof(log.Log)  {}
func (c *conversation) Warnf(log.Log)  {}
func (c *conversation) Errorf(log.Log) {}

// HandleError implements [smtp.ResponseErrorHandler]. What a server says to the
// commands that end a conversation is not why it ended.
func (c *conversation) HandleError(_, command string, _ *textproto.Conn, err error) error {
	if c.answer == nil && !slices.Contains([]string{"rset", "quit", "*"}, command) {
		c.answer = err
	}
	return err
}

var errNoAuth = errors.New("the server knows none of SCRAM-SHA-256, PLAIN and LOGIN")

// Start implements [smtp.Auth]: it proves who sends by the best of the ways that
// the server knows. Without TLS, PLAIN and LOGIN refuse every server but one on
// loopback.
func (c *conversation) Start(server *smtp.ServerInfo) (mechanism string, proof []byte, err error) {
	c.at = authenticating
	user, password := c.opts.Username, c.opts.Password
	for _, way := range []struct {
		name string
		auth smtp.Auth
	}{
		{"SCRAM-SHA-256", smtp.ScramSHA256Auth(user, password)},
		{"PLAIN", smtp.PlainAuth("", user, password, c.opts.Host, false)},
		{"LOGIN", smtp.LoginAuth(user, password, c.opts.Host, false)},
	} {
		if slices.ContainsFunc(server.Auth, func(offered string) bool { return strings.EqualFold(offered, way.name) }) {
			c.Auth = way.auth
			return way.auth.Start(server)
		}
	}
	return "", nil, fmt.Errorf("%w: it offers %q", errNoAuth, strings.Join(server.Auth, " "))
}

var (
	errNoSTARTTLS = errors.New("the server does not offer STARTTLS")
	errBroken     = errors.New("the server broke off, or answered what is no answer")
)

// failure is where and why sending ended with err.
func (c *conversation) failure(err error) *failure {
	unsent, _ := errors.AsType[*mail.SendError](err)
	switch {
	case c.answer != nil:
		err = c.answer
	case c.at == greeting && c.greeted:
		// The one thing that go-mail asks for then and does not say.
		return &failure{encrypting, errNoSTARTTLS}
	case unsent != nil && unsent.ErrorCode() != 0:
		code := unsent.ErrorCode()
		_, text, _ := strings.Cut(unsent.Error(), strconv.Itoa(code)+" ")
		err = &textproto.Error{Code: code, Msg: strings.TrimLeft(text, `"`)} // quoted since Go 1.26
	case unsent != nil:
		err = errBroken // its text has the recipient in it, and what the server said
	}
	return &failure{c.at, err}
}
