package oauth

// An Algorithm is a signature algorithm of JSON Web Signatures, by its name.
//
// https://www.rfc-editor.org/rfc/rfc7518#section-3.1
// https://www.rfc-editor.org/rfc/rfc8037#section-3.1
type Algorithm string

// The algorithms. Those of HMAC use the client secret as the key.
const (
	RS256 Algorithm = "RS256"
	RS384 Algorithm = "RS384"
	RS512 Algorithm = "RS512"
	PS256 Algorithm = "PS256"
	PS384 Algorithm = "PS384"
	PS512 Algorithm = "PS512"
	ES256 Algorithm = "ES256"
	ES384 Algorithm = "ES384"
	ES512 Algorithm = "ES512"
	EdDSA Algorithm = "EdDSA"
	HS256 Algorithm = "HS256"
	HS384 Algorithm = "HS384"
	HS512 Algorithm = "HS512"
)
