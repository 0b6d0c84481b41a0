package page

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"unicode"

	"github.com/pintleauth/pintle/internal/mail"
	"github.com/pintleauth/pintle/pages"
)

// Texts are all texts of the pages and the sign-in mail. Empty fields are filled
// from [English].
type Texts pages.Texts

// passwordLabel and passkeyLabel are the English labels of the buttons of providers called
// "Password" and "Passkey", and their keys among the words: a name begins with a capital letter, and
// these words within a sentence do not. They may need an article or another case.
const (
	passwordLabel = "Sign in with Password"
	passkeyLabel  = "Sign in with Passkey"
)

// English returns the texts that are used unless the host sets others.
func English() Texts {
	const otherAccount = "That did not work. Try again, or sign in with a different account."
	letter := mail.English()
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
		ForgotPassword:     "Forgot your password?",
		SignUp:             "Create an account",
		LastUsed:           "You signed in this way last time.",
		Words: map[string]string{
			"Email":       "Email",
			"Credentials": "Credentials",
			"Passkey":     "Passkey",
			"Username":    "Username",
			"Password":    "Password",
			"SSO":         "SSO",
			passwordLabel: "Sign in with password",
			passkeyLabel:  "Sign in with a passkey",
		},
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
			"flow_expired":          "That took too long. Try again.",
			"flow_replaced":         "You began to sign in again in another tab. Go on there, or try again here.",
			"flow_used":             "That sign-in was finished before. If you are not signed in, try again.",
			"flow_unknown":          "That sign-in was finished in another tab or began in another browser. If you are not signed in, try again.",
			"malformed_address":     "That is not an email address. Check it and try again.",
			"too_many_attempts":     "Too many attempts. Wait a few minutes and try again.",
			"too_many_mails":        "Too many emails were asked for. Wait a few minutes and try again.",
			"ConnectionNotFound":    "There is no sign-in for this address. Check it, or sign in another way.",
			"SessionRequired":       "Sign in to see this page.",
			"MissingCSRF":           "Your browser did not send what belongs to this form. Allow cookies for this site and try again.",
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

		NativeHeading:     "Sign in to an application?",
		NativeText:        "It wants to use %s as you.",
		NativeApplication: "Application: %s",
		NativeUser:        "You are signed in as %s.",
		NativeHint:        "Agree only if you have just begun to sign in there.",
		NativeAllow:       "Agree",
		NativeDeny:        "Refuse",

		ContinueHeading: "Almost there",
		ContinueText:    "One more step and you are back at %s.",
		ContinueButton:  "Continue",

		AddressTakenHeading: "Is this account yours?",
		AddressTakenText:    "An account here has your address %s, but its owner has never opened a mail from us.",
		AddressTakenOwn:     "If it is yours, sign in to it as you did before. That confirms the address.",
		AddressTakenOther:   "Sign in another way",
		AddressTakenNew:     "If it is not yours, go on without it. That account loses the address, and you get one of your own.",
		AddressTakenButton:  "Make a new account",

		ReplaceHeading: "Sign in as another user?",
		ReplaceUser:    "You are signed in as %s.",
		ReplaceText:    "You came here to sign in with %s, as another user. If you continue, you are signed out first.",

		Errors: map[string]pages.ErrorText{
			"Configuration": {Heading: "Something is wrong on our side", Text: []string{
				"You could not be signed in. Try again.",
				"If you run this site, the server log says what happened.",
			}},
			"AccessDenied": {Heading: "Access denied", Text: []string{"You do not have permission to sign in."}},
			"Verification": {Heading: "This link no longer works", Text: []string{
				"It has been used already, or it has expired.",
				"Sign in again to get a new one.",
			}},
			"WebAuthnVerificationError": {Heading: "Your passkey was not accepted", Text: []string{"Try again, or sign in another way."}},
			"SignOutError": {Heading: "You are still signed in", Text: []string{
				"Your session could not be ended. Wait a moment, go back and try again.",
			}},
		},
		ErrorOther:  pages.ErrorText{Heading: "Something went wrong", Text: []string{"You could not be signed in."}},
		ErrorMail:   "The email was not sent. Check the address.",
		ErrorSignIn: "Sign in",

		Forbidden:   pages.ErrorText{Heading: "Not for this account", Text: []string{"You are signed in, but this page is not open to you."}},
		Unavailable: pages.ErrorText{Heading: "Try again in a moment", Text: []string{"It cannot be checked right now whether you are signed in."}},
		NoSuchPage:  pages.ErrorText{Heading: "There is nothing here", Text: []string{"The address is not that of a page, or the form could not be read."}},

		MailSubject: letter.Subject,
		MailHeading: letter.Heading,
		MailText:    letter.Text,
		MailButton:  letter.Button,
		MailIgnore:  letter.Ignore,

		LinkLifetime: "The link works for %s.",
		Minutes:      map[string]string{"one": "%s minute", "other": "%s minutes"},
		Hours:        map[string]string{"one": "%s hour", "other": "%s hours"},
		Days:         map[string]string{"one": "%s day", "other": "%s days"},

		Account: englishAccount(),
	}
}

// complete returns t with everything that is empty taken from [English].
func (t Texts) complete() Texts {
	english := English()
	t.SignInErrors = overlay(english.SignInErrors, t.SignInErrors)
	t.Errors = overlay(english.Errors, t.Errors)
	for label, name := range map[string]string{passwordLabel: "Password", passkeyLabel: "Passkey"} {
		if t.SignInWith != "" || t.Words[name] != "" {
			delete(english.Words, label) // the label is made of the words of the host
		}
	}
	t.Words = overlay(english.Words, t.Words)
	t.Account.Pages = overlayFilled(english.Account.Pages, t.Account.Pages)
	t.Account.Words = overlay(english.Account.Words, t.Account.Words)
	t.Account.Problems = overlay(english.Account.Problems, t.Account.Problems)
	t.Account.Notices = overlay(english.Account.Notices, t.Account.Notices)
	t.Account.Activity = overlay(english.Account.Activity, t.Account.Activity)
	t.Account.Mails = overlayFilled(english.Account.Mails, t.Account.Mails)
	fillEmpty(reflect.ValueOf(&t).Elem(), reflect.ValueOf(english))
	return t
}

// Texts returns the words of the pages, with everything that the host left out in
// English. Its maps and lists are those of the pages, which must not change.
func (p *Pages) Texts() Texts { return p.texts }

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

// overlayFilled is overlay for entries of several texts, of which each that is empty
// stays English.
func overlayFilled[V any](under, over map[string]V) map[string]V {
	all := maps.Clone(under)
	for name, entry := range over {
		fillEmpty(reflect.ValueOf(&entry).Elem(), reflect.ValueOf(under[name]))
		all[name] = entry
	}
	return all
}

func (t *Texts) check() error {
	var errs []error
	if t.Dir != "ltr" && t.Dir != "rtl" {
		errs = append(errs, fmt.Errorf("page: texts: direction %.20q: use ltr or rtl", t.Dir))
	}
	for _, f := range []struct{ name, text string }{
		{"BackTo", t.BackTo},
		{"LinkLifetime", t.LinkLifetime},
		{"SignInLead", t.SignInLead},
		{"SignInWith", t.SignInWith},
		{"ConfirmLinkText", t.ConfirmLinkText},
		{"ConfirmLinkAddress", t.ConfirmLinkAddress},
		{"NativeText", t.NativeText},
		{"NativeApplication", t.NativeApplication},
		{"NativeUser", t.NativeUser},
		{"ContinueText", t.ContinueText},
		{"AddressTakenText", t.AddressTakenText},
		{"ReplaceUser", t.ReplaceUser},
		{"ReplaceText", t.ReplaceText},
	} {
		if strings.Count(f.text, "%s") != 1 {
			errs = append(errs, fmt.Errorf("page: texts: %s %q must have %%s once, where the name belongs", f.name, f.text))
		}
	}
	if strings.ContainsFunc(t.Site, unicode.IsControl) {
		errs = append(errs, fmt.Errorf("page: texts: Site %q must be one line", t.Site))
	}
	errs = append(errs, t.checkPlurals()...)
	errs = append(errs, t.checkAccount()...)
	return errors.Join(append(errs, t.mail().Check())...)
}

// mail is what the mail with a sign-in link says.
func (t *Texts) mail() mail.Texts {
	return mail.Texts{Subject: t.MailSubject, Heading: t.MailHeading, Text: t.MailText, Button: t.MailButton, Ignore: t.MailIgnore}
}

// word returns what a word of the configuration is in the language of t.
func (t *Texts) word(configured string) string { return cmp.Or(t.Words[configured], configured) }

// signInWith is the label of the button of a provider.
func (t *Texts) signInWith(name string) string {
	switch label := t.Words["Sign in with "+name]; name {
	case "Password", "Passkey":
		if label != "" {
			return label
		}
	}
	return fill(t.SignInWith, t.word(name))
}

// fill puts a name into a text. It is not fmt.Sprintf, to which a percent sign
// a translator writes would be a verb.
func fill(text, name string) string {
	return strings.Replace(text, "%s", name, 1)
}
