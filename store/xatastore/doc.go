// Package xatastore keeps users and sessions in a hosted Xata database, over
// its REST API and in the tables of Auth.js's Xata adapter, so that either side
// reads what the other wrote.
//
//	store, err := xatastore.New(xatastore.Options{Getenv: os.Getenv}) // XATA_API_KEY, XATA_DATABASE_URL
//	…
//	auth, err := pintle.New(pintle.Config{Store: store, …})
//
// This is for applications that have such a database. Xata calls this service
// Xata Lite by now and has announced, in March 2026 in the repository of its
// client, that it is retired. What follows it is PostgreSQL without this API,
// for which there is package sqlstore. The package was tested with a double of
// the service, made after its API types, its documentation and the public
// client, and not with the service itself.
//
// [Store.AccountStore] returns nil: passwords and second factors need another store.
//
// Databases that have columns named xata_id instead of records with an id, which
// Xata calls Postgres-enabled, are not read: use package sqlstore with them.
//
// # What holds everywhere
//
//   - A pair of provider and provider account id belongs to one account, a
//     session token to one session and a credential id to one passkey: the ids
//     of their records are hashes of them, and the service creates a record
//     with one id once.
//   - An address belongs to one user if its column is unique. The column of the
//     schema that Auth.js's adapter publishes is not, and then two first
//     sign-ins at once can make two users. In [Schema] it is unique;
//     [Store.Check] reports a database in which it is not.
//   - A mail link is used once: the service removes its record for one caller.
//     The counter of a passkey moves on once: it is written only to the version
//     that was read.
//   - A session with its join record, an account with its own, are written and
//     removed together or not at all, by the transactions of the service. So is
//     a user with everything of theirs, up to some 500 sessions.
//
// # What is weaker than in a SQL database
//
//   - There is no [Store.InTx]: a transaction of the service is one request
//     that cannot look anything up. A first sign-in that fails after it created
//     the user removes the user again, if it still can.
//   - What Auth.js writes at the same time has other ids. Accounts that
//     both sides link in the same moment can be there twice.
//   - Records found by a column are compared again here. The service decides how
//     long the look-up takes; it keeps an index of unique columns.
//   - Each operation is one to four requests over the Internet. Looking up a
//     session, which every request of a signed-in browser does, is one.
//
// # Requests that fail
//
// A request is repeated if the service was too busy, failed or did not
// answer, after the pause that it requests. Repeating is safe: every new record
// has an id that was chosen before the first attempt, so the second adds
// nothing. When the second is refused because of the first, the store finds out
// which attempt made the record. Where that is impossible, for a mail link and
// for a passkey's counter, the call fails: one link never signs in twice, but a
// user may have to request another.
//
// Refusals are of type [Error], with the status, the message and the request id
// of the service. Neither they nor any other error hold the API key. No redirect
// is followed.
//
// # Sharing with Auth.js
//
// Session tokens are plain, as the adapter has them. The adapter gives every mail
// link a new end when it is opened, which this package does not, and leaves the
// accounts, sessions and join records of a user it deletes; those whose user is
// gone are ignored here. An account that the adapter unlinked, by removing
// its join record alone, has no owner here either.
//
// The limits of the service are the store's: 2048 characters in a column of type
// string, 200 KB in one of type text, addresses it takes for such in a column of
// type email. Ids of users have letters, digits, hyphens, underscores, tildes
// and colons; a proposed one that has something else is replaced.
package xatastore
