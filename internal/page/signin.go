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

	// Typed is what the user has typed into a form before.
	Typed Typed

	// LastUsed is the id of the provider that was used last in this browser. The
	// page marks it, if it shows it.
	LastUsed string

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

// Typed is what a user typed into the field of a form that names them, so that they need
// not type it again. It is never a password.
type Typed struct{ Provider, Value string }

// MaxTyped is the length of the longest value that a page shows again, in bytes.
const MaxTyped = maxEmail

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
	Email     string // in the field of an e-mail provider

	// Autocomplete is the attribute of that field.
	Autocomplete string

	// AddressID is the id of the field of another form from which a passkey takes the address.
	AddressID string

	// Title is the heading of a form that has a label of another form. It names the form for screen
	// readers, too: see titles.
	Title string

	// Primary is the one button that stands out. LastUsed marks the provider that was
	// used last in this browser.
	Primary, LastUsed bool

	ForgotPasswordURL string
}

// SignIn returns the page on which people choose how to sign in.
func (p *Pages) SignIn(d SignInData) Page {
	providers, tiles := p.providerViews(&d)
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
	if first := slices.IndexFunc(providers, func(v providerView) bool { return v.Kind == Credentials }); first >= 0 {
		providers[first].ForgotPasswordURL = d.ForgotPasswordURL
	}

	policy := policy{styles: view.Styles, images: p.theme.sources(), hasForm: true}
	for _, t := range tiles {
		if t.Logo.source != "" {
			policy.images = append(policy.images, t.Logo.source)
		}
	}
	if slices.ContainsFunc(providers, func(v providerView) bool { return v.Kind == WebAuthn }) {
		policy.script, policy.connects = passkeyScript, true
	}
	if slices.ContainsFunc(providers, providerView.hasPassword) {
		policy.script += showScript
	}
	view.Script = policy.script
	return render(signInTemplate, statusOf(d.Error, d.Detail), &view, policy)
}

// hasPassword reports whether the form has a field whose value can be shown.
func (v providerView) hasPassword() bool {
	return slices.ContainsFunc(v.Inputs, func(in fieldView) bool { return in.Show != "" })
}

func (p *Pages) providerViews(d *SignInData) ([]providerView, []*tile) {
	shown := slices.DeleteFunc(slices.Clone(d.Providers), func(p Provider) bool { return !p.shown() })
	shown, owner, shared := shareField(shown)
	listed := slices.ContainsFunc(shown, func(p Provider) bool { return p.Kind == WebAuthn && p.Borrows && p.ConditionalUI })
	focused, field := focus(shown, d)
	primary := primary(shown, d)
	var views []providerView
	var tiles []*tile
	submits := 0
	for i, provider := range shown {
		view := providerView{
			Provider: provider, Label: p.texts.signInWith(provider.Name),
			Primary: i == primary, LastUsed: provider.ID == d.LastUsed, Autofocus: i == focused,
		}
		if len(views) > 0 {
			// Buttons that lead away form a group; each other form stands alone.
			view.Separate = !provider.isButton() || !views[len(views)-1].isButton()
		}
		switch provider.Kind {
		case OAuth, OIDC:
			view.Tile = newTile(provider)
			tiles = append(tiles, view.Tile)
		case Email:
			view.Email, view.Autocomplete = d.typedInto(provider), "email"
			if provider.ID == owner && listed {
				view.Autocomplete = withWebAuthn(view.Autocomplete)
			}
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
			if provider.Borrows && owner != "" && !provider.IgnoresAddress {
				view.AddressID = inputID(shared, owner)
			}
		}
		for n, input := range provider.Fields {
			own := map[string]string{}
			if input.Name == provider.UserField() {
				if typed := d.typedInto(provider); typed != "" {
					own["value"] = typed
				}
			}
			if view.Autofocus && n == field {
				own["autofocus"] = ""
			}
			if provider.ID == owner && input.Name == shared && listed {
				own["autocomplete"] = withWebAuthn(input.autocomplete())
			}
			made := input.view(provider.ID, &p.texts, own)
			if provider.Kind == Credentials && made.Type == "password" {
				made.Show = p.texts.Account.Words["show_password"]
			}
			view.Inputs = append(view.Inputs, made)
		}
		views = append(views, view)
	}
	p.titles(views)
	return views, tiles
}

// titles gives headings to the forms that have the label of a field of another form, such as the
// address of a mail link and that of a password: the labels alone do not tell them apart.
func (p *Pages) titles(views []providerView) {
	forms := map[string]int{} // that have a label
	for _, view := range views {
		for label := range p.labels(view) {
			forms[label]++
		}
	}
	for i, view := range views {
		for label := range p.labels(view) {
			if forms[label] > 1 {
				views[i].Title = view.Label
			}
		}
	}
}

// labels are those of a form that are shown.
func (p *Pages) labels(v providerView) map[string]bool {
	labels := map[string]bool{}
	if v.Kind == Email {
		labels[p.texts.EmailLabel] = true
	}
	for _, in := range v.Inputs {
		if in.Type != "hidden" {
			labels[in.Label] = true
		}
	}
	return labels
}

// typedInto is what stands in the field of a form that names the user.
func (d *SignInData) typedInto(p Provider) string {
	value := ""
	if p.Kind == Email {
		value = d.Email
	}
	if d.Typed.Provider == p.ID && d.Typed.Value != "" {
		value = d.Typed.Value
	}
	if len(value) > MaxTyped {
		return ""
	}
	return value
}

// primary returns the place of the provider whose button stands out: the form that was just
// filled in, or else the one that was used last in this browser, or else the first form to type
// into, or else the first one.
func primary(shown []Provider, d *SignInData) int {
	for _, stands := range []func(Provider) bool{
		func(p Provider) bool { return p.ID == d.Typed.Provider },
		func(p Provider) bool { return p.ID == d.LastUsed },
		func(p Provider) bool { return !p.isButton() },
		func(p Provider) bool { return !p.Kind.leaves() },
	} {
		if i := slices.IndexFunc(shown, stands); i >= 0 {
			return i
		}
	}
	return 0
}

// focus returns the places of the form and of its field in which the user goes on typing, or
// -1. That is the form that was just refused, or else the first thing on the page: focus in a
// field below the first opens the keyboard of a phone over the buttons above it, and makes
// screen readers skip them. A user who came in another way the last time is not led into a
// form, and a field on which the host has put the focus keeps it.
func focus(shown []Provider, d *SignInData) (form, field int) {
	for _, p := range shown {
		if slices.ContainsFunc(p.Fields, Field.takesFocus) {
			return -1, -1
		}
	}
	if form = slices.IndexFunc(shown, func(p Provider) bool { return p.ID == d.Typed.Provider }); form < 0 {
		used := slices.IndexFunc(shown, func(p Provider) bool { return p.ID == d.LastUsed })
		if len(shown) == 0 || used > 0 {
			return -1, -1
		}
		form = 0
	}
	p := shown[form]
	switch p.Kind {
	case Email:
		return form, 0
	case Credentials:
		for i, f := range p.Fields {
			if f.isTyped() && (f.Name != p.UserField() || d.typedInto(p) == "") {
				return form, i
			}
		}
	}
	return -1, -1
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
	"too_many_attempts": http.StatusTooManyRequests,
}

// statusOf returns the status for an error and the parameter code beside it.
func statusOf(code, detail string) int {
	switch status, ok := signInStatus[detail]; {
	case !ok:
	case code == "EmailSignin", code == "InvalidCheck":
		return status
	case status == http.StatusTooManyRequests && (code == "CredentialsSignin" || code == "ConnectionNotFound"):
		return status // other details of a wrong password are words of the application
	}
	return http.StatusOK
}

//go:embed passkey.js
var passkeyScriptText string

// passkeyScript runs the ceremonies of WebAuthn providers.
var passkeyScript = template.JS(passkeyScriptText) //nolint:gosec // embedded, not input
