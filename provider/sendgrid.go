package provider

import (
	"net/mail"

	"github.com/pintleauth/pintle"
)

// SendGrid signs users in with mail links that SendGrid sends. The key is
// AUTH_SENDGRID_KEY. Click tracking, if it is on, rewrites the link: turn it off.
//
// https://www.twilio.com/docs/sendgrid/api-reference/mail-send/mail-send
func SendGrid(o MailOptions) *pintle.Email {
	type list = []map[string]any
	return o.sending("sendgrid", "SendGrid", func(key string, from *mail.Address, m *pintle.Message) apiRequest {
		address := map[string]any{"email": from.Address}
		if from.Name != "" {
			address["name"] = from.Name
		}
		q := apiRequest{endpoint: endpoint("https://api.sendgrid.com/v3/mail/send"), body: map[string]any{
			"personalizations": list{{"to": list{{"email": m.To}}}},
			"from":             address,
			"subject":          m.Subject,
			// The service requires the plain text first.
			"content": list{{"type": "text/plain", "value": m.Text}, {"type": "text/html", "value": m.HTML}},
		}}
		return q.with("Authorization", "Bearer "+key)
	})
}
