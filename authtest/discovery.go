package authtest

import "net/http"

// serveDiscovery answers with the provider's metadata.
//
// https://openid.net/specs/openid-connect-discovery-1_0.html#ProviderMetadata
func (p *IdentityProvider) serveDiscovery(w http.ResponseWriter, x *exchange) {
	document := map[string]any{
		"issuer":                 x.issuer,
		"authorization_endpoint": x.url(AuthorizationEndpoint),
		"token_endpoint":         x.url(TokenEndpoint),
		"userinfo_endpoint":      x.url(UserInfoEndpoint),
		"jwks_uri":               x.url(JWKSEndpoint),
		"end_session_endpoint":   x.url(EndSessionEndpoint),
		"revocation_endpoint":    x.url(RevocationEndpoint),

		"pushed_authorization_request_endpoint": x.url(PushEndpoint),
		"require_pushed_authorization_requests": p.opts.FAPI2 || p.opts.RequirePush,
		"dpop_signing_alg_values_supported":     []string{"ES256"},

		"scopes_supported":                      []string{"openid", "profile", "email", "address", "phone", "offline_access"},
		"response_types_supported":              []string{"code"},
		"response_modes_supported":              []string{"query", "form_post"},
		"grant_types_supported":                 []string{"authorization_code", "refresh_token"},
		"subject_types_supported":               []string{"public"},
		"id_token_signing_alg_values_supported": []string{p.keys.alg},
		"code_challenge_methods_supported":      []string{"S256"},
		"token_endpoint_auth_methods_supported": []string{
			ClientSecretBasic, ClientSecretPost, ClientSecretJWT, PrivateKeyJWT, ClientAuthNone,
		},
		"token_endpoint_auth_signing_alg_values_supported": []string{"HS256", "RS256", "PS256", "ES256", "EdDSA"},
		"claims_parameter_supported":                       false,
		"request_parameter_supported":                      false,
		"request_uri_parameter_supported":                  false,
		"authorization_response_iss_parameter_supported":   true,
	}
	spoil(x.faults, discoveryChanges, document)
	if x.tamper.Discovery != nil {
		x.tamper.Discovery(document)
	}
	writeJSON(w, http.StatusOK, document)
}

// serveJWKS answers with the public half of the signing key.
func (p *IdentityProvider) serveJWKS(w http.ResponseWriter, x *exchange) {
	honest := p.keys.signing().public()
	set := &keySet{Keys: []any{honest}, honest: honest, foreign: p.keys.foreign}
	spoil(x.faults, keySetChanges, set)
	writeJSON(w, http.StatusOK, map[string]any{"keys": set.Keys})
}
