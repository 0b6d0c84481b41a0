package page

import (
	"net/http"
	"strings"
)

// ReplaceData is what the page shows to a signed-in user whom a provider has sent to sign
// in as another user.
type ReplaceData struct {
	Site

	// Action is the URL the form is posted to, with the fields replace=1 and
	// target_link_uri, which is Target.
	Action, Target string

	// CSRFToken is put into the form; empty leaves the field out.
	CSRFToken string

	// User is what the signed-in user is called. It may be empty.
	User string

	// Provider is the name of the provider.
	Provider string
}

type replaceView struct {
	frame
	Action, Target, CSRFToken string
	Before, User, After       string
	Text                      string
}

// Replace returns the page that asks before a sign-in that a provider has begun ends the
// session of another user.
func (p *Pages) Replace(d ReplaceData) Page {
	view := replaceView{
		frame:  p.frame(d.Site, "replace", p.texts.ReplaceHeading),
		Action: d.Action, Target: d.Target, CSRFToken: d.CSRFToken, User: d.User,
		Text: fill(p.texts.ReplaceText, p.texts.word(d.Provider)),
	}
	view.Before, view.After, _ = strings.Cut(p.texts.ReplaceUser, "%s")
	return render(replaceTemplate, http.StatusOK, &view, policy{styles: view.Styles, images: p.theme.sources(), hasForm: true})
}
