// Package apiclient calls the API of a provider for a user who has signed in with it:
//
//	calendar, err := apiclient.New(auth, session.User.ID, apiclient.Options{
//		Provider: "google",
//		Scopes:   []string{"https://www.googleapis.com/auth/calendar.readonly"},
//		Origins:  []string{"https://www.googleapis.com"},
//	})
//	…
//	resp, err := calendar.Get("https://www.googleapis.com/calendar/v3/users/me/calendarList")
//
// The access token is the stored one, which [pintle.Auth.Refresh] replaces before it
// ends. It goes to the origins of the client and to no other, wherever the API redirects.
// [TokenSource] is for libraries that ask for an [oauth2.TokenSource].
//
// The store needs [pintle.Features.Accounts], and the account a refresh token if access
// tokens end: see the guide docs/tokens.md.
package apiclient
