package account

import (
	"context"
	"errors"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
)

// mustEnrol in State.Must holds a sign-in until the user has added a second factor.
const mustEnrol = "enrol"

// changeState changes the state of a user. If another request changes it at the same time
// it is read again.
func (a *Accounts) changeState(ctx context.Context, userID string, change func(*accountstore.State)) error {
	for range 5 {
		s, err := a.rows.State(ctx, userID)
		if err != nil {
			return err
		}
		change(s)
		if err = a.rows.ChangeState(ctx, s); !errors.Is(err, pintle.ErrConflict) {
			return err
		}
	}
	return pintle.ErrConflict
}
