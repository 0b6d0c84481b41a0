package pintle

import "github.com/pintleauth/pintle/internal/page"

// Pages replaces built-in pages by the host's own. Each is a path on this site
// or an absolute URL; empty means the built-in page. Two pages are always
// built in: the one that [Email.Confirm] shows, and the one that asks whose an
// account is when a mail proves an address that the account has unproven.
type Pages struct {
	// SignIn gets the parameters callbackUrl, error and code.
	SignIn string

	// SignOut asks for confirmation and posts to the sign-out route.
	SignOut string

	// Error gets the parameter error: Configuration, AccessDenied, Verification
	// or another of the codes a browser may see.
	Error string

	// VerifyRequest says that a mail is on its way.
	VerifyRequest string

	// Account is where the application shows people how they can sign in, and
	// lets them link another account. It is where somebody who is signed in
	// comes back to when a sign-in with a provider or a passkey fails, with the
	// parameter error: see [ErrOAuthAccountNotLinked] and [ErrOAuthCallback].
	// Empty means the pages that others see then. It has no built-in page.
	Account string

	// NewUser is where a person goes after their first sign-in. It gets the
	// parameter callbackUrl. It has no built-in page.
	NewUser string
}

// Theme is the look of the built-in pages and mails.
type Theme struct {
	// ColorScheme is "light", "dark" or "auto", which follows the browser and
	// is the default.
	ColorScheme string

	// Logo is the URL of an image shown on every page.
	Logo string

	// BrandColor is the CSS colour of buttons.
	BrandColor string

	// ButtonText is the CSS colour of the text on buttons.
	ButtonText string
}

// Texts are the words on the built-in pages. Empty ones are English.
type Texts = page.Texts
