package account

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
)

// A temporary password is a row whose Name says so. It has no Expires: the store removes
// expired rows, and without the row a password in a former table of the application would
// sign in again. Step, when it was set, says until when it is good. Once it was used its
// Secret begins with usedMark, so that no password matches.
const (
	temporaryName = "temporary"
	temporaryLife = 24 * time.Hour
	usedMark      = "!"
)

func isTemporary(row *accountstore.Factor) bool { return row != nil && row.Name == temporaryName }

// isSpent reports whether a temporary password was used, or is too old.
func isSpent(row *accountstore.Factor) bool {
	return isTemporary(row) &&
		(strings.HasPrefix(row.Secret, usedMark) || time.Since(time.UnixMilli(row.Step)) >= temporaryLife)
}

// useTemporary marks a temporary password that was entered correctly as used. Of concurrent
// requests one succeeds (won), and for the others the password is wrong.
func (a *Accounts) useTemporary(ctx context.Context, row *accountstore.Factor) (won bool, err error) {
	used := *row
	used.Secret, used.LastUsed = usedMark+row.Secret, time.Now().UTC().Truncate(time.Millisecond)
	err = a.rows.ReplaceFactor(ctx, &used)
	if errors.Is(err, pintle.ErrConflict) || errors.Is(err, pintle.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// oldHash is the hash of the password that a new one has to differ from, also if that is a
// temporary one that was used just now.
func oldHash(row *accountstore.Factor, hash string) string {
	if isTemporary(row) {
		return strings.TrimPrefix(row.Secret, usedMark)
	}
	return hash
}

func (a *Accounts) setTemporaryPassword(ctx context.Context, u *pintle.User) (password string, err error) {
	password = newRecoveryCode()
	hash, err := a.hasher.Hash(ctx, password)
	if err != nil {
		return "", err
	}
	if err := a.whileSignedOut(ctx, u.ID, func() error { return a.storeTemporary(ctx, u.ID, hash) }); err != nil {
		return "", err
	}
	a.untilNextSecond(ctx)
	a.tellOfOperator(ctx, "password-temporary", u)
	return password, nil
}

// storeTemporary writes first that the user must choose another password: a sign-in between
// the two must not do without.
func (a *Accounts) storeTemporary(ctx context.Context, userID, hash string) error {
	if err := a.changeState(ctx, userID, func(s *accountstore.State) { addMust(s, mustPassword) }); err != nil {
		return err
	}
	before, err := a.passwordOf(ctx, userID)
	if err != nil {
		return err
	}
	row := newPassword(userID, hash, time.Now())
	row.Name = temporaryName
	return a.storePasswordRow(ctx, before, row)
}

// forOperator is the error of a method that operators call.
func forOperator(err error) error {
	p, is := errors.AsType[*problem](err)
	switch {
	case !is:
		return err
	case p.err != nil:
		return p.err
	}
	return fmt.Errorf("account: %s", p.code)
}

// tellOfOperator mails a user what an operator has done. An error is recorded: it is done,
// and calling again would not help.
func (a *Accounts) tellOfOperator(ctx context.Context, kind string, u *pintle.User) {
	if !isProved(u) {
		return
	}
	v, err := a.visitOfOperator(ctx)
	if err != nil {
		a.log().ErrorContext(ctx, "pintle: mail of an account not sent", slog.String("code", codeMailNotSent), slog.String("kind", kind), slog.Any("error", err))
		return
	}
	l := letter{kind: kind}
	if v.site.origin != "" { // no request says where the site is
		l.link = v.site.origin + v.site.signIn()
	}
	v.inform(u, l)
}
