// Package examples holds programs to start from, each in a folder of its own:
//
//	go run ./examples/quickstart
//
// signs people in with a password and through a local identity provider, with
// no account anywhere. The folders nethttp, chi, gin, echo and fiber show the
// same in the form of each framework, and react and nextjs behind pages that are
// written with next-auth. In jsonapi a native application signs in through the
// system's browser. The folder visitor is what their tests visit them with.
package examples
