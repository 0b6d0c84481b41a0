package account

import (
	"errors"
	"strconv"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/internal/page"
)

func count[T any](list []T) string { return strconv.Itoa(len(list)) }

// showFactors lists the apps of the session's user. If second factors are off, a user who has added
// an app before can remove it here. Others get 404.
func (v *visit) showFactors() (*view, error) {
	u, set, err := v.ownFactors()
	if err != nil {
		return nil, err
	}
	if v.o.SecondFactor.Off && !set.asked() {
		return nil, problemOf("not_found")
	}
	codes, err := v.usesCodes(u, set)
	if err != nil {
		return nil, err
	}
	p, err := v.newPageOf(u, "factors")
	if err != nil {
		return nil, err
	}
	if next := v.callbackURL(); next != "" {
		p.Links = append(p.Links, page.Link{URL: next, Text: v.pageText("confirm").Button})
	}
	apps := page.Group{}
	for _, row := range set.totp {
		apps.Rows = append(apps.Rows, v.factorRow(row))
	}
	if len(apps.Rows) == 0 {
		apps.Text = page.Plain(v.noApp(codes))
	}
	if len(set.totp) < maxTOTP && !v.o.SecondFactor.Off {
		apps.Links = []page.Link{{URL: v.onWith("totp"), Text: v.pageText("factors").Button}}
	}
	p.Groups = []page.Group{apps}
	if codes {
		p.Groups = append(p.Groups, v.codesGroup(set))
		if !set.lacksFirst() {
			v.sayFewCodes(&p, len(set.recovery))
		}
	}
	if len(set.browsers) > 0 {
		p.Groups = append(p.Groups, v.browserGroup(set))
	}
	data := map[string]any{
		"factors": describeFactors(set.totp), "recoveryLeft": len(set.recovery), "rememberedDevices": v.describeBrowsers(set),
	}
	return &view{page: p, data: data}, nil
}

// noApp is what there is to say about the second factor of a user without an app. One who can have
// recovery codes all the same has a passkey.
func (v *visit) noApp(codes bool) string {
	if codes {
		return v.word("factor_passkey")
	}
	return v.word("factor_none")
}

func describeFactors(rows []*accountstore.Factor) []map[string]any {
	list := []map[string]any{}
	for _, row := range rows {
		list = append(list, map[string]any{
			"id": row.ID, "kind": row.Kind, "name": row.Name, "created": wireTime(row.Created), "lastUsed": wireTime(row.LastUsed),
		})
	}
	return list
}

// sayFewCodes tells the user that few recovery codes are left, unless the page has to say
// something else.
func (v *visit) sayFewCodes(p *page.FormPage, left int) {
	if left < fewCodes && p.Notice == "" && p.Problem == "" {
		p.Notice = v.texts.Account.Notices["few_codes"]
	}
}

// factorRow is one app, with the forms to give it a name and to remove it.
func (v *visit) factorRow(row *accountstore.Factor) page.Row {
	form := func(action string) page.Form {
		return page.Form{Action: v.site.path("factor"), Hidden: hidden("kind", row.Kind, "id", row.ID, "action", action), Secondary: true}
	}
	shown := page.Row{Title: page.Line{Value: row.Name}, Icon: "second-factor", Lines: []page.Line{v.when("added", row.Created)}}
	if row.Name == "" {
		shown.Title = page.Line{Before: v.word("unnamed_app")}
	}
	if !row.LastUsed.IsZero() {
		shown.Lines = append(shown.Lines, v.when("last_used", row.LastUsed))
	}
	rename, remove := form("rename"), form("remove")
	rename.Fold, rename.Button = v.word("edit_name"), v.word("rename")
	rename.Inputs = []page.Input{v.renamed(row.ID, page.Input{
		Name: "name", Label: v.word("totp_name"), Value: row.Name, Autocomplete: "off", MaxLength: maxName,
	})}
	remove.Button, remove.Grave = v.word("remove"), true
	shown.Forms = []page.Form{rename, remove}
	return shown
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
		return v.removeFactor(u, row)
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
	return withQuery(v.pageURL("factors"), "notice", "profile_changed"), nil
}

// removeFactor demands as much as adding one does. Otherwise a thief of the session would
// remove what is in the way, or replace it.
func (v *visit) removeFactor(u *pintle.User, row *accountstore.Factor) (next string, err error) {
	if err := v.demand(accountDemand); err != nil {
		return "", err
	}
	must, err := v.requiresFactor(u)
	if err != nil {
		return "", err
	}
	return v.inTurn(u.ID, func() (next string, err error) {
		set, err := v.factorsOf(v.ctx, u.ID)
		if err != nil {
			return "", unavailable(err)
		}
		last := len(set.totp) < 2
		if last && must {
			if err := v.hasPasskey(); err != nil {
				return "", err
			}
		}
		return v.changeFactors(u, "factor-removed", "factor_removed", func() (removed bool, err error) {
			err = v.rows.DeleteFactor(v.ctx, u.ID, factorTOTP, row.ID)
			if errors.Is(err, pintle.ErrNotFound) {
				return false, problemOf("not_found")
			}
			if err != nil {
				return false, unavailable(err)
			}
			return true, v.dropLeftCodes(u.ID)
		})
	})
}

// hasPasskey returns the problem required_by_policy if the user has no passkey, which is a second
// factor as well.
func (v *visit) hasPasskey() error {
	if len(v.passkeys) > 0 {
		list, err := v.passkeyList()
		if err != nil || len(list) > 0 {
			return err
		}
	}
	return problemOf("required_by_policy")
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

// changeFactors changes the second factors of the session's user. All other sessions end,
// and so do sign-ins that are held: what they have proven may not count any more. change
// reports whether it has changed something, with or without an error: the user gets a mail then.
func (v *visit) changeFactors(u *pintle.User, mail, notice string, change func() (bool, error), methods ...string) (next string, err error) {
	page := "factors"
	if v.o.SecondFactor.Off {
		page = "" // see showFactors: this may have been the last one
	}
	err = v.changeWays(u, change, func() { v.notify(mail, u, "", page) }, methods...)
	if err != nil {
		return "", err
	}
	return v.onWith(page, "notice", notice), nil
}

// changeWays is changeFactors for an app or a passkey. tell tells the user of a change.
func (v *visit) changeWays(u *pintle.User, change func() (bool, error), tell func(), methods ...string) error {
	v.seeThrough()
	changed := false
	err := v.whileSignedOut(v.ctx, u.ID, func() (err error) {
		changed, err = change()
		return err
	})
	if changed {
		tell()
	}
	if err != nil {
		return err
	}
	return v.startAgain(u, v.session.Authentication, methods...)
}
