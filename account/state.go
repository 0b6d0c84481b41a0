package account

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
)

// The words of State.Must.
const (
	mustPassword = "password"          // choose another password
	mustReplace  = "password-stolen"   // the same, after a code that is mailed
	mustEnrol    = "enrol"             // add a second factor
	mustKnow     = "know-address-lost" // read that another user has proven the address
)

// mustDo reports whether State.Must has a word.
func mustDo(s *accountstore.State, what string) bool {
	return slices.Contains(strings.Fields(s.Must), what)
}

func addMust(s *accountstore.State, what string) {
	if !mustDo(s, what) {
		s.Must = strings.TrimSpace(s.Must + " " + what)
	}
}

func dropMust(s *accountstore.State, what string) {
	s.Must = strings.Join(slices.DeleteFunc(strings.Fields(s.Must), func(word string) bool { return word == what }), " ")
}

// isDeleting reports whether the user has asked to be deleted, and may still change that.
// A user who never proved the address, which is in Claim then, has not asked.
func isDeleting(s *accountstore.State) bool { return !s.DeleteAt.IsZero() && s.Claim == "" }

// changeState changes the state of a user. If another request changes it at the same time
// it is read again.
func (a *Accounts) changeState(ctx context.Context, userID string, change func(*accountstore.State)) error {
	return changeState(ctx, a.rows, userID, change)
}

// changeState is the method of that name, in a transaction.
func changeState(ctx context.Context, rows accountstore.Store, userID string, change func(*accountstore.State)) error {
	for range 5 {
		s, err := rows.State(ctx, userID)
		if err != nil {
			return err
		}
		change(s)
		if err = rows.ChangeState(ctx, s); !errors.Is(err, pintle.ErrConflict) {
			return err
		}
	}
	return pintle.ErrConflict
}
