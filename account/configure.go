package account

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/pages"
	"github.com/pintleauth/pintle/password"
)

// providerID is the id of the provider of passwords. Clients of Auth.js sign in with it.
const providerID = "credentials"

// check returns what makes a configuration unusable.
func (a *Accounts) check(cfg *pintle.Config) error {
	var errs []error
	wrong := func(format string, args ...any) { errs = append(errs, fmt.Errorf("account: "+format, args...)) }
	if a.o.Mail == nil {
		wrong("Options.Mail is nil: %s", a.needsMails())
	}
	switch {
	case cfg.Store == nil:
		wrong("Config.Store is nil: accounts are kept in a store")
	case cfg.Store.AccountStore() == nil:
		wrong("the store has no room for accounts: its AccountStore is nil; tables that are shared with Auth.js need those of "+
			"\"pintle migrate -accounts\"%s", remedy(cfg.Store))
	default:
		f := cfg.Store.Features()
		for _, need := range []struct {
			has  bool
			name string
		}{{f.Accounts, "Accounts"}, {f.Verifications, "Verifications"}, {f.DeleteUser, "DeleteUser"}} {
			if !need.has {
				wrong("the store lacks Features.%s%s", need.name, remedy(cfg.Store))
			}
		}
		tokens := usesTokens(cfg)
		if tokens && cfg.Session.Revocation == nil {
			errs = append(errs, &pintle.Error{Code: "UnsupportedStrategy", Err: errors.New("account: token sessions need " +
				"Config.Session.Revocation: without it a reset of a password could not end the sessions of a thief")})
		}
		if !tokens && !f.SessionList {
			wrong("the store lacks Features.SessionList%s", remedy(cfg.Store))
		}
	}
	if cfg.URL == "" && cfg.TrustHost {
		wrong("Config.TrustHost without Config.URL: the links in mails would lead where the header Host says, which a client can choose")
	}
	if cfg.Callbacks.Roles != nil { // guards ask the store, so tokens must carry the roles that it has
		wrong("Config.Callbacks.Roles is set: package account sets it, to the roles that operators give")
	}
	if cfg.Callbacks.Act != nil {
		wrong("Config.Callbacks.Act is set: package account sets it, for operators who act as users")
	}
	// A page on which an operator acts could send what is meant for the user to another host of the
	// domain, where the request is one of the operator: no host sees what the other was sent. The
	// cookie of acting cannot go to the domain, since any host of it could then plant one.
	if domain := cfg.Cookies.SessionToken.Domain; domain != "" && len(a.o.Acting.Roles) > 0 {
		wrong("Options.Acting.Roles with Config.Cookies.SessionToken.Domain %q: on the other hosts of the domain, requests of a page on which "+
			"an operator acts as a user would change the account of the operator: leave out the Domain or the Roles", domain)
	}
	if slices.ContainsFunc(cfg.Providers, isPasswords) {
		wrong("a provider has the id %q, which is that of the passwords of this package: give yours another ID", providerID)
	}
	if n := a.o.Passwords.MinLength; n != 0 && n < password.MinLength {
		wrong("Options.Passwords.MinLength is %d: the least is %d", n, password.MinLength)
	}
	if h := a.o.Passwords.FormerHash; h != "" {
		if _, err := password.Import(h); err != nil {
			wrong("Options.Passwords.FormerHash: %w", err)
		}
	}
	for _, f := range a.o.SignUp.Fields {
		if f.Name == "" || slices.Contains(ownFields, f.Name) {
			wrong("Options.SignUp.Fields has the name %q, which has another meaning", f.Name)
		}
	}
	if a.o.NoMailToUnknown && a.o.Later == nil {
		wrong("Options.NoMailToUnknown without Options.Later: the time of an answer would tell whether a mail was sent, and so whether " +
			"the address has an account: set Later, for example to a function that calls go work(ctx)")
	}
	return errors.Join(append(errs, a.o.SecondFactor.check(), a.o.AddressChange.check(), a.o.Deletion.check(), a.o.Notices.check(), a.o.Activity.check(), a.o.Acting.check(), a.checkVerify(cfg), a.checkOff(cfg))...)
}

// ownFields are the names of what forms and users have already.
var ownFields = []string{
	"id", "email", "emailVerified", "image", "password", "code", "again", "choice", "token", "csrfToken", "callbackUrl", "action", "data",
}

// usesTokens reports whether sessions are tokens.
func usesTokens(cfg *pintle.Config) bool {
	return cfg.Session.Strategy == pintle.StrategyJWT || cfg.Session.Strategy == "" && !cfg.Store.Features().Sessions
}

func remedy(s pintle.Store) string {
	if r := s.Features().Remedy; r != "" {
		return ": " + r
	}
	return ""
}

func isPasswords(p pintle.Provider) bool {
	c, ok := p.(*pintle.Credentials)
	return ok && (c.ID == providerID || c.ID == "")
}

// configure adds to a configuration what accounts need.
func (a *Accounts) configure(cfg *pintle.Config) {
	// A mail scanner that opens links must not use one up, and a user of a provider
	// that makes accounts by itself has not proven the address.
	a.providers, a.styles = map[string]string{}, map[string]pages.Style{}
	for i, p := range cfg.Providers {
		a.noteProvider(p)
		switch p := p.(type) {
		case *pintle.OAuth:
			a.providers[p.ID], a.styles[p.ID] = cmp.Or(p.Name, p.ID), p.Style
			a.linkable = append(a.linkable, p.ID)
		case *pintle.Credentials:
			a.credentials = append(a.credentials, p)
		case *pintle.Email:
			a.hasMail = true
			c := *p
			c.Confirm = true
			cfg.Providers[i] = &c
		case *pintle.WebAuthn:
			a.providers[cmp.Or(p.ID, "passkey")] = cmp.Or(p.Name, "Passkey")
			c := *p
			c.SignInOnly = true
			cfg.Providers[i] = &c
		}
	}
	if !a.o.Passwords.Off {
		a.passwords = a.limited(a.guard.Credentials(a.passwordProvider(), "email"))
		cfg.Providers = append(cfg.Providers, a.passwords)
	}
	cfg.Session.RecordAuthentication = true
	a.tokens = usesTokens(cfg)
	cfg.Callbacks.Hold = a.gate
	cfg.Callbacks.Accept = a.accept
	cfg.Callbacks.Roles = a.tokenRoles
	cfg.Callbacks.Act = a.act // also without operators who may: a cookie of before is not ignored
	cfg.Callbacks.ProveAddress = a.askProveAddress
	cfg.Callbacks.SignIn = a.askSignIn
	if o := &a.o.SignUp; o.Closed || o.Allow != nil {
		cfg.Callbacks.SignUp = a.askNewUser
	}
	cfg.Events.SignIn, cfg.Events.LinkAccount = a.signedIn, a.linked
	a.noteEvents(cfg)
	if !a.o.SignUp.Closed && !a.o.Passwords.Off {
		cfg.Pages.SignUp = cmp.Or(cfg.Pages.SignUp, a.site.path("sign-up"))
	}
	a.newUserPage = cfg.Pages.NewUser
	a.replaced = cfg.Pages.Account
	cfg.Pages.Account = cmp.Or(cfg.Pages.Account, a.site.path(""))
	if !a.o.Passwords.Off {
		cfg.Pages.ForgotPassword = cmp.Or(cfg.Pages.ForgotPassword, a.site.path("forgot"))
	}
}

// gate is what [pintle.Callbacks.Hold] asks at every sign-in, and again when a page has
// done its part. The host's own question comes last.
func (a *Accounts) gate(ctx context.Context, p *pintle.PendingSignIn) (page string, err error) {
	page, err = a.ask(ctx, p)
	if page == "" && err == nil && a.callback.Hold != nil {
		page, err = a.callback.Hold(ctx, p)
	}
	if page != "" && err == nil { // the event of the sign-in will have no profile
		a.notePicture(ctx, p.User.ID, p.Account, p.ProviderUser)
	}
	return page, err
}

// ask returns the page of this package to which a sign-in has to go first. The questions
// about the user share one look-up of the state and one of the factors.
func (a *Accounts) ask(ctx context.Context, p *pintle.PendingSignIn) (page string, err error) {
	ctx = context.WithValue(ctx, askedKey{}, &asked{})
	for _, ask := range []func(context.Context, *pintle.PendingSignIn) (string, error){
		a.askBan, a.askPassword, a.askProof, a.askSecondFactor, a.askMust, a.askLost, a.askKeep,
	} {
		if page, err := ask(ctx, p); page != "" || err != nil {
			return page, err
		}
	}
	return "", nil
}

type askedKey struct{}

// asked is what the questions at the gate have read of the user. That is after the session was
// stored, and after the time of the sign-in for tokens: a change that comes later ends the
// session.
type asked struct {
	state   *accountstore.State
	factors *[]*accountstore.Factor // nil if not read
}

func askedIn(ctx context.Context) *asked {
	if kept, ok := ctx.Value(askedKey{}).(*asked); ok {
		return kept
	}
	return &asked{} // which is not kept
}

// forgetAsked makes the next question read the user again.
func (a *Accounts) forgetAsked(ctx context.Context) { *askedIn(ctx) = asked{} }

// askedState returns the state of the user of a sign-in at the gate, which is read once.
func (a *Accounts) askedState(ctx context.Context, p *pintle.PendingSignIn) (*accountstore.State, error) {
	kept := askedIn(ctx)
	if kept.state != nil {
		return kept.state, nil
	}
	state, err := a.rows.State(ctx, p.User.ID)
	if err != nil {
		return nil, storeFault(err)
	}
	kept.state = state
	return state, nil
}

// askedFactors returns the factors of the user of a sign-in at the gate, which are read once.
func (a *Accounts) askedFactors(ctx context.Context, p *pintle.PendingSignIn) ([]*accountstore.Factor, error) {
	kept := askedIn(ctx)
	if kept.factors != nil {
		return *kept.factors, nil
	}
	rows, err := a.rows.Factors(ctx, p.User.ID)
	if err != nil {
		return nil, storeFault(err)
	}
	kept.factors = &rows
	return rows, nil
}
