package authtest

import (
	"net/http"
	"net/url"
	"slices"
	"time"
)

// A Request is one the provider has received, so that a test can check what an
// application sent. It holds the secrets of the request, too.
type Request struct {
	Endpoint Endpoint
	Method   string
	URL      *url.URL
	Header   http.Header
	Form     url.Values // parameters of the query and of a form body
	Time     time.Time

	// ClientID and ClientAuth are the client of a token request and its method
	// of authentication, such as [ClientSecretBasic]. They are empty if the
	// client did not authenticate.
	ClientID   string
	ClientAuth string
}

// maxRequests bounds the requests that a provider keeps which runs for days.
const maxRequests = 1000

// Requests returns the requests received at the given endpoints, oldest first, or
// all requests if no endpoint is given. A request is listed as soon as it arrives,
// before the response. Only the last 1000 are kept.
func (p *IdentityProvider) Requests(at ...Endpoint) []Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	var found []Request
	for _, r := range p.requests {
		if len(at) == 0 || slices.Contains(at, r.Endpoint) {
			found = append(found, *r)
		}
	}
	return found
}

// LastRequest returns the latest request at e, and reports whether there was
// one.
func (p *IdentityProvider) LastRequest(e Endpoint) (Request, bool) {
	found := p.Requests(e)
	if len(found) == 0 {
		return Request{}, false
	}
	return found[len(found)-1], true
}

// ForgetRequests empties the list of [IdentityProvider.Requests].
func (p *IdentityProvider) ForgetRequests() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests = nil
}

// record lists the request of x.
func (p *IdentityProvider) record(x *exchange) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.requests) == maxRequests {
		p.requests = slices.Delete(p.requests, 0, maxRequests/10)
	}
	x.recorded = &Request{
		Endpoint: x.endpoint,
		Method:   x.r.Method,
		URL:      x.r.URL,
		Header:   x.r.Header.Clone(),
		Form:     x.form,
		Time:     time.Now(),
	}
	p.requests = append(p.requests, x.recorded)
}

// recordClient adds to the request of x how its client authenticated.
func (p *IdentityProvider) recordClient(x *exchange, id, method string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	x.recorded.ClientID, x.recorded.ClientAuth = id, method
}
