package oauth

// A ClientAuth is how a client authenticates at the token endpoint.
//
// https://openid.net/specs/openid-connect-core-1_0.html#ClientAuthentication
type ClientAuth string

// The methods of client authentication.
const (
	// ClientSecretBasic sends the secret in the header Authorization. It is the
	// default.
	ClientSecretBasic ClientAuth = "client_secret_basic"

	// ClientSecretPost sends the secret in the form.
	ClientSecretPost ClientAuth = "client_secret_post"

	// ClientSecretJWT signs an assertion with the secret.
	ClientSecretJWT ClientAuth = "client_secret_jwt"

	// PrivateKeyJWT signs an assertion with a private key.
	PrivateKeyJWT ClientAuth = "private_key_jwt"

	// PublicClient sends the client id alone. Such a client has no secret.
	PublicClient ClientAuth = "none"
)
