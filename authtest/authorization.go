package authtest

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// An authorizationRequest is one whose client and redirect URI are verified, so
// that its other faults can be reported to the client.
//
// https://openid.net/specs/openid-connect-core-1_0.html#AuthRequest
type authorizationRequest struct {
	client      Client
	redirectURI string
	mode        string // "query" or "form_post"
	state       string
	hasState    bool
	scopes      []string
	nonce       string
	challenge   string
	acr         string
	loginHint   string
	maxAge      string
	prompts     []string
	jkt         string
}

// challengeForm is BASE64URL(SHA256(verifier)), RFC 7636 section 4.2.
var challengeForm = regexp.MustCompile(`^[A-Za-z0-9_-]{43}$`)

// readAuthorization checks the request in x. The problem it returns is shown in the
// browser, because the redirect URI cannot be trusted; the error code and
// description are for the client.
//
// https://www.rfc-editor.org/rfc/rfc6749#section-4.1.2.1
func (p *IdentityProvider) readAuthorization(x *exchange) (req *authorizationRequest, problem string, err *protocolError) {
	f := x.form
	for name, values := range f {
		if len(values) > 1 && name != "resource" {
			return nil, "The parameter " + name + " was sent more than once.", nil
		}
	}
	client, open, ok := p.lookUp(f.Get("client_id"))
	if !ok {
		return nil, "No client is registered with this client_id. Register it with authtest.Client.", nil
	}
	if !mayReturnTo(f.Get("redirect_uri"), client.RedirectURIs, open) {
		if open {
			return nil, "In open mode a redirect_uri must be an http or https address of this machine. Register a client to use another.", nil
		}
		return nil, "This redirect_uri is not one of those registered for the client; they are compared character by character.", nil
	}
	req = &authorizationRequest{
		client:      client,
		redirectURI: f.Get("redirect_uri"),
		mode:        "query",
		state:       f.Get("state"),
		hasState:    f.Has("state"),
		scopes:      strings.Fields(f.Get("scope")),
		nonce:       f.Get("nonce"),
		challenge:   f.Get("code_challenge"),
		loginHint:   f.Get("login_hint"),
		maxAge:      f.Get("max_age"),
		jkt:         f.Get("dpop_jkt"),
		prompts:     strings.Fields(f.Get("prompt")),
	}
	if acr := strings.Fields(f.Get("acr_values")); len(acr) > 0 {
		req.acr = acr[0]
	}
	if f.Get("response_mode") == "form_post" {
		req.mode = "form_post"
	}
	return req, "", p.checkAuthorization(x, req)
}

func (p *IdentityProvider) checkAuthorization(x *exchange, req *authorizationRequest) *protocolError {
	f := x.form
	method := f.Get("code_challenge_method")
	switch {
	case f.Has("request"):
		return &protocolError{"request_not_supported", "request objects are not supported"}
	case f.Has("request_uri"):
		return &protocolError{"request_uri_not_supported", "request_uri is not supported"}
	case !f.Has("response_type"):
		return &protocolError{"invalid_request", "response_type is missing"}
	case f.Get("response_type") != "code":
		return &protocolError{"unsupported_response_type", "only the response_type code is supported"}
	case f.Has("response_mode") && f.Get("response_mode") != req.mode:
		return &protocolError{"invalid_request", "the response_mode must be query or form_post"}
	case len(req.prompts) > 1 && slices.Contains(req.prompts, "none"):
		return &protocolError{"invalid_request", "the prompt none excludes other prompts"}
	case req.challenge == "" && method != "":
		return &protocolError{"invalid_request", "there is a code_challenge_method without code_challenge"}
	case req.challenge == "" && p.opts.RequirePKCE:
		return &protocolError{"invalid_request", "code_challenge is missing"}
	case req.challenge != "" && method != "S256":
		// Absent means plain, which RFC 9700 section 2.1.1 advises against.
		return &protocolError{"invalid_request", "the code_challenge_method must be S256"}
	case req.challenge != "" && !challengeForm.MatchString(req.challenge):
		return &protocolError{"invalid_request", "the code_challenge is not a base64url SHA-256 hash"}
	}
	return nil
}

// serveAuthorization responds to an authorization request: with a page, or at once
// if consent is automatic.
func (p *IdentityProvider) serveAuthorization(w http.ResponseWriter, x *exchange) {
	form, refused := p.unpushed(x.form)
	if refused != nil {
		p.showProblem(w, "The request is not complete: "+refused.description+".")
		return
	}
	x.form = form
	req, problem, failed := p.readAuthorization(x)
	switch {
	case problem != "":
		p.showProblem(w, problem)
	case failed != nil:
		p.respondError(w, x, req, failed)
	case p.opts.AutoConsent:
		who, ok := p.automatic(req.loginHint)
		if !ok {
			// Signing in another person instead would hide a mistake in the test.
			p.respondError(w, x, req, &protocolError{"access_denied", "no person here matches the login_hint"})
			return
		}
		p.respondCode(w, x, req, who)
	case slices.Contains(req.prompts, "none"):
		p.respondError(w, x, req, &protocolError{"login_required", "no user is signed in here: the provider keeps no sessions"})
	default:
		p.showConsent(w, consentOf(x, req))
	}
}

// serveConsent handles the form of the consent page. The authorization request is
// still in the query of the address, and checked again.
func (p *IdentityProvider) serveConsent(w http.ResponseWriter, x *exchange) {
	if !p.sameOrigin(w, x) {
		return
	}
	answer := x.r.PostForm
	asked := *x
	form, refused := p.unpushed(x.r.URL.Query())
	if refused != nil {
		p.showProblem(w, "The request is not complete: "+refused.description+".")
		return
	}
	asked.form = form
	req, problem, failed := p.readAuthorization(&asked)
	if problem != "" {
		p.showProblem(w, problem)
		return
	}
	if failed != nil {
		p.respondError(w, x, req, failed)
		return
	}
	switch who, choice := p.chosen(answer); choice {
	case choseDenial:
		p.respondError(w, x, req, &protocolError{"access_denied", "the user denied the request"})
	case choseWrongly:
		page := consentOf(&asked, req)
		page.retry(answer)
		p.showConsent(w, page)
	default:
		p.respondCode(w, x, req, who)
	}
}

// automatic returns the person who consents automatically.
func (p *IdentityProvider) automatic(hint string) (Person, bool) {
	p.mu.Lock()
	chosen := p.person
	p.mu.Unlock()
	if hint == "" || chosen.answersTo(hint) {
		return chosen, true
	}
	for _, who := range p.opts.People {
		if who.answersTo(hint) {
			return who, true
		}
	}
	return Person{}, false
}

func (p *IdentityProvider) respondCode(w http.ResponseWriter, x *exchange, req *authorizationRequest, who Person) {
	code := p.addGrant(&grant{
		client:      req.client.ID,
		redirectURI: req.redirectURI,
		scopes:      req.scopes,
		nonce:       req.nonce,
		challenge:   req.challenge,
		acr:         req.acr,
		jkt:         req.jkt,
		person:      who,
		authTime:    x.signedInAt(req),
	})
	p.respond(w, x, req, url.Values{"code": {code}})
}

// signedInAt returns when the user has signed in here. A provider with a session does not
// ask again unless the request wants that.
//
// https://openid.net/specs/openid-connect-core-1_0.html#AuthRequest
func (x *exchange) signedInAt(req *authorizationRequest) time.Time {
	const before = 24 * time.Hour
	now := time.Now()
	if !x.faults.has(RemembersItsUser) || slices.Contains(req.prompts, "login") {
		return now
	}
	if limit, err := strconv.ParseInt(req.maxAge, 10, 64); err == nil && limit < int64(before/time.Second) {
		return now
	}
	return now.Add(-before)
}

func (p *IdentityProvider) respondError(w http.ResponseWriter, x *exchange, req *authorizationRequest, e *protocolError) {
	p.respond(w, x, req, url.Values{"error": {e.code}, "error_description": {e.description}})
}

// respond sends the browser back to the client with the answer.
//
// https://www.rfc-editor.org/rfc/rfc9207#section-2
func (p *IdentityProvider) respond(w http.ResponseWriter, x *exchange, req *authorizationRequest, answer url.Values) {
	if req.hasState {
		answer.Set("state", req.state)
	}
	if !x.faults.has(DiscoveryWithoutIssuerParameter) {
		answer.Set("iss", x.issuer)
	}
	spoil(x.faults, responseChanges, answer)
	if x.tamper.Response != nil {
		x.tamper.Response(answer)
	}
	if req.mode == "form_post" {
		p.showFormPost(w, req.redirectURI, answer)
		return
	}
	sendBack(w, x, req.redirectURI, answer)
}

// sendBack redirects the browser to target with more parameters.
func sendBack(w http.ResponseWriter, x *exchange, target string, answer url.Values) {
	separator := "?"
	if strings.Contains(target, "?") {
		separator = "&"
	}
	if len(answer) > 0 {
		target += separator + answer.Encode()
	}
	// 303, so that the browser does not post the consent form to the client:
	// https://www.rfc-editor.org/rfc/rfc9700#section-4.12
	status := http.StatusSeeOther
	if x.r.Method == http.MethodGet {
		status = http.StatusFound
	}
	w.Header().Set("Location", target)
	w.WriteHeader(status)
}

// A protocolError is an error that is sent to the client.
type protocolError struct{ code, description string }
