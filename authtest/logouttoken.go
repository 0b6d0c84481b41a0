package authtest

import (
	"crypto/rand"
	"time"
)

// LogoutToken returns a logout token for a client, with which the provider ends the
// sessions of the [IdentityProvider.SignInAs] person there. The application under test
// receives it as the field logout_token of a POST to its route for back-channel logouts.
//
// change, if it is not nil, may change the header and the claims before the token is
// signed: it sets sid to end one session, for example. The ID tokens of this provider have
// a sid if [Tamper] puts one there. LogoutToken panics if what change leaves is no JSON.
//
// https://openid.net/specs/openid-connect-backchannel-1_0.html#LogoutToken
func (p *IdentityProvider) LogoutToken(client string, change func(header, claims map[string]any)) string {
	p.mu.Lock()
	subject := p.person.Subject
	p.mu.Unlock()
	key, now := p.keys.signing(), time.Now()
	t := &idToken{
		header: map[string]any{"alg": key.alg, "typ": "logout+jwt", "kid": key.id},
		claims: map[string]any{
			"iss": p.Issuer, "aud": client, "sub": subject, "iat": now.Unix(), "exp": now.Add(2 * time.Minute).Unix(), "jti": rand.Text(),
			"events": map[string]any{"http://schemas.openid.net/event/backchannel-logout": map[string]any{}},
		},
		sign: key.sign,
	}
	if change != nil {
		change(t.header, t.claims)
	}
	token, err := t.compact()
	if err != nil {
		panic(err)
	}
	return token
}
