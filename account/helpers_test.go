package account_test

import (
	"crypto/sha1"
	"encoding/hex"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/provider"
)

// withGitHub adds a provider that is never asked.
func withGitHub(c *pintle.Config, _ *account.Options) {
	c.Providers = append(c.Providers, provider.GitHub(provider.Options{ClientID: "id", ClientSecret: "secret"}))
}

// link stores an account of a provider.
func (s *site) link(u *pintle.User, id string) {
	s.t.Helper()
	err := s.store.LinkAccount(s.t.Context(), &pintle.Account{
		UserID: u.ID, Type: pintle.TypeOAuth, Provider: id, ProviderAccountID: "1 " + u.ID,
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

// addTOTP stores an authenticator app whose secret cannot be opened.
func (s *site) addTOTP(userID string) {
	s.t.Helper()
	err := s.rows.AddFactor(s.t.Context(), &accountstore.Factor{
		UserID: userID, Kind: "totp", ID: "1", Secret: "sealed", Created: time.Now().UTC().Truncate(time.Millisecond),
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

// postQuietly posts a form from another goroutine.
func (b *browser) postQuietly(path, token string, pairs ...string) {
	form := url.Values{"csrfToken": {token}}
	for i := 0; i < len(pairs); i += 2 {
		form.Set(pairs[i], pairs[i+1])
	}
	r, err := http.NewRequestWithContext(b.t.Context(), http.MethodPost, b.server.URL+path, strings.NewReader(form.Encode()))
	if err != nil {
		b.t.Error(err)
		return
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	client := *b.client
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := client.Do(r)
	if err != nil {
		b.t.Error(err)
		return
	}
	_ = resp.Body.Close()
	b.status = resp.StatusCode
}

func sha1Hex(text string) string {
	sum := sha1.Sum([]byte(text))
	return strings.ToUpper(hex.EncodeToString(sum[:]))
}
