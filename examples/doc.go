// Package examples holds programs to start from, each in a folder of its own:
//
//	go run ./examples/quickstart
//
// signs people in with a password and through a local identity provider, with
// no account anywhere.
package examples
