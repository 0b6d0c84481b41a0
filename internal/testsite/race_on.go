//go:build race

package testsite

// Race reports whether the tests run under the race detector.
const Race = true
