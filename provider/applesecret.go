package provider

import (
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/handshake"
	"github.com/pintleauth/pintle/oauth"
)

// appleSecretAge is how long a client secret lives. Apple allows six months;
// one that is made for a single exchange needs only to arrive.
const appleSecretAge = 5 * time.Minute

// signSecrets has the client secret made for each exchange, if there is a key.
//
// https://developer.apple.com/documentation/accountorganizationaldatasharing/creating-a-client-secret
//
// Applications hash the nonce, as Apple's examples do, and exchange their codes with a
// secret for the id of their bundle.
func (o AppleOptions) signSecrets(own *pintle.OAuth) error {
	takes := &own.AcceptIDTokens
	if len(takes.Audiences) > 0 {
		takes.NonceHash = cmp.Or(takes.NonceHash, oauth.NonceSHA256Hex)
	}
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
	sign := func(_ context.Context, clientID string) (string, error) {
		now := time.Now()
		return handshake.SignJWT(key, o.KeyID, map[string]any{
			"iss": o.TeamID, "sub": clientID, "aud": "https://appleid.apple.com",
			"iat": now.Unix(), "exp": now.Add(appleSecretAge).Unix(),
		})
	}
	clientID := own.ClientID
	own.Quirks.ClientSecret = func(ctx context.Context) (string, error) { return sign(ctx, clientID) }
	if len(takes.Audiences) > 0 && takes.ClientSecret == nil {
		takes.ClientSecret = sign
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
