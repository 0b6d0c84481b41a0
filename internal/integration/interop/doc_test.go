// Package interop_test tests an application with Auth.js and one with Pintle that
// serve one site together, with one secret and one PostgreSQL database, as during a
// migration from one to the other. Each of them must be able to continue every flow
// that the other began.
//
// A journey is a sequence of actions of one person on the site. Each of its
// requests goes to one of the servers, chosen at random; the journeys of a run
// differ in their actions and in the servers. A journey that fails prints how to
// repeat it:
//
//	go test -run 'TestServersTakeTurns/token' -seed 1234567890 -journey 17
package interop_test
