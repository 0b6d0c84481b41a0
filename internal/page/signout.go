package page

import "net/http"

// SignOutData is what the sign-out page shows.
type SignOutData struct {
	Site

	// Action is the URL the form is posted to: that of the request with its
	// query, which may name the place to go to afterwards.
	Action string

	// CSRFToken is put into the form.
	CSRFToken string
}

type signOutView struct {
	frame
	Action, CSRFToken string
}

// SignOut returns the page that asks whether to sign out. A link alone must
// not sign a user out: any site could make the browser fetch it.
func (p *Pages) SignOut(d SignOutData) Page {
	view := signOutView{p.frame(d.Site, "signout", p.texts.SignOutHeading), d.Action, d.CSRFToken}
	return render(signOutTemplate, http.StatusOK, &view, policy{styles: view.Styles, images: p.theme.sources(), hasForm: true})
}
