package pages

// Style is how a provider looks on the sign-in page.
type Style struct {
	// BrandColor is a CSS colour for the button. Text on it is made readable.
	BrandColor string

	// Logo is the URL of an image, or empty for the built-in mark.
	Logo string
}
