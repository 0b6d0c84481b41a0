package authtest

import (
	"crypto/rand"
	"crypto/subtle"
	"time"
)

// An oauth1Token is a token of OAuth 1.0a and its secret: first the temporary
// credentials that travel with the browser, later those of an account.
type oauth1Token struct {
	secret   string
	consumer string
	expires  time.Time

	// Of temporary credentials.
	callback string
	verifier string // empty until a person consents

	person Person
}

// oauth1Tokens are the tokens that are out. The provider's mutex guards them.
type oauth1Tokens struct {
	temporary, access map[string]*oauth1Token
}

func newOAuth1Tokens() oauth1Tokens {
	return oauth1Tokens{temporary: map[string]*oauth1Token{}, access: map[string]*oauth1Token{}}
}

// putOAuth1 adds t to tokens and returns its name.
func (p *IdentityProvider) putOAuth1(tokens map[string]*oauth1Token, t *oauth1Token, lifetime time.Duration) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	for name, old := range tokens {
		if now.After(old.expires) {
			delete(tokens, name)
		}
	}
	t.secret, t.expires = rand.Text(), now.Add(lifetime)
	name := rand.Text()
	tokens[name] = t
	return name
}

// getOAuth1 returns a copy of the named token.
func (p *IdentityProvider) getOAuth1(tokens map[string]*oauth1Token, name string) (oauth1Token, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t, ok := tokens[name]
	if !ok || time.Now().After(t.expires) {
		return oauth1Token{}, false
	}
	return *t, true
}

// verifyTemporary records that who consented to the named temporary credentials,
// and returns the callback and the verifier. It works once.
func (p *IdentityProvider) verifyTemporary(name string, who Person) (callback, verifier string, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t, ok := p.oauth1.temporary[name]
	if !ok || t.verifier != "" {
		return "", "", false
	}
	t.verifier, t.person = rand.Text(), who
	return t.callback, t.verifier, true
}

// takeTemporary removes and returns the temporary credentials called name if
// verifier is theirs.
func (p *IdentityProvider) takeTemporary(name, verifier string) (oauth1Token, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t, ok := p.oauth1.temporary[name]
	if !ok || t.verifier == "" || subtle.ConstantTimeCompare([]byte(t.verifier), []byte(verifier)) != 1 {
		return oauth1Token{}, false
	}
	delete(p.oauth1.temporary, name)
	return *t, true
}
