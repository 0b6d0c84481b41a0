// Package page renders the built-in pages: sign in, sign out, error, check
// your mail and confirm a sign-in link.
//
// [New] checks a theme and a language once; the methods of [Pages] turn the
// data of one request into a [Page], which carries its status, its headers and
// its body. The package reads no request and knows no user.
//
// Pages work without scripts and load nothing from anywhere, a logo excepted.
// The style sheet stands in the page and is allowed by its hash, so that no
// route is needed for it and the policy can stay at default-src 'none'.
//
// Forms have the actions, methods and field names of the Auth.js pages, and
// elements keep the class names and ids that its users' tests look for. Looks
// and wording are our own.
package page
