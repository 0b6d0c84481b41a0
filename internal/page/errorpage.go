package page

import (
	"net/http"
	"slices"

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
	if code == "Configuration" && site.Mail {
		text.Text = append(slices.Clone(text.Text), p.texts.ErrorMail)
	}
	n := notice{root: "error", Icon: "alert", Heading: text.Heading, Text: text.Text}
	if signInHelps[code] {
		n.Button = p.texts.ErrorSignIn
	}
	return p.notice(site, status, n)
}

// ForeignForm returns the page about a form that may be one of another site.
func (p *Pages) ForeignForm(site Site) Page {
	return p.notice(site, http.StatusForbidden, notice{
		root: "error", Icon: "alert", Heading: p.texts.ErrorOther.Heading, Text: []string{p.texts.signInError("MissingCSRF", "")},
	})
}

// Refusal returns the page about a request that is refused with a status: one
// that its user may not make, one whose session cannot be read, or one that names no page
// or cannot be read, as one that is too large.
func (p *Pages) Refusal(site Site, status int) Page {
	var text pages.ErrorText
	switch status {
	case http.StatusForbidden:
		text = p.texts.Forbidden
	case http.StatusServiceUnavailable:
		text = p.texts.Unavailable
	case http.StatusInternalServerError:
		text = p.texts.Errors["Configuration"]
	default:
		text = p.texts.NoSuchPage
	}
	return p.notice(site, status, notice{root: "error", Icon: "alert", Heading: text.Heading, Text: text.Text})
}

// TooLarge is the answer to a browser that sends more to a page of accounts than it accepts.
func (p *Pages) TooLarge(site Site) Page {
	return p.notice(site, http.StatusRequestEntityTooLarge, notice{
		root: "error", Icon: "alert", Heading: p.texts.Account.Pages["problem"].Heading, Text: []string{p.texts.Account.Problems["too_large"]},
	})
}
