package page

import (
	"net/http"
	"strings"
)

// ConfirmLinkData is what the page behind a sign-in link shows.
type ConfirmLinkData struct {
	Site

	// Action is the URL the form is posted to: that of the link, with its
	// token.
	Action string

	// CSRFToken is put into the form; empty leaves the field out.
	CSRFToken string

	// Email is the address the link was sent to, if it is to be shown. It lets
	// users notice a link that another person requested.
	Email string
}

type confirmLinkView struct {
	frame
	Action, CSRFToken    string
	Text                 string
	Before, Email, After string
}

// ConfirmLink returns the page that stands between a sign-in link and its use:
// mail scanners open links, but do not press buttons (W-38).
func (p *Pages) ConfirmLink(d ConfirmLinkData) Page {
	view := confirmLinkView{
		frame:     p.frame(d.Site, "confirm-link", p.texts.ConfirmLinkHeading),
		Action:    d.Action,
		CSRFToken: d.CSRFToken,
		Text:      fill(p.texts.ConfirmLinkText, p.name(d.Site)),
		Email:     d.Email,
	}
	view.Before, view.After, _ = strings.Cut(p.texts.ConfirmLinkAddress, "%s")
	return render(confirmLinkTemplate, http.StatusOK, &view, policy{styles: view.Styles, images: p.theme.sources(), hasForm: true})
}
