package account

import (
	"context"
	"errors"
	"log/slog"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
)

// A store without transactions cannot make a change depend on other rows. So a request that
// adds a second factor writes first and then checks that nothing has overtaken it: a reset
// of the password, of the second factor, or a ban, after which the request may be that of a
// thief whose session has just ended.

// A basis is what a change of second factors builds on.
type basis struct {
	state  int64 // the version of the state, which a reset of the second factor changes, and a ban
	chosen int64 // when the password was chosen or removed
}

func (a *Accounts) basisOf(ctx context.Context, userID string) (basis, error) {
	state, err := a.rows.State(ctx, userID)
	if err != nil {
		return basis{}, unavailable(err)
	}
	row, err := a.passwordOf(ctx, userID)
	if err != nil {
		return basis{}, unavailable(err)
	}
	return basis{state.Version, chosenAt(row)}, nil
}

// sessionBasis reads the basis of a change by the user of the session, and the session
// again afterwards. Sessions end before anything else changes: if this one is still there,
// the basis has no part of a change that ends it.
func (v *visit) sessionBasis(u *pintle.User) (basis, error) {
	b, err := v.basisOf(v.ctx, u.ID)
	if err != nil {
		return basis{}, err
	}
	session, err := v.cookieSession()
	if err != nil {
		return basis{}, unavailable(err)
	}
	if session == nil || session.User.ID != u.ID {
		return basis{}, problemOf("signed_out")
	}
	return b, nil
}

// keepUnlessOvertaken removes rows that were just added if the basis is not the one of
// before, or cannot be read. kept reports that some are still there, also beside an error.
func (v *visit) keepUnlessOvertaken(u *pintle.User, before basis, added []*accountstore.Factor) (kept bool, err error) {
	now, err := v.basisOf(v.ctx, u.ID)
	if err == nil && now == before {
		return true, nil
	}
	if err == nil {
		err = problemOf("signed_out")
	}
	ctx := context.WithoutCancel(v.ctx) // also if the client has gone
	for _, row := range added {
		if gone := v.rows.DeleteFactor(ctx, u.ID, row.Kind, row.ID); gone != nil && !errors.Is(gone, pintle.ErrNotFound) {
			kept = true
			v.log().ErrorContext(ctx, "pintle: a second factor that was added during a reset is still there", slog.String("code", codeIncomplete),
				slog.String("user", u.ID), slog.String("factor", row.ID), slog.Any("error", gone))
		}
	}
	return kept, err
}

// rows are what the store has of it.
func (s *saved) rows() []*accountstore.Factor {
	if s.app == nil {
		return s.codes
	}
	return append([]*accountstore.Factor{s.app}, s.codes...)
}
