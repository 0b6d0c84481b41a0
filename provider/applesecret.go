package provider

import (
	"context"
	"crypto/ecdsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/handshake"
)

// appleSecretAge is how long a client secret lives. Apple allows six months;
// one that is made for a single exchange needs only to arrive.
const appleSecretAge = 5 * time.Minute

// signSecrets has the client secret made for each exchange, if there is a key.
//
// https://developer.apple.com/documentation/accountorganizationaldatasharing/creating-a-client-secret
func (o AppleOptions) signSecrets(own *pintle.OAuth) error {
	if o.PrivateKey == "" && o.TeamID == "" && o.KeyID == "" {
		return nil
	}
	if o.PrivateKey == "" || o.TeamID == "" || o.KeyID == "" {
		return errors.New("AppleOptions: TeamID, KeyID and PrivateKey belong together: set all of them, or ClientSecret")
	}
	key, err := appleKey(o.PrivateKey)
	if err != nil {
		return fmt.Errorf("AppleOptions.PrivateKey: %w", err)
	}
	clientID := own.ClientID
	own.Quirks.ClientSecret = func(context.Context) (string, error) {
		now := time.Now()
		return handshake.SignJWT(key, o.KeyID, map[string]any{
			"iss": o.TeamID, "sub": clientID, "aud": "https://appleid.apple.com",
			"iat": now.Unix(), "exp": now.Add(appleSecretAge).Unix(),
		})
	}
	return nil
}

func appleKey(text string) (*ecdsa.PrivateKey, error) {
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return nil, errors.New("it is not the text of a .p8 file, which begins with -----BEGIN PRIVATE KEY-----")
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, errors.New("it holds no PKCS #8 key")
	}
	ec, ok := key.(*ecdsa.PrivateKey)
	if !ok || ec.Curve.Params().BitSize != 256 {
		return nil, errors.New("it is not a key for ES256")
	}
	return ec, nil
}
