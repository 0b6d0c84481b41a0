package account

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/internal/page"
)

// A standing is how a user can sign in.
type standing struct {
	user     *pintle.User
	claims   bool                 // an address, after a deferred sign-up
	password *accountstore.Factor // nil without one
	imported bool                 // the password is in the table of the application
	factors  []*accountstore.Factor
	recovery int  // codes that are left
	codes    bool // the user can have recovery codes
	browsers []map[string]any

	strongest Level // what a change of the account demands
}

func (v *visit) standing() (*standing, error) {
	u, err := v.user()
	if err != nil {
		return nil, err
	}
	claimer, err := v.claimerOf(u)
	if err != nil {
		return nil, err
	}
	s := &standing{user: u, claims: claimer != nil}
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
	s.factors, s.recovery, s.browsers = set.totp, len(set.recovery), v.describeBrowsers(set)
	if s.codes, err = v.usesCodes(u, set); err != nil {
		return nil, err
	}
	s.strongest, err = v.strongest(v.ctx, u.ID)
	return s, err
}

// hasPassword reports whether the user can sign in with a password.
func (s *standing) hasPassword() bool { return s.password != nil || s.imported }

// showAccount is the first page of the user's account.
func (v *visit) showAccount() (*view, error) {
	s, err := v.standing()
	if err != nil {
		return nil, err
	}
	p := v.newPage("account", cmp.Or(s.user.Email, s.user.Name))
	todo, err := v.attention(s)
	if err != nil {
		return nil, err
	}
	p.Groups = []page.Group{{Rows: []page.Row{v.userRow(s)}}}
	if len(todo) > 0 {
		p.Groups = append(p.Groups, page.Group{Heading: v.word("attention"), Rows: todo})
	}
	ways, err := v.waysIn(s)
	if err != nil {
		return nil, err
	}
	p.Groups = append(p.Groups, page.Group{Rows: ways})
	return &view{page: p, data: v.describe(s)}, nil
}

// userRow is the user: picture, name and address, and whether the address is proven.
func (v *visit) userRow(s *standing) page.Row {
	u := s.user
	row := page.Row{
		Title: page.Line{Value: cmp.Or(u.Name, u.Email)}, URL: v.pageURL("profile"), Picture: u.Image, Initials: initials(cmp.Or(u.Name, u.Email)),
	}
	if row.Title.Value == "" {
		row.Title = page.Line{Before: v.word("profile")}
	}
	if u.Name != "" && u.Email != "" {
		row.Lines = []page.Line{{Value: u.Email}}
	}
	if isProved(u) {
		row.Lines = append(row.Lines, page.Line{Before: v.word("address_confirmed")})
	}
	return row
}

// attention are what the user should do, or what waits for the user.
func (v *visit) attention(s *standing) (rows []page.Row, err error) {
	add := func(text, route string, forms ...page.Form) {
		row := page.Row{Title: page.Line{Before: text}, Icon: "alert", Warns: true, Forms: forms}
		if route != "" {
			row.URL = v.pageURL(route)
		}
		rows = append(rows, row)
	}
	gains, err := v.gainsByProof(s)
	if err != nil {
		return nil, err
	}
	if gains {
		// Every user of a provider has an unproven address, and nothing is wrong. Only the user of a
		// deferred sign-up loses the account without the proof.
		row := page.Row{Title: page.Line{Before: v.word("address_unconfirmed")}, Icon: "mail", URL: v.pageURL("prove")}
		if s.claims {
			row.Icon, row.Warns = "alert", true
		}
		rows = append(rows, row)
	}
	if pending, err := v.changesAddress(s.user.ID); err != nil {
		return nil, err
	} else if pending {
		add(v.word("address_pending"), "", v.cancelAddressForm())
	}
	switch {
	case !s.codes:
	case len(s.factors) == 0 && s.recovery == 0:
		add(v.pageText("recovery-codes-first").Heading, "recovery-codes")
	case s.recovery < fewCodes:
		add(v.texts.Account.Notices["few_codes"], "recovery-codes")
	}
	if len(s.factors) == 0 && s.strongest < TwoFactors {
		if must, err := v.requiresFactor(s.user); err != nil {
			return nil, err
		} else if must {
			add(v.word("factor_required"), "totp")
		}
	}
	return rows, nil
}

// gainsByProof reports whether a proof of the address opens anything to the user: a way in by mail,
// or what is not added beside an address that is not proven. With single sign-on only there may be
// nothing of it, and users would confirm the address for nothing that they see.
func (v *visit) gainsByProof(s *standing) (bool, error) {
	switch {
	case s.claims:
		return true, nil
	case s.user.Email == "" || isProved(s.user):
		return false, nil
	case !v.o.Passwords.Off || v.hasMail || !v.o.SecondFactor.Off || v.shows("passkeys"):
		return true, nil
	case !v.shows("accounts"):
		return false, nil
	}
	list, err := v.linkedList()
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(v.linkable, func(id string) bool {
		return !slices.ContainsFunc(list, func(a *pintle.Account) bool { return a.Provider == id })
	}), nil
}

// waysIn are the other pages, with what there is to say about each.
func (v *visit) waysIn(s *standing) (rows []page.Row, err error) {
	var keys int
	var linked []page.Line
	if v.shows("passkeys") || v.shows("accounts") {
		all, err := v.auth.Accounts(v.ctx, v.session)
		if err != nil {
			return nil, unavailable(err)
		}
		for _, a := range all {
			if a.Type == pintle.TypeWebAuthn {
				keys++
			} else if len(linked) < maxListed {
				linked = append(linked, page.Line{Value: v.configured(cmp.Or(v.providers[a.Provider], a.Provider))})
			}
		}
	}
	for _, section := range sections[2:] { // the first ones are in the row of the user
		if !v.hasSection(section.name) && (section.name != "factors" || len(s.factors) == 0) {
			continue
		}
		row := page.Row{Title: page.Line{Before: v.word(section.word)}, URL: v.pageURL(section.name), Icon: section.icon}
		switch section.name {
		case "password":
			row.Lines = []page.Line{v.passwordLine(s)}
		case "factors":
			row.Lines = v.factorLines(s)
		case "passkeys":
			if keys > 0 {
				row.Badges = []string{strconv.Itoa(keys)}
			}
		case "accounts":
			row.Lines = linked
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func (v *visit) passwordLine(s *standing) page.Line {
	switch {
	case s.password != nil && s.password.Step > 0:
		return v.when("password_since", time.UnixMilli(s.password.Step))
	case s.hasPassword(): // it is not known since when
		return page.Line{Before: v.word("password_there")}
	}
	return page.Line{Before: v.word("password_none")}
}

func (v *visit) factorLines(s *standing) (lines []page.Line) {
	for _, f := range s.factors {
		lines = append(lines, v.when("factor_since", f.Created))
	}
	if len(lines) == 0 {
		lines = page.Plain(v.noApp(s.codes))
	}
	return lines
}

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
	factors := describeFactors(s.factors)
	password := map[string]any{"set": s.hasPassword(), "changed": nil}
	if s.password != nil {
		password["changed"] = wireTime(time.UnixMilli(s.password.Step))
	}
	session := map[string]any{
		"authTime": wireTime(facts.Time), "started": wireTime(facts.Started), "amr": nonNil(slices.Clone(facts.Methods)),
		"acr":   textOrNil(v.Level(v.session).String()),
		"fresh": v.levelSince(facts, accountDemand.since(0)) >= s.strongest,
	}
	if by := v.session.Actor; by != nil {
		session["act"] = map[string]any{"sub": by.ID, "name": by.Name}
	}
	return map[string]any{
		"user": map[string]any{
			"id": s.user.ID, "name": textOrNil(s.user.Name), "email": textOrNil(s.user.Email), "image": textOrNil(s.user.Image),
			"emailVerified": wireTime(s.user.EmailVerified),
		},
		"session": session, "password": password, "factors": factors, "recoveryLeft": s.recovery, "rememberedDevices": s.browsers,
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
	if changes, err := v.changesAddress(u.ID); err != nil {
		return err
	} else if changes {
		pending["addressChange"] = true
		// Only the browser that began, or has opened the link, has the id of the change.
		switch f, _, err := v.heldFlow(addressKind); {
		case err == nil && f.Subject == u.ID:
			pending["address"] = f.payload.Email
		case err != nil && asProblem(err).err != nil:
			return err
		}
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
		list, err := v.auth.Accounts(v.ctx, v.session)
		if err != nil {
			return unavailable(err)
		}
		data["accounts"] = describeLinked(list)
	}
	if has.Passkeys {
		list, err := v.passkeyList()
		if err != nil {
			return err
		}
		data["passkeys"] = describePasskeys(list)
	}
	list, _, err := v.deviceList(0)
	if err != nil {
		return err
	}
	data["devices"] = v.describeDevices(list)
	return nil
}

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
