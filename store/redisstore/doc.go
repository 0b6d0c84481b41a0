// Package redisstore keeps users and sessions in Redis, on one server or on a
// Redis Cluster, under the keys and in the JSON of Auth.js's Redis adapter, so
// that either side reads what the other wrote.
//
//	client := redis.NewClient(&redis.Options{Addr: "localhost:6379"})
//	auth, err := pintle.New(pintle.Config{
//		Store: redisstore.New(client, redisstore.Options{}),
//		…
//	})
//
// [Sessions] keeps only the sessions in Redis and the users in another store.
//
// It needs Redis 6.2 or Valkey. Give the client ContextTimeoutEnabled, without
// which go-redis ends a command that is on its way only after ReadTimeout. The
// server must not evict keys (maxmemory-policy noeviction): an evicted address or
// account can be taken by another user, an evicted ban or second factor no longer
// exists, a value that is accepted once is accepted again, and what an evicted list names is not found when it has to end.
//
// # What holds everywhere
//
// Every change is made of operations on single keys, each of them atomic, so
// a Cluster gives the same promises as one server:
//
//   - an address belongs to one user, a pair of provider and provider account
//     id to one account, a session token to one session, a credential id to one
//     passkey, also under concurrent calls;
//   - a mail link and the move of a passkey's counter succeed once;
//   - every operation of [Store.AccountStore] that is one step is one script or
//     command;
//   - an update changes what is there and never brings back what was removed;
//   - of two calls of UnlinkAccount that would remove the last two accounts of a
//     user, in whichever processes, one fails;
//   - nothing is stored for a user who does not exist: what is stored while the
//     user is deleted is removed, by DeleteUser or by the call that stored it.
//
// # What holds only between failures
//
// No operation spans several keys, so a process that dies, or loses the server,
// in the midst of a change leaves it half made. Changes are ordered so that the
// half is never one that signs in the wrong person:
//
//   - An address is reserved before its user is written, for one who is made as for
//     one who is given it. From the moment that the user is written it is theirs. If the
//     process dies before, it is free a minute later, and until then a second attempt
//     with it fails with [pintle.ErrConflict].
//   - A user whose creation broke off may remain without being found by
//     account. By their address they are found, if they have one.
//   - An account, session or passkey is in its owner's lists before it exists.
//     An entry that does not exist, or that belongs to another user, is skipped.
//   - DeleteUser removes the sessions first and the user last. If it breaks off,
//     call it again to finish. The second factors and the ban of a user go after
//     the user: a call that breaks off leaves no user without them.
//   - A sign-in at a provider is in its lists before it exists, and a session that the
//     provider ends goes before its record. An EndBy that breaks off is finished by
//     another.
//   - A flow is in the list of its subject before it exists. EndFlows skips an
//     entry without a flow, and leaves it, since the flow may be about to come.
//   - An UnlinkAccount whose process dies leaves the account or removes it. If
//     the account is left, it is for an hour not counted as a way to sign in.
//   - A process that dies after it stored a session, account or passkey of a user
//     who is being deleted may leave it. It does not sign in, and the account may
//     be linked again.
//   - There is no [Store.InTx]. A first sign-in that fails after it created
//     the user removes the user again.
//
// A Redis that loses writes when a replica is promoted loses these too; WAIT is
// not used.
//
// While a node of a Cluster is away, a request whose session or user is there
// fails with an error, which signs no user out. The others are served only if
// cluster-require-full-coverage is no: by default a Cluster that misses keys
// serves none. Once a replica is promoted, all requests are served again; a
// look-up that fails makes the client reload the map of the Cluster.
//
// # Expiry
//
// Sessions, mail links and flows go by themselves an hour after they have expired,
// so there is no [Store.Sweep]. Until then they are returned as expired. A factor
// that has expired as long goes when its user is given another. What is kept of users
// whom Auth.js has deleted stays until [Store.SweepAccountStore] is called.
//
// # Sharing with Auth.js
//
// Beyond the adapter's keys the store keeps a set of accounts, one of sessions
// and one of accounts that are being unlinked per user, where the adapter remembers the last of each. What the
// adapter writes is in no set: such sessions and accounts work, but of several
// that it writes in a row only the last is listed and removed with the user. An
// account of a deleted user, which the adapter leaves when the user had several,
// has no owner and may be linked again. The keys of [Store.AccountStore],
// [Store.ProviderSessions] and [Store.SharedState] are this package's alone. A session that only
// Auth.js extends leaves its set when it would have expired without that. Session
// tokens are plain, as the adapter has them. This package adds two members to a
// session, created and data, which the adapter keeps when it extends one,
// and verifiedEmail to an account.
//
// Passkeys are under the keys of the adapter for unstorage. A provider whose id
// has a colon or a percent sign in it has different keys here, because the
// adapter's would be ambiguous. This package adds three members to a passkey,
// name, created and lastUsed, which the adapter keeps when it counts one.
package redisstore
