package authtest

import "github.com/go-jose/go-jose/v4"

// Faults of the discovery document.
const (
	DiscoveryForeignIssuer        Fault = "names another issuer in discovery"
	DiscoveryIssuerWithSlash      Fault = "adds a slash to the issuer in discovery"
	DiscoveryWithoutIssuer        Fault = "names no issuer in discovery"
	DiscoveryMalformedIssuer      Fault = "names an issuer in discovery that is not a URL"
	DiscoveryPlainHTTPEndpoints   Fault = "has token, userinfo and JWKS endpoints on another host over plain http"
	DiscoveryLinkLocalEndpoints   Fault = "has token, userinfo and JWKS endpoints at the address of cloud metadata services"
	DiscoveryWithoutAuthorization Fault = "has no authorization endpoint"
	DiscoveryWithoutToken         Fault = "has no token endpoint"
	DiscoveryWithoutUserInfo      Fault = "has no userinfo endpoint"
	DiscoveryWithoutJWKS          Fault = "has no JWKS"
	DiscoveryWithoutAlgorithms    Fault = "lists no algorithms for ID tokens"
	DiscoveryForeignAlgorithm     Fault = "lists only PS512 for ID tokens"
	DiscoveryListsNone            Fault = "lists the algorithm none for ID tokens"
	DiscoveryListsHS256           Fault = "lists HS256, keyed by the client secret, for ID tokens"
	DiscoveryWithoutPKCE          Fault = "does not list PKCE"
	DiscoveryPlainPKCE            Fault = "lists only plain PKCE"

	// DiscoveryWithoutIssuerParameter alone is an honest, older provider:
	// it neither promises nor sends the iss parameter of RFC 9207. Together
	// with [ResponseWrongIssuer] it sends a wrong one unannounced.
	DiscoveryWithoutIssuerParameter Fault = "does not promise an iss parameter"
)

var discoveryChanges = []change[map[string]any]{
	{DiscoveryForeignIssuer, set("issuer", foreignIssuer)},
	{DiscoveryIssuerWithSlash, func(d map[string]any) { d["issuer"] = d["issuer"].(string) + "/" }},
	{DiscoveryWithoutIssuer, drop("issuer")},
	{DiscoveryMalformedIssuer, set("issuer", "not a url")},
	{DiscoveryPlainHTTPEndpoints, backChannelAt("http://idp.example.test")},
	{DiscoveryLinkLocalEndpoints, backChannelAt("http://169.254.169.254/latest")},
	{DiscoveryWithoutAuthorization, drop("authorization_endpoint")},
	{DiscoveryWithoutToken, drop("token_endpoint")},
	{DiscoveryWithoutUserInfo, drop("userinfo_endpoint")},
	{DiscoveryWithoutJWKS, drop("jwks_uri")},
	{DiscoveryWithoutAlgorithms, drop("id_token_signing_alg_values_supported")},
	{DiscoveryForeignAlgorithm, set("id_token_signing_alg_values_supported", []string{"PS512"})},
	{DiscoveryListsNone, listAlgorithm("none")},
	{DiscoveryListsHS256, listAlgorithm("HS256")},
	{DiscoveryWithoutPKCE, drop("code_challenge_methods_supported")},
	{DiscoveryPlainPKCE, set("code_challenge_methods_supported", []string{"plain"})},
	{DiscoveryWithoutIssuerParameter, drop("authorization_response_iss_parameter_supported")},
}

const foreignIssuer = "https://another-issuer.example.test"

func backChannelAt(base string) func(map[string]any) {
	return func(d map[string]any) {
		d["token_endpoint"] = base + string(TokenEndpoint)
		d["userinfo_endpoint"] = base + string(UserInfoEndpoint)
		d["jwks_uri"] = base + string(JWKSEndpoint)
	}
}

func listAlgorithm(alg string) func(map[string]any) {
	return func(d map[string]any) {
		listed, _ := d["id_token_signing_alg_values_supported"].([]string)
		d["id_token_signing_alg_values_supported"] = append(listed, alg)
	}
}

// Faults of the key set. See also [IdentityProvider.RotateKeys].
const (
	JWKSEmpty           Fault = "shows no keys"
	JWKSSeveralKeys     Fault = "shows other keys before its own"
	JWKSSymmetricKey    Fault = "shows a symmetric key under the id of its key"
	JWKSEncryptionKey   Fault = "marks its only key as one for encryption"
	JWKSWithoutKeyID    Fault = "shows its key without an id"
	JWKSForeignKey      Fault = "shows a key that is not the one it signs with, under its id"
	JWKSMalformedMember Fault = "shows a key of an unknown type beside its own"

	// KeysRotateBeforeSigning makes each ID token the first of a new key.
	KeysRotateBeforeSigning Fault = "changes its key just before it signs"
)

// A keySet is a JWKS before it is sent: the keys and the other members.
type keySet struct {
	Keys    []any
	honest  jose.JSONWebKey
	foreign func() signingKey
}

var keySetChanges = []change[*keySet]{
	{JWKSEmpty, func(s *keySet) { s.Keys = []any{} }},
	{JWKSSeveralKeys, func(s *keySet) { s.Keys = append([]any{s.foreign().public()}, s.Keys...) }},
	{JWKSSymmetricKey, func(s *keySet) {
		s.Keys = []any{map[string]any{"kty": "oct", "kid": s.honest.KeyID, "use": "sig", "k": "c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LXNlY3I"}}
	}},
	{JWKSEncryptionKey, func(s *keySet) {
		k := s.honest
		k.Use = "enc"
		s.Keys = []any{k}
	}},
	{JWKSWithoutKeyID, func(s *keySet) {
		k := s.honest
		k.KeyID = ""
		s.Keys = []any{k}
	}},
	{JWKSForeignKey, func(s *keySet) {
		k := s.foreign().public()
		k.KeyID = s.honest.KeyID
		s.Keys = []any{k}
	}},
	{JWKSMalformedMember, func(s *keySet) {
		s.Keys = append([]any{map[string]any{"kty": "QUANTUM", "kid": "q-1", "q": 42}}, s.Keys...)
	}},
}
