package account

import (
	"context"
	"time"

	"github.com/pintleauth/pintle/accountstore"
)

// GiveTOTP stores an authenticator app of a user and returns its secret.
func (a *Accounts) GiveTOTP(ctx context.Context, userID string) ([]byte, error) {
	secret, row := newTOTPSecret(), newToken()[:16]
	text, err := a.boxes.totp.seal(userID, row, secret)
	if err != nil {
		return nil, err
	}
	return secret, a.rows.AddFactor(ctx, &accountstore.Factor{
		UserID: userID, Kind: factorTOTP, ID: row, Name: "phone", Secret: text,
		Created: time.Now().Add(-time.Hour).UTC().Truncate(time.Millisecond),
	})
}

// GiveRecoveryCodes stores recovery codes of a user and returns them.
func (a *Accounts) GiveRecoveryCodes(ctx context.Context, userID string) ([]string, error) {
	codes := newRecoveryCodes()
	rows, err := a.hashCodes(ctx, userID, codes, time.Now().UTC().Truncate(time.Millisecond))
	for _, row := range rows {
		if err == nil {
			err = a.rows.AddFactor(ctx, row)
		}
	}
	return codes, err
}

// TOTPCode returns the code of an app, a number of time steps from now.
func TOTPCode(secret []byte, steps int64) string { return totpCode(secret, totpStep(time.Now())+steps) }

// RoutesOf lists the pages of accounts, and who may use them: "anyone", "users", "proven".
func (a *Accounts) RoutesOf() map[string]string {
	who := map[string]string{}
	for name, r := range a.routes {
		who[name] = [...]string{"anyone", "users", "proven"}[r.who]
	}
	return who
}
