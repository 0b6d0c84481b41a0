package pages

// Texts are the words on the built-in pages and in the mails with sign-in links.
// Empty fields are English, so a host may change one sentence or translate all of
// them; the comment of each field has its English words. They are plain text, in
// which nothing is markup. pintle.New returns an error for a text without its %s.
type Texts struct {
	// Lang is the language as a BCP 47 tag, for the attribute lang: "en".
	Lang string

	// Dir is the direction of writing: "ltr", or "rtl" for languages such as
	// Arabic and Hebrew.
	Dir string

	// Site is what the texts call the site. In Config.Languages, empty means that
	// of Config.Texts; there it means [Theme].SiteName, and without that the host of
	// the site, for example app.example.com.
	Site string

	// LogoAlt describes [Theme].Logo: "Logo".
	LogoAlt string

	// BackTo links to the site, whose name is %s: "Go to %s".
	BackTo string

	// SignInHeading is "Sign in".
	SignInHeading string

	// SignInLead stands below it; %s is the name of the site: "to continue to
	// %s".
	SignInLead string

	// SignInWith labels the button of a provider, whose name is %s: "Sign in
	// with %s".
	SignInWith string

	// Or stands between two ways to sign in: "or".
	Or string

	// NoProviders is shown when there is no way to sign in: "There is no way to
	// sign in here yet."
	NoProviders string

	// EmailLabel and EmailPlaceholder belong to the input of pintle.Email providers:
	// "Email", "email@example.com".
	EmailLabel, EmailPlaceholder string

	// PasskeyNeedsScript is shown where scripts are switched off: "Passkeys need
	// JavaScript, which is switched off in this browser."
	PasskeyNeedsScript string

	// PasskeyFailed is shown when no passkey was chosen, or it did not work: "No
	// passkey was used. Try again, or sign in another way."
	PasskeyFailed string

	// ForgotPassword links to pintle.Pages.ForgotPassword: "Forgot your password?"
	ForgotPassword string

	// SignUp links to pintle.Pages.SignUp: "Create an account".
	SignUp string

	// LastUsed stands below the provider that was used last in this browser: "You signed
	// in this way last time."
	LastUsed string

	// Words translates words of the configuration, which are its keys: names of
	// providers, and labels, placeholders and titles of a field. Words that
	// are not in it are shown unchanged. The defaults of the configuration are
	// "Email", "Credentials", "Passkey", "Username", "Password" and "SSO". The keys
	// "Sign in with Password" and "Sign in with Passkey" are the whole labels of the buttons
	// of providers called "Password" and "Passkey": "Sign in with password" and "Sign in with a passkey".
	// Without them a label is made of SignInWith and the name.
	Words map[string]string

	// SignInErrors are shown on the sign-in page, by the code in its parameter
	// error, or for CredentialsSignin, EmailSignin, InvalidCheck and ConnectionNotFound by
	// that in its parameter code, which Detail of a pintle.Error sets. Codes that are not in it are
	// English:
	//
	//   - Signin, OAuthSignin, OAuthCallbackError, OAuthCreateAccount,
	//     EmailCreateAccount, Callback: "That did not work. Try again, or sign in
	//     with a different account."
	//   - OAuthAccountNotLinked: "You already have an account here. Sign in the
	//     way you did the first time."
	//   - AccountNotLinked: "This passkey belongs to another account. Sign in the
	//     way you did the first time."
	//   - EmailSignin: "The email could not be sent. Check the address and try
	//     again."
	//   - CredentialsSignin: "Sign-in failed. Check what you entered and try
	//     again."
	//   - InvalidCheck: "That took too long or was begun in another tab. Try
	//     again."
	//   - flow_expired: "That took too long. Try again."
	//   - flow_replaced: "You began to sign in again in another tab. Go on there,
	//     or try again here."
	//   - flow_used: "That sign-in was finished before. If you are not signed in,
	//     try again."
	//   - flow_unknown: "That sign-in was finished in another tab or began in
	//     another browser. If you are not signed in, try again."
	//   - malformed_address: "That is not an email address. Check it and try
	//     again."
	//   - too_many_attempts: "Too many attempts. Wait a few minutes and try
	//     again."
	//   - too_many_mails: "Too many emails were asked for. Wait a few minutes and
	//     try again."
	//   - ConnectionNotFound: "There is no sign-in for this address. Check it, or sign
	//     in another way."
	//   - SessionRequired: "Sign in to see this page."
	//   - MissingCSRF: "Your browser did not send what belongs to this form. Allow
	//     cookies for this site and try again."
	SignInErrors map[string]string

	// SignInErrorOther is shown for all other codes: "You could not be signed in.
	// Try again."
	SignInErrorOther string

	// SignOutHeading is "Sign out".
	SignOutHeading string

	// SignOutQuestion is "Are you sure you want to sign out?"
	SignOutQuestion string

	// SignOutButton is "Sign out".
	SignOutButton string

	// SignOutCancel links back to the site: "Stay signed in".
	SignOutCancel string

	// VerifyRequestHeading is on the page that is shown while a mail is on its
	// way: "Check your email".
	VerifyRequestHeading string

	// VerifyRequestText has one paragraph per entry: "We sent you a link. Open it
	// to sign in.", "Nothing there after a few minutes? Look in your spam
	// folder."
	VerifyRequestText []string

	// ConfirmLinkHeading is on the page that a sign-in link opens where a button
	// has to be pressed: "Finish signing in".
	ConfirmLinkHeading string

	// ConfirmLinkText describes the button; %s is the name of the site: "One
	// more step and you are signed in to %s."
	ConfirmLinkText string

	// ConfirmLinkAddress names the user who will be signed in: "Your address:
	// %s".
	ConfirmLinkAddress string

	// ConfirmLinkHint is for people who did not ask for the link: "If you did not
	// ask for this, close the page and nothing happens."
	ConfirmLinkHint string

	// ConfirmLinkButton is "Sign in".
	ConfirmLinkButton string

	// NativeHeading is on the page that asks whether a native application may act as the
	// user: "Sign in to an application?".
	NativeHeading string

	// NativeText says what it wants; %s is the name of the site: "It wants to use %s as
	// you."
	NativeText string

	// NativeApplication names the application, "Application: %s", and NativeUser the user:
	// "You are signed in as %s."
	NativeApplication, NativeUser string

	// NativeHint is "Agree only if you have just begun to sign in there."
	NativeHint string

	// NativeAllow and NativeDeny are the buttons: "Agree", "Refuse".
	NativeAllow, NativeDeny string

	// ContinueHeading is shown for a moment after a provider that answers with a
	// form, such as Apple. The page stays where scripts are switched off: "Almost
	// there".
	ContinueHeading string

	// ContinueText describes where the button leads; %s is the name of the
	// site: "One more step and you are back at %s."
	ContinueText string

	// ContinueButton is "Continue".
	ContinueButton string

	// AddressTakenHeading is on the page that asks the user who owns an account
	// when a mail proves an address that the account has unproven: "Is this
	// account yours?"
	AddressTakenHeading string

	// AddressTakenText explains it; %s is the address: "An account here has
	// your address %s, but its owner has never opened a mail from us."
	AddressTakenText string

	// AddressTakenOwn stands above the ways to sign in to that account: "If it is
	// yours, sign in to it as you did before. That confirms the address."
	AddressTakenOwn string

	// AddressTakenOther links to the sign-in page: "Sign in another way".
	AddressTakenOther string

	// AddressTakenNew stands above the button that leaves that account alone: "If
	// it is not yours, go on without it. That account loses the address, and you
	// get one of your own."
	AddressTakenNew string

	// AddressTakenButton is "Make a new account".
	AddressTakenButton string

	// ReplaceHeading is on the page that asks a signed-in user before a sign-in that a
	// provider has begun makes them another user: "Sign in as another user?"
	ReplaceHeading string

	// ReplaceUser names the signed-in user: "You are signed in as %s."
	ReplaceUser string

	// ReplaceText stands above ContinueButton; %s is the name of the provider: "You came
	// here to sign in with %s, as another user. If you continue, you are signed out first."
	ReplaceText string

	// Errors are shown on the error page, by the code in its parameter error.
	// Codes that are not in it are English:
	//
	//   - Configuration: "Something is wrong on our side"; "You could not be
	//     signed in. Try again.", "If you run this site, the server log says what
	//     happened."
	//   - AccessDenied: "Access denied"; "You do not have permission to sign in."
	//   - Verification: "This link no longer works"; "It has been used already,
	//     or it has expired.", "Sign in again to get a new one."
	//   - WebAuthnVerificationError: "Your passkey was not accepted"; "Try again,
	//     or sign in another way."
	//   - SignOutError: "You are still signed in"; "Your session could not be
	//     ended. Wait a moment, go back and try again."
	Errors map[string]ErrorText

	// ErrorOther is shown for all other codes: "Something went wrong"; "You could
	// not be signed in."
	ErrorOther ErrorText

	// ErrorMail stands before the text for Configuration where a mail with a link
	// could not be sent: "The email was not sent. Check the address."
	ErrorMail string

	// ErrorSignIn links from an error to the sign-in page: "Sign in".
	ErrorSignIn string

	// Forbidden is the answer of Auth.Require to a browser whose user is signed
	// in and not authorized: "Not for this account"; "You are signed in, but this
	// page is not open to you."
	Forbidden ErrorText

	// Unavailable is its answer while the store does not answer: "Try again in a
	// moment"; "It cannot be checked right now whether you are signed in."
	Unavailable ErrorText

	// NoSuchPage is the answer to a browser that opens an address below the base
	// path where there is no route, or posts a form that cannot be read: "There
	// is nothing here"; "The address is not that of a page, or the form could not
	// be read."
	NoSuchPage ErrorText

	// MailSubject is the subject of the mail with a sign-in link, and the first
	// line of its plain text; %s is the name of the site: "Sign in to %s".
	MailSubject string

	// MailHeading stands above the button; %s is the name of the site: "Sign in
	// to %s".
	MailHeading string

	// MailText describes the button: "Press the button to finish signing in. It
	// works once."
	MailText string

	// MailButton is "Sign in".
	MailButton string

	// MailIgnore is for people who did not ask for the mail: "If you did not ask
	// for this mail, you can ignore it."
	MailIgnore string

	// LinkLifetime says how long a link works; %s is one of the texts of Minutes, Hours or Days:
	// "The link works for %s." It is in the HTML of sign-in mails, in mails of package account,
	// and on the page after the request for a mail.
	LinkLifetime string

	// Minutes, Hours and Days have one text for each plural category of Unicode that the
	// language has. In English "one" is "%s minute", "%s hour" and "%s day", and "other" is
	// "%s minutes", "%s hours" and "%s days". %s is the number. A category of a single number
	// may leave it out. "other" is required, and replaces a missing category. In a language that
	// package translation does not have, 1 is "one", and every other number is "other".
	//
	// https://www.unicode.org/cldr/charts/latest/supplemental/language_plural_rules.html
	Minutes, Hours, Days map[string]string

	// Account is about the pages and mails of package account.
	Account AccountTexts
}

// ErrorText is the text of a page about one error.
type ErrorText struct {
	// Heading is the title of the page.
	Heading string

	// Text has one paragraph per entry.
	Text []string
}
