package provider

import (
	"errors"
	"net/http"

	"github.com/pintleauth/pintle"
)

// LoopsOptions are the options of [Loops].
type LoopsOptions struct {
	MailOptions

	// TransactionalID is the id of the mail at Loops, whose text is written
	// there. The link is its data variable "url".
	TransactionalID string
}

// Loops signs users in with mail links that Loops sends. The key is
// AUTH_LOOPS_KEY. Sender, subject and text are those of the mail at Loops.
//
// https://loops.so/docs/api-reference/send-transactional-email
func Loops(o LoopsOptions) *pintle.Email {
	p := o.apply("loops", "Loops", func(key string, m *pintle.Message) (apiRequest, error) {
		q := apiRequest{endpoint: endpoint("https://app.loops.so/api/v1/transactional"), body: map[string]any{
			"transactionalId": o.TransactionalID, "email": m.To, "dataVariables": map[string]string{"url": m.URL},
		}}
		return q.with("Authorization", "Bearer "+key), nil
	})
	complete := p.Complete
	p.Complete = func(p *pintle.Email, c *http.Client) error {
		if o.TransactionalID == "" {
			return errors.New("LoopsOptions.TransactionalID is empty: set it to the id of the mail at Loops")
		}
		return complete(p, c)
	}
	return p
}
