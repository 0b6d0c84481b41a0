// Package userimport moves the users of another system, with their passwords, into the
// store of an application that uses package account:
//
//	file, err := os.Open("users.json")
//	…
//	result, err := userimport.Import(ctx, store, userimport.Auth0(file), userimport.Options{})
//
// [JSONLines] reads a form that any program can write. [Auth0], [Firebase], [Keycloak],
// [Django], [ASPNETIdentity], [BetterAuth] and [Devise] read the exports of these systems.
// The command "pintle users import" calls this package for databases.
//
// Users sign in with their old passwords. Package account replaces the hash by one of
// Argon2id then.
//
// # What is trusted
//
// A file decides who can sign in as whom: take it from the old system itself, and delete it
// afterwards. An address counts as proven only if the old system says so. Otherwise the user
// proves it at the next sign-in. A user who was banned, disabled or locked there is banned
// here.
//
// # Interrupted imports
//
// An import may be stopped at any moment, or its process killed, and called again with the
// same file: each user is stored once. Users whose address is in the store are reported and
// left as they are, so those of the first call are reported as existing in the second.
//
// In a store with transactions ([pintle.Features].Transactions) each batch is one
// transaction. In others, such as Redis and MongoDB, the writes for a user have this order:
//
//  1. a flow of the kind "import", whose ID is a hash of the address and whose payload is the
//     id that the user will have
//  2. the user, without an address: nothing finds the user yet
//  3. the state (roles, ban, what the user must do), the password, the authenticator app
//  4. the linked accounts
//  5. the address, which makes the user complete
//  6. the removal of the flow
//
// A call that finds the flow goes on with that user. So a user who can be found has every
// factor and ban of the file. The flow expires after 90 days. A store that does not take the
// id that is proposed may keep a user without address, factors and accounts, if the process
// ends between the first two steps.
package userimport
