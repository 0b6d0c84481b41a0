package account

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha1" //nolint:gosec // what the service asks for
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
)

// A BreachCheck asks a service whether a password that a user chooses is in a list of
// stolen ones. The service gets the first five digits of the SHA-1 of the password, which
// many passwords have, and returns the rest of those that it knows. The zero value asks
// Have I Been Pwned.
//
// https://haveibeenpwned.com/API/v3#SearchingPwnedPasswordsByRange
type BreachCheck struct {
	// URL is the address of the service, to which the five digits are added. Empty
	// means "https://api.pwnedpasswords.com/range/".
	URL string

	// Client sends the request, which has two seconds. Nil means [pintle.Config].HTTPClient,
	// or a plain client.
	Client *http.Client

	// FailClosed rejects a password that could not be checked. Otherwise it is accepted,
	// which is recorded in the log.
	FailClosed bool

	// AtSignIn also asks about the password of each sign-in, after it was found to be
	// right. The user of one that was stolen somewhere has to choose another before the
	// sign-in goes on, after a code that is mailed or of a second factor: others know the
	// password, too. If the service does not answer, the sign-in goes on, also with
	// FailClosed, which is recorded in the log: an outage of a third party must not keep
	// users out.
	AtSignIn bool
}

const (
	breachTime = 2 * time.Second
	maxBreach  = 1 << 20 // bytes of an answer; about 40,000 are usual
)

// breached reports whether a password is in the list.
func (c *BreachCheck) breached(ctx context.Context, client *http.Client, chosen string) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, breachTime)
	defer cancel()
	sum := sha1.Sum([]byte(chosen)) //nolint:gosec // what the service asks for
	digest := strings.ToUpper(hex.EncodeToString(sum[:]))
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, cmp.Or(c.URL, "https://api.pwnedpasswords.com/range/")+digest[:5], nil)
	if err != nil {
		return false, err
	}
	// The service then fills each answer up, so that its length does not show which digits
	// were sent.
	r.Header.Set("Add-Padding", "true")
	resp, err := cmp.Or(c.Client, client, &http.Client{}).Do(r)
	if failed, ok := errors.AsType[*url.Error](err); ok {
		err = failed.Err // without the URL, which has the digits
	}
	if err != nil {
		return false, fmt.Errorf("the service for stolen passwords: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return false, fmt.Errorf("the service for stolen passwords answers with status %d", resp.StatusCode)
	}
	limited := &io.LimitedReader{R: resp.Body, N: maxBreach}
	lines := bufio.NewScanner(limited)
	for lines.Scan() {
		rest, count, _ := strings.Cut(strings.TrimSpace(lines.Text()), ":")
		if strings.EqualFold(rest, digest[5:]) {
			return count != "0", nil // with 0 it is padding
		}
	}
	if err := lines.Err(); err != nil {
		return false, fmt.Errorf("the answer of the service for stolen passwords: %w", err)
	}
	if limited.N == 0 {
		return false, fmt.Errorf("the answer of the service for stolen passwords has more than %d bytes", maxBreach)
	}
	return false, nil
}

// checkAtSignIn looks the password of a sign-in up in the list of stolen ones. If it is
// there, it records in the state of the user that another password is due: the gate, which
// runs next, then leads to the page for it.
func (a *Accounts) checkAtSignIn(ctx context.Context, u *pintle.User, entered string) error {
	c := a.o.Passwords.Breached
	if c == nil || !c.AtSignIn || ctx.Value(signedInKey{}) != nil {
		return nil
	}
	found, err := c.breached(ctx, a.http, entered)
	if err != nil {
		a.log().WarnContext(ctx, "pintle: password not checked for breaches", slog.String("code", codeBreachCheckFailed), slog.Any("error", err))
		a.note(ctx, entry{kind: "breach_check_failed", outcome: outcomeFailed, userID: u.ID})
		return nil
	}
	if !found {
		return nil
	}
	a.log().InfoContext(ctx, "pintle: the password of a sign-in is in a list of stolen ones", slog.String("user", u.ID))
	return a.changeState(ctx, u.ID, func(s *accountstore.State) { addMust(s, mustReplace) })
}

// signedInKey marks the requests in which a password is entered by a user who is signed in.
type signedInKey struct{}

// checkBreach rejects a password that is in a list of stolen ones.
func (v *visit) checkBreach(field, chosen string) error {
	c := v.o.Passwords.Breached
	if c == nil {
		return nil
	}
	found, err := c.breached(v.ctx, v.http, chosen)
	switch {
	case found:
		return inField(field, "password_breached")
	case err == nil:
		return nil
	}
	v.Accounts.note(v.ctx, entry{kind: "breach_check_failed", outcome: outcomeFailed})
	if c.FailClosed {
		return unavailable(err)
	}
	v.log().WarnContext(v.ctx, "pintle: password not checked for breaches", slog.String("code", codeBreachCheckFailed), slog.Any("error", err))
	return nil
}
