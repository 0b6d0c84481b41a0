package userimport

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
)

// storeAll stores a batch and returns how many entries are done. The rest were not stored if
// there is an error.
func (im *importing) storeAll(ctx context.Context, batch []*entry) (done int, err error) {
	together := im.store.Features().Transactions && !im.o.DryRun
	if together && im.inTx(ctx, batch) == nil {
		return len(batch), nil
	}
	// Without transactions, and to find the entry at which one has failed.
	for i, e := range batch {
		switch {
		case e.outcome.Status == Refused:
		case im.o.DryRun:
			_, err = im.occupied(ctx, im.store, e, "")
		case together:
			err = im.alone(ctx, e)
		default:
			err = im.inSteps(ctx, e)
		}
		if err != nil {
			return i, err
		}
	}
	return len(batch), nil
}

// inTx stores a batch in one transaction. If it fails, the entries are as they were.
func (im *importing) inTx(ctx context.Context, batch []*entry) error {
	before := make([]Outcome, len(batch))
	for i, e := range batch {
		before[i] = e.outcome
	}
	err := im.store.InTx(ctx, func(s pintle.Store) error {
		for i, e := range batch {
			e.outcome = before[i] // a store may call this again
			if e.outcome.Status == Refused {
				continue
			}
			if err := im.atOnce(ctx, s, e); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		for i, e := range batch {
			e.outcome = before[i]
		}
	}
	return err
}

// alone stores one entry in a transaction. A conflict is a user or an account that another
// process has stored since it was looked up, so that the second look finds it.
func (im *importing) alone(ctx context.Context, e *entry) error {
	err := im.inTx(ctx, []*entry{e})
	for try := 0; errors.Is(err, pintle.ErrConflict) && try < 3; try++ {
		err = im.inTx(ctx, []*entry{e})
	}
	return err
}

// occupied looks for a user with the address, and for owners of the accounts, other than the
// user with an id. It sets the outcome if there are any.
func (im *importing) occupied(ctx context.Context, s pintle.Store, e *entry, except string) (bool, error) {
	holder, err := s.UserByEmail(ctx, e.user.Email)
	if err == nil {
		e.exists(holder)
		return true, nil
	}
	if !errors.Is(err, pintle.ErrNotFound) {
		return false, err
	}
	if e.keepID != "" && except == "" {
		if _, err := s.User(ctx, e.keepID); err == nil {
			e.refuse(otherID)
			return true, nil
		} else if !errors.Is(err, pintle.ErrNotFound) {
			return false, err
		}
	}
	for _, a := range e.accounts {
		owner, err := s.UserByAccount(ctx, a.Provider, a.ID)
		if err == nil && owner.ID != except {
			e.refuse("a linked account belongs to another user")
			return true, nil
		}
		if err != nil && !errors.Is(err, pintle.ErrNotFound) {
			return false, err
		}
	}
	return false, nil
}

const otherID = "the id belongs to another user"

func (e *entry) exists(holder *pintle.User) {
	e.outcome.Status, e.outcome.Reason, e.outcome.UserID = Existing, "", holder.ID
}

// atOnce stores an entry in a transaction.
func (im *importing) atOnce(ctx context.Context, s pintle.Store, e *entry) error {
	if taken, err := im.occupied(ctx, s, e, ""); taken || err != nil {
		return err
	}
	u, err := s.CreateUser(ctx, &e.user)
	if err != nil {
		return err
	}
	e.outcome.UserID = u.ID
	if err := im.storeRows(ctx, s.AccountStore(), u.ID, e); err != nil {
		return err
	}
	for _, a := range e.accounts {
		if err := s.LinkAccount(ctx, a.of(u.ID)); err != nil {
			return err
		}
	}
	return nil
}

func (a Account) of(userID string) *pintle.Account {
	return &pintle.Account{UserID: userID, Type: a.Type, Provider: a.Provider, ProviderAccountID: a.ID}
}

// storeRows stores the state and the factors of a new user. Those that an interrupted call
// has stored stay.
func (im *importing) storeRows(ctx context.Context, rows accountstore.Store, userID string, e *entry) error {
	state := e.state
	state.UserID = userID
	if err := rows.ChangeState(ctx, &state); err != nil && !errors.Is(err, pintle.ErrConflict) {
		return err
	}
	if e.totp != nil {
		row, err := im.sealer.Factor(userID, e.totp, e.factorAt)
		if err != nil {
			return err
		}
		if err := rows.AddFactor(ctx, row); err != nil && !errors.Is(err, pintle.ErrConflict) {
			return err
		}
	}
	if e.password == "" {
		return nil
	}
	// The time at which it was chosen, Step, is not known.
	row := &accountstore.Factor{UserID: userID, Kind: "password", Secret: e.password, Created: e.factorAt}
	if err := rows.AddFactor(ctx, row); err != nil && !errors.Is(err, pintle.ErrConflict) {
		return err
	}
	return nil
}

// markKind is the kind of the flow that a user has who is being stored without a transaction.
const markKind = "import"

// markLife is for how long an interrupted import can go on.
const markLife = 90 * 24 * time.Hour

// markOf is the id of the flow. It is not the hash of a token that a client could have.
func markOf(email string) accountstore.Hash {
	return sha256.Sum256([]byte("pintle user import\x00" + email))
}

// inSteps stores an entry without a transaction, in the order of the package comment.
func (im *importing) inSteps(ctx context.Context, e *entry) error {
	id, err := im.begun(ctx, e)
	if err != nil {
		return err
	}
	if taken, err := im.occupied(ctx, im.store, e, id); taken || err != nil {
		if err == nil && id != "" {
			err = im.giveUp(ctx, e, id)
		}
		return err
	}
	if id == "" {
		if id, err = im.begin(ctx, e); err != nil {
			return err
		}
	}
	if id, err = im.createWithoutAddress(ctx, e, id); err != nil || e.outcome.Status == Refused {
		return err
	}
	if err := im.storeRows(ctx, im.store.AccountStore(), id, e); err != nil {
		return err
	}
	for _, a := range e.accounts {
		err := im.store.LinkAccount(ctx, a.of(id))
		if errors.Is(err, pintle.ErrConflict) {
			owner, findErr := im.store.UserByAccount(ctx, a.Provider, a.ID)
			if findErr == nil && owner.ID == id {
				continue // an interrupted call has linked it
			}
			if findErr != nil && !errors.Is(findErr, pintle.ErrNotFound) {
				return findErr
			}
			e.refuse("a linked account belongs to another user")
			return im.giveUp(ctx, e, id)
		}
		if err != nil {
			return err
		}
	}
	_, err = im.store.UpdateUser(ctx, id, pintle.UserUpdate{
		Email: &e.user.Email, EmailVerified: &e.user.EmailVerified, IfEmail: new(""),
	})
	if errors.Is(err, pintle.ErrConflict) {
		// Another process has stored a user with the address since it was looked up.
		holder, err := im.store.UserByEmail(ctx, e.user.Email)
		if errors.Is(err, pintle.ErrNotFound) {
			// Or another call has finished the user, who has changed the address.
			holder, err = im.store.User(ctx, id)
		}
		if err != nil {
			return err
		}
		if holder.ID != id || holder.Email != e.user.Email {
			e.exists(holder)
			return im.giveUp(ctx, e, id)
		}
	} else if err != nil {
		return err
	}
	e.outcome.UserID = id
	return im.forgetMark(ctx, e)
}

// begun returns the id that an interrupted call has chosen for the user, or "".
func (im *importing) begun(ctx context.Context, e *entry) (id string, err error) {
	mark, err := im.store.AccountStore().Flow(ctx, markOf(e.user.Email))
	switch {
	case errors.Is(err, pintle.ErrNotFound), err == nil && mark.Kind != markKind:
		return "", nil
	case err != nil:
		return "", err
	}
	return mark.Payload, nil
}

// begin chooses an id and records it.
func (im *importing) begin(ctx context.Context, e *entry) (id string, err error) {
	for range 3 {
		if id = e.keepID; id == "" {
			id = newID()
		}
		if err = im.mark(ctx, e, id); !errors.Is(err, pintle.ErrConflict) {
			return id, err
		}
		// Another call is about to store the user.
		if id, err := im.begun(ctx, e); id != "" || err != nil {
			return id, err
		}
	}
	return "", err
}

func (im *importing) mark(ctx context.Context, e *entry, id string) error {
	hash := markOf(e.user.Email)
	now := time.Now().UTC().Truncate(time.Millisecond)
	return im.store.AccountStore().CreateFlow(ctx, &accountstore.Flow{
		// Not the id of the user: CreateUser removes the flows that have it as their Subject.
		ID: hash, Kind: markKind, Subject: hex.EncodeToString(hash[:]), Payload: id, Created: now, Expires: now.Add(markLife),
	})
}

func (im *importing) forgetMark(ctx context.Context, e *entry) error {
	_, err := im.store.AccountStore().UseFlow(ctx, markOf(e.user.Email), markKind)
	if errors.Is(err, pintle.ErrNotFound) {
		return nil
	}
	return err
}

// createWithoutAddress creates the user, unless an interrupted call has done so, and returns
// the id.
func (im *importing) createWithoutAddress(ctx context.Context, e *entry, id string) (string, error) {
	found, ours, err := im.unfinished(ctx, id)
	switch {
	case err != nil:
		return "", err
	case ours:
		return id, nil
	case found: // another user has got the address since an import that was interrupted at its end
		if err := im.forgetMark(ctx, e); err != nil {
			return "", err
		}
		if e.keepID != "" {
			e.refuse(otherID)
			return "", nil
		}
		if id, err = im.begin(ctx, e); err != nil {
			return "", err
		}
	}
	made, err := im.store.CreateUser(ctx, &pintle.User{ID: id, Name: e.user.Name, Image: e.user.Image})
	if errors.Is(err, pintle.ErrConflict) {
		return id, nil // another call has created it
	}
	if err != nil {
		return "", err
	}
	if made.ID != id { // the store chooses ids by itself
		if err := im.forgetMark(ctx, e); err != nil {
			return "", err
		}
		if err := im.mark(ctx, e, made.ID); err != nil && !errors.Is(err, pintle.ErrConflict) {
			return "", err
		}
	}
	return made.ID, nil
}

// unfinished reports whether there is a user with the id of a mark, and whether it is one
// that was not finished. A user who was finished has lost the address since, which changes
// the state, or has one.
func (im *importing) unfinished(ctx context.Context, id string) (found, ours bool, err error) {
	u, err := im.store.User(ctx, id)
	if errors.Is(err, pintle.ErrNotFound) {
		return false, false, nil
	}
	if err != nil {
		return false, false, err
	}
	state, err := im.store.AccountStore().State(ctx, id)
	if err != nil {
		return false, false, err
	}
	return true, u.Email == "" && state.Version <= 1, nil
}

// giveUp removes what was stored of a user who cannot be finished. The outcome is set.
func (im *importing) giveUp(ctx context.Context, e *entry, id string) error {
	_, ours, err := im.unfinished(ctx, id)
	if err != nil {
		return err
	}
	if ours {
		if err := im.store.DeleteUser(ctx, id); err != nil && !errors.Is(err, pintle.ErrNotFound) {
			return err
		}
	}
	return im.forgetMark(ctx, e)
}

// newID proposes an id in a form that all stores keep, that of an ObjectID of MongoDB: a time
// and 64 random bits.
func newID() string {
	var id [12]byte
	binary.BigEndian.PutUint32(id[:4], uint32(time.Now().Unix())) //nolint:gosec // the time of an ObjectID has 32 bits
	_, _ = rand.Read(id[4:])                                      // never fails
	return hex.EncodeToString(id[:])
}
