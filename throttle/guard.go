package throttle

import (
	"cmp"
	"context"
	"net/netip"
	"time"

	"github.com/pintleauth/pintle"
)

// A Limit lets Burst attempts through at once, and one more whenever Every has
// passed. Fields that are zero have the default of the limit they belong to; a
// negative Burst is no limit.
type Limit struct {
	Burst int
	Every time.Duration
}

// A Guard counts attempts. The zero value has limits that people do not meet
// and guessing does. Its fields must not be changed once it is in use; one guard
// is for all providers of a site, and may be used concurrently.
type Guard struct {
	// PerAccountAndClient bounds wrong passwords for one account from one
	// client: 10 at once, then one a minute.
	PerAccountAndClient Limit

	// PerClient bounds wrong passwords from one client, which may be all the
	// people of an office: 100 at once, then ten a minute.
	PerClient Limit

	// PerAccount bounds wrong passwords for one account from all clients that
	// have not signed in to it before: 100 at once, then one a minute. While
	// guesses use it up, an owner at a new device is refused: see Exceeded.
	//
	// The wrong passwords from all known devices of an account are bounded by
	// as much, and counted apart.
	PerAccount Limit

	// PerDevice bounds wrong passwords for one account from one browser that has
	// signed in to it before: 10 at once, then one a minute. A browser beyond it
	// counts as one that has not signed in before.
	PerDevice Limit

	// DeviceAge is how long a browser is known after it has signed in. Zero
	// means 180 days; negative means that browsers are not remembered.
	DeviceAge time.Duration

	// MailsPerAddress bounds mails to one address: 5 at once, then one in ten
	// minutes.
	MailsPerAddress Limit

	// MailsPerClient bounds mails that one client asks for: 100 at once, then
	// one a minute.
	MailsPerClient Limit

	// Exceeded decides on an attempt that only PerAccount refuses: the client is
	// within its own limits, and may be the owner of the account at a new
	// device. Nil from it lets the attempt through: the submission has solved a
	// CAPTCHA, for example. An error refuses it; a [pintle.Error] with the code
	// ErrCredentials and a Detail chooses what the sign-in page says, such as
	// where to find the CAPTCHA, or that a mail link still works. Exceeded must
	// not look at the password. If it is nil, such attempts are refused.
	Exceeded func(ctx context.Context, e *Excess) error

	pairs, clients, accounts   counts
	known                      counts // clients that signed in to an account
	devices, deviceAccounts    counts
	mailAddresses, mailClients counts
}

// An Excess is an attempt at an account that has had too many wrong passwords.
type Excess struct {
	// Submission is what was submitted.
	Submission *pintle.Submission

	// Account is the account in the spelling in which it is counted.
	Account string

	// RetryAfter is how long it takes until the limit lets an attempt through.
	RetryAfter time.Duration
}

func (l Limit) or(burst int, every time.Duration) Limit {
	return Limit{cmp.Or(l.Burst, burst), cmp.Or(l.Every, every)}
}

// client names the client with an address. A customer of a provider of IPv6 has
// a network of 64 bits at least, and so any number of addresses.
func client(address netip.Addr) string {
	a := address.Unmap().WithZone("")
	if a.Is6() {
		return netip.PrefixFrom(a, 64).Masked().String()
	}
	return a.String()
}
