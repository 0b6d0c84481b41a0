//go:build !linux

package services

import "syscall"

// endWithParent has no counterpart outside Linux: a server outlives a test
// binary that was killed.
func endWithParent(*syscall.SysProcAttr) {}
