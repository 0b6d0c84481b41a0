package account

import (
	"context"
	"time"
)

// ExpireCode makes the code of the sign-up of a token older than a code may be.
func ExpireCode(ctx context.Context, a *Accounts, token string) error {
	f, err := a.findFlow(ctx, signUpKind, hashOf(token))
	if err != nil {
		return err
	}
	f.payload.CodeUntil = time.Now().Add(-time.Second).Unix()
	return a.changeFlow(ctx, f)
}
