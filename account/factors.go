package account

import (
	"errors"
	"strconv"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/internal/page"
)

func count[T any](list []T) string { return strconv.Itoa(len(list)) }

// showFactors lists the apps of the session's user.
func (v *visit) showFactors() (*view, error) {
	_, set, err := v.ownFactors()
	if err != nil {
		return nil, err
	}
	list := []map[string]any{}
	p := v.newPage("factors", "")
	if next := v.callbackURL(); next != "" {
		p.Links = append(p.Links, page.Link{URL: next, Text: v.pageText("confirm").Button})
	}
	if len(set.totp) < maxTOTP && !v.o.SecondFactor.Off {
		p.Links = append(p.Links, page.Link{URL: v.onWith("totp"), Text: v.pageText("factors").Button})
	}
	for _, row := range set.totp {
		list = append(list, map[string]any{
			"id": row.ID, "kind": row.Kind, "name": row.Name, "created": wireTime(row.Created), "lastUsed": wireTime(row.LastUsed),
		})
		p.Forms = append(p.Forms, v.factorForms(row)...)
	}
	if set.asked() {
		p.Text = append(p.Text, page.Fill(v.pageText("recovery-codes-new").Text[0], count(set.recovery)))
		p.Links = append(p.Links, v.link("recovery-codes", "new_codes", "callbackUrl", v.callbackURL()))
		v.sayFewCodes(&p, len(set.recovery))
	}
	p.Links = append(p.Links, v.link("", "back"))
	return &view{page: p, data: map[string]any{"factors": list, "recoveryLeft": len(set.recovery)}}, nil
}

// sayFewCodes tells the user that few recovery codes are left, unless the page has to say
// something else.
func (v *visit) sayFewCodes(p *page.FormPage, left int) {
	if left < fewCodes && p.Notice == "" && p.Problem == "" {
		p.Notice = v.texts.Account.Notices["few_codes"]
	}
}

// factorForms are the forms of one app: to give it a name, and to remove it.
func (v *visit) factorForms(row *accountstore.Factor) []page.Form {
	hidden := func(action string) []page.HiddenField {
		return []page.HiddenField{{Name: "kind", Value: row.Kind}, {Name: "id", Value: row.ID}, {Name: "action", Value: action}}
	}
	rename := page.Form{
		Action: v.site.path("factor"), About: row.Name, Heading: page.Fill(v.word("added"), dateOf(row.Created)),
		Hidden: hidden("rename"), Button: v.word("rename"), Secondary: true,
		Inputs: []page.Input{{Name: "name", Label: v.word("totp_name"), Value: row.Name, Autocomplete: "off", MaxLength: maxName}},
	}
	if v.problem != nil && v.form["id"] == row.ID {
		if code := v.problem.fields["name"]; code != "" {
			rename.Inputs[0].Problem, rename.Inputs[0].Value = v.sentence(code, 0), v.form["name"]
		}
	}
	return []page.Form{rename, {
		Action: v.site.path("factor"), Hidden: hidden("remove"), Button: v.word("remove"), Secondary: true, Joined: true,
	}}
}

// changeFactor renames or removes an app of the session's user.
func (v *visit) changeFactor() (next string, err error) {
	u, set, err := v.ownFactors()
	if err != nil {
		return "", err
	}
	if kind := v.form["kind"]; kind != "" && kind != factorTOTP {
		return "", problemOf("invalid")
	}
	var row *accountstore.Factor
	for _, candidate := range set.totp {
		if candidate.ID == v.form["id"] {
			row = candidate
		}
	}
	if row == nil {
		return "", problemOf("not_found")
	}
	switch v.form["action"] {
	case "rename":
		return v.renameFactor(row)
	case "remove":
		return v.removeFactor(u, set, row)
	}
	return "", problemOf("invalid")
}

// renameFactor needs no more than the session: a name proves nothing.
func (v *visit) renameFactor(row *accountstore.Factor) (next string, err error) {
	name, err := factorName(v.form["name"])
	if err != nil {
		return "", err
	}
	switch err := v.replaceTOTP(row, func(f *accountstore.Factor) { f.Name = name }); {
	case errors.Is(err, pintle.ErrNotFound):
		return "", problemOf("not_found")
	case errors.Is(err, pintle.ErrConflict):
		return "", problemOf("changed_meanwhile")
	case err != nil:
		return "", unavailable(err)
	}
	return v.site.path("factors"), nil
}

// removeFactor demands as much as adding one does. Otherwise a thief of the session would
// remove what is in the way, or replace it.
func (v *visit) removeFactor(u *pintle.User, set *factors, row *accountstore.Factor) (next string, err error) {
	if err := v.demand(accountDemand); err != nil {
		return "", err
	}
	last := len(set.totp) == 1
	if last {
		must, err := v.requiresFactor(u)
		if err != nil {
			return "", err
		}
		if must {
			return "", problemOf("required_by_policy")
		}
	}
	return v.changeFactors(u, "factor-removed", "factor_removed", func() error {
		err := v.rows.DeleteFactor(v.ctx, u.ID, factorTOTP, row.ID)
		if errors.Is(err, pintle.ErrNotFound) {
			return problemOf("not_found")
		}
		if err == nil && last { // codes for the loss of it are of no more use
			_, err = v.rows.DeleteFactors(v.ctx, u.ID, []string{factorRecovery}, nil)
		}
		if err != nil {
			return unavailable(err)
		}
		return nil
	})
}

// requiresFactor reports whether the rules of the application require a second factor of the
// user of the session.
func (v *visit) requiresFactor(u *pintle.User) (bool, error) {
	if v.o.SecondFactor.Required == nil || v.o.SecondFactor.Off {
		return false, nil
	}
	must, err := v.o.SecondFactor.Required(v.ctx, &pintle.PendingSignIn{
		User: u, Account: &pintle.Account{UserID: u.ID, Provider: v.session.Authentication.Provider},
		Authentication: v.session.Authentication, Request: v.r,
	})
	if err != nil {
		return false, unavailable(err)
	}
	return must, nil
}
