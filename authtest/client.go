package authtest

import (
	"crypto"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/pintleauth/pintle/internal/loopback"
)

// The methods of client authentication at the token endpoint.
//
// https://openid.net/specs/openid-connect-core-1_0.html#ClientAuthentication
const (
	ClientSecretBasic = "client_secret_basic"
	ClientSecretPost  = "client_secret_post"
	ClientSecretJWT   = "client_secret_jwt"
	PrivateKeyJWT     = "private_key_jwt"
	ClientAuthNone    = "none"
)

// A Client is an application that may use the provider.
type Client struct {
	ID string

	// Secret is the client secret, and the consumer secret of OAuth 1.0a.
	// A client with neither Secret nor Key is public.
	Secret string

	// Key verifies the assertions of [PrivateKeyJWT]: an *rsa.PublicKey,
	// *ecdsa.PublicKey or ed25519.PublicKey.
	Key crypto.PublicKey

	// Name is shown on the consent page. Empty means ID.
	Name string

	// RedirectURIs are compared character by character with the redirect_uri of
	// a request, and with oauth_callback of OAuth 1.0a.
	//
	// https://www.rfc-editor.org/rfc/rfc9700#section-4.1.3
	RedirectURIs []string

	// PostLogoutRedirectURIs are where the end session endpoint may send
	// the browser.
	PostLogoutRedirectURIs []string

	// AuthMethod is the only way this client may authenticate. Empty means
	// any that its Secret or Key can prove.
	AuthMethod string
}

func (c Client) title() string {
	if c.Name != "" {
		return c.Name
	}
	return c.ID
}

// check panics when c could never work, since only the author of a test can
// have caused that.
func (c Client) check() {
	if c.ID == "" {
		panic("authtest: a Client needs an ID")
	}
	for _, raw := range slices.Concat(c.RedirectURIs, c.PostLogoutRedirectURIs) {
		u, err := url.Parse(raw)
		if err != nil || u.Scheme == "" || u.Fragment != "" {
			panic(fmt.Sprintf("authtest: client %q: %q is not an absolute URL without fragment", c.ID, raw))
		}
		if strings.ContainsAny(u.Host, " ;,'\"") {
			// The host becomes part of a Content-Security-Policy.
			panic(fmt.Sprintf("authtest: client %q: %q has no valid host", c.ID, raw))
		}
	}
}

// Register adds c, or replaces the client with its ID. The first registration
// ends the open mode described at [Options]. It may be called while the
// provider is serving, because the redirect URIs of an application under test
// are often known only once both listen.
func (p *IdentityProvider) Register(c Client) {
	c.check()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clients[c.ID] = c
}

// lookUp returns the client with the given id. In open mode every id is a client,
// and its secret is not checked.
func (p *IdentityProvider) lookUp(id string) (c Client, open, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.clients) == 0 {
		return Client{ID: id}, true, id != ""
	}
	c, ok = p.clients[id]
	return c, false, ok
}

// mayReturnTo reports whether the provider may send a browser to target for
// a client that registered the given URIs, or for any client in open mode.
func mayReturnTo(target string, registered []string, open bool) bool {
	if open {
		return isLoopback(target)
	}
	return slices.Contains(registered, target)
}

// isLoopback reports whether target is an http or https URL on this machine.
// Names that only resolve to it do not count: the operator of their DNS could
// change the address.
func isLoopback(target string) bool {
	u, err := url.Parse(target)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.User != nil || u.Fragment != "" {
		return false
	}
	// The host becomes a part of a Content-Security-Policy, so it must not end a
	// source or a directive there.
	return loopback.Host(u.Hostname()) && !strings.ContainsAny(u.Hostname(), " ;,'\"")
}
