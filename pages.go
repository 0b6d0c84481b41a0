package pintle

// Pages replaces built-in pages by the host's own. Each is a path on this site
// or an absolute URL; empty means the built-in page. Two pages are always built
// in: the one that [Email.Confirm] shows, and the one that asks the user who
// owns an account when a mail proves an address that the account has unproven.
type Pages struct {
	// SignIn gets the parameters callbackUrl, error and code.
	SignIn string

	// SignOut asks for confirmation and posts to the sign-out route.
	SignOut string

	// Error gets the parameter error: Configuration, AccessDenied, Verification
	// or another of the codes a browser may see.
	Error string

	// VerifyRequest shows that a mail is on its way.
	VerifyRequest string

	// Account is where the application shows users how they can sign in, and
	// lets them link another account. A signed-in user returns to it when a
	// sign-in with a provider or a passkey fails, with the parameter error: see
	// [CodeAccountNotLinked] and OAuthCallbackError. Empty means the pages
	// that other users see then. It has no built-in page.
	Account string

	// SignUp and ForgotPassword are where the built-in sign-in page links to, for
	// people who have no account yet, and below the first form of a [Credentials]
	// provider for people who forgot their password. They get the parameter
	// callbackUrl. Empty leaves the link out.
	SignUp, ForgotPassword string

	// NewUser is where a person goes after their first sign-in. It gets the
	// parameter callbackUrl. It has no built-in page.
	NewUser string
}
