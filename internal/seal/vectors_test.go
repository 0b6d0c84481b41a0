package seal_test

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"testing"
)

const (
	// secret is the one all vectors were made with.
	secret      = "0123456789abcdef0123456789abcdef"
	sessionSalt = "authjs.session-token"
)

// vectors are keys and tokens of Auth.js. The file explains its members; package
// token reads it too.
type vectors struct {
	Keys []struct {
		Salt, Key, Kid, Kid256 string
	}
	Tokens []struct {
		Name, Salt, Token, Claims string
	}
}

func loadVectors(t testing.TB) vectors {
	t.Helper()
	data, err := os.ReadFile("testdata/authjs.json")
	if err != nil {
		t.Fatal(err)
	}
	var v vectors
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	if len(v.Keys) != 5 || len(v.Tokens) != 6 {
		t.Fatalf("the file has %d keys and %d tokens", len(v.Keys), len(v.Tokens))
	}
	return v
}

// key returns the content key of a salt, and its thumbprints.
func (v vectors) key(t testing.TB, salt string) (key []byte, kid, kid256 string) {
	t.Helper()
	for _, k := range v.Keys {
		if k.Salt == salt {
			key, err := hex.DecodeString(k.Key)
			if err != nil {
				t.Fatal(err)
			}
			return key, k.Kid, k.Kid256
		}
	}
	t.Fatalf("no vector for salt %q", salt)
	return nil, "", ""
}

// token returns a token by its name in the file.
func (v vectors) token(t testing.TB, name string) string {
	t.Helper()
	for _, tok := range v.Tokens {
		if tok.Name == name {
			return tok.Token
		}
	}
	t.Fatalf("no vector called %q", name)
	return ""
}

// vectorKey is [vectors.key] for tests that need nothing else of the file.
func vectorKey(t testing.TB, salt string) (key []byte, kid, kid256 string) {
	t.Helper()
	return loadVectors(t).key(t, salt)
}
