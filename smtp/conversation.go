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

// deliver sends msg to the server through go-mail. It returns when ctx ends. The
// caller must end ctx afterwards.
func (s *Sender) deliver(ctx context.Context, msg *mail.Msg) error {
	c := &conversation{opts: &s.opts, ctx: ctx, at: connecting}
	client, err := mail.NewClient(s.opts.Host, c.options()...)
	if err != nil {
		return err
	}
	client.ErrorHandlerRegistry.SetDefaultHandler(c)
	err = client.DialAndSendWithContext(ctx, msg)
	if err == nil || msg.IsDelivered() {
		return nil // the server accepted the mail, whatever its reply to QUIT
	}
	return c.failure(err)
}

// A conversation follows the conversation of go-mail with one server. It is
// go-mail's dialer, authentication and log, because the errors of go-mail name
// neither the stage nor, after authentication, the reply of the server.
type conversation struct {
	opts *Options
	ctx  context.Context // of this mail; go-mail ends the one of the dial after it

	at      stage
	greeted bool  // the server replied to EHLO
	answer  error // the first negative reply to a command

	smtp.Auth // the mechanism that Start chose
}

func (c *conversation) options() []mail.Option {
	options := []mail.Option{
		mail.WithPort(c.opts.Port),
		mail.WithTimeout(2 * c.opts.Timeout), // the context ends first, and its error is the reason
		mail.WithHELO(c.opts.localName()),
		mail.WithTLSConfig(c.opts.tlsConfig()),
		mail.WithDialContextFunc(c.dial),
		mail.WithDebugLog(), mail.WithLogger(c), // without the credentials
		mail.WithoutNoop(), mail.WithoutRset(), // one mail per connection
	}
	if c.opts.Username != "" {
		options = append(options, mail.WithSMTPAuthCustom(c))
	}
	return append(options, c.opts.encryption())
}

// encryption returns the policy of go-mail for Encryption. Except on loopback, TLS
// is required even if the server does not offer it: an attacker in the middle
// could have removed the offer.
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

// dial connects. After that go-mail ignores the context, and leaves a connection
// open if it fails before it sends. Send ends the context of the mail when it
// returns; closing the connection then solves both.
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

// Debugf implements [log.Logger]: go-mail logs each command before sending it,
// and each positive reply.
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

// HandleError implements [smtp.ResponseErrorHandler]. It ignores replies to the
// commands that end a conversation: they are not the reason why it ended.
func (c *conversation) HandleError(_, command string, _ *textproto.Conn, err error) error {
	if c.answer == nil && !slices.Contains([]string{"rset", "quit", "*"}, command) {
		c.answer = err
	}
	return err
}

var errNoAuth = errors.New("the server does not support SCRAM-SHA-256, PLAIN or LOGIN")

// Start implements [smtp.Auth]: it authenticates by the best mechanism that the
// server supports. Without TLS, PLAIN and LOGIN reject every server but one on
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
	errBroken     = errors.New("the server closed the connection or sent an invalid reply")
)

// failure returns the stage and the reason of err.
func (c *conversation) failure(err error) *failure {
	unsent, _ := errors.AsType[*mail.SendError](err)
	switch {
	case c.answer != nil:
		err = c.answer
	case c.at == greeting && c.greeted:
		// go-mail requires STARTTLS then, but its error does not name it.
		return &failure{encrypting, errNoSTARTTLS}
	case unsent != nil && unsent.ErrorCode() != 0:
		code := unsent.ErrorCode()
		_, text, _ := strings.Cut(unsent.Error(), strconv.Itoa(code)+" ")
		err = &textproto.Error{Code: code, Msg: strings.TrimLeft(text, `"`)} // quoted since Go 1.26
	case unsent != nil:
		err = errBroken // its text has the recipient and the text of the server
	}
	return &failure{c.at, err}
}
