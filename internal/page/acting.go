package page

import (
	"bytes"
	_ "embed" // for the style sheet
	"html/template"
	"net/http"
	"strings"
)

//go:embed acting.css
var actingSheetText string

// actingSheet is the style sheet of the banner.
var actingSheet = template.CSS(strings.TrimSpace(actingSheetText)) //nolint:gosec // embedded, not input

// An Acting is the banner that every page has while an operator acts as a user.
type Acting struct {
	// User is what the user is called.
	User string

	// Action is the URL the form is posted to that ends it.
	Action string

	// CSRFToken is put into the form; empty leaves the field out.
	CSRFToken string
}

type actingView struct {
	Text              Line
	Action, CSRFToken string
	Button            string
}

// acting returns what the banner of a site shows, or nil.
func (p *Pages) acting(a *Acting) *actingView {
	if a == nil {
		return nil
	}
	words := p.texts.Account.Words
	return &actingView{Fill(words["acting_as"], a.User), a.Action, a.CSRFToken, words["acting_end"]}
}

// Banner returns the banner alone, for a page of the application. It has no style of its
// own: an element of the class pintle-acting with a paragraph and a form.
func (p *Pages) Banner(a Acting) template.HTML {
	var body bytes.Buffer
	if err := noticeTemplate().ExecuteTemplate(&body, "acting", p.acting(&a)); err != nil {
		panic("page: " + err.Error()) // unreachable, as in renderAs
	}
	return template.HTML(strings.TrimSpace(body.String())) //nolint:gosec // of a template, which has escaped the values
}

// ActingRefused returns the page about a request that is refused because an operator acts as
// a user, or no longer does: then the status is 409.
func (p *Pages) ActingRefused(site Site, status int) Page {
	code := "acting"
	if status == http.StatusConflict {
		code = "acting_ended"
	}
	return p.notice(site, status, notice{
		root: "error", Icon: "alert", Heading: p.texts.Account.Pages["problem"].Heading, Text: []string{p.texts.Account.Problems[code]},
	})
}
