package page

import (
	_ "embed" // for the style sheet and the script
	"html/template"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

//go:embed form.css
var formSheetText string

// formSheet is the style sheet of pages with forms of accounts.
var formSheet = template.CSS(strings.TrimSpace(formSheetText)) //nolint:gosec // embedded, not input

//go:embed print.js
var printScriptText string

// printScript prints the page when its button is pressed.
var printScript = template.JS(printScriptText) //nolint:gosec // embedded, not input

// A FormPage is a page of texts and forms, as the pages of accounts are. What is
// empty is left out.
type FormPage struct {
	Site

	// Name is the class of the page: "sign-up".
	Name string

	// Status is the status of the answer. Zero means 200.
	Status int

	Heading string
	Text    []Line

	// Notice reports what has been done, and Problem what is wrong with what was
	// entered. Screen readers read both at once.
	Notice, Problem string

	// Figure is an image between the texts and the forms.
	Figure *Figure

	// Codes are shown as a list, to be copied. Print is the label of a button that prints
	// the page, where scripts run.
	Codes []string
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
type Line struct{ Before, Value, After string }

// Fill returns the line of a text that has %s where a value belongs.
func Fill(text, value string) Line {
	before, after, found := strings.Cut(text, "%s")
	if !found {
		value = ""
	}
	return Line{before, value, after}
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

	// About is what the form is for, such as the name that a user gave it, and stands
	// before Heading.
	About   string
	Heading Line

	Hidden []HiddenField
	Inputs []Input

	// Button is the label. Secondary is a button that is not the main one.
	Button    string
	Secondary bool

	// Joined is a form that belongs to the one before it.
	Joined bool

	// PasskeyOptionsURL makes it the form of a passkey: its script gets the options of the
	// ceremony there, with Hidden in the query, and posts the answer in the fields action
	// and data. Browsers without passkeys do not show the form.
	PasskeyOptionsURL string
}

// Headed reports whether the form has a heading.
func (f Form) Headed() bool { return f.About != "" || f.Heading != Line{} }

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
	MaxLength    int
	Required     bool
	Checked      bool

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
	Views []inputView
}

type formPageView struct {
	frame
	Page  *FormPage
	Forms []formView
	Links []linkView
	SVG   template.HTML
}

type linkView struct {
	URL  any
	Text string
}

// Form returns a page of forms.
func (p *Pages) Form(d FormPage) Page {
	view := formPageView{frame: p.frame(d.Site, "account account-"+d.Name, d.Heading, formSheet), Page: &d}
	if d.Figure != nil {
		view.SVG = template.HTML(d.Figure.SVG) //nolint:gosec // made by this program
	}
	// The summary of what is wrong has the focus, and otherwise the first input.
	uses := map[string]int{}
	focused := d.Problem != "" || d.Notice != ""
	for _, f := range d.Forms {
		v := formView{Form: f}
		for _, in := range f.Inputs {
			if in.Type == "" {
				in.Type = "text"
			}
			one := inputView{Input: in, ID: "input-" + in.Name}
			if uses[in.Name]++; uses[in.Name] > 1 { // several forms have it
				one.ID += "-" + strconv.Itoa(uses[in.Name])
			}
			if in.Hint != "" || in.Problem != "" {
				one.DescribedBy = one.ID + "-help"
			}
			if !focused && in.Type != "checkbox" && in.Type != "hidden" {
				one.Autofocus, focused = true, true
			}
			v.Views = append(v.Views, one)
		}
		view.Forms = append(view.Forms, v)
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
	policy := policy{styles: view.Styles, images: p.theme.sources(), hasForm: len(d.Forms) > 0}
	switch {
	case d.Print != "":
		view.Script, policy.script = printScript, printScript
	case slices.ContainsFunc(d.Forms, func(f Form) bool { return f.PasskeyOptionsURL != "" }):
		view.Script, policy.script, policy.connects = passkeyScript, passkeyScript, true
	}
	return render(formTemplate, status, &view, policy)
}
