package authtest

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// An exchange is one request with its response: its parameters, and the settings
// of the provider when it came in.
type exchange struct {
	r        *http.Request
	endpoint Endpoint
	issuer   string
	form     url.Values
	faults   faultSet
	tamper   Tamper
	recorded *Request
}

func (x *exchange) url(e Endpoint) string { return strings.TrimSuffix(x.issuer, "/") + string(e) }

// A route is the handler of an endpoint, and its methods.
type route struct {
	methods string
	serve   func(*IdentityProvider, http.ResponseWriter, *exchange)
}

var routes = map[Endpoint]route{
	DiscoveryEndpoint:     {"GET HEAD", (*IdentityProvider).serveDiscovery},
	JWKSEndpoint:          {"GET HEAD", (*IdentityProvider).serveJWKS},
	AuthorizationEndpoint: {"GET POST", (*IdentityProvider).serveAuthorization},
	ConsentEndpoint:       {"POST", (*IdentityProvider).serveConsent},
	TokenEndpoint:         {"POST", (*IdentityProvider).serveToken},
	UserInfoEndpoint:      {"GET POST", (*IdentityProvider).serveUserInfo},
	UserEndpoint:          {"GET", (*IdentityProvider).serveUser},
	UserEmailsEndpoint:    {"GET", (*IdentityProvider).serveUserEmails},
	EndSessionEndpoint:    {"GET POST", (*IdentityProvider).serveEndSession},
	RevocationEndpoint:    {"POST", (*IdentityProvider).serveRevocation},
	PushEndpoint:          {"POST", (*IdentityProvider).servePush},

	OAuth1RequestTokenEndpoint:  {"POST", (*IdentityProvider).serveOAuth1RequestToken},
	OAuth1AuthorizationEndpoint: {"GET", (*IdentityProvider).serveOAuth1Authorization},
	OAuth1ConsentEndpoint:       {"POST", (*IdentityProvider).serveOAuth1Consent},
	OAuth1AccessTokenEndpoint:   {"POST", (*IdentityProvider).serveOAuth1AccessToken},
	OAuth1AccountEndpoint:       {"GET", (*IdentityProvider).serveOAuth1Account},

	ElsewhereEndpoint:         {"GET HEAD POST", (*IdentityProvider).serveElsewhere},
	DistributedClaimsEndpoint: {"GET HEAD POST", (*IdentityProvider).serveElsewhere},
}

// maxBody bounds the forms the provider reads.
const maxBody = 1 << 20

// ServeHTTP answers one request.
func (p *IdentityProvider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	endpoint := Endpoint(strings.TrimPrefix(r.URL.Path, p.opts.Path))
	route, ok := routes[endpoint]
	if !ok || !strings.HasPrefix(r.URL.Path, p.opts.Path) {
		http.NotFound(w, r)
		return
	}
	x, err := p.open(w, r, endpoint)
	if err != nil {
		http.Error(w, "the request body is not a form of at most 1 MiB", http.StatusBadRequest)
		return
	}
	p.record(x)
	if serve, out := x.outage(); out {
		serve(w, x)
		return
	}
	if !slices.Contains(strings.Fields(route.methods), r.Method) {
		w.Header().Set("Allow", strings.ReplaceAll(route.methods, " ", ", "))
		http.Error(w, "Method Not Allowed", http.StatusMethodNotAllowed)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	route.serve(p, w, x)
}

// open reads the request and the provider's settings into one value.
func (p *IdentityProvider) open(w http.ResponseWriter, r *http.Request, endpoint Endpoint) (*exchange, error) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	if err := r.ParseForm(); err != nil {
		return nil, err
	}
	x := &exchange{r: r, endpoint: endpoint, issuer: p.issuer(r), form: r.Form}
	p.mu.Lock()
	defer p.mu.Unlock()
	x.faults, x.tamper = p.faults, p.tamper
	return x, nil
}

func (p *IdentityProvider) issuer(r *http.Request) string {
	if p.Issuer != "" {
		return p.Issuer
	}
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	return scheme + "://" + r.Host + p.opts.Path
}

// serveElsewhere is the end of requests that should not have been sent; their
// record is all that matters.
func (p *IdentityProvider) serveElsewhere(w http.ResponseWriter, _ *exchange) {
	writeJSON(w, http.StatusOK, map[string]any{})
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	encoded, err := json.Marshal(body)
	if err != nil {
		// Only Claims and Tamper can put such values there.
		http.Error(w, "authtest: the answer cannot be encoded as JSON: "+err.Error(), http.StatusInternalServerError)
		return
	}
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "application/json")
	}
	w.WriteHeader(status)
	w.Write(encoded)
}
