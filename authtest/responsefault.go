package authtest

import "net/url"

// Faults of the answer to an authorization request, the redirect back to the
// application.
const (
	ResponseWithoutState    Fault = "drops the state"
	ResponseWrongState      Fault = "changes the state"
	ResponseEmptyState      Fault = "empties the state"
	ResponseWithoutIssuer   Fault = "promises an iss parameter and does not send it"
	ResponseWrongIssuer     Fault = "sends the iss parameter of another issuer"
	ResponseWithoutCode     Fault = "sends no code"
	ResponseEmptyCode       Fault = "sends an empty code"
	ResponseUnknownCode     Fault = "sends a code it never issued"
	ResponseErrorBesideCode Fault = "sends an error beside a code"
	ResponseIDToken         Fault = "sends an ID token beside the code, as the hybrid flow does"
	ResponseJARM            Fault = "sends its answer as a JWT"
	ResponseAccessDenied    Fault = "reports that the user denied the request"
	ResponseLoginRequired   Fault = "reports that the user has to sign in there first"
	ResponseServerError     Fault = "reports that it has a problem"
	ResponseUnavailable     Fault = "reports that it is overloaded"
	ResponseHostileError    Fault = "describes an error in HTML"
	ResponseTwice           Fault = "sends code and state twice"
)

var responseChanges = []change[url.Values]{
	{ResponseWithoutState, func(v url.Values) { v.Del("state") }},
	{ResponseWrongState, func(v url.Values) { v.Set("state", "changed"+v.Get("state")) }},
	{ResponseEmptyState, func(v url.Values) { v.Set("state", "") }},
	{ResponseWithoutIssuer, func(v url.Values) { v.Del("iss") }},
	{ResponseWrongIssuer, func(v url.Values) { v.Set("iss", foreignIssuer) }},
	{ResponseWithoutCode, func(v url.Values) { v.Del("code") }},
	{ResponseEmptyCode, func(v url.Values) { v.Set("code", "") }},
	{ResponseUnknownCode, func(v url.Values) { v.Set("code", "never-issued") }},
	{ResponseErrorBesideCode, func(v url.Values) { v.Set("error", "temporarily_unavailable") }},
	{ResponseIDToken, func(v url.Values) { v.Set("id_token", "e30.e30.c2ln") }},
	{ResponseJARM, func(v url.Values) {
		clear(v)
		v.Set("response", "e30.e30.c2ln")
	}},
	{ResponseAccessDenied, answerError("access_denied", "the user denied the request")},
	{ResponseLoginRequired, answerError("login_required", "the user is not signed in")},
	{ResponseServerError, answerError("server_error", "something is broken")},
	{ResponseUnavailable, answerError("temporarily_unavailable", "come back later")},
	{ResponseHostileError, answerError(`"><script>alert(1)</script>`, `<img src=x onerror="alert(1)">`)},
	{ResponseTwice, func(v url.Values) {
		v.Add("code", "second-code")
		v.Add("state", "second-state")
	}},
}

func answerError(code, description string) func(url.Values) {
	return func(v url.Values) {
		v.Del("code")
		v.Set("error", code)
		v.Set("error_description", description)
	}
}
