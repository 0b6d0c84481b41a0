package account

import (
	"encoding/base32"
	"errors"
	"strings"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/internal/page"
)

// Recovery codes are shown once, on a page of a session or of a sign-in that is held, until their
// user has saved them. The store has their hashes from then on.

// beginCodes shows recovery codes next: with an app that counts once they are saved, or
// alone. An earlier attempt of the user ends.
func (v *visit) beginCodes(u *pintle.User, key *confirmedKey) error {
	if _, err := v.rows.EndFlows(v.ctx, u.ID, totpKind.name); err != nil {
		return unavailable(err)
	}
	p := payload{Codes: newRecoveryCodes()}
	if key != nil {
		p.Secret, p.Name, p.Step = totpText(key.secret), key.name, key.step
	}
	token, f, err := v.beginFlow(v.ctx, totpKind, u.ID, p)
	if err != nil {
		return err
	}
	if f == nil {
		return tooMany(0)
	}
	return v.setFlowCookie(totpKind, &heldFlow{Token: token, Began: true})
}

// heldCodes returns the codes of a user that wait to be saved, or nil.
func (v *visit) heldCodes(u *pintle.User) (*flow, error) {
	f, _, err := v.heldFlow(totpKind)
	var p *problem
	switch {
	case errors.As(err, &p) && p.err == nil:
		return nil, nil // none, expired, or of a former session
	case err != nil:
		return nil, err
	case f.Subject != u.ID:
		return nil, nil
	}
	return f, nil
}

// showCodes is the page with new recovery codes, or the file of them.
func (v *visit) showCodes(route string, f *flow) *view {
	if queryOf(v.r.URL, "format") == "text" {
		return &view{file: &file{name: "recovery-codes.txt", text: v.siteName() + "\n\n" + strings.Join(f.payload.Codes, "\n") + "\n"}}
	}
	p := v.newPage("recovery-codes", "")
	p.Codes, p.Save, p.Print = f.payload.Codes, v.link(route, "save_as_text", "format", "text"), v.word("print")
	p.Forms = []page.Form{v.formTo(route, "recovery-codes", page.Input{
		Name: "saved", Label: v.word("saved"), Type: "checkbox", Required: true,
	})}
	return &view{page: p, data: map[string]any{"codes": f.payload.Codes}}
}

// A saved is what the user has saved: an app, unless it is nil, and recovery codes.
type saved struct {
	app   *accountstore.Factor
	codes []*accountstore.Factor
}

// takeCodes uses the flow of codes up once the user says that they are saved. Whatever
// ends the sessions of the user ends the flow first: a basis that was read before takeCodes
// succeeds has no part of such a change.
func (v *visit) takeCodes(u *pintle.User, f *flow) (*saved, error) {
	if v.form["saved"] == "" {
		return nil, inField("saved", "invalid")
	}
	s, now := &saved{}, time.Now().UTC().Truncate(time.Millisecond)
	var err error
	if s.codes, err = v.hashCodes(v.ctx, u.ID, f.payload.Codes, now); err != nil {
		return nil, unavailable(err)
	}
	if f.payload.Secret != "" {
		secret, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(f.payload.Secret)
		if err != nil {
			return nil, unavailable(err)
		}
		if s.app, err = v.totpRow(u, &confirmedKey{secret, f.payload.Name, f.payload.Step}); err != nil {
			return nil, unavailable(err)
		}
	}
	if err := v.useFlow(v.ctx, totpKind, f); err != nil {
		return nil, err
	}
	v.clearCookie(totpKind)
	return s, nil
}

// storeSaved replaces the recovery codes of the user, and adds the app last: without codes it
// would lock the user out if it is lost.
func (v *visit) storeSaved(u *pintle.User, s *saved) error {
	err := v.together(func(store pintle.Store) error {
		rows := store.AccountStore()
		if _, err := rows.DeleteFactors(v.ctx, u.ID, []string{factorRecovery}, nil); err != nil {
			return err
		}
		for _, row := range s.codes {
			if err := rows.AddFactor(v.ctx, row); err != nil {
				return err
			}
		}
		if s.app == nil {
			return nil
		}
		return rows.AddFactor(v.ctx, s.app)
	})
	if err != nil {
		return unavailable(err)
	}
	return nil
}

// showRecoveryCodes is the page of new codes, or of how many are left.
func (v *visit) showRecoveryCodes() (*view, error) {
	u, set, err := v.ownFactors()
	if err != nil {
		return nil, err
	}
	f, err := v.heldCodes(u)
	if err != nil {
		return nil, err
	}
	if f != nil {
		return v.showCodes("recovery-codes", f), nil
	}
	uses, err := v.usesCodes(u, set)
	switch {
	case err != nil:
		return nil, err
	case !uses:
		return nil, problemOf("not_found")
	case !set.asked() && len(set.recovery) == 0:
		return v.showFirstCodes("recovery-codes"), nil
	}
	p := v.newPage("recovery-codes-new", "")
	p.Text = []page.Line{page.Fill(v.pageText("recovery-codes-new").Text[0], count(set.recovery))}
	form := v.formTo("recovery-codes", "recovery-codes-new")
	form.Hidden = append(form.Hidden, page.HiddenField{Name: "new", Value: "1"})
	p.Forms, p.Links = []page.Form{form}, []page.Link{v.link("factors", "second_factor", "callbackUrl", v.callbackURL())}
	return &view{page: p, data: map[string]any{"recoveryLeft": len(set.recovery)}}, nil
}

// makeRecoveryCodes makes new codes, or stores those that the user has saved.
func (v *visit) makeRecoveryCodes() (next string, err error) {
	u, set, err := v.ownFactors()
	if err != nil {
		return "", err
	}
	uses, err := v.usesCodes(u, set)
	if err != nil {
		return "", err
	}
	f, err := v.heldCodes(u)
	if err != nil {
		return "", err
	}
	if f == nil || v.form["new"] != "" {
		if v.form["saved"] != "" {
			return "", problemOf("link_expired") // the codes that were shown are not stored
		}
		if err := v.mayHaveCodes(u, uses); err != nil {
			return "", err
		}
		return v.onWith("recovery-codes"), v.beginCodes(u, nil)
	}
	if f.payload.Secret != "" {
		if err := v.mayAdd(u, set); err != nil {
			return "", err
		}
	} else if err := v.mayHaveCodes(u, uses); err != nil {
		return "", err
	}
	before, err := v.basisOf(v.ctx, u.ID)
	if err != nil {
		return "", err
	}
	s, err := v.takeCodes(u, f)
	if err != nil {
		return "", err
	}
	change := func() (bool, error) {
		if err := v.storeSaved(u, s); err != nil {
			return false, err
		}
		return v.keepUnlessOvertaken(u, before, s.rows())
	}
	if s.app == nil {
		return v.changeFactors(u, "recovery-made", "codes_made", change)
	}
	return v.changeFactors(u, "factor-added", "factor_added", change, methodTOTP)
}

// mayHaveCodes returns what keeps a user from making recovery codes without an app.
func (v *visit) mayHaveCodes(u *pintle.User, uses bool) error {
	switch {
	case !uses:
		return problemOf("not_found")
	case u.Email != "" && !isProved(u): // a proof of the address would remove them
		return v.unproved()
	}
	return nil
}
