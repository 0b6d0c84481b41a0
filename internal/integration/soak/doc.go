// Package soak runs two instances of an application behind a proxy under a load of complete
// sign-ins, with one fault after the other: instances that are killed and restarted, databases
// that pause, die and fail over, providers that hang, secrets and programs that are replaced,
// hostile traffic. A journal of what the application acknowledged is compared with what it
// answers and stores: nothing is lost, nothing comes back, and nobody is someone else.
//
// The tests of the repository run it for half a minute, with few faults, for sessions in the
// database and for sessions in tokens that a revocation list ends. Ten minutes of all faults, on
// PostgreSQL and on a Redis Cluster, are
//
//	make soak SOAK=10m
//
// SOAK_OLD is the revision that the rolling upgrade begins with, by default the last tag.
// SOAK_STORES="PostgreSQL with tokens,Redis Cluster with tokens" keeps the sessions in tokens.
// The flags -soak.stores and -soak.faults choose some. Nothing depends on the speed of the
// machine but the figures: what is checked are invariants.
package soak
