package provider

import (
	"encoding/base64"
	"net/mail"

	"github.com/pintleauth/pintle"
)

// ForwardEmail signs users in with mail links that Forward Email sends. The
// key is AUTH_FORWARDEMAIL_KEY.
//
// https://forwardemail.net/en/email-api#create-outbound-smtp-email
func ForwardEmail(o MailOptions) *pintle.Email {
	return o.sending("forwardemail", "Forward Email", func(key string, from *mail.Address, m *pintle.Message) apiRequest {
		q := apiRequest{endpoint: endpoint("https://api.forwardemail.net/v1/emails"), body: mailMembers(sender(from), m)}
		return q.with("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(key+":")))
	})
}
