package page

import (
	"net/http"

	"github.com/pintleauth/pintle/pages"
)

// errorStatus has the status of each error that is not answered with 200, as
// clients of the contract know them.
var errorStatus = map[string]int{
	"Configuration": http.StatusInternalServerError,
	"AccessDenied":  http.StatusForbidden,
	"Verification":  http.StatusForbidden,
	"SignOutError":  http.StatusInternalServerError,
}

// signInHelps are the errors after which trying again makes sense.
//
// A mail that could not be sent is "Configuration" on the wire, and the person may
// have another way to sign in.
var signInHelps = map[string]bool{
	"Configuration":             true,
	"AccessDenied":              true,
	"Verification":              true,
	"WebAuthnVerificationError": true,
}

// Error returns the page about an error. The code is that of the request's
// query and may be anything: it is looked up and never shown (W-5, SH-90).
func (p *Pages) Error(site Site, code string) Page {
	text, known := p.texts.Errors[code]
	if !known {
		text = p.texts.ErrorOther
	}
	status, ok := errorStatus[code]
	if !ok {
		status = http.StatusOK
	}
	n := notice{root: "error", Icon: "alert", Heading: text.Heading, Text: text.Text}
	if signInHelps[code] {
		n.Button = p.texts.ErrorSignIn
	}
	return p.notice(site, status, n)
}

// MailNotSent returns the page about a mail with a link that could not be sent. It is that of
// Configuration, which is the code of the wire, with what the user can do.
func (p *Pages) MailNotSent(site Site) Page {
	text := p.texts.Errors["Configuration"]
	return p.notice(site, errorStatus["Configuration"], notice{
		root: "error", Icon: "alert", Heading: text.Heading, Button: p.texts.ErrorSignIn,
		Text: append([]string{p.texts.ErrorMail}, text.Text...),
	})
}

// Unavailable returns the page about a sign-in that failed at the store. Its text is that of
// a mistake in the configuration: tables that are missing fail as a database that is down.
func (p *Pages) Unavailable(site Site) Page {
	text := p.texts.Errors["Configuration"]
	shown := p.notice(site, http.StatusServiceUnavailable, notice{
		root: "error", Icon: "alert", Heading: text.Heading, Text: text.Text, Button: p.texts.ErrorSignIn,
	})
	shown.Header.Set("Retry-After", RetryAfter)
	return shown
}

// ForeignForm returns the page about a form that may be one of another site.
func (p *Pages) ForeignForm(site Site) Page {
	return p.notice(site, http.StatusForbidden, notice{
		root: "error", Icon: "alert", Heading: p.texts.ErrorOther.Heading, Text: []string{p.texts.signInError("MissingCSRF", "")},
	})
}

// RetryAfter is when a browser or a script may try again, in seconds, while the store does not
// answer: long enough to spare a store that restarts, short enough for a user who waits.
const RetryAfter = "5"

// Refusal returns the page about a request that is refused with a status: one whose user is
// signed out, one that its user may not make, one whose session cannot be read, or one that
// names no page or cannot be read, as one that is too large.
func (p *Pages) Refusal(site Site, status int) Page {
	var text pages.ErrorText
	button := ""
	switch status {
	case http.StatusUnauthorized:
		text = pages.ErrorText{Heading: p.texts.SignInHeading, Text: []string{p.texts.SignInErrors["SessionRequired"]}}
		button = p.texts.ErrorSignIn
	case http.StatusForbidden:
		text = p.texts.Forbidden
	case http.StatusServiceUnavailable:
		text = p.texts.Unavailable
	case http.StatusInternalServerError:
		text = p.texts.Errors["Configuration"]
	case http.StatusRequestEntityTooLarge:
		text = pages.ErrorText{Heading: p.texts.Account.Pages["problem"].Heading, Text: []string{p.texts.Account.Problems["too_large"]}}
	default:
		text = p.texts.NoSuchPage
	}
	shown := p.notice(site, status, notice{root: "error", Icon: "alert", Heading: text.Heading, Text: text.Text, Button: button})
	if status == http.StatusServiceUnavailable {
		shown.Header.Set("Retry-After", RetryAfter)
	}
	return shown
}
