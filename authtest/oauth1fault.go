package authtest

import "net/url"

// Faults of OAuth 1.0a.
const (
	OAuth1CallbackUnconfirmed Fault = "does not confirm the callback of OAuth 1.0a"
	OAuth1WithoutToken        Fault = "issues temporary credentials without a token"
	OAuth1WithoutSecret       Fault = "issues temporary credentials without a secret"
	OAuth1WrongToken          Fault = "comes back with another token than it was sent"
	OAuth1WithoutVerifier     Fault = "comes back without a verifier"
	OAuth1WithoutAccessToken  Fault = "issues no access token in OAuth 1.0a"
)

var oauth1TemporaryChanges = []change[url.Values]{
	{OAuth1CallbackUnconfirmed, func(v url.Values) { v.Set("oauth_callback_confirmed", "false") }},
	{OAuth1WithoutToken, func(v url.Values) { v.Del("oauth_token") }},
	{OAuth1WithoutSecret, func(v url.Values) { v.Del("oauth_token_secret") }},
}

var oauth1ResponseChanges = []change[url.Values]{
	{OAuth1WrongToken, func(v url.Values) { v.Set("oauth_token", "another-token") }},
	{OAuth1WithoutVerifier, func(v url.Values) { v.Del("oauth_verifier") }},
}

var oauth1AccessChanges = []change[url.Values]{
	{OAuth1WithoutAccessToken, func(v url.Values) {
		v.Del("oauth_token")
		v.Del("oauth_token_secret")
	}},
}
