package authtest

// A TB is the part of testing.TB that the Start functions need. It keeps the
// testing package out of programs that import this one.
type TB interface {
	Helper()
	Cleanup(func())
	Fatalf(format string, args ...any)
}

// Start returns a provider that listens until the test ends.
func Start(tb TB, opts Options) *IdentityProvider {
	tb.Helper()
	p := NewIdentityProvider(opts)
	if err := p.Listen(); err != nil {
		tb.Fatalf("start the identity provider: %v", err)
	}
	tb.Cleanup(func() { p.Close() })
	return p
}

// StartMailbox returns a mailbox that accepts mail by SMTP until the test ends.
func StartMailbox(tb TB, opts MailboxOptions) *Mailbox {
	tb.Helper()
	m := NewMailbox(opts)
	if err := m.Listen(); err != nil {
		tb.Fatalf("start the mailbox: %v", err)
	}
	tb.Cleanup(func() { m.Close() })
	return m
}
