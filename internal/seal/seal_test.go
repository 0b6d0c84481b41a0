package seal_test

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha512"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/go-cmp/cmp"

	"github.com/pintleauth/pintle/internal/seal"
)

var b64 = base64.RawURLEncoding

func newKeys(t testing.TB, salt string, secrets ...string) *seal.Keys {
	t.Helper()
	keys, err := seal.New(secrets, salt)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// forge builds an authentic A256CBC-HS512 token from its parts: header is the
// JSON of the protected header, padded the plaintext with its padding.
func forge(key []byte, header string, padded []byte) string {
	h := b64.EncodeToString([]byte(header))
	iv := []byte("sixteen iv bytes")
	block, err := aes.NewCipher(key[32:])
	if err != nil {
		panic(err)
	}
	text := make([]byte, len(padded))
	cipher.NewCBCEncrypter(block, iv).CryptBlocks(text, padded)
	return h + ".." + b64.EncodeToString(iv) + "." + b64.EncodeToString(text) + "." +
		b64.EncodeToString(macOf(key, h, iv, text))
}

// macOf is the tag of RFC 7518, section 5.2.2.1, written down a second time.
func macOf(key []byte, header string, iv, text []byte) []byte {
	m := hmac.New(sha512.New, key[:32])
	m.Write([]byte(header))
	m.Write(iv)
	m.Write(text)
	m.Write(binary.BigEndian.AppendUint64(nil, uint64(len(header))*8))
	return m.Sum(nil)[:32]
}

func pad(plain string) []byte {
	n := 16 - len(plain)%16
	return append([]byte(plain), bytes.Repeat([]byte{byte(n)}, n)...)
}

func wantInvalid(t *testing.T, keys *seal.Keys, token string) {
	t.Helper()
	plain, err := keys.Open(nil, token)
	if !errors.Is(err, seal.ErrInvalid) || plain != nil { // SH-51: never both
		t.Errorf("Open(%.80q) = %q, %v; want nil and ErrInvalid", token, plain, err)
	}
}

func TestNewRejects(t *testing.T) {
	tests := []struct {
		name    string
		secrets []string
		salt    string
	}{
		{"no secret", nil, "salt"},
		{"an empty secret", []string{""}, "salt"},
		{"an empty secret behind a good one", []string{"good", ""}, "salt"},
		{"an empty salt", []string{"good"}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			keys, err := seal.New(tt.secrets, tt.salt)
			if err == nil || keys != nil {
				t.Errorf("New(%q, %q) = %v, %v; want an error", tt.secrets, tt.salt, keys, err)
			}
			if err != nil && strings.Contains(err.Error(), "good") {
				t.Errorf("the error %q contains a secret (SH-13)", err)
			}
		})
	}
}

func TestHeaderOfSealedTokens(t *testing.T) {
	for _, v := range loadVectors(t).Keys {
		t.Run(v.Salt, func(t *testing.T) {
			token := string(newKeys(t, v.Salt, secret, "an older one").AppendSeal(nil, []byte("{}")))
			head, _, _ := strings.Cut(token, ".")
			got, err := b64.DecodeString(head)
			if err != nil {
				t.Fatal(err)
			}
			want := `{"alg":"dir","enc":"A256CBC-HS512","kid":"` + v.Kid + `"}`
			if string(got) != want {
				t.Errorf("header %s, want %s", got, want)
			}
		})
	}
}

func TestOpenTokensOfAuthJS(t *testing.T) {
	for _, v := range loadVectors(t).Tokens {
		t.Run(v.Name, func(t *testing.T) {
			wantOpens(t, newKeys(t, v.Salt, secret), v.Token, []byte(v.Claims))
		})
	}
}

func TestTokensRoundTripWithGoJose(t *testing.T) {
	vectors := loadVectors(t)
	for _, v := range vectors.Keys {
		key, kid, kidGCM := vectors.key(t, v.Salt)
		keys := newKeys(t, v.Salt, secret)
		for size := range 50 {
			plain := bytes.Repeat([]byte("ß"), size)[:size]

			obj, err := jose.ParseEncryptedCompact(string(keys.AppendSeal(nil, plain)),
				[]jose.KeyAlgorithm{jose.DIRECT}, []jose.ContentEncryption{jose.A256CBC_HS512})
			if err != nil {
				t.Fatal(err)
			}
			got, err := obj.Decrypt(key)
			if err != nil || !bytes.Equal(got, plain) {
				t.Fatalf("go-jose reads %q, %v from our token of %q", got, err, plain)
			}

			wantOpens(t, keys, joseToken(t, jose.A256CBC_HS512, key, kid, nil, plain), plain)
			wantOpens(t, keys, joseToken(t, jose.A256CBC_HS512, key, "", nil, plain), plain)
			wantOpens(t, keys, joseToken(t, jose.A256GCM, key[:32], "", nil, plain), plain)
			if kidGCM != "" {
				wantOpens(t, keys, joseToken(t, jose.A256GCM, key[:32], kidGCM, nil, plain), plain)
			}
		}
	}
}

func wantOpens(t *testing.T, keys *seal.Keys, token string, plain []byte) {
	t.Helper()
	got, err := keys.Open(nil, token)
	if err != nil || !bytes.Equal(got, plain) {
		t.Errorf("Open(%.80q) = %q, %v; want %q", token, got, err, plain)
	}
}

func joseToken(t *testing.T, enc jose.ContentEncryption, key []byte, kid string, opts *jose.EncrypterOptions, plain []byte) string {
	t.Helper()
	e, err := jose.NewEncrypter(enc, jose.Recipient{Algorithm: jose.DIRECT, Key: key, KeyID: kid}, opts)
	if err != nil {
		t.Fatal(err)
	}
	obj, err := e.Encrypt(plain)
	if err != nil {
		t.Fatal(err)
	}
	token, err := obj.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func TestResultsAreAppended(t *testing.T) {
	keys := newKeys(t, sessionSalt, secret)
	token := keys.AppendSeal([]byte("cookie="), []byte("plain"))
	sealed, ok := strings.CutPrefix(string(token), "cookie=")
	if !ok {
		t.Fatalf("AppendSeal dropped what was there: %q", token)
	}
	for _, tok := range []string{sealed, loadVectors(t).token(t, "T5 without kid")} {
		for _, room := range []int{0, 1 << 10} {
			dst := append(make([]byte, 0, room), "before "...)
			got, err := keys.Open(dst, tok)
			if err != nil || !strings.HasPrefix(string(got), "before ") || len(got) == len(dst) {
				t.Errorf("Open with room for %d = %q, %v", room, got, err)
			}
		}
	}
}

func TestTokensOfOnePlaintextDiffer(t *testing.T) {
	keys := newKeys(t, sessionSalt, secret)
	seen := make(map[string]bool)
	for range 100 {
		parts := strings.Split(string(keys.AppendSeal(nil, []byte("{}"))), ".")
		if seen[parts[2]] || seen[parts[3]] {
			t.Fatal("an IV was used twice")
		}
		seen[parts[2]], seen[parts[3]] = true, true
	}
}

// SH-05: a token made for one purpose is not valid for another.
func TestOtherSaltsDoNotOpen(t *testing.T) {
	vectors := loadVectors(t)
	for _, v := range vectors.Tokens {
		for _, other := range vectors.Keys {
			if other.Salt != v.Salt {
				wantInvalid(t, newKeys(t, other.Salt, secret), v.Token)
			}
		}
	}
}

func TestRotation(t *testing.T) {
	vectors := loadVectors(t)
	key, kid, kidGCM := vectors.key(t, sessionSalt)
	plain := []byte(`{"sub":"42"}`)
	withKid := joseToken(t, jose.A256CBC_HS512, key, kid, nil, plain)
	gcmWithKid := joseToken(t, jose.A256GCM, key[:32], kidGCM, nil, plain)
	noKid := joseToken(t, jose.A256CBC_HS512, key, "", nil, plain)
	gcmNoKid := joseToken(t, jose.A256GCM, key[:32], "", nil, plain)

	t.Run("a token of an older secret opens by its kid", func(t *testing.T) {
		rotated := newKeys(t, sessionSalt, "new", "newer than old", secret)
		wantOpens(t, rotated, withKid, plain)
		wantOpens(t, rotated, gcmWithKid, plain)
		wantOpens(t, rotated, vectors.token(t, "T5 with kid"), []byte(`{"sub":"42","name":"Ann"}`))
	})
	t.Run("S-12 a token without kid opens with the first secret only", func(t *testing.T) {
		wantOpens(t, newKeys(t, sessionSalt, secret, "other"), noKid, plain)
		wantOpens(t, newKeys(t, sessionSalt, secret, "other"), gcmNoKid, plain)
		wantInvalid(t, newKeys(t, sessionSalt, "other", secret), noKid)
		wantInvalid(t, newKeys(t, sessionSalt, "other", secret), gcmNoKid)
		wantInvalid(t, newKeys(t, sessionSalt, "other", secret), vectors.token(t, "T5 without kid"))
	})
	t.Run("a token of a dropped secret does not open", func(t *testing.T) {
		wantInvalid(t, newKeys(t, sessionSalt, "new"), withKid)
		wantInvalid(t, newKeys(t, sessionSalt, "new"), gcmWithKid)
	})
	t.Run("the first secret seals", func(t *testing.T) {
		token := string(newKeys(t, sessionSalt, "new", secret).AppendSeal(nil, plain))
		wantOpens(t, newKeys(t, sessionSalt, "new"), token, plain)
		wantInvalid(t, newKeys(t, sessionSalt, secret), token)
	})
	t.Run("a kid of one encryption does not name a key of the other", func(t *testing.T) {
		keys := newKeys(t, sessionSalt, secret)
		wantInvalid(t, keys, joseToken(t, jose.A256CBC_HS512, key, kidGCM, nil, plain))
		wantInvalid(t, keys, joseToken(t, jose.A256GCM, key[:32], kid, nil, plain))
	})
}

// ASVS-9.1.2: one algorithm is accepted, whatever other members a header has.
func TestHeaders(t *testing.T) {
	key, kid, _ := vectorKey(t, sessionSalt)
	keys := newKeys(t, sessionSalt, secret)
	const plain = `{"sub":"42"}`

	tests := []struct {
		name   string
		header string
		want   bool
	}{
		{"without kid", `{"alg":"dir","enc":"A256CBC-HS512"}`, true},
		{"another member order", `{"kid":"` + kid + `","enc":"A256CBC-HS512","alg":"dir"}`, true},
		{"spaces", ` { "alg" : "dir", "enc" : "A256CBC-HS512" } `, true},
		{"escapes in a name", `{"\u0061lg":"dir","enc":"A256CBC-HS512"}`, true},
		{"typ, cty and unknown members", `{"typ":"JWT","cty":"x","n":{"a":[1]},"alg":"dir","enc":"A256CBC-HS512"}`, true},
		{"SH-55 more than 2^16 bits", `{"x":"` + strings.Repeat("x", 9000) + `","alg":"dir","enc":"A256CBC-HS512"}`, true},

		{"more than is parsed", `{"x":"` + strings.Repeat("x", 13000) + `","alg":"dir","enc":"A256CBC-HS512"}`, false},
		{"no alg", `{"enc":"A256CBC-HS512"}`, false},
		{"alg none", `{"alg":"none","enc":"A256CBC-HS512"}`, false},
		{"alg None", `{"alg":"nOnE","enc":"A256CBC-HS512"}`, false},
		{"alg DIR", `{"alg":"DIR","enc":"A256CBC-HS512"}`, false},
		{"alg null", `{"alg":null,"enc":"A256CBC-HS512"}`, false},
		{"alg as a list", `{"alg":["dir"],"enc":"A256CBC-HS512"}`, false},
		{"alg RSA-OAEP", `{"alg":"RSA-OAEP","enc":"A256CBC-HS512"}`, false},
		{"alg RSA1_5", `{"alg":"RSA1_5","enc":"A256CBC-HS512"}`, false},
		{"alg A128KW", `{"alg":"A128KW","enc":"A256CBC-HS512"}`, false},
		{"SH-53 alg ECDH-ES", `{"alg":"ECDH-ES","epk":{},"enc":"A256CBC-HS512"}`, false},
		{"SH-56 alg PBES2", `{"alg":"PBES2-HS256+A128KW","p2c":2147483647,"p2s":"eA","enc":"A256CBC-HS512"}`, false},
		{"Alg is not alg", `{"Alg":"dir","enc":"A256CBC-HS512"}`, false},
		{"no enc", `{"alg":"dir"}`, false},
		{"enc A128CBC-HS256", `{"alg":"dir","enc":"A128CBC-HS256"}`, false},
		{"enc A128GCM", `{"alg":"dir","enc":"A128GCM"}`, false},
		{"enc as a number", `{"alg":"dir","enc":1}`, false},
		{"kid of no key", `{"alg":"dir","enc":"A256CBC-HS512","kid":"x"}`, false},
		{"kid empty", `{"alg":"dir","enc":"A256CBC-HS512","kid":""}`, false},
		{"kid null", `{"alg":"dir","enc":"A256CBC-HS512","kid":null}`, false},
		{"SH-57 zip", `{"alg":"dir","enc":"A256CBC-HS512","zip":"DEF"}`, false},
		{"zip null", `{"alg":"dir","enc":"A256CBC-HS512","zip":null}`, false},
		{"crit", `{"alg":"dir","enc":"A256CBC-HS512","crit":["exp"],"exp":1}`, false},
		{"crit empty", `{"alg":"dir","enc":"A256CBC-HS512","crit":[]}`, false},
		{"a copy of iss", `{"alg":"dir","enc":"A256CBC-HS512","iss":"me"}`, false},
		{"a copy of sub", `{"alg":"dir","enc":"A256CBC-HS512","sub":"42"}`, false},
		{"a copy of aud", `{"alg":"dir","enc":"A256CBC-HS512","aud":"me"}`, false},
		{"alg twice", `{"alg":"dir","enc":"A256CBC-HS512","alg":"dir"}`, false},
		{"alg twice in two spellings", `{"alg":"dir","enc":"A256CBC-HS512","al\u0067":"dir"}`, false},
		{"an unknown member twice", `{"alg":"dir","enc":"A256CBC-HS512","x":1,"x":1}`, false},
		{"invalid UTF-8", "{\"alg\":\"dir\",\"enc\":\"A256CBC-HS512\",\"x\":\"\xff\"}", false},
		{"text after it", `{"alg":"dir","enc":"A256CBC-HS512"}{}`, false},
		{"not closed", `{"alg":"dir","enc":"A256CBC-HS512"`, false},
		{"a comma too many", `{"alg":"dir","enc":"A256CBC-HS512",}`, false},
		{"a list", `["alg","dir"]`, false},
		{"null", `null`, false},
		{"nothing", ``, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			token := forge(key, tt.header, pad(plain))
			if tt.want {
				wantOpens(t, keys, token, []byte(plain))
			} else {
				wantInvalid(t, keys, token)
			}
		})
	}
}

// SH-54 and SH-58: a token has five parts of base64url, the second of them
// empty. Anything else is rejected.
func TestMalformedTokens(t *testing.T) {
	vectors := loadVectors(t)
	key, _, _ := vectors.key(t, sessionSalt)
	keys := newKeys(t, sessionSalt, secret)
	good := string(keys.AppendSeal(nil, []byte(`{"sub":"42"}`)))
	parts := strings.Split(good, ".")
	foreign := strings.Split(forge(key, `{"alg":"dir","enc":"A256CBC-HS512"}`, pad("{}")), ".")
	gcm := strings.Split(vectors.token(t, "T5 without kid"), ".")

	set := func(parts []string, i int, s string) string {
		changed := append([]string(nil), parts...)
		changed[i] = s
		return strings.Join(changed, ".")
	}
	tests := map[string]string{
		"empty":              "",
		"one dot":            ".",
		"only dots":          "....",
		"header alone":       parts[0],
		"four parts":         strings.Join(parts[:4], "."),
		"six parts":          good + ".",
		"six parts and text": good + ".x",
		"JSON":               `{"protected":"` + parts[0] + `"}`,
		"a space before":     " " + good,
		"a line break after": good + "\n",
		"SH-49 many dots":    strings.Repeat(".", seal.MaxToken),
	}
	for name, p := range map[string][]string{"ours": parts, "foreign": foreign, "GCM": gcm} {
		tests[name+": an encrypted key"] = set(p, 1, "AAAA")
		for i := 2; i < 5; i++ {
			part := string(rune('0' + i))
			tests[name+": no part "+part] = set(p, i, "")
			tests[name+": short part "+part] = set(p, i, p[i][1:])
			tests[name+": long part "+part] = set(p, i, p[i]+"A")
			tests[name+": longer part "+part] = set(p, i, p[i]+"AAAA")
			tests[name+": padded part "+part] = set(p, i, p[i]+"=")
			tests[name+": line break in part "+part] = set(p, i, p[i][:4]+"\n"+p[i][4:])
			tests[name+": line break for a letter of part "+part] = set(p, i, p[i][:4]+"\r"+p[i][5:])
			tests[name+": dot in part "+part] = set(p, i, p[i][:4]+"."+p[i][5:])
			tests[name+": standard alphabet in part "+part] = set(p, i, "+/"+p[i][2:])
		}
	}
	for name, token := range tests {
		t.Run(name, func(t *testing.T) { wantInvalid(t, keys, token) })
	}
}

func TestEveryChangedByteIsNoticed(t *testing.T) {
	keys := newKeys(t, sessionSalt, secret)
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_."
	vectors := loadVectors(t)
	for _, name := range []string{"T1", "T5 without kid", "T5 with kid"} {
		token := []byte(vectors.token(t, name))
		for i, was := range token {
			// All 64 others at the places where trailing bits might be
			// ignored, and a neighbour in the alphabet anywhere else.
			others := alphabet
			if i+1 < len(token) && token[i+1] != '.' {
				others = alphabet[(strings.IndexByte(alphabet, was)+1)%len(alphabet):][:1]
			}
			for _, c := range []byte(others) {
				if c == was {
					continue
				}
				token[i] = c
				wantInvalid(t, keys, string(token))
			}
			token[i] = was
		}
		wantInvalid(t, keys, string(token[:len(token)-1]))
		for n := range token {
			wantInvalid(t, keys, string(token[:n]))
		}
	}
}

// The decoder skips line breaks, and the bytes that it then leaves unwritten may
// happen to be right: zeros, or the bytes of the last token.
func TestLineBreaksDoNotStandForBytes(t *testing.T) {
	key, _, _ := vectorKey(t, sessionSalt)
	keys := newKeys(t, sessionSalt, secret)
	zeroTag, zeroText := false, false
	for i := 0; !zeroTag || !zeroText; i++ {
		good := forge(key, `{"alg":"dir","enc":"A256CBC-HS512"}`, pad(strconv.Itoa(i)))
		if _, err := keys.Open(nil, good); err != nil {
			t.Fatal(err)
		}
		p := strings.Split(good, ".")
		wantInvalid(t, keys, p[0]+".."+p[2][:20]+"\r\n."+p[3]+"."+p[4])
		if tag, _ := b64.DecodeString(p[4]); tag[31] == 0 {
			zeroTag = true
			wantInvalid(t, keys, p[0]+".."+p[2]+"."+p[3]+"."+b64.EncodeToString(tag[:31])+"\n")
		}
		if text, _ := b64.DecodeString(p[3]); text[15] == 0 {
			zeroText = true
			wantInvalid(t, keys, p[0]+".."+p[2]+"."+b64.EncodeToString(text[:15])+"\n\n."+p[4])
		}
	}
}

// SH-60, ASVS-11.2.4, ASVS-11.2.5: tags are compared in constant time, padding is
// read only after the tag is verified, and every failure gives the same error.
func TestPadding(t *testing.T) {
	key, kid, _ := vectorKey(t, sessionSalt)
	keys := newKeys(t, sessionSalt, secret)
	ours := `{"alg":"dir","enc":"A256CBC-HS512","kid":"` + kid + `"}`

	for n := 1; n <= 16; n++ {
		block := append(bytes.Repeat([]byte("x"), 16-n), bytes.Repeat([]byte{byte(n)}, n)...)
		wantOpens(t, keys, forge(key, ours, block), block[:16-n])
		for i := range block[16-n : 15] {
			block[16-n+i] ^= 0x20
			wantInvalid(t, keys, forge(key, ours, block))
			block[16-n+i] ^= 0x20
		}
	}
	for _, n := range []byte{0, 17, 32, 255} {
		wantInvalid(t, keys, forge(key, ours, bytes.Repeat([]byte{n}, 48)))
	}
	wantInvalid(t, keys, forge(key, ours, nil))

	// The tag is right, but this is no sequence of blocks.
	h, iv := b64.EncodeToString([]byte(ours)), []byte("sixteen iv bytes")
	for _, n := range []int{1, 15, 17, 31} {
		text := make([]byte, n)
		wantInvalid(t, keys, h+".."+b64.EncodeToString(iv)+"."+b64.EncodeToString(text)+"."+
			b64.EncodeToString(macOf(key, h, iv, text)))
	}
}

func TestLengthIsBounded(t *testing.T) {
	keys := newKeys(t, sessionSalt, secret)
	plain := make([]byte, 786000)
	token := keys.AppendSeal(nil, plain)
	if len(token) > seal.MaxToken {
		t.Fatalf("the test's token has %d bytes, more than MaxToken", len(token))
	}
	wantOpens(t, keys, string(token), plain)

	token = keys.AppendSeal(nil, make([]byte, 787000))
	if len(token) <= seal.MaxToken {
		t.Fatalf("the test's token has %d bytes, no more than MaxToken", len(token))
	}
	wantInvalid(t, keys, string(token))
}

// SH-49: rejecting a token must not cost memory.
func TestRejectionIsCheap(t *testing.T) {
	keys := newKeys(t, sessionSalt, secret)
	for _, token := range []string{
		strings.Repeat(".", 1<<20),
		strings.Repeat("A", 1<<20),
		strings.Repeat("A", 100<<20),
		strings.Repeat("A", 1<<19) + ".." + strings.Repeat(".", 1<<18),
	} {
		const rounds = 10
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range rounds {
			if _, err := keys.Open(nil, token); err == nil {
				t.Fatalf("opened %.80q", token)
			}
		}
		runtime.ReadMemStats(&after)
		bytes := (after.TotalAlloc - before.TotalAlloc) / rounds
		if bytes > 64<<10 {
			t.Errorf("rejecting %d bytes allocates %d", len(token), bytes)
		}
	}
}

func TestKeysMayBeSharedBetweenGoroutines(t *testing.T) {
	keys := newKeys(t, sessionSalt, secret)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 50 {
				plain := bytes.Repeat([]byte{byte(g)}, 1+i*7)
				got, err := keys.Open(nil, string(keys.AppendSeal(nil, plain)))
				if err != nil || !bytes.Equal(got, plain) {
					t.Errorf("round trip of goroutine %d: %q, %v", g, got, err)
				}
			}
		})
	}
	wg.Wait()
}

// The parts that an attacker can write are read in one way only, and go-jose
// reads them the same way.
func FuzzOpen(f *testing.F) {
	vectors := loadVectors(f)
	key, _, _ := vectors.key(f, sessionSalt)
	keys := newKeys(f, sessionSalt, secret)
	for _, v := range vectors.Tokens {
		p := strings.Split(v.Token, ".")
		header, _ := b64.DecodeString(p[0])
		f.Add(header, p[2], p[3], p[4], false)
		f.Add(header, p[2], p[3], p[4], true)
	}
	f.Add([]byte(`{"alg":"dir","enc":"A256CBC-HS512"}`), "AAAAAAAAAAAAAAAAAAAAAA", "AAAAAAAAAAAAAAAAAAAAAA", "", true)
	f.Fuzz(func(t *testing.T, header []byte, iv, text, tag string, authentic bool) {
		h := b64.EncodeToString(header)
		if authentic { // so that the fuzzer gets past the tag
			rawIV, _ := b64.DecodeString(iv)
			rawText, _ := b64.DecodeString(text)
			tag = b64.EncodeToString(macOf(key, h, rawIV, rawText))
		}
		token := h + ".." + iv + "." + text + "." + tag
		got, err := keys.Open(nil, token)
		if err != nil {
			if !errors.Is(err, seal.ErrInvalid) || got != nil {
				t.Fatalf("Open = %q, %v", got, err)
			}
			return
		}
		for _, part := range []string{iv, text, tag} {
			raw, err := b64.DecodeString(part)
			if err != nil || b64.EncodeToString(raw) != part {
				t.Fatalf("accepted %q, which is a second spelling", part)
			}
		}
		if !json.Valid(header) {
			t.Fatalf("accepted the header %q", header)
		}
		obj, err := jose.ParseEncryptedCompact(token, []jose.KeyAlgorithm{jose.DIRECT},
			[]jose.ContentEncryption{jose.A256CBC_HS512, jose.A256GCM})
		if err != nil {
			t.Fatalf("go-jose does not parse the accepted %q: %v", token, err)
		}
		cek := key
		if bytes.Contains(header, []byte("GCM")) {
			cek = key[:32]
		}
		want, err := obj.Decrypt(cek)
		if err != nil {
			want, err = obj.Decrypt(key)
		}
		if err != nil {
			t.Fatalf("go-jose does not open %q: %v", token, err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Fatal(diff)
		}
	})
}
