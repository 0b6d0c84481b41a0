package provider

import (
	"net/mail"

	"github.com/pintleauth/pintle"
)

// Postmark signs users in with mail links that Postmark sends, through its
// message stream "outbound". The key is AUTH_POSTMARK_KEY, a server token.
//
// https://postmarkapp.com/developer/api/email-api
func Postmark(o MailOptions) *pintle.Email {
	return o.sending("postmark", "Postmark", func(key string, from *mail.Address, m *pintle.Message) apiRequest {
		q := apiRequest{endpoint: endpoint("https://api.postmarkapp.com/email"), body: map[string]any{
			"From": sender(from), "To": m.To, "Subject": m.Subject, "TextBody": m.Text, "HtmlBody": m.HTML,
			"MessageStream": "outbound",
		}}
		return q.with("X-Postmark-Server-Token", key)
	})
}
