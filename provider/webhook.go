package provider

import (
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/loopback"
)

// WebhookOptions are the options of [Webhook].
type WebhookOptions struct {
	MailOptions

	// URL is your address that accepts the message. It must have https, because
	// a reader of the message can sign in; http is accepted on this machine.
	URL string
}

// Webhook signs users in with mail links that your own service sends: it receives
// a JSON object with from, to, subject, text, html, url, expires (RFC 3339) and
// provider, with the key, which is AUTH_WEBHOOK_KEY, as a bearer token. Any status
// but 2xx means that the service did not accept the mail.
//
// https://www.rfc-editor.org/rfc/rfc6750#section-2.1
func Webhook(o WebhookOptions) *pintle.Email {
	p := o.apply("webhook", "Email", func(key string, m *pintle.Message) (apiRequest, error) {
		body := mailMembers(m.From, m)
		body["url"], body["expires"], body["provider"] = m.URL, m.Expires.UTC().Format(time.RFC3339), m.Provider
		return apiRequest{endpoint: endpoint(o.URL), body: body}.with("Authorization", "Bearer "+key), nil
	})
	complete := p.Complete
	p.Complete = func(p *pintle.Email, c *http.Client) error {
		u, err := url.Parse(o.URL)
		if err != nil || u.Host == "" || u.Scheme != "https" && (u.Scheme != "http" || !loopback.Host(u.Hostname())) {
			return errors.New("WebhookOptions.URL is not an https address")
		}
		return complete(p, c)
	}
	return p
}
