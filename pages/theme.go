package pages

// Theme is the look of the built-in pages and mails.
type Theme struct {
	// ColorScheme is [Light], [Dark] or [Auto]. Empty means Auto.
	ColorScheme ColorScheme

	// SiteName is what the pages and mails call the site in every language, for
	// example "Bird Shop". [Texts].Site replaces it in one language. It is one line.
	// Empty means the host of the site.
	SiteName string

	// Logo is the URL of an image above the heading of every page: an absolute
	// one, a path of this site such as "/logo.svg", or a data: URL. Empty means none.
	Logo string

	// DarkLogo is the URL of the image that dark pages have in the place of Logo. Empty
	// means Logo. It needs Logo.
	DarkLogo string

	// BrandColor is the CSS colour of buttons, in mails too. It must be opaque.
	// Empty means #346df1.
	BrandColor string

	// ButtonText is the CSS colour of the text on buttons. Empty means white
	// where that can be read on BrandColor, and else black.
	ButtonText string

	// CSS is a style sheet for the pages that follows the built-in one, and so
	// may override all of it. The policy of the pages lets it load images of this
	// site and nothing else. Mails do not have it.
	CSS string
}

// A ColorScheme determines whether the pages are light or dark.
type ColorScheme string

// The colour schemes.
const (
	Light ColorScheme = "light"
	Dark  ColorScheme = "dark"

	// Auto follows the setting of the browser.
	Auto ColorScheme = "auto"
)
