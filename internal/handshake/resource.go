package handshake

import (
	"errors"
	"net/url"
)

const (
	maxResources = 8
	maxResource  = 512 // bytes
)

// checkResources rejects what is not the name of an API.
//
// https://www.rfc-editor.org/rfc/rfc8707#section-2
func (p *Provider) checkResources() error {
	var errs []error
	problem := func(format string, args ...any) { errs = append(errs, p.errorf(format, args...)) }
	if len(p.Resources) > maxResources {
		problem("Resources has %d entries: at most %d are possible", len(p.Resources), maxResources)
	}
	for i, resource := range p.Resources {
		u, err := url.Parse(resource)
		if err != nil || !u.IsAbs() || u.Fragment != "" || len(resource) > maxResource {
			problem("Resources[%d] is %q: it must be an absolute URI without a fragment, of at most %d bytes", i, clip(resource), maxResource)
		}
	}
	if len(p.Resources) == 0 {
		return nil
	}
	if _, found := p.Authorization.Params.First("resource"); found {
		problem("Resources and the parameter resource of Authorization contradict each other: leave the parameter out")
	}
	return errors.Join(errs...)
}

// addResources adds the parameter of every API to a token request.
func (p *Provider) addResources(form url.Values) {
	for _, resource := range p.Resources {
		form.Add("resource", resource)
	}
}
