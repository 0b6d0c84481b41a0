package password_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/pintleauth/pintle/password"
)

func Example() {
	ctx := context.Background()
	var passwords password.Hasher // one for the whole application

	hash, err := passwords.Hash(ctx, "correct horse battery staple")
	if err != nil {
		fmt.Println(err)
		return
	}
	right, _ := passwords.Verify(ctx, hash, "correct horse battery staple")
	wrong, _ := passwords.Verify(ctx, hash, "Tr0ub4dor&3")
	fmt.Println(right, wrong)
	// Output: true false
}

// A sign-in gives the same response whether the user exists or not, and replaces
// hashes that have old settings.
func ExampleHasher_Verify() {
	type user struct{ name, hash string }
	users := map[string]*user{
		"ada": {"Ada", "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"},
	}
	var passwords password.Hasher

	signIn := func(ctx context.Context, name, entered string) (*user, error) {
		u, known := users[name]
		if !known {
			u = &user{} // the empty hash takes as long as a real one
		}
		ok, err := passwords.Verify(ctx, u.hash, entered)
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, errors.New("wrong name or password")
		}
		if passwords.Outdated(u.hash) {
			// In a database: UPDATE … SET hash = $1 WHERE id = $2 AND hash = $3, with
			// the hash that was verified, or a change of the password could be undone.
			if hash, err := passwords.Hash(ctx, entered); err == nil {
				u.hash = hash
			}
		}
		return u, nil
	}

	ctx := context.Background()
	_, err := signIn(ctx, "unknown", "U*U")
	fmt.Println(err)
	u, err := signIn(ctx, "ada", "U*U")
	fmt.Println(u.name, err, passwords.Outdated(u.hash))
	// Output:
	// wrong name or password
	// Ada <nil> false
}
