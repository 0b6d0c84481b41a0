package account

import (
	"context"
	"errors"
	"fmt"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
)

// ResealOptions are the rules of [Reseal]. Secrets are required.
type ResealOptions struct {
	// Secrets are those of [pintle.Config], the one that seals first.
	Secrets []string

	// Tenants are the values of [pintle.Config].Tenant of the configurations that share the
	// store. Empty means one without a tenant.
	Tenants []string

	// CountOnly changes nothing.
	CountOnly bool

	// Progress is called with the counts so far after each few hundred users. Nil reports
	// nothing.
	Progress func(SealCount)
}

// A SealCount is how many secrets of authenticator apps there are, by what opens them.
type SealCount struct {
	// First are those that the first of Secrets opens, also those that were sealed anew
	// just now. Old are those that only another one opens.
	First, Old int

	// Resealed are how many of First were sealed anew.
	Resealed int

	// Unopened are those that no secret opens: a secret was taken out too early, a tenant
	// is missing, or the row was changed. Their users cannot use the app.
	Unopened int
}

// sealPage is how many users Reseal reads at a time. A store that looks at every row for
// each page, such as one in Redis, makes few of them.
const sealPage = 2000

// maxUnopened is how many rows the error of Reseal names.
const maxUnopened = 20

// Reseal seals the secrets of all authenticator apps with the first of the secrets, so that
// the others can be taken out of the configuration. Without it a secret is sealed anew when
// its app is used. Call it after every process has the new secret as its first one: a
// process with the old configuration cannot open what is sealed with the new secret.
//
// It may be stopped and called again, and users may sign in meanwhile. It goes on after a row
// that no secret opens, and the error then names these rows. The command "pintle reseal"
// calls it for databases.
func Reseal(ctx context.Context, rows accountstore.Store, o ResealOptions) (SealCount, error) {
	s := sealer{rows: rows, countOnly: o.CountOnly}
	if len(o.Secrets) == 0 {
		return s.count, errors.New("account: ResealOptions.Secrets is empty")
	}
	tenants := o.Tenants
	if len(tenants) == 0 {
		tenants = []string{""}
	}
	for _, tenant := range tenants {
		box, err := newTOTPBox(o.Secrets, (&boxes{tenant: tenant}).totpPurpose())
		if err != nil {
			return s.count, fmt.Errorf("account: %w", err)
		}
		s.boxes = append(s.boxes, box)
	}
	for after := ""; ; {
		page, err := rows.FactorUsers(ctx, factorTOTP, after, sealPage)
		if err != nil {
			return s.count, errors.Join(s.unopened(), err)
		}
		for i, id := range page {
			if err := s.user(ctx, id); err != nil {
				return s.count, errors.Join(s.unopened(), err)
			}
			if o.Progress != nil && (i+1)%500 == 0 {
				o.Progress(s.count)
			}
		}
		if len(page) < sealPage {
			return s.count, s.unopened()
		}
		after = page[len(page)-1]
	}
}

// A sealer is one call of Reseal.
type sealer struct {
	rows      accountstore.Store
	boxes     []*totpBox // one for each tenant
	countOnly bool
	count     SealCount
	errs      []error // of the first rows that did not open
}

func (s *sealer) unopened() error {
	if s.count.Unopened == 0 {
		return nil
	}
	first := fmt.Errorf("account: %d secrets of authenticator apps do not open with these secrets and tenants", s.count.Unopened)
	return errors.Join(append([]error{first}, s.errs...)...)
}

// user deals with the apps of a user. Another request may change one meanwhile: then all
// of them are read again.
func (s *sealer) user(ctx context.Context, userID string) error {
	for try := 0; ; try++ {
		factors, err := s.rows.Factors(ctx, userID)
		if err != nil {
			return err
		}
		before := s.count
		named := len(s.errs)
		for _, row := range factors {
			if row.Kind == factorTOTP && err == nil {
				err = s.row(ctx, row)
			}
		}
		if !errors.Is(err, pintle.ErrConflict) && !errors.Is(err, pintle.ErrNotFound) || try == 4 {
			return err
		}
		resealed := s.count.Resealed
		s.count, s.errs = before, s.errs[:named]
		s.count.Resealed = resealed // these count as First when they are read again
	}
}

func (s *sealer) row(ctx context.Context, row *accountstore.Factor) error {
	var secret []byte
	var old bool
	var by *totpBox
	var err error
	for _, box := range s.boxes {
		if secret, old, err = box.open(row); err == nil {
			by = box
			break
		}
	}
	switch {
	case by == nil:
		s.count.Unopened++
		if len(s.errs) < maxUnopened {
			s.errs = append(s.errs, fmt.Errorf("user %s, factor %s: %w", row.UserID, row.ID, err))
		}
		return nil
	case !old:
		s.count.First++
		return nil
	case s.countOnly:
		s.count.Old++
		return nil
	}
	changed := *row
	if changed.Secret, err = by.seal(row.UserID, row.ID, secret); err != nil {
		return err
	}
	if err := s.rows.ReplaceFactor(ctx, &changed); err != nil {
		return err
	}
	s.count.First++
	s.count.Resealed++
	return nil
}
