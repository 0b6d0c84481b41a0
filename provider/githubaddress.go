package provider

import (
	"context"
	"net/http"

	"github.com/pintleauth/pintle/oauth"
)

// githubAddress adds the member email_verified. The public address is kept if it
// is verified. Otherwise the primary address replaces it, or else the first
// verified one: an unverified address can belong to another person. Users can sign
// in without an address, so an error of the request does not fail the sign-in, and
// the public address then counts as unverified.
//
// https://docs.github.com/en/rest/users/emails#list-email-addresses-for-the-authenticated-user
func githubAddress(ctx context.Context, c *http.Client, a *oauth.Answer, emails oauth.Endpoint) {
	list, _ := apiRequest{endpoint: emails}.bearer(a.Tokens).do(ctx, c)
	address, _ := a.Profile["email"].(string)
	verified := isVerifiedAddress(list, address)
	if _, answered := list.([]any); answered && !verified {
		a.Profile["email"] = nil
		if address = verifiedAddress(list); address != "" {
			a.Profile["email"], verified = address, true
		}
	}
	a.Profile["email_verified"] = verified
}

// verifiedAddress returns the primary address if it is verified, and otherwise
// the first that is.
func verifiedAddress(list any) string {
	var address string
	all, _ := list.([]any)
	for _, entry := range all {
		e, _ := entry.(map[string]any)
		text, _ := e["email"].(string)
		primary, verified := e["primary"] == true, e["verified"] == true
		if verified && (primary || address == "") {
			address = text
		}
	}
	return address
}

// isVerifiedAddress reports whether the list has the address as a verified one.
func isVerifiedAddress(list any, address string) bool {
	all, _ := list.([]any)
	for _, entry := range all {
		e, _ := entry.(map[string]any)
		if e["email"] == address && e["verified"] == true {
			return true
		}
	}
	return false
}
