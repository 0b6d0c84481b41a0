package account

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/internal/address"
	"github.com/pintleauth/pintle/internal/userrule"
	"github.com/pintleauth/pintle/password"
)

// factorPassword is the kind of the row of a password. A user has at most one, with an
// empty id. Its Step is when the password was chosen, in Unix milliseconds, and 0 if that is
// not known. Its Name is empty, or temporaryName.
const factorPassword = "password"

// minimum is the least number of characters. A password that alone signs in has to
// be longer than one that goes with a second factor. SecondFactor.Required lowers nothing:
// it may require a second factor of administrators alone.
//
// https://pages.nist.gov/800-63-4/sp800-63b.html#passwordver
func (p Passwords) minimum() int {
	const alone = 15
	return cmp.Or(p.MinLength, alone)
}

// passwordProvider is the form of the sign-in page.
func (a *Accounts) passwordProvider() *pintle.Credentials {
	return &pintle.Credentials{
		ID:   providerID,
		Name: "Password",
		Fields: []pintle.Field{
			{Name: "email", Label: "Email", Type: "email", Attributes: map[string]string{
				"autocomplete": "username", "autocapitalize": "none", "spellcheck": "false", "required": "true", "dir": "ltr",
			}},
			{Name: "password", Label: "Password", Type: "password", Attributes: map[string]string{
				"autocomplete": "current-password", "required": "true",
			}},
		},
		Authorize: a.authorize,
		CanSignIn: func(ctx context.Context, u *pintle.User) (bool, error) {
			_, hash, err := a.storedPassword(ctx, u)
			return hash != "", err
		},
	}
}

// authorize checks an address and a password. An unknown address, a user without a
// password and a wrong password cost one computation of a hash, and are answered alike.
func (a *Accounts) authorize(ctx context.Context, s *pintle.Submission) (*pintle.User, error) {
	entered := s.Text("password")
	u, err := a.findUser(ctx, s.Text("email"))
	if err != nil {
		return nil, err
	}
	right, err := a.verifyPassword(ctx, u, entered)
	if err != nil {
		return nil, err
	}
	if !right {
		a.noteWrongPassword(ctx, s, u)
		return nil, nil
	}
	// Not before: whether the service is asked would tell that a password is wrong.
	if err := a.checkAtSignIn(ctx, u, entered); err != nil {
		return nil, err
	}
	return u, nil
}

// userAt returns the user of an address as it was typed, or nil.
func (a *Accounts) userAt(ctx context.Context, typed string) (*pintle.User, error) {
	email, err := address.Normalize(typed)
	if err != nil {
		return nil, nil //nolint:nilerr // no user has it
	}
	return a.userByEmail(ctx, email)
}

// userByEmail returns the user of an address as it is stored, or nil.
func (a *Accounts) userByEmail(ctx context.Context, email string) (*pintle.User, error) {
	u, err := a.store.UserByEmail(ctx, email)
	if errors.Is(err, pintle.ErrNotFound) {
		return nil, nil
	}
	return u, err
}

// findUser returns the user of an address that anyone can type, or nil. A store answers
// faster if it finds nothing: so it is asked twice, and finds one user, whatever the address.
func (a *Accounts) findUser(ctx context.Context, typed string) (*pintle.User, error) {
	u, err := a.userAt(ctx, typed)
	if err != nil {
		return nil, err
	}
	a.evenOut(ctx, u)
	return u, nil
}

// evenOut makes the second look-up of findUser: for a user who exists if the first one found
// none, and for one who does not exist if it found one.
func (a *Accounts) evenOut(ctx context.Context, found *pintle.User) {
	other := a.absent
	if found != nil {
		a.present.Store(copyOf(found))
	} else if present := a.present.Load(); present != nil {
		other = present
	}
	_, _ = a.userByEmail(ctx, other.Email) // a store that fails will say so at the next call
}

// copyOf copies a user, with what the application may change of one that it is given.
func copyOf(u *pintle.User) *pintle.User {
	c := *u
	c.Extra = maps.Clone(u.Extra)
	return &c
}

// typedAddress returns the address of the form.
func (v *visit) typedAddress() (string, error) {
	email, err := address.Normalize(v.form["email"])
	if err != nil || len(email) > userrule.MaxAddress {
		return "", inField("email", "invalid_email")
	}
	return email, nil
}

// verifyPassword compares a password with that of a user, who may be nil, and replaces a
// hash with other settings than those of today.
func (a *Accounts) verifyPassword(ctx context.Context, u *pintle.User, entered string) (bool, error) {
	row, hash, err := a.storedPassword(ctx, u)
	if err != nil {
		return false, err
	}
	right, err := a.compare(ctx, hash, entered)
	if errors.Is(err, password.ErrHash) {
		// For the operator. An answer of another kind would tell that the address has an account.
		a.log().ErrorContext(ctx, "pintle: stored hash of a password cannot be used", slog.String("code", codeUnusableHash), slog.String("user", u.ID), slog.Any("error", err))
	} else if err != nil {
		return false, err
	}
	if !right {
		return false, a.askForOther(ctx, u, row)
	}
	if isTemporary(row) {
		return a.useTemporary(ctx, row)
	}
	if row == nil || a.hasher.Outdated(hash) {
		a.renewHash(ctx, u, row, hash, entered)
	}
	return true, nil
}

// compare compares a password with a hash, which may be "". If FormerHash is set, a wrong
// password costs one hash of Hasher and one like FormerHash, so that the time of the answer
// does not tell which kind the user has.
func (a *Accounts) compare(ctx context.Context, hash, entered string) (bool, error) {
	if a.o.Passwords.FormerHash == "" {
		return a.hasher.Verify(ctx, hash, entered)
	}
	today, before := hash, a.o.Passwords.FormerHash
	_, damaged := password.Import(hash)
	former := damaged == nil && a.hasher.Outdated(hash)
	if former {
		today, before = "", hash
	}
	right, err := a.hasher.Verify(ctx, today, entered)
	if right || err != nil && !errors.Is(err, password.ErrHash) {
		return right, err
	}
	same, otherErr := a.hasher.Verify(ctx, before, entered)
	return same && former, cmp.Or(err, otherErr)
}

// askForOther asks the application after a wrong password for the former hash of another
// user, unless it was asked for that of this one: the time of the answer does not tell which.
func (a *Accounts) askForOther(ctx context.Context, u *pintle.User, row *accountstore.Factor) error {
	other := a.present.Load()
	if a.o.Passwords.Import == nil || u != nil && row == nil || other == nil {
		return nil
	}
	_, err := a.importHash(ctx, copyOf(other))
	return err
}

// importHash asks the application for the hash of a user in its former table.
func (a *Accounts) importHash(ctx context.Context, u *pintle.User) (string, error) {
	hash, err := a.o.Passwords.Import(ctx, u)
	if err != nil {
		return "", fmt.Errorf("account: Options.Passwords.Import: %w", err)
	}
	return hash, nil
}

// storedPassword returns the row of a user's password, and the hash with which the user can
// sign in. The hash may be one of the application's former table, and then has no row.
func (a *Accounts) storedPassword(ctx context.Context, u *pintle.User) (row *accountstore.Factor, hash string, err error) {
	if a.o.Passwords.Off {
		return nil, "", nil
	}
	return a.keptPassword(ctx, u)
}

// keptPassword is storedPassword also if passwords are off.
func (a *Accounts) keptPassword(ctx context.Context, u *pintle.User) (row *accountstore.Factor, hash string, err error) {
	if u == nil {
		// As many queries, with as many results, as for a user.
		other := a.present.Load()
		if other == nil {
			other = a.absent
		}
		_, err := a.rows.Factors(ctx, other.ID)
		return nil, "", err
	}
	if row, err = a.passwordOf(ctx, u.ID); err != nil {
		return nil, "", err
	}
	if row == nil {
		if a.o.Passwords.Import == nil {
			return nil, "", nil
		}
		hash, err = a.importHash(ctx, u)
		return nil, hash, err
	}
	return row, usableHash(row), nil
}

// usableHash is the hash of a row with which the user can sign in, or "".
func usableHash(row *accountstore.Factor) string {
	if !row.Expires.IsZero() && !row.Expires.After(time.Now()) || isSpent(row) {
		return ""
	}
	return row.Secret
}

// passwordOf returns the row of a user's password, or nil.
func (a *Accounts) passwordOf(ctx context.Context, userID string) (*accountstore.Factor, error) {
	factors, err := a.rows.Factors(ctx, userID)
	if err != nil {
		return nil, err
	}
	return passwordIn(factors), nil
}

// passwordIn returns the row of a password among rows, or nil.
func passwordIn(rows []*accountstore.Factor) *accountstore.Factor {
	for _, f := range rows {
		if f.Kind == factorPassword {
			return f
		}
	}
	return nil
}

// renewHash replaces the hash of a password that was right just now, unless the password
// was changed since it was read. A failure is recorded and leaves the old hash.
func (a *Accounts) renewHash(ctx context.Context, u *pintle.User, row *accountstore.Factor, hash, entered string) {
	fresh, err := a.hasher.Hash(ctx, entered)
	if err == nil && row == nil {
		moved := newPassword(u.ID, fresh, time.Now())
		moved.Step = 0 // it was chosen before
		err = a.rows.AddFactor(ctx, moved)
	} else if err == nil {
		changed := *row
		changed.Secret = fresh
		err = a.rows.ReplaceFactor(ctx, &changed)
	}
	switch {
	case err == nil:
		a.note(ctx, entry{kind: "password_rehashed", userID: u.ID})
	case !errors.Is(err, pintle.ErrConflict) && !errors.Is(err, pintle.ErrNotFound):
		a.log().WarnContext(ctx, "pintle: hash of a password not renewed", slog.String("code", codeIncomplete), slog.Any("error", err))
	}
}

func newPassword(userID, hash string, at time.Time) *accountstore.Factor {
	at = at.UTC().Truncate(time.Millisecond)
	return &accountstore.Factor{UserID: userID, Kind: factorPassword, Secret: hash, Step: at.UnixMilli(), Created: at}
}

// chosenAt is when the password of a row was chosen, and 0 if that is not known.
func chosenAt(row *accountstore.Factor) int64 {
	if row == nil {
		return 0
	}
	return row.Step
}

// waitForSignIn waits for the millisecond after a password was chosen, if it is not over.
// A sign-in of the same millisecond counts as one with the password of before.
func waitForSignIn(row *accountstore.Factor) { time.Sleep(time.Until(time.UnixMilli(row.Step + 1))) }

// choose checks a password that a user chooses, and returns its hash.
func (v *visit) choose(field, chosen string, u *pintle.User) (hash string, err error) {
	err = password.Check(chosen, u.Email, u.Name, v.siteName(), v.host())
	var p *problem
	switch {
	case errors.Is(err, password.ErrTooLong):
		p = inField(field, "password_too_long")
	case errors.Is(err, password.ErrTooShort) || len([]rune(chosen)) < v.minimum:
		p = inField(field, "password_too_short")
		p.number, p.data = v.minimum, map[string]any{"min": v.minimum}
	case err != nil:
		p = inField(field, "password_guessable")
	}
	if p != nil {
		return "", p
	}
	if err := v.checkBreach(field, chosen); err != nil {
		return "", err
	}
	if hash, err = v.hasher.Hash(v.ctx, chosen); err != nil {
		return "", unavailable(err)
	}
	return hash, nil
}
