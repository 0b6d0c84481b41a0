package authtest

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// serveToken answers token requests.
//
// https://www.rfc-editor.org/rfc/rfc6749#section-3.2
func (p *IdentityProvider) serveToken(w http.ResponseWriter, x *exchange) {
	for name, values := range x.r.PostForm {
		if len(values) > 1 && name != "resource" {
			p.refuseToken(w, x, &protocolError{"invalid_request", "the parameter " + name + " was sent more than once"})
			return
		}
	}
	client, method, err := p.authenticate(x)
	if err != nil {
		p.refuseToken(w, x, &protocolError{"invalid_client", err.Error()})
		return
	}
	jkt, failed := p.checkProof(w, x, "")
	if failed == nil {
		failed = p.checkFAPIClient(method)
	}
	if failed != nil {
		p.refuseToken(w, x, failed)
		return
	}
	issued, failed := p.redeem(x, client)
	if failed == nil && issued.grant.jkt != "" && !issued.refreshed && issued.grant.jkt != jkt {
		failed = &protocolError{"invalid_grant", "the code is bound to another key"}
	}
	issued.jkt = jkt
	spoil(x.faults, tokenErrorChanges, &failed)
	if failed != nil {
		p.refuseToken(w, x, failed)
		return
	}
	p.sendTokens(w, x, client, issued)
}

// issued is the content of a token response.
type issued struct {
	grant     *grant
	scopes    []string
	refreshed bool   // by a refresh token, not by a code
	jkt       string // of the key that the access token is bound to
}

// redeem checks the grant that the token request x presents.
func (p *IdentityProvider) redeem(x *exchange, client Client) (issued, *protocolError) {
	f := x.r.PostForm
	switch f.Get("grant_type") {
	case "authorization_code":
		g, err := p.redeemChecked(x, client)
		if err != nil {
			return issued{}, &protocolError{"invalid_grant", err.Error()}
		}
		return issued{grant: g, scopes: g.scopes}, nil
	case "refresh_token":
		t, ok := p.redeemRefresh(f.Get("refresh_token"), client.ID, x.faults)
		if !ok {
			return issued{}, &protocolError{"invalid_grant", "the refresh token is unknown, expired, revoked, replaced or of another client"}
		}
		scopes := t.scopes
		if f.Has("scope") {
			scopes = strings.Fields(f.Get("scope"))
			for _, scope := range scopes {
				if !slices.Contains(t.scopes, scope) {
					return issued{}, &protocolError{"invalid_scope", fmt.Sprintf("the scope %q was not granted", scope)}
				}
			}
		}
		return issued{grant: t.grant, scopes: scopes, refreshed: true}, nil
	case "":
		return issued{}, &protocolError{"invalid_request", "grant_type is missing"}
	}
	return issued{}, &protocolError{"unsupported_grant_type", "the grant_type must be authorization_code or refresh_token"}
}

// redeemChecked redeems the code in x if it comes back from where it went to.
func (p *IdentityProvider) redeemChecked(x *exchange, client Client) (*grant, error) {
	f := x.r.PostForm
	g, ok := p.redeemCode(f.Get("code"), x.faults)
	if !ok {
		return nil, errors.New("the code is unknown, older than a minute or has been used")
	}
	if g.client != client.ID {
		return nil, errors.New("the code was issued to another client")
	}
	if f.Get("redirect_uri") != g.redirectURI {
		return nil, errors.New("the redirect_uri is not the one the code was sent to")
	}
	if x.faults.has(PKCEIgnored) {
		return g, nil
	}
	verifier := f.Get("code_verifier")
	switch {
	case g.challenge == "" && verifier != "":
		// A verifier without a challenge is the sign of a downgrade:
		// https://www.rfc-editor.org/rfc/rfc9700#section-4.8.2
		return nil, errors.New("there is a code_verifier, but the authorization request had no code_challenge")
	case g.challenge != "" && !g.verifies(verifier):
		return nil, errors.New("the code_verifier does not match the code_challenge")
	}
	return g, nil
}

// refuseToken responds with an error.
//
// https://www.rfc-editor.org/rfc/rfc6749#section-5.2
func (p *IdentityProvider) refuseToken(w http.ResponseWriter, x *exchange, e *protocolError) {
	status := http.StatusBadRequest
	if e.code == "invalid_client" {
		status = http.StatusUnauthorized
		if x.r.Header.Get("Authorization") != "" {
			w.Header().Set("WWW-Authenticate", `Basic realm="authtest"`)
		}
	}
	if x.faults.has(TokenErrorWithStatus200) {
		status = http.StatusOK
	}
	writeJSON(w, status, map[string]any{"error": e.code, "error_description": e.description})
}

// sendTokens answers with new tokens.
//
// https://openid.net/specs/openid-connect-core-1_0.html#TokenResponse
func (p *IdentityProvider) sendTokens(w http.ResponseWriter, x *exchange, client Client, i issued) {
	accessToken, refreshToken := p.issueTokens(i, p.opts.TokenLifetime)
	body := map[string]any{
		"access_token": accessToken,
		"token_type":   "Bearer",
		"expires_in":   int(p.opts.TokenLifetime.Seconds()),
		"scope":        strings.Join(i.scopes, " "),
	}
	if i.jkt != "" {
		body["token_type"] = "DPoP"
	}
	if refreshToken != "" {
		body["refresh_token"] = refreshToken
	}
	if slices.Contains(i.scopes, "openid") {
		signed, err := p.idToken(x, client, i, accessToken)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		body["id_token"] = signed
	}
	spoil(x.faults, boundTypes, body)
	spoil(x.faults, tokenChanges, body)
	spoil(x.faults, idTokenForms, body)
	if x.tamper.Token != nil {
		x.tamper.Token(body)
	}
	if x.faults.has(TokenFormEncoded) {
		form := url.Values{}
		for name, value := range body {
			form.Set(name, fmt.Sprint(value))
		}
		w.Header().Set("Content-Type", "application/x-www-form-urlencoded")
		w.Write([]byte(form.Encode()))
		return
	}
	writeJSON(w, http.StatusOK, body)
}

// issueTokens returns an access token, and a refresh token if the person consented
// to offline access.
func (p *IdentityProvider) issueTokens(i issued, lifetime time.Duration) (access, refresh string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	access = issue(p.grants.access, i.grant, i.scopes, lifetime)
	p.grants.access[access].jkt = i.jkt
	if i.grant.asked("offline_access") {
		// A refresh may narrow the scope of the access token it gets, but not
		// that of the refresh token:
		// https://www.rfc-editor.org/rfc/rfc6749#section-6
		refresh = issue(p.grants.refresh, i.grant, i.grant.scopes, refreshLifetime)
	}
	return access, refresh
}
