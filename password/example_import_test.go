package password_test

import (
	"context"
	"fmt"

	"github.com/pintleauth/pintle/password"
)

// An application moves from Django: the column auth_user.password is imported, and
// each user who signs in gets a hash of Argon2id.
func ExampleImport() {
	ctx := context.Background()
	var passwords password.Hasher

	exported := []struct{ name, password string }{
		{"ada", "pbkdf2_sha256$390000$seasalt2$geC/uZ92nRXDSjSxeoiBqYyRcrLzMm8xK3ro1QS1uo8="},
		{"grace", "!EpKVkBUTkIpIIlIGKnoaiA4cTkCxELIXNQPW1mvR"}, // has no password
		{"joan", "md5$seasalt$3f86d0d3d465b7b458c231bf3555c0e3"},
	}
	hashes := map[string]string{}
	for _, user := range exported {
		hash, err := password.Import(user.password)
		if err != nil {
			fmt.Println(user.name, "needs a new password:", err)
		}
		hashes[user.name] = hash
	}

	signIn := func(name, entered string) {
		right, err := passwords.Verify(ctx, hashes[name], entered)
		if right && passwords.Outdated(hashes[name]) {
			// In a database: UPDATE … SET hash = $1 WHERE id = $2 AND hash = $3.
			if hash, err := passwords.Hash(ctx, entered); err == nil {
				hashes[name] = hash
			}
		}
		fmt.Printf("%s: %t, %v, %.9q\n", name, right, err, hashes[name])
	}
	signIn("ada", "letmein")
	signIn("ada", "lètmein")
	signIn("ada", "lètmein")
	signIn("grace", "lètmein")
	// Output:
	// joan needs a new password: password: stored hash: a digest that is quick to guess: wrap it with Hasher.Wrap: the password hash cannot be verified
	// ada: false, <nil>, "pbkdf2_sh"
	// ada: true, <nil>, "$argon2id"
	// ada: true, <nil>, "$argon2id"
	// grace: false, <nil>, ""
}
