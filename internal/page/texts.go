package page

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"strings"

	"github.com/pintleauth/pintle/internal/mail"
)

// Texts is everything the pages and the sign-in mail say. Empty fields are filled from [English],
// so a host may change one sentence or translate them all.
//
// Where a field says so, %s stands for a name that is put in; it must be there
// once.
type Texts struct {
	// Lang is the language as in the lang attribute, "en".
	Lang string
	// Dir is the direction of writing, "ltr" or "rtl".
	Dir string

	// LogoAlt describes the logo of the theme.
	LogoAlt string
	// BackTo links to the site; %s is its host.
	BackTo string

	SignInHeading string
	// SignInLead stands below the heading; %s is the host.
	SignInLead string
	// SignInWith labels the button of a provider; %s is its name.
	SignInWith string
	// Or stands between two kinds of signing in.
	Or string
	// NoProviders is shown when there is no way to sign in.
	NoProviders string
	// EmailLabel and EmailPlaceholder belong to the field of e-mail providers.
	EmailLabel, EmailPlaceholder string
	// PasskeyNeedsScript is shown to browsers with scripts switched off.
	PasskeyNeedsScript string
	// PasskeyFailed is shown when a ceremony was cancelled or did not work.
	PasskeyFailed string
	// SignInErrors are shown on the sign-in page, by the value of its error
	// parameter, and for CredentialsSignin and EmailSignin by that of its
	// parameter code first.
	// Codes that are not in it are looked up in those of [English].
	SignInErrors map[string]string
	// SignInErrorOther is shown for all other codes.
	SignInErrorOther string

	SignOutHeading, SignOutQuestion, SignOutButton string
	// SignOutCancel links back to the site.
	SignOutCancel string

	VerifyRequestHeading string
	// VerifyRequestText has one paragraph per entry.
	VerifyRequestText []string

	ConfirmLinkHeading string
	// ConfirmLinkText says what the button does; %s is the host.
	ConfirmLinkText string
	// ConfirmLinkAddress says who will be signed in; %s is the address.
	ConfirmLinkAddress string
	// ConfirmLinkHint is for those who did not ask for the link.
	ConfirmLinkHint   string
	ConfirmLinkButton string

	// ContinueHeading and the two below are shown for a moment after a provider
	// that answers with a form, such as Apple, and until the button is pressed in a browser with scripts
	// switched off.
	ContinueHeading string
	// ContinueText says where the button leads; %s is the host.
	ContinueText   string
	ContinueButton string

	AddressTakenHeading string
	// AddressTakenText says that an account has the address that was just
	// proven; %s is the address.
	AddressTakenText string
	// AddressTakenOwn stands above the ways to sign in to that account, and
	// AddressTakenOther links to the sign-in page.
	AddressTakenOwn, AddressTakenOther string
	// AddressTakenNew says what happens to that account if one goes on without
	// it, above the button that does.
	AddressTakenNew, AddressTakenButton string

	// Errors are shown on the error page, by the value of its error parameter.
	// Codes that are not in it are looked up in those of [English].
	Errors map[string]ErrorText
	// ErrorOther is shown for all other codes.
	ErrorOther ErrorText
	// ErrorMail is added to the text for Configuration on sites with mail links.
	ErrorMail string
	// ErrorSignIn links from an error to the sign-in page.
	ErrorSignIn string

	// Mail is what the mail with a sign-in link says.
	Mail mail.Texts
}

// ErrorText is what the error page says about one error.
type ErrorText struct {
	Heading string
	// Text has one paragraph per entry.
	Text []string
}

// English returns the texts that are used where a host has none of its own.
func English() Texts {
	const otherAccount = "That did not work. Try again, or sign in with a different account."
	return Texts{
		Lang:    "en",
		Dir:     "ltr",
		LogoAlt: "Logo",
		BackTo:  "Go to %s",

		SignInHeading:      "Sign in",
		SignInLead:         "to continue to %s",
		SignInWith:         "Sign in with %s",
		Or:                 "or",
		NoProviders:        "There is no way to sign in here yet.",
		EmailLabel:         "Email",
		EmailPlaceholder:   "email@example.com",
		PasskeyNeedsScript: "Passkeys need JavaScript, which is switched off in this browser.",
		PasskeyFailed:      "No passkey was used. Try again, or sign in another way.",
		SignInErrors: map[string]string{
			"Signin":                otherAccount,
			"OAuthSignin":           otherAccount,
			"OAuthCallbackError":    otherAccount,
			"OAuthCreateAccount":    otherAccount,
			"EmailCreateAccount":    otherAccount,
			"Callback":              otherAccount,
			"OAuthAccountNotLinked": "You already have an account here. Sign in the way you did the first time.",
			"AccountNotLinked":      "This passkey belongs to another account. Sign in the way you did the first time.",
			"EmailSignin":           "The email could not be sent. Check the address and try again.",
			"CredentialsSignin":     "Sign-in failed. Check what you entered and try again.",
			"InvalidCheck":          "That took too long or was begun in another tab. Try again.",
			"too_many_attempts":     "Too many attempts. Wait a few minutes and try again.",
			"too_many_mails":        "Too many emails were asked for. Wait a few minutes and try again.",
			"SessionRequired":       "Sign in to see this page.",
			"MissingCSRF":           "This page was open for too long. Try again.",
		},
		SignInErrorOther: "You could not be signed in. Try again.",

		SignOutHeading:  "Sign out",
		SignOutQuestion: "Are you sure you want to sign out?",
		SignOutButton:   "Sign out",
		SignOutCancel:   "Stay signed in",

		VerifyRequestHeading: "Check your email",
		VerifyRequestText: []string{
			"We sent you a link. Open it to sign in.",
			"Nothing there after a few minutes? Look in your spam folder.",
		},

		ConfirmLinkHeading: "Finish signing in",
		ConfirmLinkText:    "One more step and you are signed in to %s.",
		ConfirmLinkAddress: "Your address: %s",
		ConfirmLinkHint:    "If you did not ask for this, close the page and nothing happens.",
		ConfirmLinkButton:  "Sign in",

		ContinueHeading: "Almost there",
		ContinueText:    "One more step and you are back at %s.",
		ContinueButton:  "Continue",

		AddressTakenHeading: "Is this account yours?",
		AddressTakenText:    "An account here has your address %s, but its owner has never opened a mail from us.",
		AddressTakenOwn:     "If it is yours, sign in to it as you did before. That confirms the address.",
		AddressTakenOther:   "Sign in another way",
		AddressTakenNew:     "If it is not yours, go on without it. That account loses the address, and you get one of your own.",
		AddressTakenButton:  "Make a new account",

		Errors: map[string]ErrorText{
			"Configuration": {"Something is wrong on our side", []string{
				"You could not be signed in. Try again.",
				"If you run this site, the server log says what happened.",
			}},
			"AccessDenied": {"Access denied", []string{"You do not have permission to sign in."}},
			"Verification": {"This link no longer works", []string{
				"It has been used already, or it has expired.",
				"Sign in again to get a new one.",
			}},
			"WebAuthnVerificationError": {"Your passkey was not accepted", []string{"Try again, or sign in another way."}},
			"SignOutError": {"You are still signed in", []string{
				"Your session could not be ended. Wait a moment, go back and try again.",
			}},
		},
		ErrorOther:  ErrorText{"Something went wrong", []string{"You could not be signed in."}},
		ErrorMail:   "If you asked for a mail, it was not sent: check the address and try again.",
		ErrorSignIn: "Sign in",

		Mail: mail.English(),
	}
}

// complete returns t with everything that is empty taken from [English].
func (t Texts) complete() Texts {
	english := English()
	t.SignInErrors = overlay(english.SignInErrors, t.SignInErrors)
	t.Errors = overlay(english.Errors, t.Errors)
	fillEmpty(reflect.ValueOf(&t).Elem(), reflect.ValueOf(english))
	return t
}

// fillEmpty copies the fields that are empty in to, so that a text added later
// cannot be forgotten here.
func fillEmpty(to, from reflect.Value) {
	for i := range to.NumField() {
		field := to.Field(i)
		switch {
		case field.Kind() == reflect.Struct:
			fillEmpty(field, from.Field(i))
		case field.IsZero() || field.Kind() == reflect.Slice && field.Len() == 0:
			field.Set(from.Field(i))
		}
	}
}

// overlay copies both maps, so that a host may change its own afterwards.
func overlay[V any](under, over map[string]V) map[string]V {
	all := maps.Clone(under)
	maps.Copy(all, over)
	return all
}

func (t Texts) check() error {
	var errs []error
	if t.Dir != "ltr" && t.Dir != "rtl" {
		errs = append(errs, fmt.Errorf("page: texts: direction %.20q: use ltr or rtl", t.Dir))
	}
	for _, f := range []struct{ name, text string }{
		{"BackTo", t.BackTo},
		{"SignInLead", t.SignInLead},
		{"SignInWith", t.SignInWith},
		{"ConfirmLinkText", t.ConfirmLinkText},
		{"ConfirmLinkAddress", t.ConfirmLinkAddress},
		{"ContinueText", t.ContinueText},
		{"AddressTakenText", t.AddressTakenText},
	} {
		if strings.Count(f.text, "%s") != 1 {
			errs = append(errs, fmt.Errorf("page: texts: %s %q must have %%s once, where the name belongs", f.name, f.text))
		}
	}
	return errors.Join(append(errs, t.Mail.Check())...)
}

// fill puts a name into a text. It is not fmt.Sprintf, to which a percent sign
// a translator writes would be a verb.
func fill(text, name string) string {
	return strings.Replace(text, "%s", name, 1)
}
