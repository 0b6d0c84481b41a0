// Package frameworks tests that Pintle behaves the same in every supported
// framework.
//
// The same small application is written once for each of them, in the way its
// users would write it, and served on a real socket. Every test runs against all
// of them and expects one response; responses of a router itself may differ. To
// add a framework, write the application in a file named for it and add it to the
// list in app_test.go.
package frameworks
