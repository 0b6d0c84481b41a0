package userimport

import (
	"errors"
	"io"
	"iter"
	"time"

	"github.com/pintleauth/pintle/password"
)

// unlockIn is after how long Devise unlocks a user by default. A wrong password of any client
// locks: a ban without an end would keep users out whom Devise has let in again.
//
// https://github.com/heartcombo/devise/blob/main/lib/devise.rb
const unlockIn = time.Hour

// Devise reads CSV, or JSON, of a table of users of Devise for Ruby on Rails, with its column
// names as the header. app has the pepper, and the application needs it in
// [password.Hasher].Devise if there is one.
//
// Besides email and encrypted_password it reads id, name, created_at, confirmed_at (of the
// module confirmable; without this column no address was verified), locked_at (of lockable:
// the user is banned for an hour from then on) and otp_required_for_login (of devise-two-factor: the user must enrol a
// second factor).
//
// https://github.com/heartcombo/devise/blob/main/lib/generators/active_record/devise_generator.rb
//
// [password.Hasher]: https://pkg.go.dev/github.com/pintleauth/pintle/password#Hasher
func Devise(r io.Reader, app password.Devise) iter.Seq2[*User, error] {
	return eachRow(r, func(r *row) *User {
		u := &User{
			Number: r.number, ID: r.text("id"), Email: r.text("email"), Name: r.text("name"), CreatedAt: r.time("created_at"),
			EmailVerified: r.time("confirmed_at"), Unverified: r.unverified("confirmed_at"), MustEnrol: r.flag("otp_required_for_login"),
		}
		if locked := r.time("locked_at"); !locked.IsZero() {
			u.BannedUntil, u.BanReason = locked.Add(unlockIn), "locked in Devise"
		}
		u.Password, u.PasswordError = app.Import(r.text("encrypted_password"))
		if u.PasswordError != nil && !errors.Is(u.PasswordError, password.ErrHash) {
			u.PasswordError = errors.New("not a hash of Devise")
		}
		return u
	}, "email", "encrypted_password")
}
