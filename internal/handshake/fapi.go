package handshake

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/go-jose/go-jose/v4"

	"github.com/pintleauth/pintle/oauth"
)

// fapiAlgs are the algorithms that may sign anything.
//
// https://openid.net/specs/fapi-security-profile-2_0-final.html#section-5.4.1
var fapiAlgs = []jose.SignatureAlgorithm{jose.PS256, jose.ES256, jose.EdDSA}

// fapiAssertionType is the typ of client assertions.
//
// https://datatracker.ietf.org/doc/html/draft-ietf-oauth-rfc7523bis
const fapiAssertionType = "client-authentication+jwt"

// checkFAPI returns everything in the configuration that contradicts the profile.
//
// https://openid.net/specs/fapi-security-profile-2_0-final.html#section-5.3.3
func (p *Provider) checkFAPI() []error {
	if !p.FAPI {
		return nil
	}
	var errs []error
	wrong := func(is bool, format string, args ...any) {
		if is {
			errs = append(errs, p.errorf("FAPI2: "+format, args...))
		}
	}
	wrong(!p.PKCE, "Checks must have CheckPKCE")
	wrong(p.OIDC && !p.Nonce, "Checks must have CheckNonce")
	// As the profile has it for the servers, which reject what is a minute in the future.
	wrong(p.ClockSkew > fapiClockSkew, "ClockSkew is %s: it must be %s at most", p.ClockSkew, fapiClockSkew)
	wrong(p.Push == oauth.PushNever, "Push must not be PushNever")
	wrong(p.DPoP == oauth.DPoPWhenOffered, "DPoP must not be DPoPWhenOffered: bearer tokens are not accepted")
	wrong(p.ClientSecret != "" || p.ClientSecretFunc != nil, "a ClientSecret (%s) must not be set", variable(p.ID, p.Env, "SECRET"))
	wrong(p.hasAssertion(), "ClientAssertion and ClientAssertionFile must not be set: the client signs its assertions with ClientKeys")
	wrong(p.AuthMethod != "" && p.AuthMethod != authPrivateKeyJWT, "ClientAuth must be private_key_jwt, not %s", p.AuthMethod)
	wrong(len(p.clientKeys()) == 0, "ClientKeys must have a key")
	for i, key := range p.clientKeys() {
		if key.Signer == nil {
			continue // reported elsewhere
		}
		alg, err := p.algOfKey(key)
		wrong(err == nil && !slices.Contains(fapiAlgs, alg), "%s signs with %s: it must be PS256, ES256 or EdDSA", p.clientKeyName(i), alg)
	}
	wrong(p.AssertionAudience != "", "Quirks.AssertionAudience must not be set: the audience is the issuer")
	wrong(p.AssertionType != "" && p.AssertionType != fapiAssertionType, "Quirks.AssertionType must be %s", fapiAssertionType)
	for _, s := range []struct{ name, alg string }{{"SigningAlg", p.SigningAlg}, {"Quirks.UserInfoSigningAlg", p.UserInfoSigningAlg}} {
		wrong(s.alg != "" && !slices.Contains(fapiAlgs, jose.SignatureAlgorithm(s.alg)), "%s is %s: it must be PS256, ES256 or EdDSA", s.name, s.alg)
	}
	wrong(p.Issuer == "", "Issuer (%s) is missing", variable(p.ID, p.Env, "ISSUER"))
	wrong(p.TenantIssuer, "Quirks.TenantIssuer must not be set: the issuer is one")
	wrong(p.WellKnown != "" && p.Issuer != "" && !isSameOrigin(p.WellKnown, p.Issuer),
		"WellKnown must be on the host of the Issuer, which the metadata is about")
	for _, e := range []struct{ name, url string }{
		{"Authorization.URL", p.Authorization.URL},
		{"PushedAuthorization.URL", p.PushedAuthorization.URL},
		{"Token.URL", p.Token.URL},
		{"UserInfo.URL", p.UserInfo.URL},
		{"EndSession.URL", p.EndSessionEndpoint.URL},
		{"Revocation.URL", p.Revocation.URL},
		{"Quirks.JWKS", p.JWKS},
	} {
		wrong(e.url != "", "%s must not be set: the metadata has it", e.name)
	}
	for _, param := range p.Authorization.Params {
		wrong(param.Key == "response_type" && param.Value != "code" || p.isReservedName(param.Key) && param.Key != "response_type" && param.Key != "response_mode",
			"Authorization.Params must not have %s", param.Key)
	}
	wrong(p.TokenTypeOptional, "Quirks.TokenTypeOptional must not be set: the type shows that a token is bound")
	wrong(p.FormTokenBody, "Quirks.FormTokenBody must not be set: tokens come as JSON")
	for _, hook := range []struct {
		name string
		set  bool
	}{
		{"Metadata", p.Discovered != nil},
		{"TokenRequest", p.TokenRequest != nil},
		{"Exchange", p.Exchange != nil},
		{"TokenResponse", p.TokenResponse != nil},
	} {
		wrong(hook.set, "Quirks.%s must not be set: it can change what the profile fixes", hook.name)
	}
	wrong(p.AllowInsecure, "DangerouslyAllowHTTP must not be set")
	if err := checkTLS(p.Client); err != nil {
		errs = append(errs, p.errorf("FAPI2: HTTPClient: %w", err))
	}
	return errs
}

// isSameOrigin reports whether two URLs have one scheme and host.
func isSameOrigin(a, b string) bool {
	one, err := url.Parse(a)
	other, err2 := url.Parse(b)
	return err == nil && err2 == nil && one.Scheme == other.Scheme && strings.EqualFold(one.Host, other.Host)
}

// checkTLS rejects a client that accepts any server, or TLS before 1.2. The default of
// Go is 1.2.
//
// https://openid.net/specs/fapi-security-profile-2_0-final.html#section-5.2.1
func checkTLS(c *http.Client) error {
	if c == nil {
		return nil
	}
	transport, known := c.Transport.(*http.Transport)
	if !known || transport.TLSClientConfig == nil {
		return nil
	}
	config := transport.TLSClientConfig
	switch {
	case config.InsecureSkipVerify:
		return errors.New("InsecureSkipVerify must not be set")
	case config.MinVersion != 0 && config.MinVersion < tls.VersionTLS12:
		return fmt.Errorf("MinVersion must be TLS 1.2 or later, not %s", tls.VersionName(config.MinVersion))
	case config.MaxVersion != 0 && config.MaxVersion < tls.VersionTLS12:
		return fmt.Errorf("MaxVersion must be TLS 1.2 or later, not %s", tls.VersionName(config.MaxVersion))
	}
	return nil
}
