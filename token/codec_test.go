package token_test

import (
	"encoding/json"
	"errors"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/google/go-cmp/cmp"

	"github.com/pintleauth/pintle/internal/seal"
	"github.com/pintleauth/pintle/internal/testsite"
	"github.com/pintleauth/pintle/token"
)

const (
	secret        = "0123456789abcdef0123456789abcdef"
	sessionCookie = "authjs.session-token"
)

func newCodec(t testing.TB, cookie string, secrets ...string) *token.Codec {
	t.Helper()
	codec, err := token.New(cookie, secrets...)
	if err != nil {
		t.Fatal(err)
	}
	return codec
}

func encode(t testing.TB, codec *token.Codec, claims any, maxAge time.Duration) string {
	t.Helper()
	sealed, err := codec.Encode(claims, maxAge)
	if err != nil {
		t.Fatal(err)
	}
	return sealed
}

// sealText seals a text unchanged, claims or not.
func sealText(t testing.TB, text string) string {
	t.Helper()
	keys, err := seal.New([]string{secret}, sessionCookie)
	if err != nil {
		t.Fatal(err)
	}
	return string(keys.AppendSeal(nil, []byte(text)))
}

func decode(t testing.TB, codec *token.Codec, sealed string) token.Token {
	t.Helper()
	tok, err := codec.Decode(sealed)
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

// wantError checks that a token is rejected with the given error, and that no
// claims are returned (SH-51).
func wantError(t *testing.T, codec *token.Codec, sealed string, want error) {
	t.Helper()
	tok, err := codec.Decode(sealed)
	if !errors.Is(err, want) || tok != (token.Token{}) {
		t.Errorf("Decode = %v, %v; want no token and %v", tok, err, want)
	}
}

func TestNewNamesTheCookieInItsErrors(t *testing.T) {
	for _, secrets := range [][]string{nil, {""}, {"s3cret", ""}} {
		codec, err := token.New("a.cookie", secrets...)
		if err == nil || codec != nil || !strings.Contains(err.Error(), "a.cookie") {
			t.Errorf("New(%q) = %v, %v", secrets, codec, err)
		}
		if err != nil && strings.Contains(err.Error(), "s3cret") {
			t.Errorf("the error %q contains a secret (SH-13)", err)
		}
	}
	if _, err := token.New("", secret); err == nil {
		t.Error("New accepts a cookie without name")
	}
}

func TestDecodeTokensOfAuthJS(t *testing.T) {
	data, err := os.ReadFile("../internal/seal/testdata/authjs.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors struct {
		Secret string
		Tokens []struct{ Name, Salt, Token, Claims string }
	}
	if err := json.Unmarshal(data, &vectors); err != nil {
		t.Fatal(err)
	}
	if len(vectors.Tokens) != 6 {
		t.Fatalf("the file has %d tokens", len(vectors.Tokens))
	}
	for _, v := range vectors.Tokens {
		t.Run(v.Name, func(t *testing.T) {
			tok := decode(t, newCodec(t, v.Salt, vectors.Secret), v.Token)
			if string(tok.JSON()) != v.Claims {
				t.Errorf("claims %s, want %s", tok.JSON(), v.Claims)
			}
			wantError(t, newCodec(t, v.Salt+"x", vectors.Secret), v.Token, token.ErrInvalid)
			wantError(t, newCodec(t, v.Salt, "other"), v.Token, token.ErrInvalid)
		})
	}
}

func TestTokensRoundTripWithGoJose(t *testing.T) {
	codec := newCodec(t, sessionCookie, secret)
	key := sessionKey(t)
	claims := map[string]any{"name": "Zoë <&>", "email": nil, "admin": true, "n": 1.5, "deep": map[string]any{"a": []any{"b"}}}

	t.Run("go-jose reads ours", func(t *testing.T) {
		parsed, err := jwt.ParseEncrypted(encode(t, codec, claims, time.Hour),
			[]jose.KeyAlgorithm{jose.DIRECT}, []jose.ContentEncryption{jose.A256CBC_HS512})
		if err != nil {
			t.Fatal(err)
		}
		var got map[string]any
		var registered jwt.Claims
		if err := parsed.Claims(key, &got, &registered); err != nil {
			t.Fatal(err)
		}
		if err := registered.Validate(jwt.Expected{Time: time.Now()}); err != nil {
			t.Error(err)
		}
		for _, name := range []string{"iat", "exp", "jti"} {
			delete(got, name)
		}
		if diff := cmp.Diff(claims, got); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("we read go-jose's", func(t *testing.T) {
		encrypter, err := jose.NewEncrypter(jose.A256CBC_HS512, jose.Recipient{Algorithm: jose.DIRECT, Key: key},
			(&jose.EncrypterOptions{}).WithType("JWT"))
		if err != nil {
			t.Fatal(err)
		}
		sealed, err := jwt.Encrypted(encrypter).Claims(claims).Serialize()
		if err != nil {
			t.Fatal(err)
		}
		got, err := decode(t, codec, sealed).Claims()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(token.Claims(claims), got); diff != "" {
			t.Error(diff)
		}
	})
}

func TestEncode(t *testing.T) {
	codec := newCodec(t, sessionCookie, secret)
	type user struct {
		Sub  string  `json:"sub"`
		Name *string `json:"name"`
		HTML string  `json:"html"`
	}
	tests := []struct {
		name   string
		claims any
		want   string // with I, E and J for iat, exp and jti
	}{
		{"keeps the order of a struct", user{"42", nil, "<b>&</b>"}, `{"sub":"42","name":null,"html":"<b>&</b>","iat":I,"exp":E,"jti":J}`},
		{"takes a map", token.Claims{"sub": "42"}, `{"sub":"42","iat":I,"exp":E,"jti":J}`},
		{"takes an empty object", token.Claims{}, `{"iat":I,"exp":E,"jti":J}`},
		{"takes raw JSON", json.RawMessage(`{"b":1,"a":{"exp":2}}`), `{"b":1,"a":{"exp":2},"iat":I,"exp":E,"jti":J}`},
		{
			"replaces iat, exp and jti where they are",
			json.RawMessage(`{"jti":null,"a":1,"exp":"never","iat":{"x":1},"z":2}`),
			`{"jti":J,"a":1,"exp":E,"iat":I,"z":2}`,
		},
		{"replaces both of two", json.RawMessage(`{"exp":1,"a":2,"exp":3}`), `{"exp":E,"a":2,"exp":E,"iat":I,"jti":J}`},
		{"replaces a name written with an escape", json.RawMessage(`{"\u0065xp":1}`), `{"\u0065xp":E,"iat":I,"jti":J}`},
		{"never adds nbf, iss or aud", struct{}{}, `{"iat":I,"exp":E,"jti":J}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // 2000-01-01T00:00:00Z
				tok := decode(t, codec, encode(t, codec, tt.claims, time.Hour+900*time.Millisecond))
				want := strings.NewReplacer("I", "946684800", "E", "946688400", "J", `"`+tok.ID()+`"`).Replace(tt.want)
				if string(tok.JSON()) != want {
					t.Errorf("sealed %s, want %s", tok.JSON(), want)
				}
			})
		})
	}
}

func TestEncodeRejects(t *testing.T) {
	codec := newCodec(t, sessionCookie, secret)
	tests := []struct {
		name   string
		claims any
	}{
		{"nil", nil},
		{"a list", []string{"sub"}},
		{"a string", "sub"},
		{"values that JSON cannot encode", map[string]any{"f": func() {}}},
		{"invalid UTF-8 in raw JSON", json.RawMessage("{\"a\":\"\xff\"}")},
		{"nesting that no reader accepts", json.RawMessage(`{"a":` + strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + `}`)},
		{"a token that no reader accepts", token.Claims{"a": strings.Repeat("x", seal.MaxToken*3/4)}},
		{"more than a token has room for", token.Claims{"a": strings.Repeat("x", 2*seal.MaxToken)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if sealed, err := codec.Encode(tt.claims, time.Hour); err == nil || sealed != "" {
				t.Errorf("Encode = %.40q, %v; want an error", sealed, err)
			}
		})
	}
}

func TestIDsAreRandomUUIDs(t *testing.T) {
	codec := newCodec(t, sessionCookie, secret)
	v4 := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	seen := make(map[string]bool)
	for range 200 {
		id := decode(t, codec, encode(t, codec, token.Claims{}, time.Hour)).ID()
		if !v4.MatchString(id) || seen[id] {
			t.Fatalf("jti %q is no UUID of version 4, or came twice", id)
		}
		seen[id] = true
	}
}

// W-11: the reference's exp wraps around in January 2038.
func TestTimesAre64BitsWide(t *testing.T) {
	codec := newCodec(t, sessionCookie, secret)
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(40 * 365 * 24 * time.Hour)
		tok := decode(t, codec, encode(t, codec, token.Claims{}, 100*365*24*time.Hour))
		if want := time.Now().Add(100 * 365 * 24 * time.Hour); !tok.Expires().Equal(want) {
			t.Errorf("expires %s, want %s", tok.Expires(), want)
		}
	})
}

func TestRenew(t *testing.T) {
	codec := newCodec(t, sessionCookie, secret)
	synctest.Test(t, func(t *testing.T) {
		old := decode(t, codec, sealText(t, `{ "name" : "A\u00e9\/<" , "exp":946684900,"n":1e2,"iat":1,"x":{"jti":1} }`))
		time.Sleep(time.Minute)
		sealed, err := codec.Renew(old, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		tok := decode(t, codec, sealed)
		want := `{ "name" : "A\u00e9\/<" , "exp":946688460,"n":1e2,"iat":946684860,"x":{"jti":1} ,"jti":"` + tok.ID() + `"}`
		if string(tok.JSON()) != want {
			t.Errorf("renewed\n%s, want\n%s", tok.JSON(), want)
		}

		again, err := codec.Renew(tok, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		if id := decode(t, codec, again).ID(); id == tok.ID() {
			t.Error("jti survived the renewal")
		}
	})
	if sealed, err := codec.Renew(token.Token{}, time.Hour); !errors.Is(err, token.ErrNoToken) || sealed != "" {
		t.Errorf("Renew of no token = %q, %v", sealed, err)
	}
}

func TestExpiryHasFifteenSecondsOfLeeway(t *testing.T) {
	codec := newCodec(t, sessionCookie, secret)
	synctest.Test(t, func(t *testing.T) {
		sealed := encode(t, codec, token.Claims{}, 100*time.Second)
		time.Sleep(100*time.Second + 14*time.Second)
		decode(t, codec, sealed) // exp = now - 14
		time.Sleep(999 * time.Millisecond)
		decode(t, codec, sealed) // the clock counts whole seconds
		time.Sleep(time.Millisecond)
		wantError(t, codec, sealed, token.ErrExpired) // exp = now - 15
	})
	synctest.Test(t, func(t *testing.T) {
		wantError(t, codec, encode(t, codec, token.Claims{}, -time.Minute), token.ErrExpired)
	})
}

func TestTimeClaims(t *testing.T) {
	codec := newCodec(t, sessionCookie, secret)
	tests := []struct {
		claims string
		want   error
	}{
		// Now is 946684800.
		{`{}`, nil},
		{`{"exp":946684786}`, nil},
		{`{"exp":946684785.5}`, nil},
		{`{"exp":946684785}`, token.ErrExpired},
		{`{"exp":0}`, token.ErrExpired},
		{`{"exp":-1}`, token.ErrExpired},
		{`{"exp":-1e999}`, token.ErrExpired},
		{`{"exp":9.46684786e8}`, nil},
		{`{"exp":1e999}`, nil},
		{`{"exp":99999999999999999999}`, nil},
		{`{"exp":946684786,"exp":1}`, token.ErrExpired},
		{`{"exp":1,"exp":946684786}`, nil},
		{`{"user":{"exp":1},"l":[{"exp":1}]}`, nil},
		{`{"exp":"946684786"}`, token.ErrInvalid},
		{`{"exp":null}`, token.ErrInvalid},
		{`{"exp":true}`, token.ErrInvalid},
		{`{"exp":[946684786]}`, token.ErrInvalid},
		{`{"exp":{}}`, token.ErrInvalid},

		{`{"nbf":946684815}`, nil},
		{`{"nbf":946684816}`, token.ErrInvalid},
		{`{"nbf":1e999}`, token.ErrInvalid},
		{`{"nbf":null}`, token.ErrInvalid},
		{`{"nbf":"1"}`, token.ErrInvalid},

		{`{"iat":99999999999}`, nil},
		{`{"iat":null}`, token.ErrInvalid},
		{`{"iat":"1"}`, token.ErrInvalid},
		{`{"iat":"1","exp":1}`, token.ErrInvalid},
	}
	for _, tt := range tests {
		t.Run(tt.claims, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tok, err := codec.Decode(sealText(t, tt.claims))
				if !errors.Is(err, tt.want) {
					t.Errorf("Decode = %v, want %v", err, tt.want)
				}
				if err != nil && tok != (token.Token{}) {
					t.Errorf("a token beside the error %v (SH-51)", err)
				}
			})
		})
	}
}

func TestDecodeRejectsWhatIsNotAnObject(t *testing.T) {
	codec := newCodec(t, sessionCookie, secret)
	wantError(t, codec, "", token.ErrNoToken)
	for _, text := range []string{
		"", " ", "null", "[]", `"{}"`, "1", "{", "{}}", "{}{}", "{} x", `{"a"}`, `{"a":}`, `{"a":1,}`, `{a:1}`,
		`{'a':1}`, `{"a":01}`, `{"a":.5}`, `{"a":1.}`, `{"a":+1}`, `{"a":NaN}`, `{"a":"` + "\n" + `"}`,
		`{"a":"\x"}`, `{"a":"\u12g4"}`, "{\"a\":\"\xff\"}", "{\"a\":\"\xed\xa0\x80\"}", "\ufeff{}", "{}\x00",
		`{"a":` + strings.Repeat(`{"a":`, 1000) + "1" + strings.Repeat("}", 1001),
		strings.Repeat("[", 500000),
	} {
		wantError(t, codec, sealText(t, text), token.ErrInvalid)
	}
	decode(t, codec, sealText(t, " \t\r\n{ \"a\" : [ ] } \n"))
	decode(t, codec, sealText(t, `{"a":`+strings.Repeat("[", 999)+strings.Repeat("]", 999)+`}`))
	for _, many := range []string{"{},", "[],", `{"a":1},`, "[1],"} { // wide is not deep
		decode(t, codec, sealText(t, `{"a":[`+strings.Repeat(many, 2000)+`0]}`))
	}
}

func TestRotation(t *testing.T) {
	old := encode(t, newCodec(t, sessionCookie, "old"), token.Claims{"sub": "42"}, time.Hour)
	rotated := newCodec(t, sessionCookie, "new", "old")
	tok := decode(t, rotated, old)

	renewed, err := rotated.Renew(tok, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if got := decode(t, newCodec(t, sessionCookie, "new"), renewed).Subject(); got != "42" {
		t.Errorf("sub %q after the renewal under the new secret, want 42", got)
	}
	wantError(t, newCodec(t, sessionCookie, "old"), renewed, token.ErrInvalid)
	wantError(t, newCodec(t, sessionCookie, "new"), old, token.ErrInvalid)
}

// SH-05, ASVS-9.2.3: an interrupted sign-in leaves sealed cookies behind, which are
// not valid under another name.
func TestTokensOfOtherCookiesAreNoSession(t *testing.T) {
	names := []string{
		"authjs.session-token", "__Secure-authjs.session-token", "authjs.pkce.code_verifier", "authjs.state",
		"authjs.nonce", "authjs.challenge", "encodedState", "encodedWebauthnChallenge",
	}
	for _, from := range names {
		sealed := encode(t, newCodec(t, from, secret), token.Claims{"sub": "42"}, time.Hour)
		for _, to := range names {
			if to != from {
				wantError(t, newCodec(t, to, secret), sealed, token.ErrInvalid)
			}
		}
	}
}

func TestCodecMayBeSharedBetweenGoroutines(t *testing.T) {
	codec := newCodec(t, sessionCookie, secret)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range 50 {
				want := strings.Repeat("x", i*11)
				sealed, err := codec.Encode(token.Claims{"name": want}, time.Hour)
				if err != nil {
					t.Error(err)
					return
				}
				tok, err := codec.Decode(sealed)
				if err != nil || tok.Name() != want {
					t.Errorf("round trip of %d bytes: %q, %v", len(want), tok.Name(), err)
				}
			}
		})
	}
	wg.Wait()
}

// The path of every request: allocations are the same on every machine.
func TestDecodeAllocatesOnce(t *testing.T) {
	if testsite.Race {
		t.Skip("the race detector makes sync.Pool forget at random")
	}
	codec := newCodec(t, sessionCookie, secret)
	sealed := encode(t, codec, token.Claims{"name": "Ann", "email": nil, "sub": "42"}, time.Hour)
	if n := testing.AllocsPerRun(1000, func() {
		if tok, err := codec.Decode(sealed); err != nil || tok.Name() != "Ann" {
			t.Fatal(tok, err)
		}
	}); n > 1 {
		t.Errorf("Decode allocates %v times, want 1", n)
	}
}
