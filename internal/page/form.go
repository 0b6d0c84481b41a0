package page

import (
	_ "embed" // for the style sheet and the script
	"html/template"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

//go:embed form.css
var formSheetText string

// formSheet is the style sheet of pages with forms of accounts.
var formSheet = template.CSS(strings.TrimSpace(formSheetText)) //nolint:gosec // embedded, not input

//go:embed print.js
var printScriptText string

// printScript prints the page when its button is pressed.
var printScript = template.JS(printScriptText) //nolint:gosec // embedded, not input

//go:embed show.js
var showScriptText string

// showScript shows what was typed into a password field when its box is ticked.
var showScript = template.JS(showScriptText) //nolint:gosec // embedded, not input

// A FormPage is a page of texts and forms, as the pages of accounts are. What is
// empty is left out.
type FormPage struct {
	Site

	// Name is the class of the page: "sign-up".
	Name string

	// Status is the status of the answer. Zero means 200.
	Status int

	// Nav makes it a page of the settings of a signed-in user, with a navigation beside it.
	Nav *Nav

	Heading string
	Text    []Line

	// Groups are lists of what the user has, before the forms.
	Groups []Group

	// Notice reports what has been done, and Problem what is wrong with what was
	// entered. Screen readers read both at once.
	Notice, Problem string

	// Figure is an image between the texts and the forms.
	Figure *Figure

	// Codes are shown as a list, to be copied. Save is a link to them as a file, and Print the
	// label of a button that prints the page, where scripts run. Both stand before the forms: to
	// go on comes last.
	Codes []string
	Save  Link
	Print string

	// CSRFToken is put into every form.
	CSRFToken string

	Forms []Form
	Links []Link

	// Hint stands below everything else.
	Hint string
}

// A Line is a paragraph with a value in it that is shown as it is, such as an
// address. A text without one is in Before.
type Line struct {
	Before, Value, After string

	// Time is what Value names, if that is a day or a time.
	Time time.Time
}

// Stamp is the time for the attribute datetime, or "".
func (l Line) Stamp() string {
	if l.Time.IsZero() {
		return ""
	}
	return l.Time.UTC().Format(time.RFC3339)
}

// Fill returns the line of a text that has %s where a value belongs.
func Fill(text, value string) Line {
	before, after, found := strings.Cut(text, "%s")
	if !found {
		value = ""
	}
	return Line{Before: before, Value: value, After: after}
}

// Plain returns lines without values.
func Plain(texts ...string) []Line {
	lines := make([]Line, len(texts))
	for i, text := range texts {
		lines[i].Before = text
	}
	return lines
}

// A Figure is an image as SVG markup, which the program made itself.
type Figure struct {
	SVG   string
	Label string // what it shows, for people who do not see it
}

// A Form is posted to a URL of this site.
type Form struct {
	Action string

	Heading Line

	Hidden []HiddenField
	Inputs []Input

	// Button is the label. Secondary is a button that is not the main one.
	Button    string
	Secondary bool

	// Joined is a form that belongs to the one before it.
	Joined bool

	// Grave is a form that removes a way to sign in, or the account. The end of a session is
	// not one: the user signs in again.
	Grave bool

	// Fold is the label behind which the form of a row is folded.
	Fold string

	// PasskeyOptionsURL makes it the form of a passkey: its script gets the options of the
	// ceremony there, with Hidden in the query, and posts the answer in the fields action
	// and data. Browsers without passkeys do not show the form.
	PasskeyOptionsURL string
}

// Headed reports whether the form has a heading.
func (f Form) Headed() bool { return f.Heading != Line{} }

// Uploads reports whether the form sends a file.
func (f Form) Uploads() bool {
	return slices.ContainsFunc(f.Inputs, func(in Input) bool { return in.Type == "file" })
}

// shows reports whether the form has a box that shows what was typed.
func (f Form) shows() bool {
	return slices.ContainsFunc(f.Inputs, func(in Input) bool { return in.Show != "" })
}

// An Input is one field of a [Form].
type Input struct {
	// Name is the name of the value. It is unique in its form.
	Name string

	// Label stands above the input, Hint below it, and Problem instead of the hint
	// if the value was rejected.
	Label, Hint, Problem string

	// Type is "text" if it is empty.
	Type string

	Value        string
	Autocomplete string // see https://www.w3.org/TR/WCAG22/#input-purposes
	InputMode    string // "numeric" for codes
	Accept       string // types of files, of an input of the type "file"
	MaxLength    int
	Required     bool
	Checked      bool

	// Show is the label of a box that shows what was typed, of an input of the type
	// "password". The page has the box where scripts run, and the form does not send it.
	Show string

	// LTR is for what is written from left to right in every language, such as
	// addresses and codes.
	LTR bool
}

// A Link leads to another page of the site.
type Link struct{ URL, Text string }

// inputView is an input as the template writes it.
type inputView struct {
	Input
	ID, DescribedBy string
	Autofocus       bool
}

type formView struct {
	Form
	T         *Texts
	CSRFToken string
	Views     []inputView

	// About are the ids of what a form of a row is about, since several rows have its button.
	About string

	// Open shows a form that is folded otherwise, because its input was rejected.
	Open bool
}

type formPageView struct {
	frame
	Page   *FormPage
	Forms  []formView
	Panels [][]formView // of a page with a navigation
	Groups []groupView
	Links  []linkView
	SVG    template.HTML
	Nav    *navView
}

type linkView struct {
	URL  any
	Text string
}

// formBuilder gives the inputs of a page their ids, and one of them the focus.
type formBuilder struct {
	page    *FormPage
	texts   *Texts
	uses    map[string]int
	focused bool
	stands  bool   // one button stands out already: a page asks for one thing
	all     []Form // that were made
}

func (b *formBuilder) form(f Form) formView {
	if f.Secondary = f.Secondary || b.stands; !f.Secondary {
		b.stands = true
	}
	b.all = append(b.all, f)
	v := formView{Form: f, T: b.texts, CSRFToken: b.page.CSRFToken}
	for _, in := range f.Inputs {
		if in.Type == "" {
			in.Type = "text"
		}
		one := inputView{Input: in, ID: "input-" + in.Name}
		if b.uses[in.Name]++; b.uses[in.Name] > 1 { // several forms have it
			one.ID += "-" + strconv.Itoa(b.uses[in.Name])
		}
		if in.Hint != "" || in.Problem != "" {
			one.DescribedBy = one.ID + "-help"
		}
		if !b.focused && in.Type != "checkbox" && in.Type != "hidden" {
			one.Autofocus, b.focused = true, true
		}
		v.Open = v.Open || in.Problem != ""
		v.Views = append(v.Views, one)
	}
	return v
}

// Form returns a page of forms.
func (p *Pages) Form(d FormPage) Page {
	// The summary of what is wrong has the focus, and otherwise the first input of the
	// page. The fields of rows are not what the user came for.
	b := &formBuilder{page: &d, texts: &p.texts, uses: map[string]int{}, focused: d.Problem != "" || d.Notice != ""}
	b.stands = slices.ContainsFunc(d.Groups, func(g Group) bool { return g.Main })
	var forms []formView
	for _, f := range d.Forms {
		forms = append(forms, b.form(f))
	}
	b.focused = true
	groups, drawn := p.groups(b, d.Groups)
	images := append(p.theme.sources(), drawn.sources...)

	own := []template.CSS{formSheet}
	if d.Nav != nil {
		own = append(own, settingsSheet)
		own = append(own, tileStyles(drawn.tiles)...)
	}
	view := formPageView{
		frame: p.frame(d.Site, "account account-"+d.Name, d.Heading, own...), Page: &d,
		Forms: forms, Panels: panels(forms), Groups: groups,
	}
	if d.Nav != nil {
		view.Nav = b.nav(d.Nav)
	}
	if d.Figure != nil {
		view.SVG = template.HTML(d.Figure.SVG) //nolint:gosec // made by this program
	}
	for _, l := range d.Links {
		link := linkView{l.URL, l.Text}
		if strings.HasPrefix(l.URL, "otpauth://totp/") { // the template knows only schemes of the web
			link.URL = template.URL(l.URL) //nolint:gosec // a scheme that runs nothing
		}
		view.Links = append(view.Links, link)
	}
	status := d.Status
	if status == 0 {
		status = http.StatusOK
	}
	policy := policy{styles: view.Styles, images: images, hasForm: len(b.all) > 0 || d.Acting != nil, settings: d.Nav != nil}
	policy.connects = slices.ContainsFunc(b.all, func(f Form) bool { return f.PasskeyOptionsURL != "" })
	if d.Print != "" {
		policy.script += printScript
	}
	if policy.connects {
		policy.script += passkeyScript
	}
	if slices.ContainsFunc(b.all, Form.shows) {
		policy.script += showScript
	}
	view.Script = policy.script
	if d.Nav != nil {
		return renderAs("settings", settingsTemplate, status, &view, policy)
	}
	return render(formTemplate, status, &view, policy)
}
