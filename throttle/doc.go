// Package throttle limits guesses of passwords and floods of mails.
//
//	guard := &throttle.Guard{}
//	cfg.Providers = []pintle.Provider{
//		guard.Credentials(&pintle.Credentials{Authorize: checkPassword}, "username"),
//		guard.Email(&pintle.Email{From: "no-reply@example.com", Send: sender.Send}),
//	}
//
// Wrong passwords are counted by account and client, by client for all accounts,
// and by account for all clients. A limit allows a number of them at once and then
// one more from time to time. An attempt beyond it is rejected before the password
// is verified, so the response reveals nothing about the password. Right passwords
// do not count.
//
// The sign-in page shows the reason. Scripts, including those of next-auth/react,
// get status 429 with Retry-After, and the error CredentialsSignin with the code
// too_many_attempts.
//
// # The owner of an account that is attacked
//
// A browser that has signed in to an account is identified by a cookie, sealed
// with [pintle.Config.Secrets], which survives restarts and changes of address.
// Separate limits apply to it, so that guesses of other clients do not lock it
// out. For clients that keep no cookies, an address that has signed in to the
// account is exempt from the limit of the account: since the process started or, with a
// shared state, in the last 15 days at least.
//
// Guesses are counted for all spellings of a name together. A browser or an address
// is known under the exact name that was submitted, since an application may have
// one user "kim" and another "kím". Set [pintle.Credentials.Account] where users
// sign in with several names, so that one is known under all of them.
//
// The same name at another provider is another account: its guesses are counted
// separately, and its owner is not known as the owner of this one. Tenants of
// [pintle.NewFunc] whose users differ need a [Guard] each.
//
// An owner at a new device shares the limit of the account with all clients that
// guess at it. An attacker with many addresses can keep that limit used up, and
// so prevent password sign-ins of the owner at new devices, for as long as the
// attack lasts. Offer users another way to sign in, such as a mail link, or decide
// on these attempts in [Guard.Exceeded].
//
// # Clients
//
// A client is an IPv4 address, or the /64 network of an IPv6 address. Behind a
// proxy every request comes from the proxy: set [pintle.Config.ClientAddress].
//
// # Several processes
//
// The processes of a site count together in [pintle.Config.SharedState] or, without one,
// in that of [pintle.Config.Store], under keyed hashes. A limit then holds for all of them,
// and a restart forgets no count. While the shared state fails, and for an attempt that it
// does not count within a second, each process applies its limits alone, also to what it
// has counted before. It calls the shared state again two seconds after a failure. A warning in
// the log says so once a minute. A process learns within ten seconds that another has given back
// an attempt whose password was right.
//
// Without a shared state, and with a store in memory, counts are those of the process,
// and end with it: an attacker who reaches n processes gets n times as many attempts.
// [pintle.New] logs that. The counts of a process take a bounded amount of memory.
package throttle
