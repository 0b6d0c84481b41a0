package smtp

import (
	"context"
	"fmt"

	"github.com/pintleauth/pintle"
)

// A Sender sends mails through a mail server. Its methods may be called
// concurrently. It opens a connection for each mail, since sign-in mails are too
// rare for servers to keep one open.
type Sender struct {
	opts Options
}

// New checks o and returns a sender. It opens no connection.
func New(o Options) (*Sender, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	if o.TLSConfig != nil {
		o.TLSConfig = o.TLSConfig.Clone()
	}
	return &Sender{opts: o}, nil
}

// Send delivers m to the server, as [pintle.Email.Send] requires. It returns nil
// when the server has accepted the mail. Otherwise it returns an error that names
// what to change, at the latest after [Options.Timeout] or when ctx ends.
func (s *Sender) Send(ctx context.Context, m *pintle.Message) error {
	msg, err := s.compose(m)
	if err != nil {
		return fmt.Errorf("smtp: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, s.opts.Timeout)
	defer cancel()
	if err := s.deliver(ctx, msg); err != nil {
		return s.explain(ctx, err)
	}
	return nil
}
