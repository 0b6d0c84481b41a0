package passkey

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/go-webauthn/webauthn/protocol/webauthncose"
)

// algorithms are those offered for new credentials, in the order of Auth.js:
// Ed25519, ECDSA with P-256, and RSA with PKCS #1 for platforms that have no other.
//
// https://www.iana.org/assignments/cose/cose.xhtml#algorithms
var algorithms = []webauthncose.COSEAlgorithmIdentifier{
	webauthncose.AlgEdDSA, webauthncose.AlgES256, webauthncose.AlgRS256,
}

// Shorter RSA keys can be broken. Longer ones cost time to verify, and any client
// can register one.
const minRSABits, maxRSABits = 2048, 4096

// checkKey rejects keys that were not offered: of another algorithm, with another
// curve than the algorithm's, or of a bad length.
func checkKey(cose []byte) error {
	parsed, err := webauthncose.ParsePublicKey(cose)
	if err != nil {
		return fmt.Errorf("the public key cannot be used: %w", explain(err))
	}
	var alg webauthncose.COSEAlgorithmIdentifier
	switch key := parsed.(type) {
	case webauthncose.OKPPublicKeyData:
		alg = webauthncose.COSEAlgorithmIdentifier(key.Algorithm)
		if alg == webauthncose.AlgEdDSA {
			return nil
		}
	case webauthncose.EC2PublicKeyData:
		alg = webauthncose.COSEAlgorithmIdentifier(key.Algorithm)
		if alg == webauthncose.AlgES256 {
			return nil
		}
	case webauthncose.RSAPublicKeyData:
		alg = webauthncose.COSEAlgorithmIdentifier(key.Algorithm)
		bits := new(big.Int).SetBytes(key.Modulus).BitLen()
		if bits < minRSABits || bits > maxRSABits {
			return fmt.Errorf("the public key is RSA with %d bits: %d to %d are accepted", bits, minRSABits, maxRSABits)
		}
		if alg == webauthncose.AlgRS256 {
			return nil
		}
	default:
		return errors.New("the public key is of a kind that was not offered")
	}
	return fmt.Errorf("the public key is for the algorithm %d, which was not offered for its kind", alg)
}
