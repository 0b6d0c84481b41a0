package pintle

import (
	"strings"
)

// A Provider is a way to sign in: an [*OAuth], an [*Email], a [*Credentials] or a
// [*Passkey]. The set is closed; ready-made ones are in package provider.
//
// [New] copies what it is given. A provider may be shared by configurations and
// is never changed by a request.
type Provider interface {
	base() providerBase
}

// providerBase is what all kinds have in common.
type providerBase struct {
	id, name string
	kind     ProviderType
}

// Style is how a provider looks on the sign-in page.
type Style struct {
	// BrandColor is a CSS colour for the button. Text on it is made readable.
	BrandColor string

	// Logo is the URL of an image, or empty for the built-in mark.
	Logo string
}

// ProviderType says how a provider signs people in. Its values are those that
// the provider list shows to clients and that accounts are stored with.
type ProviderType string

// The types of provider.
const (
	TypeOAuth       ProviderType = "oauth"
	TypeOIDC        ProviderType = "oidc"
	TypeEmail       ProviderType = "email"
	TypeCredentials ProviderType = "credentials"
	TypeWebAuthn    ProviderType = "webauthn"
)

// A Field is an input of a form on the sign-in page.
type Field struct {
	// Name is the name that [Submission.Fields] has it under.
	Name string

	// Label is shown beside the input. Empty means Name.
	Label string

	// Type is the type of the input. Empty means "text".
	Type string

	Placeholder string

	// Attributes are further HTML attributes of the input, such as
	// autocomplete. Event handlers and style are refused.
	Attributes map[string]string
}

// listsPasskeys reports whether browsers list passkeys at a field.
//
// https://html.spec.whatwg.org/multipage/form-control-infrastructure.html#attr-fe-autocomplete-webauthn
func (f Field) listsPasskeys() bool {
	for name, value := range f.Attributes {
		if strings.EqualFold(name, "autocomplete") && strings.Contains(strings.ToLower(value), "webauthn") {
			return true
		}
	}
	return false
}
