package account

import (
	"slices"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/internal/page"
)

// A standing is how a user can sign in.
type standing struct {
	user     *pintle.User
	password *accountstore.Factor // nil without one
	imported bool                 // the password is in the table of the application
	factors  []*accountstore.Factor
	recovery int // codes that are left

	strongest Level // what a change of the account demands
}

func (v *visit) standing() (*standing, error) {
	u, err := v.user()
	if err != nil {
		return nil, err
	}
	s := &standing{user: u}
	row, hash, err := v.storedPassword(v.ctx, u)
	if err != nil {
		return nil, unavailable(err)
	}
	if hash != "" {
		s.password, s.imported = row, row == nil
	}
	set, err := v.factorsOf(v.ctx, u.ID)
	if err != nil {
		return nil, unavailable(err)
	}
	s.factors, s.recovery = set.totp, len(set.recovery)
	s.strongest, err = v.strongest(v.ctx, u.ID)
	return s, err
}

// hasPassword reports whether the user can sign in with a password.
func (s *standing) hasPassword() bool { return s.password != nil || s.imported }

// showAccount is the page of the user's account.
func (v *visit) showAccount() (*view, error) {
	s, err := v.standing()
	if err != nil {
		return nil, err
	}
	name := s.user.Email
	if name == "" {
		name = s.user.Name
	}
	p := v.newPage("account", name)
	say := func(word, value string) { p.Text = append(p.Text, page.Fill(v.word(word), value)) }
	switch {
	case isProved(s.user):
		say("address_confirmed", "")
	case s.user.Email != "":
		say("address_unconfirmed", "")
	}
	switch {
	case s.password != nil && s.password.Step > 0:
		say("password_since", dateOf(time.UnixMilli(s.password.Step)))
	case s.hasPassword(): // it is not known since when
		say("password_there", "")
	default:
		say("password_none", "")
	}
	for _, f := range s.factors {
		say("factor_since", dateOf(f.Created))
	}
	if len(s.factors) == 0 && !v.o.SecondFactor.Off {
		say("factor_none", "")
	}
	p.Links = v.pageLinks("password", "passwords", "factors", "second_factor", "totp", "add_totp")
	if len(s.factors) > 0 { // recovery codes are for the loss of one
		p.Links = append(p.Links, v.pageLinks("recovery-codes", "new_codes")...)
		v.sayFewCodes(&p, s.recovery)
	}
	p.Forms = []page.Form{{Action: v.site.base + "/signout", Button: v.pageText("account").Button, Secondary: true}}
	return &view{page: p, data: v.describe(s)}, nil
}

// pageLinks are links to the pages of this configuration, of pairs of a route and a word.
func (v *visit) pageLinks(pairs ...string) (links []page.Link) {
	for i := 0; i+1 < len(pairs); i += 2 {
		if r := v.routes[pairs[i]]; r != nil && r.show != nil {
			links = append(links, v.link(pairs[i], pairs[i+1]))
		}
	}
	return links
}

// dateOf is a day as everyone reads it alike.
func dateOf(at time.Time) string { return at.UTC().Format(time.DateOnly) }

// showMe is the account as data, for scripts of the application.
func (v *visit) showMe() (*view, error) {
	s, err := v.standing()
	if err != nil {
		return nil, err
	}
	data := v.describe(s)
	if err := v.addDuties(s.user, data); err != nil {
		return nil, err
	}
	if err := v.addLists(data); err != nil {
		return nil, err
	}
	return &view{data: data}, nil
}

// describe has what a user may know of the account: no hash, secret, token or code.
func (v *visit) describe(s *standing) map[string]any {
	facts := v.session.Authentication
	factors := []map[string]any{}
	for _, f := range s.factors {
		factors = append(factors, map[string]any{
			"id": f.ID, "kind": f.Kind, "name": f.Name, "created": wireTime(f.Created), "lastUsed": wireTime(f.LastUsed),
		})
	}
	password := map[string]any{"set": s.hasPassword(), "changed": nil}
	if s.password != nil {
		password["changed"] = wireTime(time.UnixMilli(s.password.Step))
	}
	return map[string]any{
		"user": map[string]any{
			"id": s.user.ID, "name": textOrNil(s.user.Name), "email": textOrNil(s.user.Email), "image": textOrNil(s.user.Image),
			"emailVerified": wireTime(s.user.EmailVerified),
		},
		"session": map[string]any{
			"authTime": wireTime(facts.Time), "started": wireTime(facts.Started), "amr": nonNil(slices.Clone(facts.Methods)),
			"acr":   textOrNil(v.Level(v.session).String()),
			"fresh": v.levelSince(facts, accountDemand.since(0)) >= s.strongest,
		},
		"password": password, "factors": factors, "recoveryLeft": s.recovery,
	}
}

// addDuties adds whether the user has to have a second factor, and what is decided and has
// not happened: an address that is not proven, the deletion of the user.
func (v *visit) addDuties(u *pintle.User, data map[string]any) error {
	required, err := v.requiresFactor(u)
	if err != nil {
		return err
	}
	state, err := v.rows.State(v.ctx, u.ID)
	if err != nil {
		return unavailable(err)
	}
	pending := map[string]any{}
	if state.Claim != "" {
		pending["address"] = state.Claim
	}
	if at := wireTime(state.DeleteAt); at != nil {
		pending["deletion"] = at
	}
	data["required"], data["pending"] = required || mustDo(state, mustEnrol), pending
	return nil
}

// addLists adds what the store has in lists, where it has them.
func (v *visit) addLists(data map[string]any) error {
	has := v.store.Features()
	if has.Accounts {
		all, err := v.auth.Accounts(v.ctx, v.session)
		if err != nil {
			return unavailable(err)
		}
		list := []map[string]any{}
		for _, a := range all {
			list = append(list, map[string]any{"provider": a.Provider, "providerAccountId": a.ProviderAccountID, "type": a.Type})
		}
		data["accounts"] = list
	}
	if has.Passkeys {
		all, err := v.auth.Passkeys(v.ctx, v.session)
		if err != nil {
			return unavailable(err)
		}
		list := []map[string]any{}
		for _, k := range all {
			list = append(list, map[string]any{
				"id": k.CredentialID, "name": k.Name, "created": wireTime(k.Created), "lastUsed": wireTime(k.LastUsed), "backedUp": k.BackedUp,
			})
		}
		data["passkeys"] = list
	}
	list := []map[string]any{}
	for d, err := range v.auth.Devices(v.ctx, v.session) {
		if err != nil {
			return unavailable(err)
		}
		list = append(list, map[string]any{
			"handle": d.Handle, "created": wireTime(d.Created), "lastUsed": wireTime(d.LastUsed), "expires": wireTime(d.Expires), "current": d.Current,
		})
		if len(list) == maxListed {
			break
		}
	}
	data["devices"] = list
	return nil
}

// maxListed is how many devices are listed.
const maxListed = 100

// wireTime is a time as JavaScript writes it, and nil for one that is not known.
func wireTime(at time.Time) any {
	if at.IsZero() || at.Unix() == 0 {
		return nil
	}
	return at.UTC().Format("2006-01-02T15:04:05.000Z")
}

func textOrNil(text string) any {
	if text == "" {
		return nil
	}
	return text
}

func nonNil(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}
