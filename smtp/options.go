package smtp

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/mail"
	"strings"
	"time"
)

// Options describe a mail server. Host is the only field that must be set.
type Options struct {
	// Host is the name of the server. Its certificate must be for that name.
	Host string

	// Port is the server's port. Zero means 465 with ImplicitTLS and 587
	// otherwise.
	Port int

	// Encryption is how the connection is encrypted.
	Encryption Encryption

	// Username and Password are for servers that require authentication. With
	// an empty Username mails are sent without.
	Username, Password string

	// From is the sender of mails for which [pintle.Email].From, or From of
	// account.Options, names none: an address, or "Name <address>".
	From string

	// Timeout bounds the sending of one mail, from the connection to the
	// server's reply that it accepted the mail. Zero means 10 seconds.
	Timeout time.Duration

	// LocalName is the name of this machine in EHLO. Empty means its host name.
	LocalName string

	// TLSConfig is for servers with a certificate of a private authority. Nil
	// means the system's authorities.
	TLSConfig *tls.Config

	// DangerouslyAllowPlaintext permits NoEncryption with a server that is not on
	// loopback. An attacker on the network can then sign in as any user who
	// requests a mail. A password is not sent even then.
	DangerouslyAllowPlaintext bool
}

// Encryption is how the connection to a server is encrypted.
type Encryption int

const (
	// ByPort is ImplicitTLS on port 465 and STARTTLS on every other. On
	// loopback, where there is no network to tap, it uses STARTTLS if the server
	// offers it and otherwise no encryption.
	ByPort Encryption = iota

	// STARTTLS begins without encryption and sends neither credentials nor the
	// mail before the connection is encrypted.
	//
	// https://www.rfc-editor.org/rfc/rfc3207
	STARTTLS

	// ImplicitTLS is encrypted from the first byte.
	//
	// https://www.rfc-editor.org/rfc/rfc8314#section-3.3
	ImplicitTLS

	// NoEncryption is for servers on loopback; see Options.DangerouslyAllowPlaintext.
	NoEncryption
)

const (
	portSubmission = 587
	portTLS        = 465

	defaultTimeout = 10 * time.Second
)

func (o *Options) complete() error {
	if o.Host == "" || strings.ContainsAny(o.Host, " \t\r\n/@") {
		return fmt.Errorf("smtp: Options.Host is %q: set it to the name of the mail server", o.Host)
	}
	if o.Encryption == ByPort && o.Port == portTLS {
		o.Encryption = ImplicitTLS
	}
	if o.Port == 0 {
		o.Port = portSubmission
		if o.Encryption == ImplicitTLS {
			o.Port = portTLS
		}
	}
	o.Timeout = cmp.Or(o.Timeout, defaultTimeout)
	switch {
	case o.Port < 0 || o.Port > 65535:
		return fmt.Errorf("smtp: Options.Port is %d: ports are between 1 and 65535", o.Port)
	case o.Timeout < 0:
		return errors.New("smtp: Options.Timeout is negative; zero means 10 seconds")
	case o.Encryption < ByPort || o.Encryption > NoEncryption:
		return fmt.Errorf("smtp: Options.Encryption is %d: use one of the constants", o.Encryption)
	case o.Username == "" && o.Password != "":
		return errors.New("smtp: Options.Password is set and Options.Username is not")
	}
	if o.Encryption == NoEncryption && !o.onLoopback() {
		if !o.DangerouslyAllowPlaintext {
			return fmt.Errorf("smtp: Options.Encryption is NoEncryption and %s is another machine, so an attacker on the network could sign in with the links: use STARTTLS or ImplicitTLS, or set Options.DangerouslyAllowPlaintext", o.Host)
		}
		if o.Username != "" {
			return fmt.Errorf("smtp: a password would go to %s unencrypted: use STARTTLS or ImplicitTLS, or no Options.Username", o.Host)
		}
	}
	if o.From != "" {
		if _, err := parseSender(o.From); err != nil {
			return fmt.Errorf("smtp: Options.From: %w", err)
		}
	}
	return nil
}

// onLoopback reports whether the server is on this machine.
func (o *Options) onLoopback() bool { return isLoopback(o.Host) }

// parseSender reads "Name <address>", which comes from the host's configuration.
func parseSender(from string) (*mail.Address, error) {
	sender, err := mail.ParseAddress(from)
	if err != nil {
		return nil, fmt.Errorf("%q is not an address such as %q: %w", from, "App <no-reply@app.example.com>", err)
	}
	if err := checkAddress(sender.Address); err != nil {
		return nil, fmt.Errorf("%q %w", from, err)
	}
	return sender, nil
}

// LogValue omits the password.
func (o Options) LogValue() slog.Value {
	return slog.GroupValue(slog.String("host", o.Host), slog.Int("port", o.Port), slog.String("username", o.Username))
}

// String omits the password, for all verbs of package fmt.
func (o Options) String() string { return fmt.Sprintf("{%s:%d %s}", o.Host, o.Port, o.Username) }

// GoString is String for the verb %#v.
func (o Options) GoString() string { return "smtp.Options" + o.String() }
