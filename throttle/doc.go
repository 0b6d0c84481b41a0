// Package throttle slows down whoever guesses passwords or floods mailboxes.
//
//	guard := &throttle.Guard{}
//	cfg.Providers = []pintle.Provider{
//		guard.Credentials(&pintle.Credentials{Authorize: checkPassword}, "username"),
//		guard.Email(&pintle.Email{From: "no-reply@example.com", Send: sender.Send}),
//	}
//
// Wrong passwords are counted for an account and the client that tries them,
// for a client whatever the account, and for an account whoever tries. A limit
// lets a number of them through at once and then one more from time to time; an
// attempt beyond it is refused before the password is looked at, so what it says
// tells nothing. Right passwords do not count.
//
// Nobody is locked out. A limit opens again by itself; strangers who use up that
// of an account do not hinder a client that has signed in to it before; and what
// one client does with one account does not hinder it with another.
//
// The person sees the sign-in page with the reason. Scripts, those of
// next-auth/react among them, are answered with status 429 and Retry-After, and
// the error CredentialsSignin with the code too_many_attempts.
//
// # What is a client
//
// An IPv4 address, or the network of 64 bits of an IPv6 address, since whoever
// has one address of it has them all. Behind a proxy every request comes from
// the proxy: set [Guard.Address], to what [Forwarded] returns for example.
//
// # Several processes
//
// Counts are in the memory of the process, a bounded amount of it, and end with
// it. Of n processes behind one address each lets through what its limits say:
// n times as much, for an attacker who reaches all of them.
package throttle
