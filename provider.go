package pintle

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
