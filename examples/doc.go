// Package examples holds programs to start from, one in each folder:
//
//	go run ./examples/quickstart
//
// signs users in with a password and through a local identity provider; it
// needs no account with a service. The folders nethttp, chi, gin, echo and fiber
// do the same with each framework, and react and nextjs behind pages that are
// written with next-auth. In jsonapi a native application signs in through the
// system's browser. The folder e2eclient is the client of their tests.
package examples
