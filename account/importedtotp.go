package account

import (
	"errors"
	"fmt"
	"time"

	"github.com/pintleauth/pintle/accountstore"
)

// A TOTPSealer makes the rows of authenticator apps that users have added in another
// system. Package userimport uses it. It may be used concurrently.
type TOTPSealer struct{ box *totpBox }

// NewTOTPSealer returns a sealer for the configuration with these [pintle.Config].Secrets,
// the one that seals first, and this [pintle.Config].Tenant.
func NewTOTPSealer(secrets []string, tenant string) (*TOTPSealer, error) {
	if len(secrets) == 0 {
		return nil, errors.New("account: the secrets of authenticator apps cannot be sealed without the secrets of the configuration")
	}
	box, err := newTOTPBox(secrets, (&boxes{tenant: tenant}).totpPurpose())
	if err != nil {
		return nil, fmt.Errorf("account: %w", err)
	}
	return &TOTPSealer{box}, nil
}

// importedID is the ID of an imported app. An import that is repeated after it was
// interrupted finds the row that it has stored.
const importedID = "imported"

// Factor returns the row of an authenticator app, for [accountstore.Store].AddFactor. The app
// has the secret, 10 to 128 bytes, and shows codes as new apps do: SHA-1, six digits, 30
// seconds. The address of the user has to be proven: otherwise an attacker who has signed up
// in the other system with the address of another user would keep that user out.
func (s *TOTPSealer) Factor(userID string, secret []byte, created time.Time) (*accountstore.Factor, error) {
	if len(secret) < 10 || len(secret) > 128 {
		return nil, fmt.Errorf("account: the secret of an authenticator app has %d bytes: 10 to 128 are allowed", len(secret))
	}
	text, err := s.box.seal(userID, importedID, secret)
	if err != nil {
		return nil, fmt.Errorf("account: %w", err)
	}
	return &accountstore.Factor{
		UserID: userID, Kind: factorTOTP, ID: importedID, Secret: text, Name: "Authenticator", Created: created.UTC().Truncate(time.Millisecond),
	}, nil
}
