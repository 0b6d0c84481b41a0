// Package oldversion tests that a program of the last version without package account and
// one of this version use a database at the same time. What the old program sends is
// recorded in testdata, whose program record made it.
package oldversion
