package pintle

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/pintleauth/pintle/internal/seal"
)

// accountSalt keeps the keys of stored tokens apart from those of cookies.
const accountSalt = "pintle.account-tokens"

// sealedPrefix begins every sealed token; no provider's token begins so.
const sealedPrefix = "pintle:"

// sealTokens seals the access, refresh and ID tokens of an account before the
// store sees them, so that a copy of the database gives no access to the
// providers. Each is bound to its account and column: an attacker who can write
// rows must not be able to use the token of another user by copying it.
func (s *settings) sealTokens(a *Account) *Account {
	if !s.SealAccountTokens {
		return a
	}
	sealed := a.clone()
	for _, column := range sealed.secretColumns() {
		if *column.token != "" {
			bound := append(sealed.place(column.name), *column.token...)
			*column.token = sealedPrefix + string(s.accountKeys.AppendSeal(nil, bound))
		}
	}
	return sealed
}

// unsealTokens opens what sealTokens sealed. What was stored before sealing was
// turned on is returned as it is.
func (s *settings) unsealTokens(a *Account) (*Account, error) {
	opened := a.clone()
	for _, column := range opened.secretColumns() {
		sealed, ok := strings.CutPrefix(*column.token, sealedPrefix)
		if !ok {
			continue
		}
		text, err := s.accountKeys.Open(nil, sealed)
		if err != nil {
			return nil, fail(CodeConfiguration, fmt.Errorf("a stored token of provider %s cannot be opened: Config.Secrets no longer has the secret it was sealed with", a.Provider))
		}
		token, here := bytes.CutPrefix(text, opened.place(column.name))
		if !here {
			return nil, fail(CodeConfiguration, fmt.Errorf("the stored %s of an account at provider %s was sealed for another account or column: the row was changed by other means than Pintle", column.name, a.Provider))
		}
		*column.token = string(token)
	}
	return opened, nil
}

// A secretColumn is a token of an account and the name of its column.
type secretColumn struct {
	name  string
	token *string
}

func (a *Account) secretColumns() [5]secretColumn {
	return [...]secretColumn{
		{"access_token", &a.AccessToken},
		{"refresh_token", &a.RefreshToken},
		{"id_token", &a.IDToken},
		{"oauth_token", &a.OAuthToken},
		{"oauth_token_secret", &a.OAuthTokenSecret},
	}
}

// place identifies a column of an account. It is a hash, of which 128 bits are
// as hard to hit again as a key of that length, so that every sealed token grows
// by the same amount. The lengths keep two places from being spelled alike.
func (a *Account) place(column string) []byte {
	hash := sha256.Sum256(fmt.Appendf(nil, "%d:%s %d:%s %s", len(a.Provider), a.Provider, len(a.ProviderAccountID), a.ProviderAccountID, column))
	return hash[:16]
}

func (s *settings) resolveAccountKeys() *Error {
	if len(s.Secrets) == 0 {
		return nil // resolveSecrets reports it
	}
	keys, err := seal.New(s.Secrets, accountSalt)
	if err != nil {
		return fail(CodeConfiguration, err)
	}
	s.accountKeys = keys
	return nil
}
