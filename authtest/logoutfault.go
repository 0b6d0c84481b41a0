package authtest

import "net/url"

// Faults of the end session endpoint.
const (
	LogoutWithoutState Fault = "drops the state after signing out"
	LogoutWrongState   Fault = "changes the state after signing out"
)

var logoutChanges = []change[url.Values]{
	{LogoutWithoutState, func(v url.Values) { v.Del("state") }},
	{LogoutWrongState, func(v url.Values) { v.Set("state", "another-state") }},
}
