package authtest

import (
	"crypto/rand"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// requestURIPrefix begins the references to pushed requests.
const requestURIPrefix = "urn:ietf:params:oauth:request_uri:"

// A pushedRequest is the parameters of an authorization request that a client sent
// directly.
type pushedRequest struct {
	client  string
	form    url.Values
	expires time.Time
}

// servePush keeps the parameters of an authorization request, and answers with a reference
// to them.
//
// https://www.rfc-editor.org/rfc/rfc9126#section-2
func (p *IdentityProvider) servePush(w http.ResponseWriter, x *exchange) {
	client, method, err := p.authenticate(x)
	if err != nil {
		p.refuseToken(w, x, &protocolError{"invalid_client", err.Error()})
		return
	}
	if failed := p.checkFAPIClient(method); failed != nil {
		p.refuseToken(w, x, failed)
		return
	}
	jkt, failed := p.checkProof(w, x, "")
	if failed != nil {
		p.refuseToken(w, x, failed)
		return
	}
	form := url.Values{}
	for name, values := range x.r.PostForm {
		if !strings.HasPrefix(name, "client_assertion") && name != "client_secret" {
			form[name] = values
		}
	}
	form.Set("client_id", client.ID)
	if jkt != "" && form.Has("dpop_jkt") && form.Get("dpop_jkt") != jkt {
		p.refuseToken(w, x, &protocolError{"invalid_dpop_proof", "dpop_jkt is not the key of the proof"})
		return
	}
	if jkt != "" {
		form.Set("dpop_jkt", jkt)
	}
	if form.Has("request_uri") {
		p.refuseToken(w, x, &protocolError{"invalid_request", "a pushed request has no request_uri"})
		return
	}
	checked := *x
	checked.form = form
	if _, problem, failed := p.readAuthorization(&checked); problem != "" || failed != nil {
		if failed == nil {
			failed = &protocolError{"invalid_request", problem}
		}
		p.refuseToken(w, x, failed)
		return
	}
	uri := requestURIPrefix + rand.Text()
	p.keepPushed(uri, pushedRequest{client.ID, form, time.Now().Add(time.Minute)})
	body := map[string]any{"request_uri": uri, "expires_in": 60}
	spoil(x.faults, pushChanges, body)
	writeJSON(w, http.StatusCreated, body)
}

func (p *IdentityProvider) keepPushed(uri string, r pushedRequest) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for old, known := range p.pushed {
		if time.Now().After(known.expires) {
			delete(p.pushed, old)
		}
	}
	p.pushed[uri] = r
}

// unpushed puts the parameters that were pushed in the place of a reference to them. The
// consent page has the reference too, so it works more than once.
//
// https://www.rfc-editor.org/rfc/rfc9126#section-4
func (p *IdentityProvider) unpushed(form url.Values) (url.Values, *protocolError) {
	uri := form.Get("request_uri")
	if !strings.HasPrefix(uri, requestURIPrefix) {
		if p.opts.RequirePush || p.opts.FAPI2 {
			return nil, &protocolError{"invalid_request", "the parameters have to be pushed"}
		}
		return form, nil
	}
	if p.opts.FAPI2 && len(form) != 2 {
		return nil, &protocolError{"invalid_request", "the browser carries more than client_id and request_uri"}
	}
	p.mu.Lock()
	known, ok := p.pushed[uri]
	p.mu.Unlock()
	if !ok || known.client != form.Get("client_id") || time.Now().After(known.expires) {
		return nil, &protocolError{"invalid_request_uri", "the request_uri is unknown, of another client or older than a minute"}
	}
	return known.form, nil
}

// checkFAPIClient returns what keeps a client with this method from the profile.
func (p *IdentityProvider) checkFAPIClient(method string) *protocolError {
	if p.opts.FAPI2 && method != PrivateKeyJWT {
		return &protocolError{"invalid_client", "the client must authenticate with private_key_jwt"}
	}
	return nil
}

// Faults of pushed authorization requests.
const (
	PushWithoutURI     Fault = "answers a pushed request without a reference"
	PushURINotText     Fault = "answers a pushed request with an object as the reference"
	PushURIHuge        Fault = "answers a pushed request with a reference of 2 KiB"
	PushURIWithSpace   Fault = "answers a pushed request with a reference that has white space"
	PushWithoutExpiry  Fault = "does not say how long a pushed request is kept"
	PushAlreadyExpired Fault = "answers a pushed request with a reference that has expired"
)

var pushChanges = []change[map[string]any]{
	{PushWithoutURI, drop("request_uri")},
	{PushURINotText, set("request_uri", map[string]any{"urn": "a"})},
	{PushURIHuge, set("request_uri", requestURIPrefix+strings.Repeat("a", 2<<10))},
	{PushURIWithSpace, func(b map[string]any) { b["request_uri"] = b["request_uri"].(string) + " &client_id=other" }},
	{PushWithoutExpiry, drop("expires_in")},
	{PushAlreadyExpired, set("expires_in", 0)},
}
