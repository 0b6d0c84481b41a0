// Package twoprocesses tests that the steps of an accountstore.Store are steps for several
// processes, too: two of them, with a store and connections each, change the same rows at
// the same moment. The stores that need no server take each step a hundred times within one
// process. Four processes refresh one account, and a logout that one
// process receives holds in the other.
package twoprocesses
