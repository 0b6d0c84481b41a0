package account_test

import (
	"context"
	"sync"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
)

func TestAnObserverSeesTheMailsOfAccounts(t *testing.T) {
	var mu sync.Mutex
	var kinds []string
	s := newSite(t, false, func(cfg *pintle.Config, _ *account.Options) {
		cfg.Observer.Mail = func(send func(context.Context, *pintle.Message) error) func(context.Context, *pintle.Message) error {
			return func(ctx context.Context, m *pintle.Message) error {
				mu.Lock()
				kinds = append(kinds, m.Kind)
				mu.Unlock()
				return send(ctx, m)
			}
		}
	})
	s.browser().signUp("ada@example.com")
	mail := s.lastMail()
	mu.Lock()
	defer mu.Unlock()
	if len(kinds) != 1 || kinds[0] != mail.Kind {
		t.Errorf("the observer sees mails of the kinds %q, and %q was sent", kinds, mail.Kind)
	}
}
