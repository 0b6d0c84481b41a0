package authtest

import (
	"crypto/rand"
	"time"
)

// IDTokenFor returns an ID token of the [IdentityProvider.SignInAs] person as an SDK of
// the provider returns it to a page or an application: for an audience, with the claims
// azp and nonce unless they are empty. The application under test receives it as the
// field id_token of a POST to its route for ID tokens.
//
// change, if it is not nil, may change the header and the claims before the token is
// signed. IDTokenFor panics if what change leaves is no JSON.
func (p *IdentityProvider) IDTokenFor(audience, azp, nonce string, change func(header, claims map[string]any)) string {
	p.mu.Lock()
	person := p.person
	p.mu.Unlock()
	key, now := p.keys.signing(), time.Now()
	claims := person.claims([]string{"profile", "email"})
	claims["iss"], claims["aud"], claims["jti"] = p.Issuer, audience, rand.Text()
	claims["iat"], claims["exp"] = now.Unix(), now.Add(p.opts.TokenLifetime).Unix()
	if azp != "" {
		claims["azp"] = azp
	}
	if nonce != "" {
		claims["nonce"] = nonce
	}
	t := &idToken{header: map[string]any{"alg": key.alg, "typ": "JWT", "kid": key.id}, claims: claims, sign: key.sign}
	if change != nil {
		change(t.header, t.claims)
	}
	token, err := t.compact()
	if err != nil {
		panic(err)
	}
	return token
}
