package page

import (
	"cmp"
	"html/template"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// A Field is an input of a sign-in form.
type Field struct {
	// Name is the name the value is posted under.
	Name string
	// Label stands above the input. Empty means Name.
	Label string
	// Attributes are further HTML attributes: type, placeholder, value,
	// autocomplete and others that describe what may be typed, and aria-* and
	// data-* ones. They replace the defaults, type="text" among them. A
	// boolean attribute is on unless its value is "false". What could run a
	// script, load something, send the form elsewhere or take the input from
	// its label is left out.
	Attributes map[string]string
}

// plainAttributes only describe the input. A list of allowed attributes is
// shorter than the list of dangerous ones (on…, style, form…, src, list,
// popover…) and stays complete.
var plainAttributes = []string{
	"autocapitalize", "autocomplete", "autocorrect", "checked", "class", "dir", "disabled", "enterkeyhint",
	"inputmode", "lang", "max", "maxlength", "min", "minlength", "passwordrules", "pattern", "placeholder", "readonly",
	"required", "size", "spellcheck", "step", "tabindex", "title", "translate", "type", "value",
}

var booleanAttributes = []string{"autofocus", "checked", "disabled", "readonly", "required"}

// inputTypes leaves out the types that are buttons, and file, for which the
// form is not encoded.
var inputTypes = []string{
	"checkbox", "color", "date", "datetime-local", "email", "hidden", "month", "number", "password", "radio", "range",
	"search", "tel", "text", "time", "url", "week",
}

var customAttribute = regexp.MustCompile(`^(aria|data)-[a-z][a-z0-9_-]*$`)

// ownAttributes are the data attributes the page sets and reads itself.
var ownAttributes = []string{"aria-describedby", "data-form-field"}

// AllowedAttribute reports whether a [Field] may have the attribute.
func AllowedAttribute(name string) bool {
	if slices.Contains(ownAttributes, name) {
		return false
	}
	return name == "autofocus" || slices.Contains(plainAttributes, name) || customAttribute.MatchString(name)
}

// fieldView is a field as the template writes it.
type fieldView struct {
	ID, Name, Label, Type string
	Attributes            template.HTMLAttr

	// Show is the label of a box that shows what was typed, of a password.
	Show string
}

// wordAttributes are those that people read or hear.
var wordAttributes = []string{"placeholder", "title", "aria-label", "aria-description"}

// view makes the input of a form; own are attributes that the page sets.
func (f Field) view(providerID string, texts *Texts, own map[string]string) fieldView {
	attributes := map[string]string{"type": "text"}
	for name, value := range f.Attributes {
		// HTML does not tell "Required" from "required".
		if name = strings.ToLower(name); AllowedAttribute(name) {
			attributes[name] = value
		}
	}
	for _, name := range wordAttributes {
		if value, set := attributes[name]; set {
			attributes[name] = texts.word(value)
		}
	}
	attributes["type"] = f.kind()
	maps.Copy(attributes, own)
	if _, set := attributes["autocomplete"]; !set {
		if guess := guessAutocomplete(f.Name, attributes["type"]); guess != "" {
			attributes["autocomplete"] = guess
		}
	}
	view := fieldView{
		ID:         inputID(f.Name, providerID),
		Name:       f.Name,
		Label:      texts.word(cmp.Or(f.Label, f.Name)),
		Type:       attributes["type"],
		Attributes: writeAttributes(attributes),
	}
	return view
}

// inputID is the id of the input of a form, as in Auth.js.
func inputID(name, providerID string) string {
	return "input-" + name + "-for-" + providerID + "-provider"
}

// attribute is the value of an attribute as the host has set it, and whether it has.
func (f Field) attribute(name string) (value string, set bool) {
	for own, value := range f.Attributes {
		if strings.EqualFold(own, name) {
			return value, true
		}
	}
	return "", false
}

// kind is the type of the input.
func (f Field) kind() string {
	kind, _ := f.attribute("type")
	if kind = strings.ToLower(kind); slices.Contains(inputTypes, kind) {
		return kind
	}
	return "text"
}

// has reports whether a boolean attribute is on.
func (f Field) has(name string) bool {
	value, set := f.attribute(name)
	return set && !strings.EqualFold(value, "false")
}

// takesFocus reports whether the host has put the focus on the field.
func (f Field) takesFocus() bool { return f.has("autofocus") }

// isTyped reports whether the field is empty text, which a user has to type.
func (f Field) isTyped() bool {
	value, _ := f.attribute("value")
	return value == "" && !f.has("disabled") && !f.has("readonly") && slices.Contains([]string{"email", "number", "password", "search", "tel", "text", "url"}, f.kind())
}

// namesUser reports whether users name themselves in the field. Its value may be shown again:
// it is no secret.
func (f Field) namesUser() bool {
	if !slices.Contains([]string{"email", "tel", "text"}, f.kind()) || !f.isTyped() {
		return false
	}
	words := strings.Fields(strings.ToLower(f.autocomplete()))
	return slices.Contains(words, "username") || slices.Contains(words, "email")
}

// autocomplete is the attribute as the page writes it.
func (f Field) autocomplete() string {
	if own, set := f.attribute("autocomplete"); set {
		return own
	}
	return guessAutocomplete(f.Name, f.kind())
}

// listsPasskeys reports whether browsers list passkeys at the field.
func (f Field) listsPasskeys() bool { return hasWebAuthn(f.autocomplete()) }

func hasWebAuthn(autocomplete string) bool {
	return slices.Contains(strings.Fields(strings.ToLower(autocomplete)), "webauthn")
}

// withWebAuthn adds the word for passkeys, which is the last one.
//
// https://html.spec.whatwg.org/multipage/form-control-infrastructure.html#attr-fe-autocomplete-webauthn
func withWebAuthn(autocomplete string) string {
	if hasWebAuthn(autocomplete) {
		return autocomplete
	}
	return strings.TrimSpace(autocomplete + " webauthn")
}

// UserField returns the name of the field of a form in which users name themselves, or "" if
// there is none.
func (p Provider) UserField() string {
	switch p.Kind {
	case Email:
		return "email"
	case Credentials:
		if i := slices.IndexFunc(p.Fields, Field.namesUser); i >= 0 {
			return p.Fields[i].Name
		}
	}
	return ""
}

// guessAutocomplete lets password managers fill forms whose author did not
// think of them.
//
// https://www.w3.org/TR/WCAG22/#identify-input-purpose
func guessAutocomplete(name, kind string) string {
	switch {
	case kind == "password":
		return "current-password"
	case kind == "email" || strings.EqualFold(name, "email") || strings.EqualFold(name, "username"):
		return "username"
	}
	return ""
}

// writeAttributes expects names from [AllowedAttribute], which need no escape.
func writeAttributes(attributes map[string]string) template.HTMLAttr {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		value := attributes[name]
		if slices.Contains(booleanAttributes, name) {
			if !strings.EqualFold(value, "false") {
				b.WriteString(" " + name)
			}
			continue
		}
		b.WriteString(" " + name + `="` + template.HTMLEscapeString(value) + `"`)
	}
	return template.HTMLAttr(strings.TrimPrefix(b.String(), " ")) //nolint:gosec // names are from a list, values escaped
}
