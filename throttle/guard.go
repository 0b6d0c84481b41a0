package throttle

import (
	"cmp"
	"context"
	"net/netip"
	"time"

	"github.com/pintleauth/pintle"
)

// A Limit allows Burst attempts at once, and one more each time Every has passed.
// Zero fields mean the default of the limit they belong to; a negative Burst means
// no limit.
type Limit struct {
	Burst int
	Every time.Duration
}

// A Guard counts attempts. The limits of the zero value are beyond those that
// legitimate users reach. Its fields must not be changed once it is in use. Use one
// guard for all providers of a site; it may be used concurrently. Accounts are
// counted by the id of their provider, so with [pintle.NewFunc] each tenant needs a
// guard, which the function that returns the tenant's configuration must keep.
type Guard struct {
	// Name tells the guards of one site apart that count in its shared state: guards with the
	// same name and the same limits count together. A site with one guard leaves it empty. All
	// processes of the site have the same names.
	Name string

	// PerAccountAndClient bounds wrong passwords for one account from one
	// client: 10 at once, then one a minute.
	PerAccountAndClient Limit

	// PerClient bounds wrong passwords from one client, which may be all users
	// of an office: 100 at once, then ten a minute.
	PerClient Limit

	// PerAccount bounds wrong passwords for one account from all clients that
	// have not signed in to it before: 100 at once, then one a minute. While
	// guesses use it up, an owner at a new device is rejected: see Exceeded.
	//
	// The wrong passwords from all known devices of a user have the same limit,
	// and are counted separately.
	PerAccount Limit

	// PerDevice bounds wrong passwords for one account from one browser that has
	// signed in to it before: 10 at once, then one a minute. A browser beyond it
	// counts as one that has not signed in before.
	PerDevice Limit

	// DeviceAge is how long a browser is a known device after it has signed in.
	// Zero means 180 days; negative means that no browser is.
	DeviceAge time.Duration

	// MailsPerAddress bounds mails to one address: 5 at once, then one in ten
	// minutes.
	MailsPerAddress Limit

	// MailsPerClient bounds mails that one client requests: 100 at once, then
	// one a minute.
	MailsPerClient Limit

	// SearchesPerDomain bounds the searches for a connection by addresses of one domain: 300
	// at once, then one a second. A search is a sign-in of a user of an organisation.
	SearchesPerDomain Limit

	// SearchesPerClient bounds the searches of one client: 100 at once, then ten a minute.
	SearchesPerClient Limit

	// Exceeded decides on an attempt that only PerAccount rejects: the client is
	// within its own limits, and may be the owner of the account at a new
	// device. If it returns nil, the attempt is allowed: for example because the
	// submission has solved a CAPTCHA. If it returns an error, the attempt is
	// rejected; a [pintle.Error] with the code CodeCredentials and a Detail
	// selects the text of the sign-in page, such as where to find the CAPTCHA,
	// or that a mail link still works. Exceeded must not verify the password. If
	// Exceeded is nil, such attempts are rejected.
	Exceeded func(ctx context.Context, e *Excess) error

	pairs, clients, accounts   counts
	known, unknown             counts // clients that signed in to an account, and that did not
	devices, deviceAccounts    counts
	mailAddresses, mailClients counts

	searchedDomains, searchClients counts
}

// An Excess is an attempt at an account that has had too many wrong passwords.
type Excess struct {
	// Submission has the submitted fields.
	Submission *pintle.Submission

	// Account is the account in the spelling in which it is counted.
	Account string

	// RetryAfter is how long it takes until the limit allows an attempt.
	RetryAfter time.Duration
}

func (l Limit) or(burst int, every time.Duration) Limit {
	return Limit{cmp.Or(l.Burst, burst), cmp.Or(l.Every, every)}
}

// client returns the name of the client with an address. A customer of an IPv6
// provider has a /64 network at least, and so can use any number of addresses.
func client(address netip.Addr) string {
	a := address.Unmap().WithZone("")
	if a.Is6() {
		return netip.PrefixFrom(a, 64).Masked().String()
	}
	return a.String()
}
