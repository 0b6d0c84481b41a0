package provider

import (
	"encoding/base64"
	"net/mail"
	"net/url"
	"strings"

	"github.com/pintleauth/pintle"
)

// MailgunOptions are the options of [Mailgun].
type MailgunOptions struct {
	MailOptions

	// EU sends through the European region, where the domain then has to be.
	EU bool

	// Domain is the domain at Mailgun. Empty means that of From.
	Domain string
}

// Mailgun signs users in with mail links that Mailgun sends. The key is
// AUTH_MAILGUN_KEY.
//
// https://documentation.mailgun.com/docs/mailgun/api-reference/send/mailgun/messages
func Mailgun(o MailgunOptions) *pintle.Email {
	host := "https://api.mailgun.net/v3/"
	if o.EU {
		host = "https://api.eu.mailgun.net/v3/"
	}
	return o.sending("mailgun", "Mailgun", func(key string, from *mail.Address, m *pintle.Message) apiRequest {
		domain := o.Domain
		if domain == "" {
			domain = from.Address[strings.LastIndex(from.Address, "@")+1:]
		}
		form := parts{{"from", sender(from)}, {"to", m.To}, {"subject", m.Subject}, {"html", m.HTML}, {"text", m.Text}}
		q := apiRequest{endpoint: endpoint(host + url.PathEscape(domain) + "/messages"), body: form}
		return q.with("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte("api:"+key)))
	})
}
