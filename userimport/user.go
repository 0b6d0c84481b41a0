package userimport

import (
	"fmt"
	"time"

	"github.com/pintleauth/pintle"
)

// A User is a user of another system. The zero value of a field means that it is not
// known.
type User struct {
	// Number is where the user is in the source: the number of the line in JSON lines and
	// in CSV, and the number of the element in an array of JSON. Both begin with 1.
	Number int

	// ID is the id in the other system, for [Outcome]. The store gives the user another, unless
	// [Options].KeepIDs is set.
	ID string

	Email string

	// EmailVerified is when the other system has verified that the user reads mail at
	// Email. Zero means that it has not.
	EmailVerified time.Time

	// Unverified reports that the other system says that it has not verified Email:
	// [Options].AllVerified does not count for the user.
	Unverified bool

	// Name loses control characters and those that turn the direction of a text, and what
	// is beyond 100 characters.
	Name string

	// Image is the URL of a picture. One that does not begin with https:// is left out.
	Image string

	// Roles are names of roles: see [Options].Roles.
	Roles []string

	// Password is a text that [password.Import] accepts.
	//
	// [password.Import]: https://pkg.go.dev/github.com/pintleauth/pintle/password#Import
	Password string

	// PasswordError is why the hash of the other system cannot be used. It has no part of
	// the hash.
	PasswordError error

	// TOTP is the secret of an authenticator app, 10 to 128 bytes. Codes are those of SHA-1
	// with six digits and steps of 30 seconds.
	TOTP []byte

	// Accounts are the accounts at providers with which the user signs in.
	Accounts []Account

	// MustChangePassword demands another password at the next sign-in, and MustEnrol a
	// second factor: for users who had one that cannot be moved.
	MustChangePassword, MustEnrol bool

	// BannedUntil is when a ban ends. A ban that does not end has accountstore.Forever.
	BannedUntil time.Time
	BanReason   string

	CreatedAt time.Time
}

// An Account is an account of a user at a provider.
type Account struct {
	// Provider is the id of the provider in the configuration: see [Options].Providers.
	Provider string

	// ID is the provider's id of the user.
	ID string

	// Type is [pintle.TypeOAuth] or [pintle.TypeOIDC]. Empty means the type that providers
	// of this id have in package provider.
	Type pintle.ProviderType
}

// A LineError is the error of one user of a source. [Import] refuses the user and goes on
// with the next one. Any other error of a source ends the import.
type LineError struct {
	Number int    // as in User
	Reason string // without secrets
}

// Error names the number and the reason.
func (e *LineError) Error() string {
	return fmt.Sprintf("userimport: user %d: %s", e.Number, e.Reason)
}
