package pintle

// ProviderType says how a provider signs people in. Its values are those that
// the provider list shows to clients and that accounts are stored with.
type ProviderType string

// The types of provider.
const (
	TypeOAuth       ProviderType = "oauth"
	TypeOIDC        ProviderType = "oidc"
	TypeEmail       ProviderType = "email"
	TypeCredentials ProviderType = "credentials"
	TypeWebAuthn    ProviderType = "webauthn"
)
