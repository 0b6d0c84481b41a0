package main

import (
	"net/url"

	"github.com/pintleauth/pintle"
)

// A notice shows the user the result of an action.
type notice struct {
	Text   string
	Failed bool
}

// done are the texts for the parameter done, with which our own handlers send a
// browser on.
var done = map[string]string{
	"renamed":         "Your name has been changed.",
	"ended":           "That device is signed out.",
	"others":          "All other devices are signed out.",
	"linked":          "You can sign in with that account from now on.",
	"unlinked":        "You can no longer sign in with that account.",
	"passkey-added":   "You can sign in with that passkey from now on.",
	"passkey-renamed": "The passkey has a new name.",
	"passkey-removed": "You can no longer sign in with that passkey. Your device may still show it: remove it there, too.",
	"banned":          "That user is signed out, and cannot sign in for a day.",
	"unbanned":        "That user can sign in again.",
	"deleted":         "Your account is deleted, and you are signed out everywhere.",
}

// failed are the texts for the parameter error: the codes that Pintle sends a
// browser back with, and those our own handlers use.
var failed = map[string]string{
	string(pintle.CodeAccountNotLinked):              "Another user signs in here with that account, so it cannot be linked to yours.",
	string(pintle.Code("OAuthCallbackError")):        "That was called off, or the provider has a problem. Nothing has changed.",
	string(pintle.CodeAccessDenied):                  "That account may not be used here.",
	string(pintle.Code("WebAuthnVerificationError")): "That passkey was not accepted. Nothing has changed.",
	string(pintle.Code("AccountNotLinked")):          "Another user signs in here with that passkey, so it cannot be yours.",
	string(pintle.CodeLastSignIn):                    "That is the only way you can sign in. Link another account first.",
	"NotFound":                                       "That is gone already.",
	"Unconfirmed":                                    "Nothing was deleted: tick the box if you mean it.",
}

// noticeFor returns the notice at the top of a page, or nil. It shows only texts of
// the application: an attacker can make a link with any query.
func noticeFor(query url.Values) *notice {
	if text, known := done[query.Get("done")]; known {
		return &notice{Text: text}
	}
	code := query.Get("error")
	if code == "" {
		return nil
	}
	text, known := failed[code]
	if !known {
		text = "That did not work. Try again later."
	}
	return &notice{Text: text, Failed: true}
}
