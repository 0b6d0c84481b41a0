package account

import (
	"context"
	"net/http"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/internal/sealed"
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

// Notify sends a notice about a request of a user.
func Notify(a *Accounts, r *http.Request, u *pintle.User, kind, value string) {
	a.visitOf(r).notify(kind, u, value, "forgot")
}

// KnownAs returns the value of the cookie of a browser that is known for users.
func KnownAs(a *Accounts, r *http.Request, userIDs ...string) string {
	v, before := a.visitOf(r), []string(nil)
	for _, id := range userIDs {
		before = append(before, sealed.Mark(a.boxes.secrets[0], knownPurpose, id))
	}
	text, err := a.boxes.cookies[v.cookieName(knownKind)].Seal(&knownUsers{Users: before})
	if err != nil {
		panic(err)
	}
	return text
}
