package accountsite

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pintleauth/pintle/accountstore"
)

// A Cell is a value of a database: of a column, a key or a field.
type Cell struct {
	Where string // its table, collection or key, and its column
	Value []byte
}

// Find returns where a copy of a database has a secret: as it is, in base64 or
// hexadecimal, or the bytes that it encodes, alone or within another text. Of a guessable
// one its SHA-256 is as good.
func (s Secret) Find(dump []Cell) (where []string) {
	var needles [][]byte
	for _, value := range s.Values {
		needles = append(needles, []byte(value))
		for _, decode := range []func(string) ([]byte, error){base64.RawURLEncoding.DecodeString, hex.DecodeString} {
			if random, err := decode(value); err == nil && len(random) >= 16 {
				needles = append(needles, random)
			}
		}
		if s.Guessable {
			sum := sha256.Sum256([]byte(value))
			needles = append(needles, sum[:])
		}
	}
	for _, c := range dump {
		if slices.ContainsFunc(needles, func(n []byte) bool { return holds(c.Value, n) }) {
			where = append(where, c.Where)
		}
	}
	return where
}

// holds reports whether a value has a secret in one of its forms.
func holds(value, secret []byte) bool {
	if bytes.Contains(value, secret) || bytes.Contains(bytes.ToLower(value), []byte(hex.EncodeToString(secret))) {
		return true
	}
	standard := bytes.ReplaceAll(bytes.ReplaceAll(value, []byte("-"), []byte("+")), []byte("_"), []byte("/"))
	for before := range 3 {
		// Where the secret does not begin a group of three bytes, what is before it is
		// in the first character, and so is what comes after it in the last.
		text := base64.RawStdEncoding.EncodeToString(append(make([]byte, before), secret...))
		first := []int{0, 2, 3}[before]
		last := len(text)
		if (before+len(secret))%3 != 0 {
			last--
		}
		if bytes.Contains(standard, []byte(text[first:last])) {
			return true
		}
	}
	return false
}

// GivesNothingAway fails the test if a copy of the database has a secret. Where a cell is
// one that Auth.js writes, and so has session tokens as they are, is plain.
func (j *Journey) GivesNothingAway(dump []Cell, plain func(where string) bool) {
	j.t.Helper()
	if len(dump) < 30 {
		j.t.Fatalf("the copy has %d values", len(dump))
	}
	readable := Secret{Name: "address", Values: []string{j.Address}}
	if len(readable.Find(dump)) == 0 {
		j.t.Error("the copy does not have what is not secret: the address of the user")
	}
	for _, s := range j.Secrets {
		for _, where := range s.Find(dump) {
			if s.Name != SessionToken || plain == nil || !plain(where) {
				j.t.Errorf("%s has a %s: %q", where, s.Name, s.Values)
			}
		}
	}
}

// SignsNoUserIn fails the test if a value of a copy of the database does what a secret
// does: as it is or encoded, as a token of a session or of a link, and as any cookie.
// Afterwards the secrets themselves have to work. plain is that of GivesNothingAway.
func (j *Journey) SignsNoUserIn(dump []Cell, plain func(where string) bool) {
	j.t.Helper()
	cookies := []string{"authjs.session-token"}
	for _, b := range []*Browser{j.half, j.waiting, j.Browser().Get(j.reset)} {
		for name := range b.Cookies() {
			if name != "authjs.csrf-token" && name != "authjs.callback-url" {
				cookies = append(cookies, name)
			}
		}
	}
	if len(cookies) != 4 {
		j.t.Fatalf("the cookies are %q, want those of a session, a sign-in that waits, a sign-up and a reset", cookies)
	}
	for where, candidate := range candidates(dump) {
		if plain != nil && plain(where) {
			continue
		}
		if got := j.Browser().SetCookie(cookies[0], candidate.text).User(); got != "" {
			j.t.Errorf("%s, %s, is the cookie of a session of %s", where, candidate.form, got)
		}
		for _, name := range cookies[1:] {
			b := j.Browser().SetCookie(name, candidate.text)
			for _, path := range []string{reset, signUpFinish, second} {
				if len(candidate.text) < sealedLength {
					continue
				}
				if b.Get(path); b.Status == http.StatusOK && b.At.Path == path {
					j.t.Errorf("%s, %s, is the cookie %s and opens %s", where, candidate.form, name, path)
				}
			}
		}
		for _, path := range []string{reset, signUpFinish} {
			if b := j.Browser().Get(path + "?token=" + url.QueryEscape(candidate.text)); b.Status == http.StatusOK {
				j.t.Errorf("%s, %s, is the token of a link to %s", where, candidate.form, path)
			}
		}
		j.isNoMailLink(where, candidate)
	}
	j.typesWhatIsStored()
	j.secretsWork()
}

// isNoMailLink opens a mail link that has a value as its token.
func (j *Journey) isNoMailLink(where string, c candidate) {
	if !j.Store.Features().Verifications {
		return
	}
	b := j.Browser().Get("/auth/callback/email?email=" + url.QueryEscape(j.Address) + "&token=" + url.QueryEscape(c.text))
	if b.At.Path == second || b.User() != "" {
		j.t.Errorf("%s, %s, is the token of a mail link", where, c.form)
	}
}

// typesWhatIsStored enters hashes and sealed secrets where the user enters the secrets.
func (j *Journey) typesWhatIsStored() {
	j.t.Helper()
	u, err := j.Store.UserByEmail(j.t.Context(), j.Address)
	if err != nil {
		j.t.Fatal(err)
	}
	rows, err := j.Store.AccountStore().Factors(j.t.Context(), u.ID)
	if err != nil {
		j.t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, row := range rows {
		if seen[row.Kind] {
			continue // as the others of the kind
		}
		seen[row.Kind] = true
		if b := j.Browser().SignIn(j.Address, row.Secret); b.At.Path == second || b.User() != "" {
			j.t.Errorf("the stored %s is the password", row.Kind)
		}
		if b := j.half.Get(second).Post(second, "code", row.Secret); b.User() != "" {
			j.t.Errorf("the stored %s is a code", row.Kind)
		}
	}
	if len(seen) != 3 {
		j.t.Errorf("the user has %v, want a password, an app and recovery codes", seen)
	}
	for where, c := range candidates(j.codes()) {
		if b := j.waiting.Get(signUpSent).Post(signUpSent, "code", c.text); b.At.Path != signUpSent {
			j.t.Errorf("%s, %s, is the mailed code", where, c.form)
		}
	}
}

// codes is the hash of the code of the sign-up that waits.
func (j *Journey) codes() []Cell {
	j.t.Helper()
	_, token, _ := strings.Cut(j.signUp, "token=")
	f, err := j.Store.AccountStore().Flow(j.t.Context(), sha256.Sum256([]byte(token)))
	if err != nil || f.Code == (accountstore.Hash{}) {
		j.t.Fatalf("the flow of the sign-up is %+v, %v", f, err)
	}
	return []Cell{{"the code", f.Code[:]}}
}

// secretsWork shows that what the values were refused for is not something else.
func (j *Journey) secretsWork() {
	j.t.Helper()
	j.signedIn.IsSignedInAs(j.Address)
	j.Browser().SetCookie("authjs.session-token", j.signedIn.Cookies()["authjs.session-token"]).IsSignedInAs(j.Address)
	j.Browser().Get(j.reset).IsAt(reset)
	j.Browser().Get(j.signUp).IsAt(signUpFinish)
	j.Browser().SignIn(j.Address, j.password).IsAt(second)
	j.half.Get(second).IsAt(second).Post(second, "code", j.recovery[0]).IsSignedInAs(j.Address)
}

// A candidate is a value of a copy as a thief would send it.
type candidate struct{ form, text string }

// candidates returns each value, and each text in a value that is JSON, in the forms in
// which a browser could send it.
func candidates(dump []Cell) func(yield func(where string, c candidate) bool) {
	return func(yield func(string, candidate) bool) {
		seen := map[string]bool{}
		for _, c := range dump {
			for _, value := range append(textsIn(c.Value), c.Value) {
				forms := []candidate{
					{"in base64url", base64.RawURLEncoding.EncodeToString(value)},
					{"in hexadecimal", hex.EncodeToString(value)},
				}
				if utf8.Valid(value) {
					forms = []candidate{{"as it is", string(value)}}
				}
				for _, form := range forms {
					if len(form.text) < 16 || seen[form.text] { // too short for a secret
						continue
					}
					seen[form.text] = true
					if !yield(c.Where, form) {
						return
					}
				}
			}
		}
	}
}

// textsIn returns the texts of a value that is JSON.
func textsIn(value []byte) (texts [][]byte) {
	var v any
	if json.Unmarshal(value, &v) != nil {
		return nil
	}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			texts = append(texts, []byte(v))
		case []any:
			for _, one := range v {
				walk(one)
			}
		case map[string]any:
			for _, one := range v {
				walk(one)
			}
		}
	}
	walk(v)
	return texts
}

// sealedLength is less than the length of any sealed value, which the cookies of flows are.
const sealedLength = 80
