package throttle

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/pintleauth/pintle"
)

// Email returns a provider that sends mails through p within the limits of the
// guard. A mail too many is an error of [pintle.Email.Send]: the person sees
// that it was not sent. Links that were sent before go on working.
func (g *Guard) Email(p *pintle.Email) *pintle.Email {
	guarded := *p
	if complete := p.Complete; complete != nil {
		// The function that sends is only known when it is complete.
		guarded.Complete = func(p *pintle.Email, c *http.Client) error {
			if err := complete(p, c); err != nil {
				return err
			}
			g.guardSend(p)
			return nil
		}
		return &guarded
	}
	g.guardSend(&guarded)
	return &guarded
}

func (g *Guard) guardSend(p *pintle.Email) {
	send := p.Send
	if send == nil {
		return // which pintle.New refuses
	}
	p.Send = func(ctx context.Context, m *pintle.Message) error {
		client := g.client(m.Request)
		_, wait := take(
			attempt{&g.mailAddresses, mailbox(m.To), g.MailsPerAddress.or(5, 10*time.Minute)},
			attempt{&g.mailClients, client, g.MailsPerClient.or(100, time.Minute)},
		)
		if wait > 0 {
			return fmt.Errorf("%w from %s: the next mail can be sent in %s", ErrTooMany, client, wait.Round(time.Second))
		}
		return send(ctx, m)
	}
}

// mailbox is the name of a mailbox in one spelling. Many servers deliver what is
// addressed to ada+anything to ada.
func mailbox(address string) string {
	local, domain, _ := strings.Cut(account(address), "@")
	local, _, _ = strings.Cut(local, "+")
	return local + "@" + domain
}
