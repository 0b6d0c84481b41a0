// Package pintle gives a web application sign-in and sessions.
//
// A host application mounts an [Auth], which serves the sign-in routes and
// pages below a base path and keeps the sessions of the people who come back:
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
// # Providers
//
// A [Provider] is a way to sign in. [OAuth] sends the browser to another
// service and back, [Email] mails a link, [Credentials] checks what is typed
// into a form. Package provider has a catalogue of ready-made ones, in which
// every field can be replaced.
//
// # Sessions
//
// A session is kept in an encrypted token in a cookie, or in a database when a
// [Store] is configured that can keep it. [Auth.Load] reads it for each request,
// [SessionFrom] returns it to handlers, and [Claim] carries data of the
// application with it. Package token reads the cookie in programs that need
// nothing else.
//
// # Stores
//
// A [Store] keeps users and the accounts they sign in with. Without one no user
// is recorded: a session token is all there is. Packages store/memstore and
// store/sqlstore are stores; package storetest checks your own.
//
// # Pages
//
// There is a page for every step of a sign-in, and a mail. [pages.Texts] are their
// words, [Config].Languages those of further languages, [pages.Theme] is their look,
// and [Pages] puts pages of the application in their place. docs/pages.md has
// examples.
//
// # Account pages
//
// A user can see where they are signed in and how they can sign in, and change
// both: [Auth.Devices], [Auth.EndDevice] and [Auth.EndOtherDevices],
// [Auth.Accounts] and [Auth.Unlink], [Auth.Passkeys] and [Auth.RenamePasskey],
// [Auth.DeleteUser]. Signing in while signed in links an account.
//
// # The host decides
//
// [Callbacks] let the host reject a sign-in, choose what a session holds and
// shows, and decide which user may see which page. [Events] report what
// happened.
//
// # Compatibility
//
// Routes, cookies, session tokens and database rows are those of Auth.js, so
// its browser clients work with this package, either side reads the other's
// session cookie, and both can share a database. Where Auth.js is unsafe and no
// client depends on it, this package is not: docs/compatibility.md lists every
// difference.
//
// # Security
//
// Pintle checks everything that a browser, a provider or a proxy sends before
// it uses it. A request that fails a check is not signed in. Package throttle
// limits guesses and mails if the host wraps its providers in it. SECURITY.md
// lists what that covers and what is left to the host: limiting the number of
// requests as such, and protecting its own forms from other sites.
package pintle
