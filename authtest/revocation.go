package authtest

import "net/http"

// serveRevocation ends a token of the client: with a refresh token the whole grant, with an
// access token that one.
//
// https://www.rfc-editor.org/rfc/rfc7009#section-2
func (p *IdentityProvider) serveRevocation(w http.ResponseWriter, x *exchange) {
	client, _, err := p.authenticate(x)
	if err != nil {
		p.refuseToken(w, x, &protocolError{"invalid_client", err.Error()})
		return
	}
	token := x.r.PostForm.Get("token")
	if token == "" {
		p.refuseToken(w, x, &protocolError{"invalid_request", "the parameter token is missing"})
		return
	}
	if !p.revoke(token, client.ID) {
		p.refuseToken(w, x, &protocolError{"invalid_request", "the token was issued to another client"})
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusOK)
}

// revoke ends a token, and reports false if it is of another client. A token that the
// provider does not know has ended already.
func (p *IdentityProvider) revoke(token, client string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if t, ok := p.grants.refresh[token]; ok {
		if t.grant.client != client {
			return false
		}
		t.grant.revoked = true
	}
	if t, ok := p.grants.access[token]; ok {
		if t.grant.client != client {
			return false
		}
		delete(p.grants.access, token)
	}
	return true
}
