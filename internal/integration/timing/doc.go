// Package timing measures whether the time of an answer tells which addresses have an
// account. Its benchmark sends requests about an address with an account and about one
// without in pairs, in random order, and compares the two sets of times by a rank test:
//
//	go test -run '^$' -bench AnswerTimes -benchtime 2000x ./internal/integration/timing
//
// A line of the result is one kind of user at one form. AUC is the chance that an answer
// about the address with an account took longer than one about the other: 0.5 tells
// nothing. p is the chance of an AUC that far from 0.5 if the times do not differ. The
// lines "control" compare two sets of addresses without accounts, and the lines
// "planted" show what the measurement finds: their server works a little longer for one
// of the two.
//
// No test depends on a time. That both requests cause the same work is what
// TestTheWorkIsTheSameForEveryAddress of package account checks, by counting.
package timing
