package smtp

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/textproto"
	"regexp"
	"strconv"
)

// A stage is a part of the conversation with the server.
type stage string

const (
	connecting      stage = "connecting"
	greeting        stage = "greeting the server"
	encrypting      stage = "starting TLS"
	authenticating  stage = "signing in to the server"
	namingSender    stage = "naming the sender"
	namingRecipient stage = "naming the recipient"
	handingOver     stage = "handing the mail over"
)

// A failure is an error and the stage of the conversation in which it happened.
type failure struct {
	stage stage
	err   error
}

func (f *failure) Error() string { return string(f.stage) + ": " + f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// A Refusal is a server's negative reply to a command. Code has the three digits
// of the reply; a failure whose code begins with 4 is temporary.
//
// The text of the reply is left out: servers repeat the recipient's address in it,
// and spam filters the link.
//
// https://www.rfc-editor.org/rfc/rfc5321#section-4.2.1
type Refusal struct {
	Code int

	// Enhanced is the more exact code, such as "5.1.1", if there is one.
	//
	// https://www.rfc-editor.org/rfc/rfc3463
	Enhanced string

	// Recipient reports that the server refused to take mail for the recipient,
	// rather than from this sender or at all.
	Recipient bool
}

// RecipientRefused reports that the address of the recipient does not exist or
// takes no mail, for good. Package pintle logs such a mail at a lower level: it is
// what a person typed, and nothing that the operator can repair.
func (r *Refusal) RecipientRefused() bool { return r.Recipient && !r.Temporary() }

// badMailbox matches the enhanced codes of a bad destination. 5.1.7 and 5.1.8 are
// about the sender. A refusal to relay, which a setting causes, is 5.7.1.
//
// https://www.rfc-editor.org/rfc/rfc3463#section-3.2
var badMailbox = regexp.MustCompile(`^5\.1\.([0-6]|9|10)$`)

func (r *Refusal) Error() string {
	if r.Enhanced == "" {
		return "the server answered " + strconv.Itoa(r.Code)
	}
	return fmt.Sprintf("the server answered %d %s", r.Code, r.Enhanced)
}

// Temporary reports whether the server may accept the same mail later.
func (r *Refusal) Temporary() bool { return r.Code >= 400 && r.Code < 500 }

// explain returns an error for the operator's log: the stage, the reason, and what
// to change.
func (s *Sender) explain(ctx context.Context, err error) error {
	where := "smtp: send mail through " + net.JoinHostPort(s.opts.Host, strconv.Itoa(s.opts.Port))
	f, ok := errors.AsType[*failure](err)
	if !ok {
		return fmt.Errorf("%s: %w", where, err)
	}
	cause := f.err
	if answer, ok := errors.AsType[*textproto.Error](cause); ok {
		refused := refusal(answer)
		refused.Recipient = f.stage == namingRecipient && badMailbox.MatchString(refused.Enhanced)
		cause = refused
	} else if _, odd := errors.AsType[textproto.ProtocolError](cause); odd {
		cause = errNotSMTP // the error repeats the text of the server
	} else if ended := ctx.Err(); ended != nil {
		cause = ended // and not the error of the connection that was closed because of it
	}
	hint := s.hint(f.stage, cause)
	if hint == "" {
		return fmt.Errorf("%s: %s: %w", where, f.stage, cause)
	}
	return fmt.Errorf("%s: %s: %w: %s", where, f.stage, cause, hint)
}

var errNotSMTP = errors.New("the peer is not a mail server")

var enhancedCode = regexp.MustCompile(`^[245]\.\d{1,3}\.\d{1,3}\b`)

func refusal(answer *textproto.Error) *Refusal {
	return &Refusal{Code: answer.Code, Enhanced: enhancedCode.FindString(answer.Msg)}
}

// hint returns what the operator can do.
func (s *Sender) hint(at stage, cause error) string {
	refused, _ := errors.AsType[*Refusal](cause)
	_, unknownCA := errors.AsType[x509.UnknownAuthorityError](cause)
	_, wrongName := errors.AsType[x509.HostnameError](cause)
	_, notTLS := errors.AsType[tls.RecordHeaderError](cause)
	switch {
	case errors.Is(cause, context.DeadlineExceeded):
		return fmt.Sprintf("check that the server can be reached from here, or raise Options.Timeout (%s)", s.opts.Timeout)
	case errors.Is(cause, context.Canceled):
		return "the request that caused the mail has ended"
	case unknownCA:
		return "if the server's certificate is from an authority of your own, set Options.TLSConfig with its RootCAs"
	case wrongName:
		return "set Options.Host to the name in the server's certificate"
	case notTLS:
		return "the server does not speak TLS on this port: use STARTTLS, or the port for TLS, mostly 465"
	case errors.Is(cause, errNotSMTP), at == connecting:
		return "check that the server runs, and Options.Host and Options.Port or the URL"
	case errors.Is(cause, errNoSTARTTLS):
		return "use ImplicitTLS with the port for it, mostly 465, or NoEncryption for a server on loopback"
	case at == authenticating && refused != nil && !refused.Temporary():
		return "check Options.Username and Options.Password; many services want a password made for applications"
	case at == namingSender && refused != nil && !refused.Temporary():
		return "the server lets this account send from other addresses: check From of pintle.Email or account.Options"
	case at == namingRecipient && refused != nil && !refused.Temporary():
		return "there is no such mailbox, or the server wants Options.Username before it relays mail"
	case refused != nil && refused.Temporary():
		return "the server may take the mail later"
	}
	return ""
}
