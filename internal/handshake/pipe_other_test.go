//go:build !unix

package handshake_test

// makePipe is nil where directories hold no named pipes.
var makePipe func(path string) error
