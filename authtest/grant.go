package authtest

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"slices"
	"time"
)

const (
	codeLifetime    = time.Minute
	refreshLifetime = 30 * 24 * time.Hour
)

// A grant is one authorization of a client by a person: the origin of a code and of
// all tokens that came from it.
type grant struct {
	client      string
	redirectURI string
	scopes      []string
	nonce       string
	challenge   string
	acr         string
	jkt         string // of the key that the code is bound to
	person      Person
	authTime    time.Time

	codeUsed bool
	revoked  bool
}

func (g *grant) asked(scope string) bool { return slices.Contains(g.scopes, scope) }

// verifies reports whether verifier is the secret behind the challenge.
//
// https://www.rfc-editor.org/rfc/rfc7636#section-4.6
func (g *grant) verifies(verifier string) bool {
	hash := sha256.Sum256([]byte(verifier))
	challenge := base64.RawURLEncoding.EncodeToString(hash[:])
	return subtle.ConstantTimeCompare([]byte(challenge), []byte(g.challenge)) == 1
}

// A ticket is one string a client can present for a grant.
type ticket struct {
	grant   *grant
	scopes  []string
	expires time.Time
	spent   bool   // a refresh token that has been replaced
	jkt     string // of the key that an access token is bound to
}

// grants are the codes and tokens that are out. The provider's mutex guards
// them.
type grants struct {
	codes, access, refresh map[string]*ticket
}

func newGrants() grants {
	return grants{codes: map[string]*ticket{}, access: map[string]*ticket{}, refresh: map[string]*ticket{}}
}

// issue puts a new ticket into tickets, and drops the expired ones on the way
// so that a provider that runs for days does not grow.
func issue(tickets map[string]*ticket, g *grant, scopes []string, lifetime time.Duration) string {
	now := time.Now()
	for value, t := range tickets {
		if now.After(t.expires) {
			delete(tickets, value)
		}
	}
	value := rand.Text()
	tickets[value] = &ticket{grant: g, scopes: scopes, expires: now.Add(lifetime)}
	return value
}

// live returns the ticket behind value if it may still be used.
func live(tickets map[string]*ticket, value string) (*ticket, bool) {
	t, ok := tickets[value]
	if !ok || t.grant.revoked || time.Now().After(t.expires) {
		return nil, false
	}
	return t, true
}

// addGrant returns an authorization code for g.
func (p *IdentityProvider) addGrant(g *grant) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return issue(p.grants.codes, g, g.scopes, codeLifetime)
}

// redeemCode returns the grant behind an authorization code, once. A second
// attempt also revokes the tokens of the first, since one of the two was made
// by a thief.
//
// https://www.rfc-editor.org/rfc/rfc6749#section-4.1.2
func (p *IdentityProvider) redeemCode(code string, faults faultSet) (*grant, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t, ok := live(p.grants.codes, code)
	if !ok {
		return nil, false
	}
	if t.grant.codeUsed && !faults.has(CodeReplayAllowed) {
		t.grant.revoked = true
		return nil, false
	}
	t.grant.codeUsed = true
	return t.grant, true
}

// redeemRefresh returns the grant behind a refresh token of client, and
// retires the token. Presenting a retired one revokes the grant.
//
// https://www.rfc-editor.org/rfc/rfc9700#section-4.14.2
func (p *IdentityProvider) redeemRefresh(token, client string, faults faultSet) (*ticket, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t, ok := live(p.grants.refresh, token)
	if !ok || t.grant.client != client {
		return nil, false
	}
	if t.spent && !faults.has(RefreshTokenReuseAllowed) {
		t.grant.revoked = true
		return nil, false
	}
	t.spent = true
	return t, true
}

// bearer returns the grant of an access token.
func (p *IdentityProvider) bearer(token string) (*ticket, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return live(p.grants.access, token)
}

// revokeAll ends every grant of a person to a client.
func (p *IdentityProvider) revokeAll(client, subject string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, tickets := range []map[string]*ticket{p.grants.codes, p.grants.access, p.grants.refresh} {
		for _, t := range tickets {
			if t.grant.client == client && t.grant.person.Subject == subject {
				t.grant.revoked = true
			}
		}
	}
}
