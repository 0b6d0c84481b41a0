package userimport

import (
	"errors"
	"io"
	"iter"
	"strings"
)

// BetterAuth reads CSV, or JSON, of the tables user and account of Better Auth. Both are in
// the order of the id of the user, ascending and byte by byte, or by their value if they are
// numbers, so that they are read side by side:
//
//	SELECT * FROM "user" ORDER BY id COLLATE "C"
//	SELECT * FROM account ORDER BY "userId" COLLATE "C"
//
// Columns may be written as email_verified, too. Those of the plugin admin are read: role,
// banned, banReason, banExpires. Users with twoFactorEnabled must enrol a second factor,
// since the secret of theirs is encrypted with a secret of Better Auth.
//
// https://better-auth.com/docs/concepts/database#core-schema
// https://better-auth.com/docs/plugins/admin#schema
func BetterAuth(users, accounts io.Reader) iter.Seq2[*User, error] {
	return func(yield func(*User, error) bool) {
		next, stop := iter.Pull2(rows(accounts, "userId", "providerId", "accountId"))
		defer stop()
		side := &sideTable{next: next}
		last := ""
		for u, err := range eachRow(users, betterAuthUser, "id", "email", "emailVerified") {
			var line *LineError
			if err != nil {
				if !yield(nil, err) || !errors.As(err, &line) {
					return
				}
				continue
			}
			if last != "" && compareIDs(last, u.ID) >= 0 {
				yield(nil, errors.New("the users are not in the order of their ids: see the documentation of BetterAuth"))
				return
			}
			last = u.ID
			if err := side.give(u); err != nil {
				yield(nil, err)
				return
			}
			if !yield(u, nil) {
				return
			}
		}
		if err := side.end(); err != nil {
			yield(nil, err)
		}
	}
}

func betterAuthUser(r *row) *User {
	created := r.time("createdAt")
	u := &User{
		Number: r.number, ID: r.text("id"), Email: r.text("email"), Name: r.text("name"), Image: r.text("image"),
		EmailVerified: r.verified("emailVerified", created), Unverified: r.unverified("emailVerified"), CreatedAt: created, MustEnrol: r.flag("twoFactorEnabled"),
	}
	if u.ID == "" {
		r.note("id", errScalar)
	}
	if r.flag("banned") {
		u.BannedUntil, u.BanReason = forever(true), r.text("banReason")
		if end := r.time("banExpires"); !end.IsZero() {
			u.BannedUntil = end
		}
	}
	for role := range strings.SplitSeq(r.text("role"), ",") {
		if role = strings.TrimSpace(role); role != "" {
			u.Roles = append(u.Roles, role)
		}
	}
	return u
}

// A sideTable is the table of accounts, read beside that of users.
type sideTable struct {
	next func() (*row, error, bool)
	row  *row // the first that was not given to a user
	last string
	done bool
}

// errAccounts is the error of rows that do not fit: users would lose their passwords.
var errAccounts = errors.New("the accounts are not in the order of userId, or one of them cannot be read: see the documentation of BetterAuth")

// advance reads the next row.
func (s *sideTable) advance() error {
	r, err, more := s.next()
	switch {
	case !more:
		s.row, s.done = nil, true
		return nil
	case err != nil:
		return err
	case r.problem() != nil:
		return &accountError{r.problem()}
	case s.last != "" && compareIDs(s.last, r.text("userId")) > 0:
		return errAccounts
	}
	s.row, s.last = r, r.text("userId")
	return nil
}

// An accountError is a row of the accounts that cannot be read. It ends the import: the user
// of the row is not known, and would be stored without a password.
type accountError struct{ line *LineError }

func (e *accountError) Error() string { return "the table of accounts: " + e.line.Error() }

// give gives a user the rows that have its id.
func (s *sideTable) give(u *User) error {
	for {
		if s.row == nil && !s.done {
			if err := s.advance(); err != nil {
				return err
			}
		}
		if s.done || compareIDs(s.last, u.ID) > 0 {
			return nil
		}
		if s.last == u.ID {
			switch provider := s.row.text("providerId"); provider {
			case "credential":
				u.Password = s.row.text("password")
			default:
				u.Accounts = append(u.Accounts, Account{Provider: provider, ID: s.row.text("accountId")})
			}
		}
		s.row = nil // also that of a user who was refused
	}
}

// end checks the order of the rows that are left, which no user has.
func (s *sideTable) end() error {
	for !s.done {
		if err := s.advance(); err != nil {
			return err
		}
	}
	return nil
}

// compareIDs compares ids as numbers if both are, and byte by byte otherwise.
func compareIDs(a, b string) int {
	if isNumber(a) && isNumber(b) && len(a) != len(b) {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}

func isNumber(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }
