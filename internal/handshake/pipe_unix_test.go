//go:build unix

package handshake_test

import "syscall"

// makePipe makes a named pipe in a directory, which Windows has no call for.
var makePipe = func(path string) error { return syscall.Mkfifo(path, 0o600) }
