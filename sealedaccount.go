package pintle

import (
	"fmt"
	"strings"

	"github.com/pintleauth/pintle/internal/seal"
)

// accountSalt keeps the keys of stored tokens apart from those of cookies.
const accountSalt = "pintle.account-tokens"

// sealedPrefix begins every sealed token; no provider's token begins so.
const sealedPrefix = "pintle:"

// sealTokens seals the access, refresh and ID tokens of an account before
// the store sees them, so that a copy of the database gives nobody access to
// the providers.
func (s *settings) sealTokens(a *Account) *Account {
	if !s.SealAccountTokens {
		return a
	}
	sealed := a.clone()
	for _, field := range sealed.secretFields() {
		if *field != "" {
			*field = sealedPrefix + string(s.accountKeys.AppendSeal(nil, []byte(*field)))
		}
	}
	return sealed
}

// unsealTokens opens what sealTokens sealed. What was stored before sealing was
// turned on is returned as it is.
func (s *settings) unsealTokens(a *Account) (*Account, error) {
	opened := a.clone()
	for _, field := range opened.secretFields() {
		sealed, ok := strings.CutPrefix(*field, sealedPrefix)
		if !ok {
			continue
		}
		text, err := s.accountKeys.Open(nil, sealed)
		if err != nil {
			return nil, fail(ErrConfiguration, fmt.Errorf("a stored token of provider %s cannot be opened: Config.Secrets no longer has the secret it was sealed with", a.Provider))
		}
		*field = string(text)
	}
	return opened, nil
}

func (a *Account) secretFields() []*string {
	return []*string{&a.AccessToken, &a.RefreshToken, &a.IDToken, &a.OAuthToken, &a.OAuthTokenSecret}
}

func (s *settings) resolveAccountKeys() *Error {
	if len(s.Secrets) == 0 {
		return nil // resolveSecrets reports it
	}
	keys, err := seal.New(s.Secrets, accountSalt)
	if err != nil {
		return fail(ErrConfiguration, err)
	}
	s.accountKeys = keys
	return nil
}
