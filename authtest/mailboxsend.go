package authtest

import (
	"context"
	"net/mail"
	"time"

	"github.com/pintleauth/pintle"
)

// Send puts a mail into the mailbox as the application hands it over, without
// SMTP. It is what an [pintle.Email] provider sends with in a test that is not
// about sending:
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
		Time: time.Now(),
	})
	return nil
}
