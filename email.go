package pintle

import (
	"cmp"
	"context"
	"net/http"
	"net/netip"
	"time"

	"github.com/pintleauth/pintle/pages"
)

// Email is a provider that signs people in by a link in a mail.
type Email struct {
	// ID is the provider's name in URLs. Empty means "email".
	ID string

	// Name is shown to people. Empty means "Email".
	Name string

	// From is the sender. Empty leaves it to the Send function.
	From string

	// MaxAge is how long a link works. Zero means 24 hours.
	MaxAge time.Duration

	// Secret is hashed with the token of a link. Empty means [Config.Secrets].
	// Of two providers with one store and one secret, each accepts the links of the
	// other if its Normalize accepts the address. A Secret for each keeps them
	// apart; that of a provider at Auth.js on the same database must be the same.
	Secret string

	// Send delivers the message. It should return as soon as the mail server
	// has taken responsibility, and honour ctx. An error whose method
	// RecipientRefused() returns true, as [smtp.Refusal] has one, is a mail to an
	// address that does not exist: a warning in the log, since any client can type
	// one.
	//
	// [smtp.Refusal]: https://pkg.go.dev/github.com/pintleauth/pintle/smtp#Refusal
	Send func(ctx context.Context, m *Message) error

	// APIKey is the key of a service that sends mails over HTTP. Empty means
	// AUTH_{ID}_KEY, with the ID in upper case and "-" as "_".
	APIKey string

	// Complete finishes the provider once APIKey is known, be it from the
	// environment: it sets Send, to a function that uses the client c of
	// [Config.HTTPClient]. It is called by [New] with a copy it may change. An
	// error makes the configuration invalid. It is for packages of services;
	// hosts set Send.
	Complete func(p *Email, c *http.Client) error

	// Normalize turns what a person typed into an address, or fails. It must
	// return its own results unchanged: it runs again when a link is opened, which
	// is refused if its address is rejected or changed. Nil means lower case,
	// Unicode compatibility form, and one well-formed address.
	Normalize func(address string) (string, error)

	// Allow may refuse a mail before anything is stored or sent, whether or not
	// the address has a user. Package throttle limits mails with it. An [*Error]
	// chooses its code and RetryAfter; any other error becomes EmailSignInError. Nil
	// allows all mails.
	Allow func(ctx context.Context, m *MailRequest) error

	// Limited says that Allow limits mails, and counts them in the shared state of the site.
	// Package throttle sets it. It changes nothing but what [New] logs without a shared state.
	Limited bool

	// GenerateToken makes the token of a link. Nil means 256 random bits.
	GenerateToken func() (string, error)

	// Confirm shows a page with a button when a link is opened, so that only a
	// person, and no mail scanner, can use it up.
	Confirm bool

	Style pages.Style
}

// A MailRequest is a request for a mail with a sign-in link.
type MailRequest struct {
	// Address is where the mail would go, in normal form.
	Address string

	// Provider is the id of the provider.
	Provider string

	// Request is the request that asks for the mail. Its body has been read.
	Request *http.Request

	// Client is the address of the client, as [Config.ClientAddress] has it. It
	// may be invalid.
	Client netip.Addr
}

// A Message is a mail with a sign-in link, or one of package account, ready to be sent.
type Message struct {
	From    string
	To      string
	Subject string
	Text    string
	HTML    string

	// Kind is what a mail of package account is about: a name of Texts.Account.Mails,
	// such as "reset". Empty means that the mail has a sign-in link.
	Kind string

	// URL is the link, which signs in anyone who has it: it must appear in no log. Mails
	// of package account that have neither Token nor Code link to a page of the site, or
	// have no link.
	URL string

	// Token is the token in the link.
	Token string

	// Code is the code that the user types, for mails of package account that have one.
	// It must appear in no log.
	Code string

	// Expires is when the link stops working, or the code if there is no link. It is zero
	// in notices of package account.
	Expires time.Time

	// Provider is the id of the provider.
	Provider string

	// Theme is the look of the host's pages.
	Theme pages.Theme

	// Lang is the language of Subject, Text and HTML: the Lang of [Config].Texts
	// or of one of its Languages.
	Lang string

	// Request is the request that asked for the mail. Its body has been read.
	Request *http.Request
}

func (p *Email) base() providerBase {
	return providerBase{id: cmp.Or(p.ID, "email"), name: cmp.Or(p.Name, "Email"), kind: TypeEmail}
}

// A Verification is a row that works once: a mail link on its way, whose token proves
// that its user reads mail at the address, or a sign-in that [Callbacks.Hold] holds.
type Verification struct {
	// Identifier is the normalised address, or the ID of the user whose sign-in is
	// held.
	Identifier string

	// Token is the hash of the token in the link or the cookie, 64 hexadecimal digits. The
	// token itself is nowhere but there.
	Token string

	// Expires is when the link stops working.
	Expires time.Time
}

// complete calls the function Complete, unless the host has set the field that
// it would set.
func (p *Email) complete(c *http.Client) error {
	if p.Complete == nil || p.Send != nil {
		return nil
	}
	if c == nil {
		c = &http.Client{}
	}
	return p.Complete(p, c)
}
