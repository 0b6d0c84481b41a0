package authtest

import (
	"context"
	"net/mail"
	"time"

	"github.com/pintleauth/pintle"
)

// Send puts a mail of the application into the mailbox, without SMTP. Use it in an
// [pintle.Email] provider in tests that are not about SMTP:
//
//	box := authtest.NewMailbox(authtest.MailboxOptions{})
//	cfg.Providers = []pintle.Provider{&pintle.Email{From: "no-reply@example.com", Send: box.Send}}
//
// The message has no Raw. The error is always nil.
func (m *Mailbox) Send(_ context.Context, sent *pintle.Message) error {
	m.put(&Message{
		From: sent.From, To: []string{sent.To},
		Header:  mail.Header{"From": {sent.From}, "To": {sent.To}, "Subject": {sent.Subject}},
		Subject: sent.Subject, Text: sent.Text, HTML: sent.HTML,
		Code: sent.Code, Time: time.Now(),
	})
	return nil
}
