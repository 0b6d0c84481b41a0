package page

import (
	"html/template"
	"net/http"
)

// ContinueData is a form that the browser posts without a click of the user.
type ContinueData struct {
	Site

	// Action is the URL the form is posted to.
	Action string

	// Fields are what is posted.
	Fields []HiddenField
}

// A HiddenField is an input that is not shown.
type HiddenField struct{ Name, Value string }

type continueView struct {
	frame
	Action string
	Fields []HiddenField
	Text   string
}

// submitScript posts the first form of the page.
const submitScript template.JS = "document.forms[0].submit()"

// Continue returns the page that posts a form from this site which another site
// posted, so that the browser sends its SameSite=Lax cookies along. It has a
// button for browsers with scripts switched off.
func (p *Pages) Continue(d ContinueData) Page {
	view := continueView{
		frame:  p.frame(d.Site, "continue", p.texts.ContinueHeading),
		Action: d.Action,
		Fields: d.Fields,
		Text:   fill(p.texts.ContinueText, p.name(d.Site)),
	}
	view.Script = submitScript
	return render(continueTemplate, http.StatusOK, &view, policy{styles: view.Styles, images: p.theme.sources(), script: submitScript, hasForm: true})
}
