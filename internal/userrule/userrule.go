// Package userrule has the bounds of what forms, operators and imports store of a user. Two
// packages write users; what one of them stores, the other one has to accept.
package userrule

const (
	// MaxAddress is the longest address, in bytes, to which mail can be delivered.
	//
	// https://www.rfc-editor.org/rfc/rfc5321#section-4.5.3.1
	MaxAddress = 254

	// MaxName is the most characters of the name of a user.
	MaxName = 100

	// MaxReason is the most characters of the reason for a ban.
	MaxReason = 500

	// MaxRoles is the most roles of a user.
	MaxRoles = 32

	// MaxRole is the most characters of a role.
	MaxRole = 64
)

// RoleForm says what a role is, for an error.
const RoleForm = `1 to 64 of the characters a-z, 0-9, ":", "_" and "-", and begins with no "-"`

// IsRole reports whether a text is a role. On a command line a text that begins with "-" is an
// option.
func IsRole(text string) bool {
	for i, c := range []byte(text) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != ':' && c != '_' && (c != '-' || i == 0) {
			return false
		}
	}
	return text != "" && len(text) <= MaxRole
}
