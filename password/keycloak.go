package password

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// maxKeycloakText is how many characters of JSON ImportKeycloak reads.
const maxKeycloakText = 4096

// ImportKeycloak checks a password of Keycloak and returns the text to store, which
// [Hasher.Verify] accepts. Its arguments are the JSON in "secretData" and
// "credentialData" of a credential with the type "password", in an exported realm or
// in the table CREDENTIAL. The algorithms are argon2, pbkdf2-sha512, pbkdf2-sha256
// and pbkdf2. For errors see [Import].
//
// https://www.keycloak.org/docs-api/latest/rest-api/index.html#CredentialRepresentation
func ImportKeycloak(secretData, credentialData string) (string, error) {
	var secret struct {
		Value string `json:"value"`
		Salt  string `json:"salt"`
	}
	var credential struct {
		Algorithm  string              `json:"algorithm"`
		Iterations uint32              `json:"hashIterations"`
		Parameters map[string][]string `json:"additionalParameters"`
	}
	fail := func(what string) (string, error) {
		_, err := refuse(what)
		return "", err
	}
	if len(secretData)+len(credentialData) > maxKeycloakText {
		return fail("too long")
	}
	// The errors of the decoder may repeat a value.
	if json.Unmarshal([]byte(secretData), &secret) != nil || json.Unmarshal([]byte(credentialData), &credential) != nil {
		return fail("secretData and credentialData of Keycloak are not JSON of a password")
	}
	salt, err := decodeBase64(padded, secret.Salt)
	if err != nil {
		return fail("salt: " + err.Error())
	}
	key, err := decodeBase64(padded, secret.Value)
	if err != nil {
		return fail("value: " + err.Error())
	}
	switch credential.Algorithm {
	case "pbkdf2", "pbkdf2-sha256", "pbkdf2-sha512": // the names that passlib has too
		return Import(fmt.Sprintf("$%s$%d$%s$%s", credential.Algorithm, credential.Iterations,
			adapted.EncodeToString(salt), adapted.EncodeToString(key)))
	case "argon2":
	default:
		return fail("an unknown algorithm of Keycloak")
	}
	param := func(name string) string {
		if values := credential.Parameters[name]; len(values) == 1 {
			return values[0]
		}
		return ""
	}
	if param("type") != "id" || param("version") != "1.3" {
		return fail("Argon2 of another type than id or another version than 1.3")
	}
	memory, errM := strconv.ParseUint(param("memory"), 10, 32)
	threads, errP := strconv.ParseUint(param("parallelism"), 10, 8)
	if errM != nil || errP != nil {
		return fail("Argon2 without memory and parallelism")
	}
	s := stored{params{uint32(memory), credential.Iterations, uint8(threads)}, salt, key}
	return Import(s.String())
}
