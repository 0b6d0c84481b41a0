// Package pintle gives a web application sign-in and sessions.
//
// A host application mounts an [Auth], which serves the sign-in routes and
// pages below a base path, and reads the session of each request:
//
//	auth, err := pintle.New(pintle.Config{
//		Providers: []pintle.Provider{provider.GitHub(provider.Options{})},
//	})
//	…
//	mux.Handle("/auth/", auth)
//	mux.Handle("/", auth.Load(auth.Require(app)))
//
// The secret is in AUTH_SECRET, the client id and secret of the provider are in
// AUTH_GITHUB_ID and AUTH_GITHUB_SECRET.
//
//   - A [Provider] is a way to sign in: [OAuth], [Email], [Credentials] or
//     [WebAuthn]. Package provider has ready-made ones, and package oauth the
//     types that describe a provider's protocol.
//   - A [Session] is kept in an encrypted token in a cookie, or in a database.
//     [Auth.Load] reads it, [SessionFrom] returns it, and a [Claim] carries data
//     of the application with it.
//   - A [Store] keeps users, their accounts and sessions. Without one no user is
//     recorded: a session token is all there is.
//   - [Callbacks] let the host decide, [Events] report what happened.
//   - [Pages] puts pages of the host in the place of built-in ones; package pages
//     has the words and the look of those.
//
// Routes, cookies, session tokens and database rows are those of Auth.js: its
// browser clients work with this package, either side reads the other's session
// cookie, and both can share a database. docs/compatibility.md lists where this
// package is safer, and SECURITY.md what is left to the host.
package pintle
