package pintle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pintleauth/pintle/internal/page"
	"github.com/pintleauth/pintle/internal/tokenhash"
)

// A Provider is a way to sign in: an [*OAuth], an [*Email], a [*Credentials] or a
// [*WebAuthn]. The set is closed; ready-made ones are in package provider.
//
// [New] copies what it is given. A provider may be shared by configurations and
// is never changed by a request.
type Provider interface {
	base() providerBase
}

// ProviderType is the way in which a provider signs users in. Clients see the
// value in the provider list, and accounts are stored with it.
type ProviderType string

// The types of provider.
const (
	TypeOAuth       ProviderType = "oauth"
	TypeOIDC        ProviderType = "oidc"
	TypeEmail       ProviderType = "email"
	TypeCredentials ProviderType = "credentials"
	TypeWebAuthn    ProviderType = "webauthn"
)

// A Field is an input of a form on the sign-in page.
type Field struct {
	// Name is the name that [Submission.Fields] has it under.
	Name string

	// Label is shown beside the input. Empty means Name.
	Label string

	// Type is the type of the input. Empty means "text".
	Type string

	Placeholder string

	// Attributes are further HTML attributes of the input, such as
	// autocomplete. Event handlers and style are refused.
	Attributes map[string]string
}

// listsPasskeys reports whether browsers list passkeys at a field.
//
// https://html.spec.whatwg.org/multipage/form-control-infrastructure.html#attr-fe-autocomplete-webauthn
func (f Field) listsPasskeys() bool {
	for name, value := range f.Attributes {
		if strings.EqualFold(name, "autocomplete") && strings.Contains(strings.ToLower(value), "webauthn") {
			return true
		}
	}
	return false
}

// providerBase is what all kinds have in common.
type providerBase struct {
	id, name string
	kind     ProviderType
}

// A provider is one of Config.Providers, completed.
type provider struct {
	providerBase
	way
	facts
}

// A way is how users arrive at a sign-in: by a provider of OAuth, a link in a mail,
// a form or a passkey. What comes after it, from [exchange.login] on, is the same
// for all.
type way interface {
	// begin answers POST signin.
	begin(x *exchange) error

	// finish answers the callback route. It returns nil and no error where the
	// response is a redirect or a page, and the sign-in may go on afterwards.
	finish(x *exchange) (*arrival, error)

	// describe returns the provider's entry on the sign-in page, made of one that
	// has what is the same for all.
	describe(x *exchange, entry page.Provider) page.Provider
}

// facts are what code outside its way has to know of a provider. The zero value is
// a provider whose users have accounts in the store.
type facts struct {
	// sendsLinks reports that a link in a mail signs users in. It proves the
	// address that the mail went to. hashes are those of the links' tokens.
	sendsLinks bool
	hashes     tokenhash.Hasher

	// hostUsers reports that the host identifies the user by what was typed:
	// the store need not have an account, nor record whether there is a
	// password.
	hostUsers bool

	// knows reports whether a stored user can sign in without an account in the
	// store. Nil means that the provider cannot tell.
	knows func(context.Context, *User) (bool, error)

	// admits reports whether an account of the provider signs its user in. Nil
	// means that every one does.
	admits func(context.Context, *records, *Account) (bool, error)

	// linking reports whether the sign-in of a request was to link an account to
	// the signed-in user. Nil means that it never is.
	linking func(*exchange) bool

	// notLinked is the code of the error of a sign-in whose account must not be
	// linked, and removed the error of one whose account is gone by the decision.
	// Empty ones mean [CodeAccountNotLinked].
	notLinked Code
	removed   *Error

	// keep returns what the store is given of an account. Nil means
	// [storedByDefault].
	keep func(*Account) *Account

	// refresh exchanges a refresh token for a token response. Nil means that the
	// provider issues none.
	refresh refreshFunc

	// authority names the authority that decides which user an account belongs
	// to. It is empty if this application decides.
	authority string

	// formPost reports that the provider has browsers post its responses from its
	// own site, to which they send no cookies that say SameSite=Lax.
	formPost bool

	// proxyURL is the URL of the redirect proxy that receives the provider's
	// responses, or empty.
	proxyURL string

	// oneButton reports that a button begins a sign-in on any page. Other
	// providers need their form, which is on the sign-in page.
	oneButton bool

	// autofill reports that the browser's autofill list has the passkeys of the
	// provider, and listsPasskeys that the form has an input with that list.
	autofill, listsPasskeys bool

	// options answers GET webauthn-options. Nil means that the provider has no
	// such route.
	options func(*exchange) error

	// check returns what the provider lacks around it, once the store is known,
	// and checkClient the credentials that are missing. announce logs at the start
	// what an operator should not overlook. Each may be nil.
	check       func(*settings) *Error
	checkClient func() error
	announce    func(context.Context, *settings)
}

// resolveProviders copies and completes the providers and checks them.
func (s *settings) resolveProviders(env environment) *Error {
	var fault *Error
	note := func(e *Error) {
		if e != nil && fault == nil {
			fault = e
		}
	}
	for i, given := range s.Config.Providers {
		if isNil(given) {
			note(fail(CodeConfiguration, fmt.Errorf("Config.Providers[%d] is nil: set it to a provider, or remove it", i)))
			continue
		}
		p, err := s.newProvider(given, env)
		note(err)
		if err := checkProviderID(p.id); err != nil {
			note(&Error{Code: CodeConfiguration, Provider: p.id, Err: err})
		}
		if _, taken := s.byID[p.id]; taken {
			// One of them would be unreachable: routes and accounts know a
			// provider by its id.
			note(&Error{Code: CodeConfiguration, Provider: p.id, Err: fmt.Errorf("Config.Providers[%d] has the ID %q, as a provider before it: set the field ID of one of them to another name", i, p.id)})
			continue
		}
		s.byID[p.id] = p
		s.providers = append(s.providers, p)
	}
	note(s.checkKinds())
	return fault
}

// newProvider copies and completes a provider. It is the only place that knows the
// kinds there are.
func (s *settings) newProvider(given Provider, env environment) (*provider, *Error) {
	switch given := given.(type) {
	case *OAuth:
		return s.newOAuthFlow(*given, env)
	case *Email:
		return s.newMailFlow(*given, env)
	case *Credentials:
		return newFormFlow(*given)
	case *WebAuthn:
		return newPasskeyFlow(*given)
	}
	panic("unreachable: the set of provider kinds is closed")
}

// checkProviderID rejects ids that no URL could name: the path is compared
// undecoded, and clients send "undefined" for no provider at all.
func checkProviderID(id string) error {
	if id == "" {
		return errors.New("a provider has no ID")
	}
	if id == "undefined" || strings.Trim(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~") != "" {
		return fmt.Errorf("the provider ID %q cannot be part of a URL: use letters, digits and - . _ ~", id)
	}
	return nil
}

// checkKinds rejects combinations of providers and sessions that cannot work.
func (s *settings) checkKinds() *Error {
	if fault := s.checkAutofill(); fault != nil {
		return fault
	}
	others := slices.ContainsFunc(s.providers, func(p *provider) bool { return !p.hostUsers })
	if s.sessions.needStoredUser() && len(s.providers) > 0 && !others {
		return fail(codeUnsupportedStrategy, errors.New("credentials providers alone cannot use database sessions, which are the default with a Config.Store: set Config.Session.Strategy to StrategyJWT"))
	}
	return nil
}

// checkAutofill rejects a second provider in the browser's autofill list: a
// browser runs one ceremony at a time.
func (s *settings) checkAutofill() *Error {
	var first *provider
	for _, p := range s.providers {
		switch {
		case !p.autofill:
		case first != nil:
			return &Error{Code: codeDuplicateConditional, Provider: p.id, Err: fmt.Errorf("the passkeys of %q are in the autofill list already: set DisableAutofill for one of the two", first.id)}
		default:
			first = p
		}
	}
	return nil
}

// checkProviders checks what providers need around them, once the store is known.
func (s *settings) checkProviders() *Error {
	for _, p := range s.providers {
		if p.check == nil {
			continue
		}
		if fault := p.check(s); fault != nil {
			return fault
		}
	}
	return nil
}

// checkClients rejects OAuth providers whose credentials are not set, so that a
// deployment that lost a variable does not start. Without the check the error
// would appear only when a user chooses the provider.
func (s *settings) checkClients() *Error {
	var first *Error
	var missing []error
	for _, p := range s.providers {
		if p.checkClient == nil {
			continue
		}
		if err := p.checkClient(); err != nil {
			missing = append(missing, err) // which names its provider
			if first == nil {
				first = &Error{Code: codeInvalidEndpoints, Provider: p.id, Err: err}
			}
		}
	}
	if len(missing) > 1 {
		return fail(codeInvalidEndpoints, errors.Join(missing...))
	}
	return first
}
