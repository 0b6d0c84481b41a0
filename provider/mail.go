package provider

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/mail"
	"strings"
	"time"

	"github.com/pintleauth/pintle"
)

// MailOptions are the options of services that send the mails of
// [pintle.Email].
type MailOptions struct {
	// ID replaces the provider's id.
	ID string

	// From is the sender, as an address or as Name <address>. It must be
	// registered at the service.
	From string

	// APIKey is the key of the service. An empty one is read from
	// AUTH_{ID}_KEY.
	APIKey string
}

// mailTimeout bounds a request to a service, body included.
const mailTimeout = 10 * time.Second

// apply returns a provider that sends each message by the request that request
// returns.
func (o MailOptions) apply(id, name string, request func(key string, m *pintle.Message) (apiRequest, error)) *pintle.Email {
	return &pintle.Email{
		ID: cmp.Or(o.ID, id), Name: name, From: o.From, APIKey: o.APIKey,
		Complete: func(p *pintle.Email, c *http.Client) error {
			if p.APIKey == "" {
				return fmt.Errorf("the key of %s is missing: set MailOptions.APIKey or AUTH_%s_KEY", name, variable(&pintle.OAuth{ID: p.ID}))
			}
			client := *c
			client.Jar, client.Timeout = nil, mailTimeout
			client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
			key := p.APIKey
			p.Send = func(ctx context.Context, m *pintle.Message) error {
				q, err := request(key, m)
				if err == nil {
					err = q.deliver(ctx, &client)
				}
				if err != nil {
					return fmt.Errorf("%s: %w", name, conceal(err, key, m.URL, m.Token))
				}
				return nil
			}
			return nil
		},
	}
}

// sending is apply for services that require the sender in every message.
func (o MailOptions) sending(id, name string, request func(key string, from *mail.Address, m *pintle.Message) apiRequest) *pintle.Email {
	p := o.apply(id, name, func(key string, m *pintle.Message) (apiRequest, error) {
		from, err := mail.ParseAddress(m.From)
		if err != nil {
			return apiRequest{}, errors.New("MailOptions.From is not an address: set it to one that is registered at the service")
		}
		return request(key, from, m), nil
	})
	complete := p.Complete
	p.Complete = func(p *pintle.Email, c *http.Client) error {
		if _, err := mail.ParseAddress(p.From); err != nil {
			return errors.New("MailOptions.From is not an address: set it to one that is registered at the service")
		}
		return complete(p, c)
	}
	return p
}

// sender writes an address in the form that services display: without the brackets
// that a bare one would get.
func sender(a *mail.Address) string {
	if a.Name == "" {
		return a.Address
	}
	return a.String()
}

// conceal returns err without secrets in its text: services repeat parts of the
// request.
func conceal(err error, secrets ...string) error {
	text := err.Error()
	for _, secret := range secrets {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "[concealed]")
		}
	}
	if text == err.Error() {
		return err
	}
	return errors.New(text)
}
