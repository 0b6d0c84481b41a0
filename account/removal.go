package account

import (
	"errors"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
)

// removalKind is the turn of a request that removes an app or a passkey. It lasts longer than such
// a request, so that the next one waits for it, and ends if the process does.
var removalKind = kind{name: "removal", life: time.Minute}

// inTurn calls remove while no other request removes an app or a passkey of the user. Whether one
// is the last depends on rows that a store does not compare when it deletes one: of two requests
// that remove the last two at once, each would find that the other one stays. The store creates a
// flow once, so one request goes on. The others fail with the problem changed_meanwhile.
func (v *visit) inTurn(userID string, remove func() (next string, err error)) (next string, err error) {
	v.seeThrough() // the turn ends also if the client closes the connection
	turn, err := v.takeTurn(userID)
	if err != nil {
		return "", err
	}
	next, err = remove()
	if _, ended := v.rows.UseFlow(v.ctx, turn, removalKind.name); ended != nil && !errors.Is(ended, pintle.ErrNotFound) {
		v.record(unavailable(ended)) // it ends in a minute
	}
	return next, err
}

func (v *visit) takeTurn(userID string) (turn accountstore.Hash, err error) {
	turn = v.boxes.idOf(removalKind, userID)
	_, err = v.createFlow(v.ctx, removalKind, turn, userID, payload{})
	if !errors.Is(err, pintle.ErrConflict) {
		return turn, err
	}
	row, err := v.rows.Flow(v.ctx, turn)
	switch {
	case errors.Is(err, pintle.ErrNotFound):
		return turn, problemOf("changed_meanwhile")
	case err != nil:
		return turn, unavailable(err)
	case row.Expires.After(time.Now()):
		return turn, problemOf("changed_meanwhile")
	}
	// The process of the turn has ended before it. Of the requests that find this, one changes the row.
	row.Expires = time.Now().Add(removalKind.life).UTC().Truncate(time.Millisecond)
	switch err := v.rows.ChangeFlow(v.ctx, row); {
	case errors.Is(err, pintle.ErrConflict), errors.Is(err, pintle.ErrNotFound):
		return turn, problemOf("changed_meanwhile")
	case err != nil:
		return turn, unavailable(err)
	}
	return turn, nil
}
