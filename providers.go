package pintle

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/pintleauth/pintle/internal/tokenhash"
)

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
			note(fail(ErrConfiguration, fmt.Errorf("Config.Providers[%d] is nil: set it to a provider, or remove it", i)))
			continue
		}
		p, err := s.resolveProvider(given, env)
		note(err)
		if err := checkProviderID(p.id); err != nil {
			note(&Error{Code: ErrConfiguration, Provider: p.id, Err: err})
		}
		if _, taken := s.byID[p.id]; taken {
			// One of them would be unreachable: routes and accounts know a
			// provider by its id.
			note(&Error{Code: ErrConfiguration, Provider: p.id, Err: fmt.Errorf("Config.Providers[%d] has the ID %q, as a provider before it: set the field ID of one of them to a name of its own", i, p.id)})
			continue
		}
		s.byID[p.id] = p
		s.providers = append(s.providers, p)
	}
	note(s.checkKinds())
	return fault
}

func (s *settings) resolveProvider(given Provider, env environment) (*provider, *Error) {
	switch given := given.(type) {
	case *OAuth:
		own := *given
		own.Name = cmp.Or(own.Name, own.ID)
		own.RedirectProxyURL = cmp.Or(own.RedirectProxyURL, s.RedirectProxyURL)
		env.fillOAuth(&own)
		if err := own.complete(); err != nil {
			return &provider{providerBase: own.base(), oauth: &own}, &Error{Code: codeInvalidEndpoints, Provider: own.ID, Err: err}
		}
		p := &provider{providerBase: own.base(), oauth: &own}
		flow, err := s.newFlow(&own)
		p.flow = flow
		return p, err
	case *Email:
		own := *given
		p := &provider{providerBase: own.base(), email: &own, hashes: s.hashes}
		if own.Secret != "" {
			p.hashes = tokenhash.New(own.Secret)
		}
		p.hashes = p.hashes.Tenant(s.Tenant)
		env.fillEmail(&own)
		if err := own.complete(s.HTTPClient); err != nil {
			return p, &Error{Code: ErrConfiguration, Provider: p.id, Err: err}
		}
		if own.Send == nil {
			return p, &Error{Code: ErrConfiguration, Provider: p.id, Err: errors.New("Email.Send is nil: set it, for example to smtp.New(…).Send")}
		}
		return p, nil
	case *Credentials:
		own := *given
		p := &provider{providerBase: own.base(), credentials: &own}
		if own.Authorize == nil {
			return p, &Error{Code: codeMissingAuthorize, Provider: p.id, Err: errors.New("Credentials.Authorize is nil: set it to a function that checks what was submitted")}
		}
		return p, nil
	case *Passkey:
		own := *given
		return &provider{providerBase: own.base(), passkey: &own}, own.checkAutofill()
	}
	panic("unreachable: the set of provider kinds is closed")
}

// checkProviderID refuses ids that no URL could name: the path is compared
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

// checkKinds refuses combinations of providers and sessions that cannot work.
func (s *settings) checkKinds() *Error {
	if fault := s.checkConditionalUI(); fault != nil {
		return fault
	}
	credentials := 0
	for _, p := range s.providers {
		if p.credentials != nil {
			credentials++
		}
	}
	if s.strategy == StrategyDatabase && credentials > 0 && credentials == len(s.providers) {
		return fail(codeUnsupportedStrategy, errors.New("credentials providers alone cannot use database sessions, which are the default with a Config.Store: set Config.Session.Strategy to StrategyJWT"))
	}
	return nil
}

// checkClients refuses OAuth providers whose credentials are not set, so that a
// deployment that lost a variable does not start. Without them the first user who
// chooses the provider would find out.
func (s *settings) checkClients() *Error {
	var first *Error
	var missing []error
	for _, p := range s.providers {
		if p.flow == nil {
			continue
		}
		if err := p.flow.CheckClient(); err != nil {
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
