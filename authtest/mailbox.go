package authtest

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"time"
)

// MailboxOptions describe a [Mailbox]. Every zero value is a working default:
// a server that requires neither TLS nor a password.
type MailboxOptions struct {
	// Addr is where [Mailbox.Listen] listens, always on a loopback address.
	// Empty means "127.0.0.1:0".
	Addr string

	// STARTTLS offers encryption with a certificate for localhost, 127.0.0.1
	// and ::1 that [Mailbox.CertPool] verifies, and rejects mail without
	// encryption.
	STARTTLS bool

	// Username and Password are required by AUTH PLAIN. Without a Username
	// clients need not authenticate.
	Username, Password string
}

// A Mailbox accepts every mail for every address and keeps it in memory. Mail
// comes by SMTP after [Mailbox.Listen] is called, or by [Mailbox.Deliver]. Its
// methods may be called concurrently.
type Mailbox struct {
	// Addr is the host and port of the SMTP server. Listen sets it.
	Addr string

	opts MailboxOptions
	cert mailCertificates

	mu       sync.Mutex // guards the fields below
	closed   bool
	listener net.Listener
	conns    map[net.Conn]struct{}
	faults   []MailFault
	arrived  []*Message
	taken    map[*Message]bool // by Wait
	news     chan struct{}     // closed when mail arrives, and replaced
}

// maxMailbox bounds the mails of a mailbox that runs for days.
const maxMailbox = 1000

// NewMailbox returns an empty mailbox that does not listen yet.
func NewMailbox(opts MailboxOptions) *Mailbox {
	opts.Addr = cmp.Or(opts.Addr, "127.0.0.1:0")
	return &Mailbox{
		opts:  opts,
		conns: map[net.Conn]struct{}{},
		taken: map[*Message]bool{},
		news:  make(chan struct{}),
	}
}

// Listen accepts mail by SMTP on the mailbox's address, sets Addr, and returns.
// It rejects addresses that other machines can reach. The caller ends it with
// [Mailbox.Close].
func (m *Mailbox) Listen() error {
	if m.opts.STARTTLS {
		certificates, err := newMailCertificates()
		if err != nil {
			return fmt.Errorf("authtest: make a certificate for the mailbox: %w", err)
		}
		m.cert = certificates
	}
	listener, err := listenLoopback(m.opts.Addr)
	if err != nil {
		return err
	}
	m.Addr, m.listener = listener.Addr().String(), listener
	go m.accept(listener)
	return nil
}

func (m *Mailbox) accept(listener net.Listener) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				return
			}
			time.Sleep(10 * time.Millisecond) // out of descriptors, most likely
			continue
		}
		if !m.enter(conn) {
			conn.Close()
			return
		}
		go func() {
			defer m.leave(conn)
			newSMTPSession(m, conn).serve()
		}()
	}
}

// enter and leave keep the list of connections that Close ends.
func (m *Mailbox) enter(conn net.Conn) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return false
	}
	m.conns[conn] = struct{}{}
	return true
}

func (m *Mailbox) leave(conn net.Conn) {
	conn.Close()
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.conns, conn)
}

// Close stops the server of Listen and closes its connections. The mail stays.
func (m *Mailbox) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.listener == nil || m.closed {
		return nil
	}
	m.closed = true
	for conn := range m.conns {
		conn.Close()
	}
	return m.listener.Close()
}

// CertPool returns the authorities to trust for STARTTLS, or nil when the
// mailbox does not listen with it.
func (m *Mailbox) CertPool() *x509.CertPool { return m.cert.pool }

// Deliver puts a mail into the mailbox without SMTP: raw is the message as
// RFC 5322 has it, from and to are the envelope. It fails when raw cannot be
// read as a mail with a text.
func (m *Mailbox) Deliver(from string, to []string, raw []byte) error {
	message, err := readMessage(raw)
	if err != nil {
		return fmt.Errorf("authtest: deliver: %w", err)
	}
	message.From, message.To = from, slices.Clone(to)
	m.put(message)
	return nil
}

func (m *Mailbox) put(message *Message) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.arrived) == maxMailbox {
		delete(m.taken, m.arrived[0])
		m.arrived = slices.Delete(m.arrived, 0, 1)
	}
	m.arrived = append(m.arrived, message)
	close(m.news)
	m.news = make(chan struct{})
}

// Wait returns the oldest mail for the address to that no Wait has returned yet. If
// there is no such mail, it waits for one. The case of letters does not matter. If
// ctx ends first, the error wraps that of ctx and lists the addresses that have
// mail.
func (m *Mailbox) Wait(ctx context.Context, to string) (*Message, error) {
	for {
		message, news := m.take(to)
		if message != nil {
			return message, nil
		}
		select {
		case <-news:
		case <-ctx.Done():
			return nil, fmt.Errorf("authtest: no mail for %q, but for %q: %w", to, m.recipients(), context.Cause(ctx))
		}
	}
}

// take returns a mail for to, or a channel to wait for the next mail.
func (m *Mailbox) take(to string) (*Message, <-chan struct{}) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, message := range m.arrived {
		if !m.taken[message] && message.isFor(to) {
			m.taken[message] = true
			return message, nil
		}
	}
	return nil, m.news
}

func (m *Mailbox) recipients() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []string
	for _, message := range m.arrived {
		all = append(all, message.To...)
	}
	return all
}

// Messages returns all mail, oldest first, whether Wait has returned it or not. Only
// the last 1000 are kept.
func (m *Mailbox) Messages() []*Message {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.arrived)
}

// Empty throws all mail away.
func (m *Mailbox) Empty() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.arrived = nil
	clear(m.taken)
}

func (m *Message) isFor(address string) bool {
	return slices.ContainsFunc(m.To, func(to string) bool { return strings.EqualFold(to, address) })
}
