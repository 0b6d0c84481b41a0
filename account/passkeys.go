package account

import (
	"cmp"
	"errors"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/page"
)

func (v *visit) passkeyList() ([]*pintle.Passkey, error) {
	list, err := v.auth.Passkeys(v.ctx, v.session)
	if err != nil {
		return nil, unavailable(err)
	}
	return list, nil
}

func describePasskeys(list []*pintle.Passkey) []map[string]any {
	all := []map[string]any{}
	for _, k := range list {
		all = append(all, map[string]any{
			"id": k.CredentialID, "name": k.Name, "created": wireTime(k.Created), "lastUsed": wireTime(k.LastUsed), "backedUp": k.BackedUp,
		})
	}
	return all
}

// showPasskeys lists the passkeys of the user. A script adds one; all else goes without.
func (v *visit) showPasskeys() (*view, error) {
	list, err := v.passkeyList()
	if err != nil {
		return nil, err
	}
	p := v.newPage("passkeys", "")
	g := page.Group{}
	for _, k := range list {
		if len(g.Rows) < maxListed { // pages add no more than maxPasskeys
			g.Rows = append(g.Rows, v.passkeyRow(k))
		}
	}
	if len(g.Rows) == 0 {
		g.Text = page.Plain(v.word("none"))
	}
	p.Groups = []page.Group{g}
	if len(list) > 0 {
		if err := v.offerCodes(&p); err != nil {
			return nil, err
		}
	}
	if len(list) < maxPasskeys {
		missing, err := v.adding()
		if err != nil {
			return nil, err
		}
		if missing != nil {
			p.Groups = append(p.Groups, *missing)
		} else {
			form, err := v.addPasskeyForm(len(list) == 0)
			if err != nil {
				return nil, err
			}
			p.Forms = []page.Form{form}
		}
	}
	return &view{page: p, data: map[string]any{"passkeys": describePasskeys(list)}}, nil
}

// offerCodes offers recovery codes to a user who has nothing else for the loss of a passkey.
func (v *visit) offerCodes(p *page.FormPage) error {
	u, set, err := v.ownFactors()
	if err != nil || set.asked() || len(set.recovery) >= fewCodes {
		return err
	}
	codes, err := v.usesCodes(u, set)
	if codes && (u.Email == "" || isProved(u)) { // see mayHaveCodes
		p.Groups = append(p.Groups, v.codesGroup(set))
	}
	return err
}

// addPasskeyForm is the form of the ceremony. The root serves it, as at a sign-in. After the first
// passkey of a user who needs a second factor, and has no app, it leads to the recovery codes.
func (v *visit) addPasskeyForm(first bool) (page.Form, error) {
	next := withQuery(v.pageURL("passkeys"), "notice", "passkey_added")
	if first {
		u, set, err := v.ownFactors()
		if err != nil {
			return page.Form{}, err
		}
		must, err := v.requiresFactor(u)
		if err != nil {
			return page.Form{}, err
		}
		if must && !set.asked() {
			next = withQuery(v.site.path("recovery-codes"), "notice", "passkey_added")
		}
	}
	id := v.passkeys[0]
	return page.Form{
		Action: v.site.base + "/callback/" + id, PasskeyOptionsURL: v.site.base + "/webauthn-options/" + id, Button: v.pageText("passkeys").Button,
		Hidden: hidden("action", "register", "callbackUrl", v.absolute(next)),
	}, nil
}

func (v *visit) passkeyRow(k *pintle.Passkey) page.Row {
	row := page.Row{Title: page.Line{Value: k.Name}, Icon: "passkeys"}
	if k.Name == "" {
		row.Title = page.Line{Before: v.word("unnamed_passkey")}
	}
	if k.BackedUp {
		row.Badges = []string{v.word("synchronised")}
	}
	if !k.Created.IsZero() {
		row.Lines = append(row.Lines, v.when("added", k.Created))
	}
	if !k.LastUsed.IsZero() {
		row.Lines = append(row.Lines, v.when("last_used", k.LastUsed))
	}
	form := func(action string) page.Form {
		return page.Form{Action: v.site.path("passkey"), Hidden: hidden("id", k.CredentialID, "action", action), Secondary: true}
	}
	if v.store.Features().PasskeyNames {
		rename := form("rename")
		rename.Fold, rename.Button = v.word("edit_name"), v.word("rename")
		rename.Inputs = []page.Input{v.renamed(k.CredentialID, page.Input{
			Name: "name", Label: v.word("passkey_name"), Value: k.Name, Autocomplete: "off", MaxLength: maxName,
		})}
		row.Forms = append(row.Forms, rename)
	}
	remove := form("remove")
	remove.Button, remove.Grave = v.word("remove"), true
	row.Forms = append(row.Forms, remove)
	return row
}

// renamed is the field for the name of a row, with what was typed into it if it was rejected.
func (v *visit) renamed(id string, in page.Input) page.Input {
	if v.problem != nil && v.form["id"] == id {
		if code := v.problem.fields["name"]; code != "" {
			in.Problem, in.Value = v.sentence(code, 0), v.form["name"]
		}
	}
	return in
}

// changePasskey renames or removes a passkey of the user of the session.
func (v *visit) changePasskey() (next string, err error) {
	list, err := v.passkeyList()
	if err != nil {
		return "", err
	}
	var key *pintle.Passkey
	for _, k := range list {
		if k.CredentialID == v.form["id"] {
			key = k
		}
	}
	if key == nil {
		return "", problemOf("not_found")
	}
	switch v.form["action"] {
	case "rename":
		return v.renamePasskey(key)
	case "remove":
		return v.removePasskey(key)
	}
	return "", problemOf("invalid")
}

// renamePasskey needs no more than the session: a name proves nothing.
func (v *visit) renamePasskey(key *pintle.Passkey) (next string, err error) {
	if !v.store.Features().PasskeyNames {
		return "", problemOf("refused")
	}
	name, err := factorName(v.form["name"])
	if err != nil {
		return "", err
	}
	err = v.auth.RenamePasskey(v.ctx, v.session, key.CredentialID, name)
	if errors.Is(err, pintle.ErrNotFound) {
		return "", problemOf("not_found")
	}
	if err != nil {
		return "", unavailable(err)
	}
	v.note("passkey_renamed", v.session.User.ID)
	return withQuery(v.pageURL("passkeys"), "notice", "profile_changed"), nil
}

// removePasskey demands as much as adding one does. The last passkey of a user who needs a
// second factor, and has no app, stays.
func (v *visit) removePasskey(key *pintle.Passkey) (next string, err error) {
	if err := v.demand(accountDemand); err != nil {
		return "", err
	}
	u, err := v.user()
	if err != nil {
		return "", err
	}
	must, err := v.requiresFactor(u)
	if err != nil {
		return "", err
	}
	return v.inTurn(u.ID, func() (next string, err error) {
		if must {
			if err := v.hasFactorBeside(u.ID); err != nil {
				return "", err
			}
		}
		return v.dropPasskey(u, key)
	})
}

// hasFactorBeside returns the problem required_by_policy if a user has one passkey and no app.
func (v *visit) hasFactorBeside(userID string) error {
	list, err := v.passkeyList()
	if err != nil {
		return err
	}
	set, err := v.factorsOf(v.ctx, userID)
	if err != nil {
		return unavailable(err)
	}
	if len(list) < 2 && !set.asked() {
		return problemOf("required_by_policy")
	}
	return nil
}

// dropPasskey removes a passkey with its account. All other sessions of the user end: one of them
// may have begun with the passkey.
func (v *visit) dropPasskey(u *pintle.User, key *pintle.Passkey) (next string, err error) {
	var refused error
	err = v.changeWays(u, func() (bool, error) {
		err := v.unlinkPasskey(key)
		if isProblem(err, "last_sign_in") || isProblem(err, "not_found") {
			refused, err = err, nil // this browser goes on
		}
		if refused == nil && err == nil {
			if err := v.dropLeftCodes(u.ID); err != nil {
				return true, err
			}
		}
		return refused == nil && err == nil, err
	}, func() {
		v.note("passkey_removed", u.ID)
		v.tellStored(v.ctx, passkeyRemoved, u.ID, "", "")
	})
	if err = cmp.Or(err, refused); err != nil {
		return "", err
	}
	return withQuery(v.pageURL("passkeys"), "notice", "passkey_removed"), nil
}

// unlinkPasskey removes a passkey of the session's user unless it is the last way in.
func (v *visit) unlinkPasskey(key *pintle.Passkey) error {
	id := cmp.Or(key.ProviderAccountID, key.CredentialID)
	err := error(problemOf("not_found"))
	for _, provider := range v.passkeys { // the row of a passkey does not name its provider
		if err = v.remove(provider, id); !isProblem(err, "not_found") {
			break
		}
	}
	if errors.Is(err, notRevoked) {
		return nil
	}
	return err
}
