// Package mongostore keeps users and sessions in MongoDB, in the collections
// and fields of Auth.js's adapter for it, so that either side reads and extends
// what the other wrote.
//
//	client, err := mongo.Connect(options.Client().ApplyURI("mongodb://localhost"))
//	…
//	db := client.Database("app")
//	err = mongostore.EnsureIndexes(ctx, db, mongostore.Options{})
//	…
//	store, err := mongostore.Open(ctx, db, mongostore.Options{})
//	…
//	auth, err := pintle.New(pintle.Config{Store: store, …})
//
// It is for MongoDB, alone or as a replica set. A server that only speaks its
// protocol has to keep what MongoDB promises of one document: that it is found
// and changed at once. FerretDB 1 does not. It is what the tests of this
// package run on, with a program in front that lets one change through at a
// time.
//
// # What holds everywhere
//
// Every operation that decides something is one command on one document, which
// is found and changed atomically:
//
//   - an address belongs to one user, a pair of provider and provider account
//     id to one account, a session token to one session, a credential id to one
//     passkey, also under concurrent calls: unique indexes ensure it, and [Open]
//     fails where they are missing;
//   - a mail link and the move of a passkey's counter succeed once;
//   - a factor or a flow is there once, and what [Store.AccountStore] calls one step
//     is one: the id of each document is its whole key. Counting a failure reads the
//     document, and replaces what it has read or is repeated;
//   - an update changes what is there and never brings back what was removed;
//   - of two calls of UnlinkAccount that would remove the last two accounts of a
//     user, in whichever processes, one fails: while such a call runs, the user's
//     document has a field pintle_unlinking, which names it;
//   - nothing is stored for a user who does not exist: what is stored while the
//     user is deleted is removed, by DeleteUser or by the call that stored it.
//
// Reads are from the primary, and writes wait for the majority of a replica
// set, whatever the client is set to. The client's Timeout bounds how long a
// request waits; set it, because it is unlimited by default.
//
// # What holds only between failures
//
// MongoDB has transactions on replica sets only. The store uses none and so
// works the same on one server; there is no [Store.InTx]. Therefore:
//
//   - A first sign-in that fails after it created the user removes the user
//     again. A process that dies in between leaves a user without an account,
//     whose address then blocks the same person's next attempt with a
//     provider, until they sign in by mail or an operator removes the user.
//   - Of several first sign-ins of one person at once, those that come between
//     the user and the account fail because the address is taken. They
//     succeed when tried again.
//   - DeleteUser removes the sessions first and the user last. If it breaks off,
//     call it again to finish. The second factors and the ban of a user go after
//     the user: a call that breaks off leaves no user without them.
//   - A session that a provider ends goes before its record: an EndBy that breaks off
//     is finished by another.
//   - An UnlinkAccount whose process dies leaves the account or removes it. If
//     the account is left, it is for an hour not counted as a way to sign in.
//   - A process that dies after it stored a session, account or passkey of a user
//     who is being deleted may leave it. It does not sign in, and the account may
//     be linked again.
//
// # Expiry
//
// MongoDB removes expired documents by the TTL indexes that [EnsureIndexes] makes: of the
// collections that Auth.js does not have, and with Options.ExpireSessionsAndTokens of sessions and
// verification tokens. [Store.Sweep] removes the others, and the states and factors of deleted
// users. If a collection has an index of yours on expires that has expireAfterSeconds,
// EnsureIndexes makes no other.
//
// # Sharing with Auth.js
//
// Ids are ObjectIDs, times are Dates, and a session's token is plain, as the
// adapter has them. This package adds two fields to a session, created and
// data, which the adapter keeps when it extends one, and verifiedEmail to an
// account. Passkeys are in a separate collection, since the adapter has none, and so
// are the rows of [Store.AccountStore], [Store.ProviderSessions] and [Store.SharedState].
//
// The adapter makes no indexes; those of [EnsureIndexes] are good for it too.
package mongostore
