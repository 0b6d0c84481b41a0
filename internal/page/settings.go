package page

import (
	_ "embed" // for the style sheet
	"html/template"
	"strconv"
	"strings"
	"time"
)

//go:embed settings.css
var settingsSheetText string

// settingsSheet is the style sheet of the pages on which users change their accounts.
var settingsSheet = template.CSS(strings.TrimSpace(settingsSheetText)) //nolint:gosec // embedded, not input

// A Nav is what the settings of a user have beside each page: the way to the other pages, and
// the way out.
type Nav struct {
	// Label names the navigation for screen readers, and Skip the link past it.
	Label, Skip string

	Links   []NavLink
	SignOut Form
}

// A NavLink leads to a page of the settings. Icon is the name of a drawing: see icons.
type NavLink struct {
	Link
	Icon string

	// Current is the value of aria-current: "page" for the page itself, "true" for one
	// below it.
	Current string
}

// A Group is a list under a heading. One without a heading belongs to that of the page.
type Group struct {
	Heading string
	Text    []Line
	Rows    []Row
	Forms   []Form
	Links   []Link

	// Main shows the links as the main button of the page.
	Main bool
}

// A Row is one thing that a user has, such as a passkey.
type Row struct {
	// Title is what it is called, Badges what holds of it, such as "This browser", and Lines
	// what else is known. URL is where the title leads, and may be empty.
	Title  Line
	URL    string
	Badges []string
	Lines  []Line

	// Icon is the name of a drawing. Provider has a mark instead, and Picture is the URL of an
	// image of the user; Initials stand in for one that cannot be used.
	Icon     string
	Provider *Provider
	Picture  string
	Initials string

	// Warns is a row that asks for attention.
	Warns bool

	Forms []Form
}

// When is Fill with a day: the one of a time in UTC, as the texts write it.
func (t Texts) When(text string, at time.Time) Line {
	return fillTime(text, t.Day(at), at)
}

// clock is where a text has the time of day.
const clock = "15:04"

// Moment is Fill with a day and the time of day, in UTC, as the texts write them.
func (t Texts) Moment(text string, at time.Time) Line {
	replacer := strings.NewReplacer("%s", t.Day(at), clock, at.UTC().Format(clock))
	return fillTime(text, replacer.Replace(t.Account.Words["time_utc"]), at)
}

func fillTime(text, value string, at time.Time) Line {
	l := Fill(text, value)
	if l.Value != "" {
		l.Time = at
	}
	return l
}

// Day is the day of a time in UTC.
func (t Texts) Day(at time.Time) string {
	at = at.UTC()
	text := at.Format(t.Account.Date)
	if len(t.Account.Months) == 12 {
		text = strings.Replace(text, at.Month().String(), t.Account.Months[at.Month()-1], 1)
	}
	return text
}

// A navView is the navigation as the template writes it. In a window that is not wide it is folded
// behind its label and Here, the text of the current link. The sheet unfolds it in a wide one;
// browsers without ::details-content have it folded in every window.
type navView struct {
	*Nav
	Here    string
	Links   []navLinkView
	SignOut formView
}

type navLinkView struct {
	NavLink
	Drawing template.HTML
}

type groupView struct {
	Group
	ID    string
	Rows  []rowView
	Forms []formView
}

type rowView struct {
	Row
	ID      string
	Drawing template.HTML
	Tile    *tile
	Photo   image
	Forms   []formView
}

// drawn is what the rows of a page need in its policy and its style sheet.
type drawn struct {
	sources []string
	tiles   []*tile
}

func (b *formBuilder) nav(n *Nav) *navView {
	v := &navView{Nav: n, SignOut: b.form(n.SignOut)}
	for _, l := range n.Links {
		v.Links = append(v.Links, navLinkView{l, icons[l.Icon]})
		if l.Current != "" {
			v.Here = l.Text
		}
	}
	return v
}

func (p *Pages) groups(b *formBuilder, all []Group) (views []groupView, d drawn) {
	rows := 0
	for i, g := range all {
		v := groupView{Group: g, ID: "group-" + strconv.Itoa(i+1)}
		for _, r := range g.Rows {
			rows++
			v.Rows = append(v.Rows, b.row(r, "row-"+strconv.Itoa(rows), &d))
		}
		for _, f := range g.Forms {
			v.Forms = append(v.Forms, b.form(f))
		}
		views = append(views, v)
	}
	return views, d
}

// IsPicture reports whether a row can show the picture of a user at a URL.
func IsPicture(link string) bool {
	_, ok := parsePicture(link)
	return ok
}

// parsePicture does not accept a picture that is sent without encryption.
func parsePicture(link string) (image, bool) {
	photo, err := parseImage(link)
	return photo, err == nil && !strings.HasPrefix(photo.source, "http:")
}

func (b *formBuilder) row(r Row, id string, d *drawn) rowView {
	v := rowView{Row: r, ID: id, Drawing: icons[r.Icon]}
	if r.Provider != nil {
		v.Tile = newTile(*r.Provider)
		d.tiles = append(d.tiles, v.Tile)
		if source := v.Tile.Logo.source; source != "" {
			d.sources = append(d.sources, source)
		}
	}
	// A picture that cannot be used is left out.
	if photo, ok := parsePicture(r.Picture); ok {
		v.Photo = photo
		if photo.source != "" {
			d.sources = append(d.sources, photo.source)
		}
	}
	for _, f := range r.Forms {
		form := b.form(f)
		form.About = id
		if len(r.Lines) > 0 { // several rows may have one title
			form.About += " " + id + "-lines"
		}
		v.Forms = append(v.Forms, form)
	}
	return v
}

// panels are the forms of a page by their headings.
func panels(forms []formView) (all [][]formView) {
	for i, f := range forms {
		if i == 0 || f.Headed() {
			all = append(all, nil)
		}
		all[len(all)-1] = append(all[len(all)-1], f)
	}
	return all
}

// icons are the drawings of the pages of settings, in lines on a square of 24 units.
var icons = map[string]template.HTML{
	"overview":      `<circle cx="12" cy="8" r="3.75"/><path d="M4.5 20c.6-3.9 3.6-6 7.5-6s6.9 2.1 7.5 6"/>`,
	"profile":       `<rect x="3" y="4.5" width="18" height="15" rx="2.5"/><circle cx="8.5" cy="10.5" r="1.9"/><path d="M5.75 16c.35-1.5 1.4-2.25 2.75-2.25s2.4.75 2.75 2.25M14.5 10h3.5M14.5 14h3.5"/>`,
	"password":      `<circle cx="8" cy="15.5" r="4"/><path d="m11 12.5 8.5-8.5M16 7.5l2.5 2.5M13.25 10.25l1.75 1.75"/>`,
	"second-factor": `<path d="M12 3.25 5 6v5.5c0 4.5 2.9 7.7 7 9.25 4.1-1.55 7-4.75 7-9.25V6z"/><path d="m9 12 2.25 2.25L15.25 10"/>`,
	"passkeys":      `<circle cx="9" cy="8" r="3.5"/><path d="M3 19.5c.5-3.4 2.9-5.25 6-5.25 1 0 1.9.2 2.7.55"/><circle cx="17" cy="12.5" r="2.5"/><path d="M17 15v5.5l1.5-1.25M17 18h1.5"/>`,
	"accounts":      `<path d="M10 14a4 4 0 0 0 5.7 0l3.1-3.1a4 4 0 0 0-5.7-5.7L12 6.3"/><path d="M14 10a4 4 0 0 0-5.7 0l-3.1 3.1a4 4 0 0 0 5.7 5.7l1.1-1.1"/>`,
	"devices":       `<rect x="2.75" y="4.5" width="14.5" height="10.5" rx="2"/><path d="M7 19h5"/><rect x="15" y="9.5" width="6.25" height="10.5" rx="1.75"/>`,
	"activity":      `<path d="M3 12h4l2.5-7 5 14 2.5-7h4"/>`,
	"data":          `<path d="M12 4v10.5M7.75 10.5 12 14.75l4.25-4.25"/><path d="M4.5 16v2A2.5 2.5 0 0 0 7 20.5h10a2.5 2.5 0 0 0 2.5-2.5v-2"/>`,
	"delete":        `<path d="M4.5 7h15M9.5 7V4.75h5V7M6.5 7l.9 12a1.5 1.5 0 0 0 1.5 1.4h6.2a1.5 1.5 0 0 0 1.5-1.4l.9-12M10.25 11v5.5M13.75 11v5.5"/>`,
	"mail":          `<rect x="3" y="5" width="18" height="14" rx="2.5"/><path d="m3.5 7.5 7.3 5.3a2 2 0 0 0 2.4 0l7.3-5.3"/>`,
	"alert":         `<circle cx="12" cy="12" r="9"/><path d="M12 7.5v5.5M12 16.4v.1"/>`,
}
