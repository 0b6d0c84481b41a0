package page

import (
	_ "embed" // for the script
	"html/template"
	"net/http"
	"slices"
)

// SignInData is what the sign-in page shows.
type SignInData struct {
	Site

	// Providers are shown in this order.
	Providers []Provider

	// CSRFToken is put into every form; empty where the host checks requests
	// in its own way.
	CSRFToken string

	// CallbackURL is where to go afterwards, already checked. It is put into
	// the forms of OAuth and OIDC providers; the other forms rely on the
	// cookie that comes with the page. Never pass the parameter of the request
	// (W-4).
	CallbackURL string

	// Email is put into the fields of e-mail providers. It may come from the
	// query of the request.
	Email string

	// Error is the code in the query of the request, which may be anything.
	// Empty shows no error.
	Error string

	// Detail is the parameter code beside it, which may be anything as well.
	Detail string

	// Notice says what has been done, for example that a password was changed. It is
	// not shown together with an error.
	Notice string

	// ForgotPasswordURL and SignUpURL are pages of the host that the page links to.
	ForgotPasswordURL, SignUpURL string
}

// maxEmail is longer than any address that can be delivered to.
//
// https://www.rfc-editor.org/rfc/rfc5321#section-4.5.3.1
const maxEmail = 320

type signInView struct {
	frame
	Lead        string
	Error       string
	Notice      string
	Providers   []providerView
	CSRFToken   string
	CallbackURL string
	Email       string
	SignUpURL   string
}

// providerView is a provider as the template writes it.
type providerView struct {
	Provider
	Label     string
	ButtonID  string
	Separate  bool
	Autofocus bool
	Tile      *tile
	Inputs    []fieldView

	ForgotPasswordURL string
}

// SignIn returns the page on which people choose how to sign in.
func (p *Pages) SignIn(d SignInData) Page {
	providers, tiles := p.providerViews(d.Providers)
	view := signInView{
		frame:       p.frame(d.Site, "signin", p.texts.SignInHeading, tileStyles(tiles)...),
		Error:       p.texts.signInError(d.Error, d.Detail),
		Notice:      d.Notice,
		Providers:   providers,
		CSRFToken:   d.CSRFToken,
		CallbackURL: d.CallbackURL,
		SignUpURL:   d.SignUpURL,
	}
	view.Lead = fill(p.texts.SignInLead, view.Name)
	if len(d.Email) <= maxEmail {
		view.Email = d.Email
	}
	if first := slices.IndexFunc(providers, func(v providerView) bool { return v.Kind == Credentials }); first >= 0 {
		providers[first].ForgotPasswordURL = d.ForgotPasswordURL
	}

	policy := policy{styles: view.Styles, images: p.theme.sources(), hasForm: true}
	for _, t := range tiles {
		if t.Logo.source != "" {
			policy.images = append(policy.images, t.Logo.source)
		}
	}
	for _, provider := range view.Providers {
		if provider.Kind == WebAuthn {
			view.Script, policy.script, policy.connects = passkeyScript, passkeyScript, true
		}
	}
	return render(signInTemplate, statusOf(d.Error, d.Detail), &view, policy)
}

func (p *Pages) providerViews(providers []Provider) ([]providerView, []*tile) {
	var views []providerView
	var tiles []*tile
	submits := 0
	for _, provider := range providers {
		if !provider.shown() {
			continue
		}
		view := providerView{Provider: provider, Label: fill(p.texts.SignInWith, p.texts.word(provider.Name))}
		if len(views) > 0 {
			// Buttons that lead away form a group; each other form stands alone.
			view.Separate = !provider.Kind.leaves() || !views[len(views)-1].Kind.leaves()
		}
		switch provider.Kind {
		case OAuth, OIDC:
			view.Tile = newTile(provider)
			tiles = append(tiles, view.Tile)
		case Email:
			// Focus in a field below the first opens the keyboard of a phone
			// over the buttons above it, and makes screen readers skip them.
			view.Autofocus = len(views) == 0
		}
		switch provider.Kind {
		case Email, Credentials:
			// The first one has the id people's tests look for; an id must not
			// be there twice.
			view.ButtonID = "submitButton"
			if submits++; submits > 1 {
				view.ButtonID += "-" + provider.ID
			}
		case WebAuthn:
			view.ButtonID = "submitButton-" + provider.ID
		}
		for _, field := range provider.Fields {
			view.Inputs = append(view.Inputs, field.view(provider.ID, &p.texts))
		}
		views = append(views, view)
	}
	return views, tiles
}

// signInError only looks a code up in a map, so that text from the query
// is never shown (W-5, SH-90).
func (t *Texts) signInError(code, detail string) string {
	if code == "" {
		return ""
	}
	if text, ok := t.SignInErrors[detail]; ok && hasDetail(code) {
		return text
	}
	if text, ok := t.SignInErrors[code]; ok {
		return text
	}
	return t.SignInErrorOther
}

// hasDetail reports whether the parameter code beside an error chooses its text.
func hasDetail(code string) bool {
	return code == "CredentialsSignin" || code == "EmailSignin" || code == "InvalidCheck" || code == "ConnectionNotFound"
}

// signInStatus has the status of the sign-in page for a mistake of the user, by
// the parameter code. Auth.js has no such codes: with its codes clients see status
// 200.
var signInStatus = map[string]int{
	"flow_expired":      http.StatusGone,
	"flow_replaced":     http.StatusConflict,
	"flow_used":         http.StatusConflict,
	"flow_unknown":      http.StatusBadRequest,
	"malformed_address": http.StatusBadRequest,
	"too_many_mails":    http.StatusTooManyRequests,
}

// statusOf returns the status for an error and the parameter code beside it.
func statusOf(code, detail string) int {
	if status, ok := signInStatus[detail]; ok && (code == "EmailSignin" || code == "InvalidCheck") {
		return status
	}
	return http.StatusOK
}

//go:embed passkey.js
var passkeyScriptText string

// passkeyScript runs the ceremonies of WebAuthn providers.
var passkeyScript = template.JS(passkeyScriptText) //nolint:gosec // embedded, not input
