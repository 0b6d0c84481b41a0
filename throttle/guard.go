package throttle

import (
	"cmp"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"
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
	// Address returns the address of the client that sent a request. Nil means
	// that of the connection. Requests for which it is not valid count as those
	// of one client.
	Address func(*http.Request) netip.Addr

	// PerAccountAndClient bounds wrong passwords for one account from one
	// client: 10 at once, then one a minute.
	PerAccountAndClient Limit

	// PerClient bounds wrong passwords from one client, which may be all the
	// people of an office: 100 at once, then ten a minute.
	PerClient Limit

	// PerAccount bounds wrong passwords for one account, from clients that have
	// not signed in to it before: 100 at once, then one a minute.
	PerAccount Limit

	// MailsPerAddress bounds mails to one address: 5 at once, then one in ten
	// minutes.
	MailsPerAddress Limit

	// MailsPerClient bounds mails that one client asks for: 100 at once, then
	// one a minute.
	MailsPerClient Limit

	pairs, clients, accounts   counts
	known                      counts // clients that signed in to an account
	mailAddresses, mailClients counts
}

func (l Limit) or(burst int, every time.Duration) Limit {
	return Limit{cmp.Or(l.Burst, burst), cmp.Or(l.Every, every)}
}

// client names who sent a request.
func (g *Guard) client(r *http.Request) string {
	address := connection
	if g.Address != nil {
		address = g.Address
	}
	a := address(r).Unmap().WithZone("")
	if a.Is6() {
		return netip.PrefixFrom(a, 64).Masked().String()
	}
	return a.String()
}

// account is the name of an account in one spelling. Two accounts that differ
// in no more than case share their limits, which harms neither.
func account(typed string) string {
	return strings.ToLower(norm.NFKC.String(strings.TrimSpace(typed)))
}
