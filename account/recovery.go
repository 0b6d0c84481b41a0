package account

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
)

// factorRecovery is the kind of the rows of recovery codes: one for each code. The id of a
// row is that of its set, a dash, and the number in the set.
const factorRecovery = "recovery"

const (
	recoveryCodes   = 10
	recoverySymbols = 16 // of 5 bits
	fewCodes        = 4  // fewer are reported
)

// crockford leaves out letters that look like others.
//
// https://www.crockford.com/base32.html
var crockford = base32.NewEncoding("0123456789ABCDEFGHJKMNPQRSTVWXYZ").WithPadding(base32.NoPadding)

// newRecoveryCodes returns codes of 80 random bits, as they are shown.
func newRecoveryCodes() []string {
	codes := make([]string, recoveryCodes)
	for i := range codes {
		codes[i] = newRecoveryCode()
	}
	return codes
}

func newRecoveryCode() string {
	var b [recoverySymbols * 5 / 8]byte
	_, _ = rand.Read(b[:]) // never fails
	text := crockford.EncodeToString(b[:])
	return text[:4] + "-" + text[4:8] + "-" + text[8:12] + "-" + text[12:]
}

// recoveryCode returns the symbols of a code as a person types it, and whether it is one.
func recoveryCode(typed string) (string, bool) {
	code := strings.NewReplacer(" ", "", "-", "", "\u00a0", "", "\u2009", "", "I", "1", "L", "1", "O", "0").Replace(strings.ToUpper(typed))
	_, err := crockford.DecodeString(code)
	return code, err == nil && len(code) == recoverySymbols
}

// setOf is the id of the set of a row.
func setOf(row *accountstore.Factor) string {
	set, _, _ := strings.Cut(row.ID, "-")
	return set
}

// newestSet returns the codes of the set that was made last. Others are left only where two
// requests made codes at the same time.
func newestSet(rows []*accountstore.Factor) (set []*accountstore.Factor) {
	for _, row := range rows {
		switch {
		case len(set) == 0 || row.Created.After(set[0].Created) || row.Created.Equal(set[0].Created) && setOf(row) > setOf(set[0]):
			set = []*accountstore.Factor{row}
		case setOf(row) == setOf(set[0]):
			set = append(set, row)
		}
	}
	return set
}

// useRecoveryCode accepts a code, once: the row is removed first.
func (v *visit) useRecoveryCode(u *pintle.User, rows []*accountstore.Factor, code string) error {
	hashes := make([]string, len(rows))
	for i, row := range rows {
		hashes[i] = row.Secret
	}
	i, err := v.hasher.VerifyCodes(v.ctx, hashes, code)
	if err != nil {
		return v.cannotCheck(u, err)
	}
	if i < 0 {
		return inField("code", "code_wrong")
	}
	err = v.rows.DeleteFactor(v.ctx, u.ID, factorRecovery, rows[i].ID)
	if errors.Is(err, pintle.ErrNotFound) {
		return inField("code", "code_wrong") // another request was first
	}
	if err != nil {
		return unavailable(err)
	}
	v.notify("recovery-used", u, strconv.Itoa(len(rows)-1), "factor")
	return nil
}

// cannotCheck is the answer where a code cannot be compared. It is for the operator, and
// must not say that the code is wrong.
func (v *visit) cannotCheck(u *pintle.User, err error) error {
	if v.ctx.Err() != nil {
		return unavailable(err)
	}
	v.log().ErrorContext(v.ctx, "pintle: codes of a user cannot be checked", slog.String("code", codeUnusableHash), slog.String("user", u.ID), slog.Any("error", err))
	return notCheckable()
}

// notCheckable shows the page again, which has links to other ways.
func notCheckable() *problem {
	p := problemOf("cannot_be_checked")
	p.again = true
	return p
}

// hashCodes returns the rows of a new set.
func (a *Accounts) hashCodes(ctx context.Context, userID string, codes []string, at time.Time) ([]*accountstore.Factor, error) {
	plain := make([]string, len(codes))
	for i, code := range codes {
		plain[i], _ = recoveryCode(code)
	}
	hashes, err := a.hasher.HashCodes(ctx, plain)
	if err != nil {
		return nil, err
	}
	set, rows := newToken()[:16], make([]*accountstore.Factor, len(codes))
	for i, hash := range hashes {
		rows[i] = &accountstore.Factor{
			UserID: userID, Kind: factorRecovery, ID: fmt.Sprintf("%s-%d", strings.ReplaceAll(set, "-", "_"), i), Secret: hash, Created: at,
		}
	}
	return rows, nil
}
