package page

import (
	"net/http"
	"strings"
)

// AddressTakenData is what the page shows to a person who has proven an address
// that an account has without having proven it.
type AddressTakenData struct {
	Site

	// Email is the address that was proven.
	Email string

	// Providers are those by which one can sign in to the account and that lead
	// to another site. Others are not shown.
	Providers []Provider

	// OtherSignInURL is a page with further ways to sign in to the account. Empty
	// leaves the link out.
	OtherSignInURL string

	// Action is the URL the form is posted to that goes on without the account,
	// with the field choice=new.
	Action string

	// CSRFToken is put into every form; empty leaves the field out.
	CSRFToken string

	// CallbackURL is where to go afterwards, already checked.
	CallbackURL string
}

type addressTakenView struct {
	frame
	Before, Email, After   string
	Providers              []providerView
	OtherSignInURL         string
	HasWay                 bool
	Action                 string
	CSRFToken, CallbackURL string
}

// AddressTaken returns the page that asks whether an account belongs to the
// reader, before the address counts as proven for it (SH-15, SH-82). Both answers
// are forms or links and need no script.
func (p *Pages) AddressTaken(d AddressTakenData) Page {
	var leaving []Provider
	for _, provider := range d.Providers {
		if provider.Kind.leaves() {
			leaving = append(leaving, provider)
		}
	}
	providers, tiles := p.providerViews(&SignInData{Providers: leaving})
	view := addressTakenView{
		frame: p.frame(d.Site, "address-taken", p.texts.AddressTakenHeading, tileStyles(tiles)...),
		Email: d.Email, OtherSignInURL: d.OtherSignInURL, Action: d.Action, CSRFToken: d.CSRFToken, CallbackURL: d.CallbackURL,
		Providers: providers, HasWay: len(leaving) > 0 || d.OtherSignInURL != "",
	}
	view.Before, view.After, _ = strings.Cut(p.texts.AddressTakenText, "%s")
	policy := policy{styles: view.Styles, images: p.theme.sources(), hasForm: true}
	for _, t := range tiles {
		if t.Logo.source != "" {
			policy.images = append(policy.images, t.Logo.source)
		}
	}
	return render(addressTakenTemplate, http.StatusOK, &view, policy)
}
