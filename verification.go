package pintle

import "time"

// A Verification is a mail link on its way: the proof that whoever presents
// the token reads mail at the address.
type Verification struct {
	// Identifier is the normalised address.
	Identifier string

	// Token is the hash of the token in the link, 64 hexadecimal digits. The
	// token itself is nowhere but in the mail.
	Token string

	// Expires is when the link stops working.
	Expires time.Time
}
