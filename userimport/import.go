package userimport

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
)

// Options are the rules of [Import]. The zero value stores all users whose data is usable
// as a whole.
type Options struct {
	// Secrets and Tenant are those of [pintle.Config]. They seal the secrets of authenticator
	// apps, and are required if the source has any.
	Secrets []string
	Tenant  string

	// DryRun writes nothing, and reports what would be written. Two users of the source with
	// one address are both reported as stored.
	DryRun bool

	// AllVerified states that every address of the source was verified, where the other
	// system has no record of it. Users of whom the source says that it was not stay unverified. If that is wrong, users who have typed the address of
	// another person there own the account here.
	AllVerified bool

	// Partial stores users of whom a part cannot be used: without the password, if its hash
	// is refused, and without the authenticator app, if the address is not proven. They
	// choose a password by the link of a forgotten one, and add an app at the next sign-in.
	// [Outcome].Reason says what is missing. By default such a user is refused.
	Partial bool

	// Roles are the roles to give, by their names in the source. Those that are not in it
	// are left out, and counted in [Result].Roles. Nil keeps the names; a user with a name
	// that [account.Operators].SetRoles does not take is refused then.
	Roles map[string]string

	// Providers are the ids of providers in the configuration, by their names in the source.
	// Accounts at others are left out, and counted in [Result].Providers. Nil keeps the
	// names.
	Providers map[string]string

	// KeepIDs proposes the ids of the source to the store, so that other tables go on naming
	// the users. Stores whose ids have a form of their own choose others: [Outcome].UserID has
	// what was stored. A user whose id is empty, or belongs to another user, is refused.
	KeepIDs bool

	// Batch is how many users are read before they are written, in one transaction if the
	// store has them. Zero means 100.
	Batch int

	// Report is called once for each user of the source, in its order, after the user was
	// stored. Nil reports nothing.
	Report func(Outcome)

	// Progress is called with the counts so far after each batch. Nil reports nothing.
	Progress func(Result)
}

// A Status is what became of a user of the source.
type Status string

// The values of [Outcome].Status.
const (
	Stored   Status = "stored"
	Partial  Status = "partial"  // stored without what Reason says
	Existing Status = "existing" // the store has a user with this address, who stays as they are
	Refused  Status = "refused"  // nothing was stored, for Reason
)

// An Outcome is what became of a user of the source. It has no secrets.
type Outcome struct {
	Number int    `json:"number"` // as in User
	Status Status `json:"status"`

	// Email is the address as it is stored, or empty if the source has none that is usable.
	Email string `json:"email,omitempty"`

	// OldID is the id in the source. UserID is the id in the store, also of an existing user.
	OldID  string `json:"oldId,omitempty"`
	UserID string `json:"userId,omitempty"`

	// Reason is why the user was refused, or stored in part.
	Reason string `json:"reason,omitempty"`
}

// A Result counts users of the source by what became of them.
type Result struct {
	Read     int `json:"read"`
	Stored   int `json:"stored"` // without those in Partial
	Partial  int `json:"partial"`
	Existing int `json:"existing"`
	Refused  int `json:"refused"`

	// Roles and Providers are the names in the source that were left out, with the number
	// of users. Each has at most 100 names.
	Roles     map[string]int `json:"rolesLeftOut,omitempty"`
	Providers map[string]int `json:"providersLeftOut,omitempty"`
}

// importing is one call of Import.
type importing struct {
	store  pintle.Store
	o      Options
	now    time.Time
	sealer *account.TOTPSealer
	result Result
}

// Import stores the users of a source. It returns an error if the source cannot be read any
// further, the store fails, or ctx ends. The counts are of what was done until then, and a
// further call with the same source goes on. A user who is refused is no error.
//
// It takes the memory of one batch, however many users there are. The application may run
// meanwhile, and several calls may run at the same time.
func Import(ctx context.Context, store pintle.Store, users iter.Seq2[*User, error], o Options) (Result, error) {
	im := &importing{store: store, o: o, now: time.Now().UTC().Truncate(time.Millisecond)}
	if store.AccountStore() == nil {
		return im.result, errors.New("userimport: the store has no room for passwords: its AccountStore is nil")
	}
	if len(o.Secrets) > 0 {
		sealer, err := account.NewTOTPSealer(o.Secrets, o.Tenant)
		if err != nil {
			return im.result, fmt.Errorf("userimport: %w", err)
		}
		im.sealer = sealer
	}
	size := o.Batch
	if size <= 0 {
		size = 100
	}
	var batch []*entry
	for u, err := range users {
		if stop := ctx.Err(); stop != nil {
			return im.result, stop
		}
		e := &entry{}
		var line *LineError
		switch {
		case errors.As(err, &line):
			e.outcome = Outcome{Number: line.Number, Status: Refused, Reason: line.Reason}
		case err != nil:
			// What was read before is stored: the next call begins where the source is broken.
			return im.result, errors.Join(fmt.Errorf("userimport: %w", err), im.write(ctx, batch))
		default:
			if e, err = im.prepare(u); err != nil {
				return im.result, err
			}
		}
		if batch = append(batch, e); len(batch) < size {
			continue
		}
		if err := im.write(ctx, batch); err != nil {
			return im.result, err
		}
		batch = batch[:0]
	}
	return im.result, im.write(ctx, batch)
}

// write stores a batch and reports it.
func (im *importing) write(ctx context.Context, batch []*entry) error {
	if len(batch) == 0 {
		return nil
	}
	done, err := im.storeAll(ctx, batch)
	for _, e := range batch[:done] {
		im.count(e)
	}
	if im.o.Progress != nil {
		seen := im.result
		seen.Roles, seen.Providers = maps.Clone(seen.Roles), maps.Clone(seen.Providers)
		im.o.Progress(seen)
	}
	if err != nil {
		return fmt.Errorf("userimport: user %d: %w", batch[done].outcome.Number, err)
	}
	return nil
}

func (im *importing) count(e *entry) {
	im.result.Read++
	switch e.outcome.Status {
	case Stored:
		im.result.Stored++
	case Partial:
		im.result.Partial++
	case Existing:
		im.result.Existing++
	case Refused:
		im.result.Refused++
	}
	if e.outcome.Status == Stored || e.outcome.Status == Partial {
		addNames(&im.result.Roles, e.rolesLeft)
		addNames(&im.result.Providers, e.providersLeft)
	}
	if im.o.Report != nil {
		im.o.Report(e.outcome)
	}
}

// maxNames bounds the memory that names of the source take.
const maxNames = 100

func addNames(counts *map[string]int, names []string) {
	for _, name := range names {
		if *counts == nil {
			*counts = map[string]int{}
		}
		if _, known := (*counts)[name]; known || len(*counts) < maxNames {
			(*counts)[name]++
		}
	}
}
