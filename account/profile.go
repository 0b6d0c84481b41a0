package account

import (
	"cmp"
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/page"
	"github.com/pintleauth/pintle/internal/userrule"
)

// userName returns a name as it is stored. Characters that turn the direction of what
// follows would make one user look like another.
func userName(typed string) (string, error) {
	name := strings.TrimSpace(typed)
	bad := func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }
	if n := utf8.RuneCountInString(name); n == 0 || n > userrule.MaxName || !utf8.ValidString(name) || strings.ContainsFunc(name, bad) {
		return "", inField("name", "invalid_name")
	}
	return name, nil
}

func (v *visit) showProfile() (*view, error) {
	u, err := v.user()
	if err != nil {
		return nil, err
	}
	p := v.newPage("profile", "")
	text := v.pageText("profile") // of the form: the page has the name of the link that leads to it
	p.Heading, p.Text = v.word("profile"), nil
	name := page.Input{Name: "name", Label: v.word("name"), Hint: strings.Join(text.Text, " "), Value: u.Name, Autocomplete: "name", MaxLength: userrule.MaxName, Required: true}
	if typed, sent := v.form["name"]; sent && v.problem != nil {
		name.Value = typed
	}
	p.Forms = []page.Form{v.formTo("profile", "profile", name)}
	p.Forms[0].Heading.Before = text.Heading
	var rows []page.Row
	if v.shows("address") || u.Email != "" {
		rows = append(rows, v.addressRow(u))
	}
	removesOnly := !v.shows("picture")
	if !removesOnly {
		rows = append([]page.Row{{
			Title: page.Line{Value: cmp.Or(u.Name, u.Email)}, Picture: u.Image, Initials: initials(cmp.Or(u.Name, u.Email)),
		}}, rows...)
		p.Forms = append(p.Forms, v.uploadForm())
	}
	if u.Image != "" {
		remove := v.formTo("profile", "profile-picture")
		if remove.Secondary, remove.Joined = true, !removesOnly; removesOnly {
			remove.Heading.Before = v.pageText("profile-picture").Heading
		}
		remove.Hidden = append(remove.Hidden, page.HiddenField{Name: "image", Value: "remove"})
		p.Forms = append(p.Forms, remove)
	}
	if len(rows) > 0 {
		p.Groups = []page.Group{{Rows: rows}}
	}
	pictures, err := v.linkedPictures(u)
	if err != nil {
		return nil, err
	}
	if g := v.pictureGroup(u, pictures); g != nil {
		p.Groups = append(p.Groups, *g)
	}
	p.Links = []page.Link{v.link("", "back")}
	return &view{page: p, data: map[string]any{"name": textOrNil(u.Name), "image": textOrNil(u.Image), "pictures": describePictures(pictures)}}, nil
}

// addressRow leads to the change of the address. Without one it leads to the proof of an address
// that is not proven.
func (v *visit) addressRow(u *pintle.User) page.Row {
	row := page.Row{Title: page.Line{Before: v.word("address_change")}, URL: v.pageURL("address"), Icon: "mail"}
	switch {
	case !v.shows("address"):
		row.Title, row.URL = page.Line{Value: u.Email}, ""
		if !isProved(u) {
			row.URL = v.pageURL("prove")
		}
	case u.Email != "":
		row.Lines = append(row.Lines, page.Line{Value: u.Email})
	}
	switch {
	case isProved(u):
		row.Lines = append(row.Lines, page.Line{Before: v.word("address_confirmed")})
	case u.Email != "":
		row.Lines = append(row.Lines, page.Line{Before: v.word("address_unconfirmed")})
	}
	return row
}

// changeProfile changes the name, and removes the picture or takes that of a linked account.
// changePicture stores one.
func (v *visit) changeProfile() (next string, err error) {
	u, err := v.user()
	if err != nil {
		return "", err
	}
	var change pintle.UserUpdate
	switch image, sent := v.form["image"]; {
	case sent && image != "remove":
		link, err := v.chosenPicture(u, image)
		if err != nil {
			return "", err
		}
		change.Image = &link
	case sent:
		change.Image = new("")
	}
	if typed, sent := v.form["name"]; sent || change.Image == nil {
		name, err := userName(typed)
		if err != nil {
			return "", err
		}
		change.Name = &name
	}
	if err := v.notBanned(u.ID); err != nil {
		return "", err
	}
	return v.updateProfile(u, change)
}

// updateProfile stores a change of the name or the picture, and shows it in the session.
func (v *visit) updateProfile(u *pintle.User, change pintle.UserUpdate) (next string, err error) {
	v.seeThrough()
	changed, err := v.store.UpdateUser(v.ctx, u.ID, change)
	if errors.Is(err, pintle.ErrNotFound) {
		return "", problemOf("signed_out")
	}
	if err != nil {
		return "", unavailable(err)
	}
	v.note("profile_changed", changed.ID)
	v.tell("UpdateUser", v.events.UpdateUser, changed)
	if err := v.showInSession(changed); err != nil {
		return "", err
	}
	return withQuery(v.site.path("profile"), "notice", "profile_changed"), nil
}

// The claims of a token session that have the name and the picture of its user.
var (
	nameClaim    = pintle.NewClaim[any]("name")
	pictureClaim = pintle.NewClaim[any]("picture")
)

// showInSession writes the name and the picture into the token of this browser. Its times
// stay: a change of the name must not make a session last longer. A database session has
// the user of the store.
func (v *visit) showInSession(u *pintle.User) error {
	if !v.tokens {
		return nil
	}
	nameClaim.Set(v.session, textOrNil(u.Name))
	pictureClaim.Set(v.session, textOrNil(u.Image))
	if _, err := v.auth.UpdateSession(v.w, v.r.WithContext(pintle.WithSession(v.ctx, v.session)), nil); err != nil {
		return unavailable(err)
	}
	return nil
}
