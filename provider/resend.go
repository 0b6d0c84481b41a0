package provider

import (
	"net/mail"

	"github.com/pintleauth/pintle"
)

// Resend signs users in with mail links that Resend sends. The key is
// AUTH_RESEND_KEY.
//
// https://resend.com/docs/api-reference/emails/send-email
func Resend(o MailOptions) *pintle.Email {
	return o.sending("resend", "Resend", func(key string, from *mail.Address, m *pintle.Message) apiRequest {
		q := apiRequest{endpoint: endpoint("https://api.resend.com/emails"), body: mailMembers(sender(from), m)}
		return q.with("Authorization", "Bearer "+key)
	})
}
