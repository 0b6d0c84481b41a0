// Package interop_test lets an application with Auth.js and one with Pintle
// serve one site together, with one secret and one PostgreSQL database, as they
// do while a team moves from one to the other. Whatever one of them began, the
// other has to be able to go on with.
//
// A journey is what one person does on the site. Each of its requests is
// answered by either server, chosen at random; the journeys of a run differ in
// what happens and in who answers. A journey that goes wrong says how to have it
// again:
//
//	go test -run 'TestServersTakeTurns/token' -seed 1234567890 -journey 17
package interop_test
