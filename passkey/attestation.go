package passkey

// An Attestation is an authenticator's statement about itself, made with a new
// credential. Its signature is verified, but not who signed it: any program can
// make an attestation with the AAGUID of another authenticator. Only a chain of
// certificates to a root that the manufacturer has published shows that AAGUID is
// true.
//
// https://www.w3.org/TR/webauthn-3/#sctn-attestation
type Attestation struct {
	// AAGUID is the model of the authenticator. It is zero for security keys
	// that speak U2F, and for authenticators that do not tell.
	AAGUID [16]byte

	// Format is that of the statement, such as "packed" or "tpm". It is "none"
	// for an authenticator, or a browser, that attests nothing.
	//
	// https://www.iana.org/assignments/webauthn/webauthn.xhtml
	Format string

	// Object is the attestation object, in CBOR.
	//
	// https://www.w3.org/TR/webauthn-3/#attestation-object
	Object []byte

	// ClientDataHash is the SHA-256 hash of the client data, which the signature
	// covers together with the authenticator data in Object.
	ClientDataHash []byte
}
