package page

import (
	"net/http"
	"strings"
)

// NativeData is what the page shows that asks whether a native application may act as
// the user.
type NativeData struct {
	Site

	// Application is the name of the application, and User that of the user.
	Application, User string

	// Action is the URL the form is posted to, with Fields and with answer=yes or
	// answer=no.
	Action string
	Fields []HiddenField

	// CSRFToken is put into the form; empty leaves the field out.
	CSRFToken string
}

// A named is a text around a name, which may be written in another direction.
type named struct{ Before, Name, After string }

func nameIn(text, name string) named {
	before, after, _ := strings.Cut(text, "%s")
	return named{before, name, after}
}

type nativeView struct {
	frame
	Application, User named
	Text              string
	Action, CSRFToken string
	Fields            []HiddenField
}

// Native returns the page that asks the user before a native application gets a session.
//
// https://www.rfc-editor.org/rfc/rfc8252#section-8.6
func (p *Pages) Native(d NativeData) Page {
	view := nativeView{
		frame:       p.frame(d.Site, "native", p.texts.NativeHeading),
		Application: nameIn(p.texts.NativeApplication, d.Application),
		User:        nameIn(p.texts.NativeUser, d.User),
		Text:        fill(p.texts.NativeText, p.name(d.Site)),
		Action:      d.Action, CSRFToken: d.CSRFToken, Fields: d.Fields,
	}
	return render(nativeTemplate, http.StatusOK, &view, policy{styles: view.Styles, images: p.theme.sources(), hasForm: true})
}
