// Package password hashes passwords with Argon2id. Hashes are PHC strings, for the
// credentials provider or any other use.
//
// The zero [Hasher] uses the settings OWASP recommends. Make one for the whole
// application, because it also bounds how much memory hashing takes at a time:
//
//	var passwords password.Hasher
//
//	hash, err := passwords.Hash(ctx, chosen)         // when the user chooses one
//	ok, err := passwords.Verify(ctx, hash, entered)  // when the user signs in
//
// Call [Hasher.Verify] for unknown users too, with an empty hash: it then takes
// as long as for others, so the response time does not reveal which users have an
// account.
//
// An application that moves from another system keeps the passwords of its users:
// Verify accepts the hashes of many, compared as that system did, and [Import]
// checks them beforehand.
//
// Passwords are used as they are, byte for byte: no truncation, no change of
// case, no Unicode normalisation. The application decides how long or how common
// a password may be, with [Check]; a [Hasher] rejects the empty one and those
// beyond [MaxLength].
//
// https://cheatsheetseries.owasp.org/cheatsheets/Password_Storage_Cheat_Sheet.html
package password
