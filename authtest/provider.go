package authtest

import (
	"cmp"
	"fmt"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
)

// OIDC returns a Pintle provider with the given id that signs users in here over
// OpenID Connect, with all three checks:
//
//	idp := authtest.Start(t, authtest.Options{AutoConsent: true})
//	auth, err := pintle.New(pintle.Config{
//		Providers: []pintle.Provider{idp.OIDC("acme")},
//		Secrets:   []string{"a secret of at least 32 characters"},
//	})
//
// The client id is the same as id. If a [Client] with that ID is registered, the
// provider authenticates with its Secret and its method. The caller may change the
// result. OIDC panics if the identity provider has no Issuer yet: call it after
// [IdentityProvider.Listen].
func (p *IdentityProvider) OIDC(id string) *pintle.OAuth {
	o := p.oauth(id, oauth.OIDC)
	o.Issuer = p.Issuer
	o.Checks = []oauth.Check{oauth.CheckPKCE, oauth.CheckState, oauth.CheckNonce}
	return o
}

// OAuth2 is [IdentityProvider.OIDC] over plain OAuth 2.0, with a profile like
// GitHub's. Like there, the address of the profile need not be verified.
func (p *IdentityProvider) OAuth2(id string) *pintle.OAuth {
	o := p.oauth(id, oauth.OAuth2)
	o.Authorization = oauth.Endpoint{URL: p.URL(AuthorizationEndpoint), Params: map[string]string{"scope": "read:user user:email"}}
	o.Token.URL = p.URL(TokenEndpoint)
	o.UserInfo.URL = p.URL(UserEndpoint)
	o.Checks = []oauth.Check{oauth.CheckPKCE, oauth.CheckState}
	o.Profile = func(profile pintle.Profile, _ *pintle.Account) (*pintle.User, error) {
		return &pintle.User{
			ID:    profile.ID("id"),
			Name:  cmp.Or(profile.Text("name"), profile.Text("login")),
			Email: profile.Text("email"),
			Image: profile.Text("avatar_url"),
		}, nil
	}
	return o
}

// OAuth1 is [IdentityProvider.OIDC] over OAuth 1.0a, whose signatures need a shared
// secret: it panics unless a [Client] with the ID id is registered.
func (p *IdentityProvider) OAuth1(id string) *pintle.OAuth {
	if _, open, ok := p.lookUp(id); open || !ok {
		panic(fmt.Sprintf("authtest: OAuth 1.0a needs a client: register one with the ID %q first", id))
	}
	o := p.oauth(id, oauth.OAuth1)
	o.RequestToken.URL = p.URL(OAuth1RequestTokenEndpoint)
	o.Authorization.URL = p.URL(OAuth1AuthorizationEndpoint)
	o.Token.URL = p.URL(OAuth1AccessTokenEndpoint)
	o.UserInfo.URL = p.URL(OAuth1AccountEndpoint)
	o.Profile = func(profile pintle.Profile, _ *pintle.Account) (*pintle.User, error) {
		return &pintle.User{
			ID:    cmp.Or(profile.Text("id_str"), profile.ID("id")),
			Name:  cmp.Or(profile.Text("name"), profile.Text("screen_name")),
			Email: profile.Text("email"),
			Image: profile.Text("profile_image_url_https"),
		}, nil
	}
	return o
}

// oauth returns the parts of a provider that the protocols share.
func (p *IdentityProvider) oauth(id string, protocol oauth.Protocol) *pintle.OAuth {
	if p.Issuer == "" {
		panic("authtest: the identity provider has no address yet: call Listen or set Issuer first")
	}
	o := &pintle.OAuth{
		ID: id, Name: p.opts.Name, Protocol: protocol,
		ClientID:     id,
		ClientSecret: "any secret will do", // in open mode
	}
	if c, open, ok := p.lookUp(id); ok && !open {
		o.ClientSecret, o.ClientAuth = c.Secret, oauth.ClientAuth(c.AuthMethod)
		if c.Secret == "" && c.Key == nil {
			o.ClientAuth = oauth.PublicClient
		}
	}
	return o
}
