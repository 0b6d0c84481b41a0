package pintle

import "sync/atomic"

// A notice is a mistake of the operator's that requests bring to light. The log
// has each once per configuration: requests are many, and clients can make them.
type notice int

const (
	noticeUntrustedHost notice = iota
	noticeAddress
	noticeHost
	noticeGuardedSignIn
	noticeMount
	noticeLongToken
	noticeCount
)

// notices are those that the log has.
type notices [noticeCount]atomic.Bool

// first reports whether the log does not have a notice yet, and notes that it has
// now.
func (n *notices) first(which notice) bool { return !n[which].Swap(true) }
