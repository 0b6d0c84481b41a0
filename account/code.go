package account

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
)

const (
	codeDigits   = 8
	codeLife     = 10 * time.Minute
	codeAttempts = 5 // of one flow, whatever codes it has
	codeAgain    = 3 // further mails of one flow
)

// codeExpires is when the code of a flow stops working, for the mail that has it.
func (f *flow) codeExpires() time.Time { return time.Unix(f.payload.CodeUntil, 0).UTC() }

// newCode gives a flow a new code, and returns it. The attempts of the flow stay counted.
func (a *Accounts) newCode(f *flow) string {
	n, err := rand.Int(rand.Reader, big.NewInt(100_000_000))
	if err != nil {
		panic(err) // crypto/rand does not fail
	}
	code := fmt.Sprintf("%0*d", codeDigits, n)
	f.Code = a.boxes.codeHash(a.boxes.secrets[0], f.ID, code)
	f.payload.CodeUntil = time.Now().Add(codeLife).Unix()
	return code
}

// spaced is a code as it is shown: 1234 5678.
func spaced(code string) string { return code[:codeDigits/2] + " " + code[codeDigits/2:] }

// codeHash is the hash of a code, which belongs to one flow.
func (b *boxes) codeHash(secret string, id accountstore.Hash, code string) accountstore.Hash {
	key := sha256.Sum256([]byte("pintle account code\x00" + b.tenant + "\x00" + secret))
	mac := hmac.New(sha256.New, key[:])
	mac.Write(id[:])
	mac.Write([]byte(code))
	return accountstore.Hash(mac.Sum(nil))
}

// digits returns the digits of a code as a person types it, and whether it is one.
func digits(typed string, n int) (string, bool) {
	code := strings.NewReplacer(" ", "", "-", "", "\u00a0", "", "\u2009", "").Replace(typed)
	if len(code) != n || strings.Trim(code, "0123456789") != "" {
		return "", false
	}
	return code, true
}

// checkCode compares a code with that of a flow. The attempt is counted first, by the
// store, so that parallel requests have no more attempts than others.
func (a *Accounts) checkCode(ctx context.Context, f *flow, typed string) error {
	return a.checkCodeIn(ctx, "code", codeAttempts, f, typed)
}

// checkCodeIn is checkCode for a code of another field and with another number of attempts.
func (a *Accounts) checkCodeIn(ctx context.Context, field string, attempts int, f *flow, typed string) error {
	code, ok := digits(typed, codeDigits)
	if !ok {
		return inField(field, "code_wrong") // not a guess
	}
	switch _, err := a.rows.AttemptFlow(ctx, f.ID, attempts); {
	case errors.Is(err, pintle.ErrConflict):
		return inField(field, "too_many_attempts")
	case errors.Is(err, pintle.ErrNotFound):
		return problemOf("link_expired")
	case err != nil:
		return unavailable(err)
	}
	// The hashes are computed for a flow without a code as well, which none of them matches:
	// the time of the answer does not tell that its address has an account.
	right := false
	for _, secret := range a.boxes.secrets {
		want := a.boxes.codeHash(secret, f.ID, code)
		right = hmac.Equal(want[:], f.Code[:]) || right
	}
	if !right || time.Now().Unix() > f.payload.CodeUntil {
		return inField(field, "code_wrong")
	}
	return nil
}

// checkUserCode is checkCode for a code that was mailed to a user who is signed in. Its
// attempts count for the user as well: a thief of the session could ask for several mails,
// and would have the attempts of each.
func (v *visit) checkUserCode(u *pintle.User, f *flow, typed string) error {
	if _, ok := digits(typed, codeDigits); !ok {
		return inField("code", "code_wrong") // not a guess
	}
	state, err := v.rows.State(v.ctx, u.ID)
	if err != nil {
		return unavailable(err)
	}
	if isSuspended(state) {
		return suspended()
	}
	counted, err := v.countFailure(u, methodMail)
	if err != nil {
		return err
	}
	if err := v.checkCode(v.ctx, f, typed); err != nil {
		return v.judge(u, counted, err)
	}
	v.countSuccess(u, counted)
	return nil
}
