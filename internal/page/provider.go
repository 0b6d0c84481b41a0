package page

import (
	"fmt"
	"html/template"
	"strings"

	"github.com/pintleauth/pintle/internal/page/color"
	"github.com/pintleauth/pintle/pages"
)

// Kind says how a provider signs people in. The values are those of the type
// member in the list of providers.
type Kind string

// The kinds of providers.
const (
	OAuth       Kind = "oauth"
	OIDC        Kind = "oidc"
	Email       Kind = "email"
	Credentials Kind = "credentials"
	WebAuthn    Kind = "webauthn"
)

// leaves reports whether the form of the kind is a single button that leads to
// another site.
func (k Kind) leaves() bool { return k == OAuth || k == OIDC }

// isButton reports whether the form of a provider is a single button.
func (p Provider) isButton() bool { return p.Kind.leaves() || p.Kind == WebAuthn && len(p.Fields) == 0 }

// A Provider is one way to sign in.
type Provider struct {
	ID, Name string
	Kind     Kind

	// Action is the URL the form is posted to: the sign-in URL of an OAuth,
	// OIDC or Email provider, the callback URL of the others.
	Action string

	// Style is the look of the button of an OAuth or OIDC provider.
	Style Style

	// Fields are the inputs of a Credentials or WebAuthn provider. One with
	// nil Fields is not shown: it has its form elsewhere. The form of an Email
	// provider always has one field, the address.
	Fields []Field

	// OptionsURL is where the script of the page gets the options of a
	// WebAuthn ceremony, "/auth/webauthn-options/passkey". A provider without
	// it is not shown, because its form could never succeed.
	OptionsURL string
	// ConditionalUI offers passkeys in the autofill list of the field whose
	// autocomplete attribute has the word webauthn.
	ConditionalUI bool
	// Borrows reports that Fields are the default of a WebAuthn provider: an address, which
	// another form of the page may have as well. The page then shows one field for both.
	Borrows bool
	// IgnoresAddress reports that a WebAuthn provider signs users in with passkeys that the
	// authenticator finds by itself, whatever is typed.
	IgnoresAddress bool
}

// shown reports whether the sign-in page has a form for p.
func (p Provider) shown() bool {
	switch p.Kind {
	case OAuth, OIDC, Email:
		return true
	case Credentials:
		return p.Fields != nil
	case WebAuthn:
		return p.Fields != nil && p.OptionsURL != ""
	}
	return false
}

// Style is the look of a provider's button. What is empty or cannot be used
// comes from the mark we carry for the provider, or is neutral.
type Style pages.Style

// tile is the square with the mark, logo or initials on a provider's button.
type tile struct {
	Class    string
	Path     string
	Colored  *coloredMark
	Letters  string
	Logo     image
	neutral  bool
	on, mark color.Color
}

// newTile draws the tile of p. A style that cannot be used still gives a
// tile: a page that looks plain is better than none.
func newTile(p Provider) *tile {
	m, known := marks()[p.ID]
	t := &tile{Path: m.path, Colored: coloredMarks[p.ID]}
	// An image that cannot be used leaves the mark in its place.
	if logo, err := parseImage(p.Style.Logo); err == nil {
		t.Logo = logo
	} else if !known && t.Colored == nil {
		t.Letters = monogram(p.Name)
	}
	if t.Colored != nil {
		t.on, t.mark = color.White, color.On(color.White)
		return t
	}

	on, errOn := color.Parse(p.Style.BrandColor)
	if errOn != nil {
		on, errOn = color.Parse(m.hex)
	}
	t.neutral = errOn != nil
	t.on, t.mark = on, color.On(on)
	// Initials are text. A mark is a logotype next to its name, which needs no
	// contrast (https://www.w3.org/TR/WCAG22/#contrast-minimum), so the colours
	// a brand is known for stay, as long as they can be told apart.
	least := float64(color.MinGraphic)
	if t.Path == "" {
		least = color.MinText
	}
	if color.Contrast(color.White, on) >= least {
		t.mark = color.White
	}
	return t
}

// tileStyles is the style sheet of the tiles of one page, if they need one.
func tileStyles(tiles []*tile) []template.CSS {
	var css strings.Builder
	for i, t := range tiles {
		if t.neutral {
			continue
		}
		t.Class = fmt.Sprintf("brand-%d", i)
		fmt.Fprintf(&css, ".%s{--provider-brand-color:%v;--provider-color:%v}", t.Class, t.on, t.mark)
	}
	if css.Len() == 0 {
		return nil
	}
	return []template.CSS{template.CSS(css.String())} //nolint:gosec // only hexadecimal colours are put in
}
