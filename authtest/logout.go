package authtest

import (
	"encoding/json"
	"net/http"
	"net/url"

	"github.com/go-jose/go-jose/v4"
)

// serveEndSession signs the user out: it revokes the grants of the person in the
// hint to the client, and redirects the browser back.
//
// https://openid.net/specs/openid-connect-rpinitiated-1_0.html#RPLogout
func (p *IdentityProvider) serveEndSession(w http.ResponseWriter, x *exchange) {
	f := x.form
	clientID := f.Get("client_id")
	if f.Has("id_token_hint") {
		audience, subject, ok := p.readHint(x, f.Get("id_token_hint"))
		if !ok {
			p.showProblem(w, "The id_token_hint is not an ID token of this provider.")
			return
		}
		if clientID != "" && clientID != audience {
			p.showProblem(w, "The id_token_hint was issued to another client than client_id.")
			return
		}
		clientID = audience
		p.revokeAll(audience, subject)
	}
	target := f.Get("post_logout_redirect_uri")
	if target == "" {
		p.showSignedOut(w)
		return
	}
	client, open, ok := p.lookUp(clientID)
	if !ok || !mayReturnTo(target, client.PostLogoutRedirectURIs, open) {
		// "The OP MUST NOT perform post-logout redirection if the value
		// supplied does not exactly match one of the registered" ones.
		p.showProblem(w, "This post_logout_redirect_uri is not one of those registered for the client that id_token_hint or client_id names.")
		return
	}
	answer := url.Values{}
	if f.Has("state") {
		answer.Set("state", f.Get("state"))
	}
	spoil(x.faults, logoutChanges, answer)
	sendBack(w, x, target, answer)
}

// readHint returns whom an ID token of ours was issued to and about. It may
// have expired: a hint is not a credential.
func (p *IdentityProvider) readHint(x *exchange, hint string) (audience, subject string, ok bool) {
	jws, err := jose.ParseSignedCompact(hint, []jose.SignatureAlgorithm{jose.SignatureAlgorithm(p.keys.alg)})
	if err != nil {
		return "", "", false
	}
	for _, key := range p.keys.ever() {
		payload, err := jws.Verify(key.private.Public())
		if err != nil {
			continue
		}
		var claims struct {
			Issuer   string `json:"iss"`
			Subject  string `json:"sub"`
			Audience string `json:"aud"`
		}
		if json.Unmarshal(payload, &claims) != nil || claims.Issuer != x.issuer {
			return "", "", false
		}
		return claims.Audience, claims.Subject, true
	}
	return "", "", false
}
