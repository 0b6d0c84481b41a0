package account

import (
	"cmp"
	"errors"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/page"
)

// notRevoked is the error of an account that was unlinked, and whose provider has not revoked
// its tokens.
const notRevoked = pintle.Code("NotRevoked")

// linkedList returns the accounts of providers of the user. Passkeys have a page of their own.
func (v *visit) linkedList() (list []*pintle.Account, err error) {
	all, err := v.auth.Accounts(v.ctx, v.session)
	if err != nil {
		return nil, unavailable(err)
	}
	for _, a := range all {
		if a.Type != pintle.TypeWebAuthn {
			list = append(list, a)
		}
	}
	return list, nil
}

func describeLinked(list []*pintle.Account) []map[string]any {
	all := []map[string]any{}
	for _, a := range list {
		all = append(all, map[string]any{"provider": a.Provider, "providerAccountId": a.ProviderAccountID, "type": a.Type})
	}
	return all
}

// providerRow is a row about a provider, with its mark and its name.
func (v *visit) providerRow(id string) page.Row {
	name := v.configured(cmp.Or(v.providers[id], id))
	return page.Row{
		Title:    page.Line{Value: name},
		Provider: &page.Provider{ID: id, Name: name, Style: page.Style(v.styles[id])},
	}
}

// showLinked lists the accounts of providers with which the user signs in, and those that can
// be linked.
func (v *visit) showLinked() (*view, error) {
	list, err := v.linkedList()
	if err != nil {
		return nil, err
	}
	p := v.newPage("accounts", "")
	from := min(v.from(), len(list))
	part := list[from:min(from+maxListed, len(list))]
	g, has := page.Group{Links: v.pageLinksOf(from+len(part) < len(list))}, map[string]bool{}
	for _, a := range list {
		has[a.Provider] = true
	}
	for _, a := range part {
		row := v.providerRow(a.Provider)
		row.Lines = []page.Line{{Value: a.ProviderAccountID}}
		row.Forms = []page.Form{{
			Action: v.site.path("unlink"), Hidden: hidden("provider", a.Provider, "id", a.ProviderAccountID), Button: v.word("unlink"),
			Secondary: true, Grave: true,
		}}
		g.Rows = append(g.Rows, row)
	}
	if len(g.Rows) == 0 {
		p.Text, g.Text = nil, page.Plain(v.word("none"))
	}
	p.Groups = []page.Group{g}
	more, err := v.toLink(has)
	if err != nil {
		return nil, err
	}
	if more != nil {
		p.Groups = append(p.Groups, *more)
	}
	data := map[string]any{"accounts": describeLinked(part)}
	if from+len(part) < len(list) {
		data["next"] = from + maxListed
	}
	return &view{page: p, data: data}, nil
}

// toLink is the group of the providers of which the user has no account yet.
func (v *visit) toLink(has map[string]bool) (*page.Group, error) {
	g := &page.Group{Heading: v.word("to_link")}
	for _, id := range v.linkable {
		if has[id] {
			continue
		}
		row := v.providerRow(id)
		row.Forms = []page.Form{{
			Action: v.site.base + "/signin/" + id, Button: v.pageText("accounts").Button, Secondary: true,
			Hidden: hidden("callbackUrl", v.absolute(withQuery(v.pageURL("accounts"), "notice", "linked"))),
		}}
		g.Rows = append(g.Rows, row)
	}
	if len(g.Rows) == 0 {
		return nil, nil //nolint:nilnil // there is nothing to link
	}
	missing, err := v.adding()
	if missing != nil {
		missing.Heading = g.Heading
		return missing, err
	}
	return g, err
}

// unlinkAccount removes an account of a provider. What the provider has issued is revoked as
// [pintle.OAuth].RevokeAtUnlink says.
func (v *visit) unlinkAccount() (next string, err error) {
	provider, id := v.form["provider"], v.form["id"]
	list, err := v.linkedList()
	if err != nil {
		return "", err
	}
	found := false
	for _, a := range list {
		found = found || a.Provider == provider && a.ProviderAccountID == id
	}
	if !found {
		return "", problemOf("not_found")
	}
	v.seeThrough()
	notice := "unlinked"
	if err := v.remove(provider, id); errors.Is(err, notRevoked) {
		notice = "not_revoked"
	} else if err != nil {
		return "", err
	}
	v.forgetPicture(v.session.User.ID, provider, id)
	v.note("account_unlinked", v.session.User.ID, detailProvider, provider)
	v.tellStored(v.ctx, accountUnlinked, v.session.User.ID, v.configured(cmp.Or(v.providers[provider], provider)), "")
	return withQuery(v.pageURL("accounts"), "notice", notice), nil
}

// remove removes an account of the user, or a passkey, unless it is the last way in. The
// account is removed, too, if the error matches notRevoked.
func (v *visit) remove(provider, id string) error {
	err := v.auth.Unlink(v.ctx, v.session, provider, id)
	switch {
	case err == nil, errors.Is(err, notRevoked):
		return err
	case errors.Is(err, pintle.ErrNotFound):
		return problemOf("not_found")
	case errors.Is(err, pintle.CodeLastSignIn):
		return problemOf("last_sign_in")
	}
	return unavailable(err)
}
