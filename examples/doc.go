// Package examples holds programs to start from, each in a folder of its own:
//
//	go run ./examples/quickstart
//
// signs people in with a password and through a local identity provider, with
// no account anywhere. The folders nethttp, chi, gin, echo and fiber show the
// same in the form of each framework, and react behind a page that is written
// with next-auth/react.
package examples
