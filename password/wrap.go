package password

import (
	"context"
	"crypto"
	_ "crypto/md5"  //nolint:gosec // what other systems have stored is hashed again
	_ "crypto/sha1" //nolint:gosec // likewise
	_ "crypto/sha256"
	_ "crypto/sha512"
	"fmt"
	"strings"
)

// A Digest is what a system stored that computed a single digest of a password,
// without a salt or with one. An attacker who reads it guesses billions of passwords
// a second. It is never stored here as it is: see [Hasher.Wrap].
type Digest struct {
	Hash     crypto.Hash // crypto.MD5, SHA1, SHA224, SHA256, SHA384 or SHA512
	Sum      []byte      // the digest, not as hexadecimal or base64
	Salt     []byte      // what was hashed with the password; may be empty
	SaltLast bool        // whether the salt came after the password, not before it
}

// digests are the names of digests in stored hashes.
var digests = map[string]crypto.Hash{
	"md5": crypto.MD5, "sha1": crypto.SHA1, "sha224": crypto.SHA224,
	"sha256": crypto.SHA256, "sha384": crypto.SHA384, "sha512": crypto.SHA512,
}

// Wrap hashes a digest with Argon2id and returns the text to store, which
// [Hasher.Verify] accepts for the password of the digest. It costs as much as
// [Hasher.Hash], waits like it, and returns an error that matches [ErrHash] for a
// digest that it does not know.
//
// A password that is easy to guess from the digest stays so for an attacker who has
// the old table: delete it, and its backups.
func (h *Hasher) Wrap(ctx context.Context, d Digest) (string, error) {
	p, err := h.cost()
	if err != nil {
		return "", err
	}
	for name, known := range digests {
		if known != d.Hash {
			continue
		}
		if err := checkLen(len(d.Sum), known.Size(), known.Size()); err != nil {
			_, err := refuse("digest: " + err.Error())
			return "", err
		}
		if err := checkLen(len(d.Salt), 0, maxSalt); err != nil {
			_, err := refuse("salt: " + err.Error())
			return "", err
		}
		s, err := h.fresh(ctx, p, string(d.Sum))
		if err != nil {
			return "", err
		}
		order := ""
		if d.SaltLast {
			order = ",salt-last"
		}
		return fmt.Sprintf("$wrapped$%s%s$%s%s", name, order, unpadded.EncodeToString(d.Salt), s), nil
	}
	_, err = refuse("an unknown digest")
	return "", err
}

// A wrappedHash is a hash of Argon2id of a digest of the password.
type wrappedHash struct {
	stored
	digest crypto.Hash
	prefix []byte // the salt of the digest
	suffix []byte // the same, after the password
}

// parseWrapped reads digest$salt$argon2id$… or digest,salt-last$salt$argon2id$….
// The form is ours.
func parseWrapped(rest string) (form, error) {
	scheme, rest, _ := strings.Cut(rest, "$")
	salt, phc, _ := strings.Cut(rest, "$")
	name, last := strings.CutSuffix(scheme, ",salt-last")
	digest, known := digests[name]
	if !known {
		return refuse("wrapped, with an unknown digest")
	}
	salted, err := decodeBase64(unpadded, salt)
	if err != nil {
		return refuse("wrapped, salt: " + err.Error())
	}
	if err := checkLen(len(salted), 0, maxSalt); err != nil {
		return refuse("wrapped, salt: " + err.Error())
	}
	s, err := parsePHC("$" + phc)
	if err != nil {
		return nil, err
	}
	w := wrappedHash{stored: s, digest: digest, prefix: salted}
	if last {
		w.prefix, w.suffix = nil, salted
	}
	return w, nil
}

func (w wrappedHash) matches(h *Hasher, password string) (bool, error) {
	d := w.digest.New()
	d.Write(w.prefix)
	d.Write([]byte(password))
	d.Write(w.suffix)
	return w.stored.matches(h, string(d.Sum(nil)))
}
