// Package testsite has what the tests of several packages need to drive a site: a
// network without sockets, clients that behave like browsers, and clients that come
// at the same moment. The sites themselves are in the tests, which configure them.
package testsite

import (
	"net/http"
	"net/http/cookiejar"
	"sync"
)

// Secret is a secret that pintle.New accepts.
const Secret = "a secret for tests, 32 characters or more"

// Browser returns a client that keeps cookies and stops at each redirect, so that a
// test can look at every hop.
func Browser(transport http.RoundTripper) *http.Client {
	jar, _ := cookiejar.New(nil) // which never fails without options
	return &http.Client{
		Transport:     transport,
		Jar:           jar,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// InParallel runs f concurrently, n times, and returns the results. No call begins
// before all are ready.
func InParallel[T any](n int, f func(i int) T) []T {
	results := make([]T, n)
	start := make(chan struct{})
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			<-start
			results[i] = f(i)
		})
	}
	close(start)
	all.Wait()
	return results
}
