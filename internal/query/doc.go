// Package query reads and writes application/x-www-form-urlencoded text as
// browsers do: in order, lenient about malformed escapes, bounded.
//
// [net/url] differs in three ways that matter on the wire: it sorts keys, it
// escapes "*" and leaves "~", and it drops a whole member for one bad escape.
//
// https://url.spec.whatwg.org/#application/x-www-form-urlencoded
package query
