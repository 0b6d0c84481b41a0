// Package throttle limits guesses of passwords and floods of mails.
//
//	guard := &throttle.Guard{}
//	cfg.Providers = []pintle.Provider{
//		guard.Credentials(&pintle.Credentials{Authorize: checkPassword}, "username"),
//		guard.Email(&pintle.Email{From: "no-reply@example.com", Send: sender.Send}),
//	}
//
// Wrong passwords are counted for an account and the client that tries them,
// for a client whatever the account, and for an account whatever the client. A
// limit lets a number of them through at once and then one more from time to
// time; an attempt beyond it is refused before the password is looked at, so the
// refusal says nothing about the password. Right passwords do not count.
//
// The sign-in page shows the reason. Scripts, those of next-auth/react among
// them, are answered with status 429 and Retry-After, and the error
// CredentialsSignin with the code too_many_attempts.
//
// # The owner of an account that is attacked
//
// A browser that has signed in to an account is known by a cookie, sealed with
// [pintle.Config.Secrets], which survives restarts and changes of address. Guesses
// of other clients do not hinder it: separate limits hold for it. For clients that
// keep no cookies, an address that has signed in to the account since the process
// started is exempt from the limit of the account.
//
// An owner at a new device shares the limit of the account with everybody who
// guesses at it. An attacker with many addresses can keep that limit used up, and
// the owner out of new devices with a password, for as long as the attack lasts.
// Give people another way in, such as a mail link, or decide on these attempts
// in [Guard.Exceeded].
//
// # What is a client
//
// An IPv4 address, or the network of 64 bits of an IPv6 address. Behind a proxy
// every request comes from the proxy: set [pintle.Config.ClientAddress].
//
// # Several processes
//
// Counts are in the memory of the process, a bounded amount of it, and end with
// it. Of n processes behind one address each lets through what its limits say:
// n times as much, for an attacker who reaches all of them.
package throttle
