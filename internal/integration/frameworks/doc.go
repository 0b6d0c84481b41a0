// Package frameworks tests that Pintle behaves the same in every framework it
// says it is at home in.
//
// The same small application is written once for each of them, in the way its
// users would write it, and served on a real socket. Every test runs against
// all of them and expects one answer; what a router decides before Pintle sees
// the request is left to the router. To add a framework, write the application
// in a file named for it and add it to the list in app_test.go.
package frameworks
