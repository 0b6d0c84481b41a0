package password

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"log/slog"
	"strings"
)

// Firebase holds the password hash parameters of a project of Firebase
// Authentication, as its console shows them under Users. Put it into
// [Hasher.Firebase], and import the hashes of the project with [Firebase.Import].
//
// The signer key is a secret of the project and is in no stored hash: with the rows
// alone, no password can be guessed. It is not printed or logged.
type Firebase struct {
	SignerKey     string // base64_signer_key
	SaltSeparator string // base64_salt_separator
	Rounds        int    // rounds
	MemoryCost    int    // mem_cost
}

// minSigner and maxSigner are the bounds of a signer key in bytes. Projects have 64.
const minSigner, maxSigner = 16, 256

// String names the project by what Import stores of its key. GoString and LogValue
// do the same.
func (f Firebase) String() string {
	key, err := f.signer()
	if err != nil {
		return "{no signer key}"
	}
	return "{" + signerID(key) + "}"
}

// GoString is String for the verb %#v.
func (f Firebase) GoString() string { return "password.Firebase" + f.String() }

// LogValue is String for the log.
func (f Firebase) LogValue() slog.Value { return slog.StringValue(f.String()) }

// Import checks the hash and the salt of a user, both in base64, as firebase
// auth:export and the Admin SDK write them, and returns the text to store, which
// [Hasher.Verify] accepts if [Hasher.Firebase] has the project. A user without a
// hash has no password: the text is empty. For errors see [Import]; one about the
// parameters does not match [ErrHash].
//
// https://github.com/firebase/scrypt
func (f Firebase) Import(hash, salt string) (string, error) {
	signer, err := f.signer()
	if err != nil {
		return "", err
	}
	separator, err := decodeBase64(padded, f.SaltSeparator)
	if err != nil {
		return "", fmt.Errorf("password: Firebase: SaltSeparator: %w", err)
	}
	cost, err := firebaseCost(f.MemoryCost, f.Rounds)
	if err != nil {
		return "", fmt.Errorf("password: Firebase: %w", err)
	}
	if hash == "" {
		return "", nil
	}
	// The Admin SDK writes the alphabet of URLs.
	standard := strings.NewReplacer("-", "+", "_", "/")
	own, err := decodeBase64(padded, standard.Replace(salt))
	if err != nil || len(own) == 0 {
		_, err := refuse("the salt is not base64 of a byte or more")
		return "", err
	}
	key, err := decodeBase64(padded, standard.Replace(hash))
	if err != nil || len(key) != len(signer) {
		_, err := refuse("the hash has another length than the signer key")
		return "", err
	}
	return Import(fmt.Sprintf("$firescrypt$ln=%d,r=%d,p=1,k=%s$%s$%s", f.MemoryCost, cost.r, signerID(signer),
		unpadded.EncodeToString(append(own, separator...)), unpadded.EncodeToString(key)))
}

// signer decodes the signer key.
func (f Firebase) signer() ([]byte, error) {
	key, err := decodeBase64(base64.StdEncoding, f.SignerKey)
	if err == nil {
		err = checkLen(len(key), minSigner, maxSigner)
	}
	if err != nil {
		return nil, fmt.Errorf("password: Firebase: SignerKey: %w", err)
	}
	return key, nil
}

// signerID tells which key a hash was made with, so that a missing key is an error
// and no wrong password. A key is random: nothing can be learnt from its digest.
func signerID(key []byte) string {
	sum := sha256.Sum256(key)
	return hex.EncodeToString(sum[:8])
}

func firebaseCost(memory, rounds int) (scryptCost, error) {
	if memory < 1 || memory > 31 {
		return scryptCost{}, fmt.Errorf("memory cost %d is not allowed", memory)
	}
	cost := scryptCost{1 << memory, rounds, 1}
	return cost, cost.check()
}

// A firebaseHash is the signer key, encrypted with the key that scrypt makes of the
// password.
type firebaseHash struct {
	scryptCost
	signer    string // signerID
	salt, key []byte
}

// parseFirebase reads ln=…,r=…,p=1,k=…$salt$key. The form is ours.
func parseFirebase(rest string) (form, error) {
	fields := strings.Split(rest, "$")
	if len(fields) != 3 {
		return refuse("hash of Firebase without parameters, salt and key")
	}
	cost, others, ok := parseScryptCost(fields[0])
	if !ok || len(others) != 1 || !strings.HasPrefix(others[0], "k=") {
		return refuse("parameters are not ln, r, p and k")
	}
	if err := cost.check(); err != nil {
		return refuse(err.Error())
	}
	salt, err := decodeBase64(unpadded, fields[1])
	if err != nil {
		return refuse("salt: " + err.Error())
	}
	key, err := decodeBase64(unpadded, fields[2])
	if err != nil {
		return refuse("key: " + err.Error())
	}
	if err := checkLen(len(salt), minForeignSalt, 2*maxSalt); err != nil {
		return refuse("salt: " + err.Error())
	}
	if err := checkLen(len(key), minSigner, maxSigner); err != nil {
		return refuse("key: " + err.Error())
	}
	return firebaseHash{cost, others[0][2:], salt, key}, nil
}

func (f firebaseHash) matches(h *Hasher, password string) (bool, error) {
	signer, err := h.signer(f.signer)
	if err != nil {
		return false, err
	}
	derived, err := f.scryptCost.key(h, password, f.salt, 32)
	if err != nil || len(derived) == 0 {
		return false, err
	}
	block, err := aes.NewCipher(derived)
	if err != nil { // 32 bytes are a key
		return false, fmt.Errorf("password: stored hash: %w", err)
	}
	sealed := make([]byte, len(signer))
	iv := make([]byte, aes.BlockSize)
	cipher.NewCTR(block, iv).XORKeyStream(sealed, signer) //nolint:gosec // zeros are the format, and each salt makes another key
	return subtle.ConstantTimeCompare(sealed, f.key) == 1, nil
}

// signer finds a signer key among the projects.
func (h *Hasher) signer(id string) ([]byte, error) {
	for _, project := range h.Firebase {
		key, err := project.signer()
		if err != nil {
			return nil, err
		}
		if signerID(key) == id {
			return key, nil
		}
	}
	return nil, fmt.Errorf("password: stored hash: its project is not in Hasher.Firebase: %w", ErrHash)
}
