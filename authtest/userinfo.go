package authtest

import (
	"maps"
	"net/http"
	"slices"
	"strings"
)

// tell returns the claims about who, with the faults that change them.
func (x *exchange) tell(who Person, scopes []string) map[string]any {
	spoil(x.faults, personChanges, &who)
	claims := who.claims(scopes)
	spoil(x.faults, claimChanges, claims)
	return claims
}

// authorized returns the person and scopes of the access token in x, or responds
// with an error. It reads tokens from the header or a form body, never from the
// query, because that is logged.
//
// https://www.rfc-editor.org/rfc/rfc6750#section-2
func (p *IdentityProvider) authorized(w http.ResponseWriter, x *exchange, schemes ...string) (*ticket, bool) {
	scheme, token, _ := strings.Cut(x.r.Header.Get("Authorization"), " ")
	jkt := ""
	if strings.EqualFold(scheme, "DPoP") {
		var failed *protocolError
		if jkt, failed = p.checkProof(w, x, strings.TrimSpace(token)); failed != nil {
			x.challengeProof(w, failed)
			return nil, false
		}
		if jkt != "" {
			schemes = append(schemes, scheme)
		}
	}
	known := slices.ContainsFunc(schemes, func(s string) bool { return strings.EqualFold(s, scheme) })
	if scheme == "" {
		token, known = x.r.PostForm.Get("access_token"), x.r.PostForm.Has("access_token")
	}
	if !known {
		w.Header().Set("WWW-Authenticate", `Bearer realm="authtest"`)
		writeJSON(w, http.StatusUnauthorized, map[string]any{"error": "invalid_request", "error_description": "there is no bearer token"})
		return nil, false
	}
	t, ok := p.bearer(strings.TrimSpace(token))
	if ok && t.jkt != jkt {
		x.challengeProof(w, &protocolError{"invalid_token", "the access token is bound to a key, and this is no proof of it"})
		return nil, false
	}
	if !ok {
		w.Header().Set("WWW-Authenticate", `Bearer realm="authtest", error="invalid_token"`)
		writeJSON(w, http.StatusUnauthorized, map[string]any{"error": "invalid_token", "error_description": "the access token is unknown, expired or revoked"})
		return nil, false
	}
	return t, true
}

// serveUserInfo responds with the claims for the scopes of the access token.
//
// https://openid.net/specs/openid-connect-core-1_0.html#UserInfo
func (p *IdentityProvider) serveUserInfo(w http.ResponseWriter, x *exchange) {
	t, ok := p.authorized(w, x, "Bearer")
	if !ok {
		return
	}
	body := x.tell(t.grant.person, t.scopes)
	spoil(x.faults, userInfoChanges, &userInfo{body: body, distributedAt: x.url(DistributedClaimsEndpoint)})
	if x.tamper.Profile != nil {
		x.tamper.Profile(body)
	}
	if !x.faults.has(UserInfoSigned) {
		writeJSON(w, http.StatusOK, body)
		return
	}
	p.sendSignedUserInfo(w, x, t, body)
}

// sendSignedUserInfo answers as if the client had registered for signed
// responses.
func (p *IdentityProvider) sendSignedUserInfo(w http.ResponseWriter, x *exchange, t *ticket, body map[string]any) {
	key := p.keys.signing()
	claims := maps.Clone(body)
	claims["iss"], claims["aud"] = x.issuer, t.grant.client
	signed, err := (&idToken{
		header: map[string]any{"alg": key.alg, "kid": key.id},
		claims: claims,
		sign:   key.sign,
	}).compact()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/jwt")
	w.Write([]byte(signed))
}

// serveUser answers as a plain OAuth 2.0 service does.
func (p *IdentityProvider) serveUser(w http.ResponseWriter, x *exchange) {
	t, ok := p.authorized(w, x, "Bearer", "token")
	if !ok {
		return
	}
	who := t.grant.person
	spoil(x.faults, personChanges, &who)
	p.sendProfile(w, x, map[string]any{
		"id":         who.Number(),
		"login":      who.Login,
		"type":       "User",
		"name":       orNull(who.Name),
		"email":      orNull(who.Email),
		"avatar_url": orNull(who.Picture),
	}, who)
}

// serveUserEmails responds with the person's addresses.
//
// https://docs.github.com/rest/users/emails
func (p *IdentityProvider) serveUserEmails(w http.ResponseWriter, x *exchange) {
	t, ok := p.authorized(w, x, "Bearer", "token")
	if !ok {
		return
	}
	who := t.grant.person
	spoil(x.faults, personChanges, &who)
	emails := []map[string]any{}
	if who.Email != "" {
		emails = append(emails, map[string]any{
			"email": who.Email, "primary": true, "verified": who.EmailVerified, "visibility": "private",
		})
	}
	writeJSON(w, http.StatusOK, emails)
}

// sendProfile answers with a profile that is not OpenID Connect's.
func (p *IdentityProvider) sendProfile(w http.ResponseWriter, x *exchange, body map[string]any, who Person) {
	maps.Copy(body, who.Claims)
	spoil(x.faults, profileChanges, body)
	if x.tamper.Profile != nil {
		x.tamper.Profile(body)
	}
	writeJSON(w, http.StatusOK, body)
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}
