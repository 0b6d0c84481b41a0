package account

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
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

// TimeIn returns the lines of a mail about something that has happened at a time.
func TimeIn(a *Accounts, r *http.Request, at time.Time) []string {
	return a.visitOf(r).facts(letter{at: at})
}

// GiveBrowser remembers a browser for a user, and returns its token and the id of its row.
func (a *Accounts) GiveBrowser(ctx context.Context, userID string) (token, id string, err error) {
	token, id = newToken(), newToken()[:22]
	now := time.Now().UTC().Truncate(time.Millisecond)
	return token, id, a.rows.AddFactor(ctx, &accountstore.Factor{
		UserID: userID, Kind: factorDevice, ID: id, Secret: a.boxes.browserHash(token), Created: now, Expires: now.Add(rememberedFor),
	})
}

// NoteLinked records that an account was linked to a user, as its event does.
func NoteLinked(a *Accounts, r *http.Request, userID string, l *pintle.Account) {
	a.visitOf(r).noteLinked(r.Context(), userID, l)
}

// BeginAct records an act of an operator, as the methods for operators do.
func BeginAct(ctx context.Context, a *Accounts, kind, operator, userID, reason string) (finish func(error) error, err error) {
	return a.beginAct(ctx, kind, operator, userID, detailReason, reason)
}

// NoticedKinds are the kinds of notices that are looked at for events.
func NoticedKinds() []string { return slices.Collect(maps.Keys(noticed)) }

// FailureKinds are the kinds of events of forms that fail, by the names of the routes.
func FailureKinds() map[string]string { return failures }

// MergedFailures is how many different failures a process records in a minute.
const MergedFailures = merged

// WaysOf are the ways to sign in that a mail to an address names.
func WaysOf(a *Accounts, r *http.Request, email string) []string {
	to, err := a.visitOf(r).addressee(email)
	if err != nil {
		panic(err)
	}
	return to.ways
}

// RecordDetail records an event of a user with details.
func RecordDetail(ctx context.Context, a *Accounts, userID string, detail ...string) error {
	return a.record(ctx, entry{kind: "confirmed", userID: userID, detail: detail})
}

// ReadPicture returns the picture of a file, or nil.
func ReadPicture(file []byte) *Picture { return readPicture(file) }

// HeldActing is the id of the flow by which an operator acts in the browser of a request.
func (a *Accounts) HeldActing(r *http.Request) (accountstore.Hash, error) {
	held, err := a.heldActing(r.Context(), r)
	if err != nil || len(held) != 1 {
		return accountstore.Hash{}, fmt.Errorf("the browser has %d cookies of operators who act: %w", len(held), err)
	}
	return held[0].ID, nil
}

// AdvisesPassword are the mails whose advice is to choose another password.
var AdvisesPassword = advisesPassword
