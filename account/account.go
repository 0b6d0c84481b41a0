// Package account gives an application sign-up, passwords, second factors, and pages on which
// users change their address, download their data and delete their account:
//
//	cfg := pintle.Config{
//		Store: store,
//		URL:   "https://app.example.com",
//		Accounts: account.New(account.Options{
//			From: "App <no-reply@app.example.com>",
//			Mail: sender.Send, // of package smtp, or your own
//		}),
//	}
//
// The sign-in page then has a form for address and password, with links to sign up and
// to choose a new password. All pages work without scripts. They are below
// [pintle.Config.BasePath] + "/account", answer JSON to requests that ask for it, and
// are in the look and the language of the sign-in page.
//
// # What it guarantees
//
// Every sign-in passes one gate, [pintle.Callbacks.Hold], whichever way the user comes. If
// the user has a second factor, no session begins before it was checked: not after a
// password, a mail link or a sign-in with a provider. A reset of the password never begins
// a session.
//
// A user exists once the mailbox of the address was read: an attacker who signs up with
// the address of another person leaves nothing behind that the owner could confirm by
// mistake.
//
// Answers do not reveal whether an address has an account: status, headers, text and
// the number of mails are the same.
//
// No link works alone. What a link begins is finished by a form that also needs the
// browser that began it, or a secret typed there, so that a program that opens the
// links in mails, and presses buttons, changes nothing.
package account

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/internal/clientaddr"
	"github.com/pintleauth/pintle/internal/tally"
	"github.com/pintleauth/pintle/pages"
	"github.com/pintleauth/pintle/password"
	"github.com/pintleauth/pintle/throttle"
)

// Options are the rules of an application. The zero value of each is the recommended
// one. Mail is required.
type Options struct {
	// Mail sends a mail. It should return as soon as a mail server has taken
	// responsibility, and honour ctx. A mail that fails is recorded in the log and
	// changes nothing: the answer to the browser stays the same.
	Mail func(ctx context.Context, m *pintle.Message) error

	// From is the sender. Empty leaves it to Mail.
	From string

	// SignUp decides who may become a user, by whatever way, and lists the fields of the form.
	// With [Passwords].Off there is no form.
	SignUp SignUp

	// Passwords are the rules for passwords.
	Passwords Passwords

	// SecondFactor are the rules for second factors.
	SecondFactor SecondFactor

	// AddressChange are the rules for users who change their address.
	AddressChange AddressChange

	// Pictures are the rules for pictures that users upload.
	Pictures Pictures

	// Deletion are the rules for users who delete their accounts.
	Deletion Deletion

	// Export are the rules for users who download what is stored about them.
	Export Export

	// Notices are the rules for mails that tell users what has happened to their accounts.
	Notices Notices

	// Activity are the rules for the record of what happens to the accounts.
	Activity Activity

	// Acting are the rules by which operators act as users.
	Acting Acting

	// Pages are the pages of the application that replace those of the account, by the name
	// of the route, such as "devices": paths of this site. The navigation leads to them, and
	// browsers that ask for the built-in page go there, with the parameters notice, error and
	// callbackUrl if there are any. A form that the application posts to the route itself
	// comes back with the parameter error if it was rejected. [pintle.Pages].Account
	// replaces the first page.
	//
	// The routes answer JSON as before. [Accounts.Do] does what a form does.
	Pages map[string]string

	// Admit may refuse a request that would send a mail to an address that anyone
	// can type, before anything is looked up: for example one without the answer
	// to a CAPTCHA, which r.PostFormValue returns, also from a JSON object. action is
	// "sign-up" or "forgot". The client gets status 403, and the text as for
	// [SignUp].Allow.
	Admit func(ctx context.Context, r *http.Request, action string) error

	// Later runs work after the answer, in a goroutine or by a queue in memory. The mails
	// that anyone can cause, at sign-up and for a forgotten password, are written and sent
	// in it, so that their time is not in the answer:
	//
	//	Later: func(ctx context.Context, work func(context.Context)) { go work(ctx) },
	//
	// ctx has the values of the request's context, and does not end with it. work may be
	// called with a context that has a deadline. It does not panic: what Mail panics
	// with is logged. A process that stops should wait for work that has begun. Later is
	// called once for each such request, whatever the address, and concurrently. Nil sends
	// before the answer.
	Later func(ctx context.Context, work func(ctx context.Context))

	// NoMailToUnknown sends no mail about a forgotten password to an address that no user
	// has proven. The default is one that says so, since its absence makes the answer
	// quicker. Therefore NoMailToUnknown requires Later. A sign-up still sends one
	// mail to every address.
	NoMailToUnknown bool
}

// SignUp decides who may become a user: by the form of a sign-up, and by Closed and Allow also by a
// mail link, a provider or a connection. The zero value lets everyone in who can read mail at
// the address, and everyone whom a provider signs in.
type SignUp struct {
	// Closed ends sign-ups: no user is made by the form, by a mail link of [pintle.Email] or by a
	// passkey, and a sign-up that has begun does not go on. Only users sign in whom an operator,
	// an invitation, an import or a provider has made: an [pintle.OAuth] provider, a
	// connection and [pintle.Credentials] still make users. Allow decides about those
	// of providers, and [pintle.Callbacks].SignUp.
	Closed bool

	// Verify is when a user proves the address. The zero value is [VerifyRequired].
	Verify Verification

	// Allow may refuse an address by its text, for example by its domain. It must
	// not depend on whether the address has an account: its answer is shown before
	// the address was proven. The form is shown again with the text of "refused", or
	// with a text of the application: if the error is a *[pintle.Error] with a Detail,
	// that of Texts.Account.Problems[Detail]. Nil allows all.
	//
	// It is also asked before a sign-in makes a user: with the address of a mail link when the
	// link is opened, and with the address that a provider has verified or that is in a proven domain
	// of a connection. If there is no such address, it receives "", which a rule that lists domains
	// refuses. A rule has to list the domains of connections, too. An error denies the sign-in
	// with [pintle.CodeAccessDenied], or with the code that it carries. Allow is not asked about
	// users who exist, and not about those of [pintle.Credentials], an import, an operator or an
	// invitation.
	Allow func(ctx context.Context, address string) error

	// Fields are what else the form of a sign-up asks for, such as a name or consent. No other
	// way asks: a user whom a provider or a mail link makes lacks them, also required ones. If
	// every user needs them, write a page that asks for them, and redirect users to it by
	// [pintle.Callbacks].Hold, or by Accept and [VerifyDeferred].
	//
	// A field with the attribute "required" has to be filled in; a value has at most 200
	// characters. The field "name" becomes the name of the user, with at most 100 characters
	// and none that changes the direction of a text; others members of
	// [pintle.User].Extra as text, and a ticked checkbox "1". The store needs room
	// for them.
	Fields []pintle.Field
}

// Passwords are the rules for passwords.
type Passwords struct {
	// Off leaves passwords out, and with them sign-up by the form: users sign in with the
	// providers of the configuration, which make the accounts. There are no pages to sign up, or
	// to choose a password, and their routes answer as ones that do not exist. A password that is
	// stored does not sign in and proves nothing, and stays in the store. Sessions that began
	// with one go on; see [Operators.SignOut].
	//
	// The methods of [Operators] that lead to a password return an error: Invite, SendReset,
	// SetTemporaryPassword and RequirePasswordChange. [pintle.New] returns an error for rules
	// that would do nothing, such as MinLength, and if there is no other way to sign in.
	// Hasher and Guard also serve recovery codes and mails.
	Off bool

	// MinLength is the least number of characters. Zero means 15, as NIST SP 800-63B-4
	// asks where a password alone signs in. 8 is enough where SecondFactor.Required
	// reports true for every user. Less than 8 is an error.
	MinLength int

	// Hasher makes and verifies the hashes. Nil means the zero Hasher. An
	// application that hashes elsewhere, too, gives the same one to both: it bounds
	// the memory.
	Hasher *password.Hasher

	// Breached asks a service whether a password that a user chooses was stolen
	// somewhere. Nil asks none: it is a third party. The list of common passwords in
	// package password holds in any case.
	Breached *BreachCheck

	// Guard limits wrong passwords and mails. Nil means the zero Guard of package
	// throttle.
	Guard *throttle.Guard

	// Import returns the hash of a user's password in the table that the
	// application has used before, or "" if the user has no password there. It is
	// called at a sign-in of a user without a password here. If the password matches, the hash is
	// moved. Nil means that there is no such table.
	//
	// A wrong password causes one call, too: about another user, with the result dropped, if
	// this one does not need it. So the time of an answer does not tell whose hash has not
	// moved.
	//
	// [password.Hasher.Verify] lists the hashes that it accepts.
	Import func(ctx context.Context, u *pintle.User) (hash string, err error)

	// FormerHash is a hash of the system that the application has used before, of any
	// password. After a wrong password one hash like it and one of Hasher are computed,
	// whatever the address. Otherwise the time of an answer tells which users have not
	// signed in since the move: their hashes are still of the other kind, wherever they
	// are stored. With several kinds of former hashes only those like this one are hidden.
	// Remove it when all hashes are of Hasher. [pintle.New] fails if the hash cannot be
	// verified.
	FormerHash string
}

// Accounts is what [New] returns. Its methods may be called concurrently once
// [pintle.New] has returned.
type Accounts struct {
	o        Options
	attached atomic.Bool

	auth      *pintle.Auth
	store     pintle.Store
	rows      accountstore.Store
	callback  pintle.Callbacks
	events    pintle.Events
	site      *site
	boxes     *boxes
	hasher    *password.Hasher
	mails     *pintle.Email // limits the mails that anyone can cause
	codes     *pintle.Email // limits those that follow a first proof
	newcomers *pintle.Email // limits sign-ups that make a user at once
	guard     *throttle.Guard
	counts    *tally.Counts // nil if each process counts alone
	flood     flood
	sequence  sequence

	// passwords is the provider of passwords, within its limits. providers are the
	// names of those that users have accounts of, by their ids, and credentials the
	// other ones of the application. hasMail reports one that mails links.
	passwords   *pintle.Credentials
	providers   map[string]string
	credentials []*pintle.Credentials
	hasMail     bool

	// linkable are the ids of the providers that users can link, and styles their looks.
	linkable []string
	styles   map[string]pages.Style

	// replaced is the page of the application that replaces the first one of the account, or "".
	replaced string

	// passkeys and oidc are the ids of the providers of passkeys, and of those that send a
	// verified ID token.
	passkeys, oidc []string

	// backChannels are the ids of the providers that can end sessions here, and revokes of those
	// that end the tokens of an account that is unlinked.
	backChannels, revokes map[string]bool

	tokens         bool   // sessions are tokens
	newUserPage    string // of the application, or ""
	logger         *slog.Logger
	http           *http.Client                   // of the configuration, or nil
	address        func(*http.Request) netip.Addr // of the client
	minimum        int                            // of characters of a password
	routes         map[string]*route
	describeDevice func(*http.Request) map[string]any // of the configuration, or nil

	// absent is a user that does not exist, and present the last one that was found, or
	// nil; see findUser.
	absent  *pintle.User
	present atomic.Pointer[pintle.User]
}

// New returns the accounts of one configuration, for [pintle.Config.Accounts]. With
// [pintle.NewFunc] each tenant needs its own.
func New(o Options) *Accounts { return &Accounts{o: o} }

// counting returns the limits of mails of a guard, which count in the shared state.
func (a *Accounts) counting(g *throttle.Guard) *pintle.Email {
	limited := g.Email(&pintle.Email{})
	allow := limited.Allow
	limited.Allow = func(ctx context.Context, m *pintle.MailRequest) error { return allow(tally.With(ctx, a.counts), m) }
	return limited
}

// Attach implements [pintle.Accounts].
func (a *Accounts) Attach(auth *pintle.Auth, cfg *pintle.Config) (http.Handler, error) {
	if a.attached.Swap(true) {
		return nil, errors.New("account: one value of account.New is used by two configurations: call account.New for each")
	}
	if err := a.check(cfg); err != nil {
		return nil, err
	}
	a.auth, a.store, a.rows = auth, cfg.Store, cfg.Store.AccountStore()
	a.callback, a.events = cfg.Callbacks, cfg.Events
	if cfg.Observer.Mail != nil {
		a.o.Mail = cfg.Observer.Mail(a.o.Mail)
	}
	a.minimum = a.o.Passwords.minimum()
	if a.hasher = a.o.Passwords.Hasher; a.hasher == nil {
		a.hasher = &password.Hasher{}
	}
	if a.guard = a.o.Passwords.Guard; a.guard == nil {
		a.guard = &throttle.Guard{}
	}
	a.mails = a.counting(a.guard)
	apart := &throttle.Guard{Name: a.guard.Name + " codes", MailsPerAddress: a.guard.MailsPerAddress, MailsPerClient: a.guard.MailsPerClient}
	a.codes = a.counting(apart)
	users := &throttle.Guard{Name: a.guard.Name + " sign-ups", MailsPerAddress: throttle.Limit{Burst: -1}, MailsPerClient: a.guard.MailsPerClient}
	if users.MailsPerClient == (throttle.Limit{}) {
		users.MailsPerClient = throttle.Limit{Burst: 20, Every: 3 * time.Minute}
	}
	a.newcomers = a.counting(users)
	shared := cfg.SharedState
	if shared == nil && !cfg.Store.Features().InMemory {
		shared = cfg.Store.SharedState()
	}
	a.counts = tally.New(shared, cfg.Secrets, cfg.Tenant, cmp.Or(cfg.Logger, slog.Default()))
	a.logger, a.http, a.describeDevice = cfg.Logger, cfg.HTTPClient, cfg.Session.Describe
	if a.address = cfg.ClientAddress; a.address == nil {
		a.address = clientaddr.Forwarded(cfg.TrustedProxies...)
	}
	var err error
	if a.site, err = newSite(cfg); err != nil {
		return nil, err
	}
	if a.boxes, err = newBoxes(cfg); err != nil {
		return nil, err
	}
	a.absent = &pintle.User{ID: newToken(), Email: newToken() + "@invalid"}
	a.configure(cfg)
	a.routes = a.allRoutes()
	if err := a.checkPages(); err != nil {
		return nil, err
	}
	a.o.Acting.warn(a.log())
	return handler{a}, nil
}

// ChangePasswordHandler leads to the page on which users change their password. Password
// managers look for it. With [Passwords].Off it answers with status 404:
//
//	mux.Handle("/.well-known/change-password", accounts.ChangePasswordHandler())
//
// https://w3c.github.io/webappsec-change-password-url/
func (a *Accounts) ChangePasswordHandler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if a.site == nil || !a.shows("password") { // no configuration has it
			http.NotFound(w, r)
			return
		}
		http.Redirect(w, r, a.site.path("password"), http.StatusFound)
	})
}

func (a *Accounts) log() *slog.Logger { return cmp.Or(a.logger, slog.Default()) }

// client is the address of the client, for limits.
func (v *visit) client() netip.Addr { return clientaddr.Normal(v.address(v.r)) }
