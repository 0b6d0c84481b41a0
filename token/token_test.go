package token_test

import (
	"bytes"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pintleauth/pintle/token"
)

// sessionKey is the content key of the session cookie, derived a second time.
func sessionKey(t testing.TB) []byte {
	t.Helper()
	key, err := hkdf.Key(sha256.New, []byte(secret), []byte(sessionCookie),
		"Auth.js Generated Encryption Key ("+sessionCookie+")", 64)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// claimsToken is the token whose claims are text.
func claimsToken(t testing.TB, text string) token.Token {
	t.Helper()
	return decode(t, newCodec(t, sessionCookie, secret), sealText(t, text))
}

func TestTokenMethods(t *testing.T) {
	tok := claimsToken(t, `{"name":"Ann \"A\" Zo\u00eb","email":"ann@example.test","picture":null,"sub":"42",`+
		`"jti":"6b6b2025","iat":1795197406,"exp":4002717406.5,"nbf":1}`)
	got := []any{
		tok.Name(), tok.Email(), tok.Picture(), tok.Subject(), tok.ID(),
		tok.IssuedAt().UTC(), tok.Expires().UTC(), tok.NotBefore().UTC(),
	}
	want := []any{
		`Ann "A" Zoë`, "ann@example.test", "", "42", "6b6b2025",
		time.Unix(1795197406, 0).UTC(), time.Unix(4002717406, 5e8).UTC(), time.Unix(1, 0).UTC(),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestZeroTokenHasNoClaims(t *testing.T) {
	for _, tok := range []token.Token{{}, claimsToken(t, `{}`)} {
		for _, got := range []string{tok.Name(), tok.Email(), tok.Picture(), tok.Subject(), tok.ID()} {
			if got != "" {
				t.Errorf("a claim of the token without claims is %q", got)
			}
		}
		for _, got := range []time.Time{tok.Expires(), tok.IssuedAt(), tok.NotBefore()} {
			if !got.IsZero() {
				t.Errorf("a time of the token without claims is %s", got)
			}
		}
		for _, name := range []string{"name", "exp", "other"} {
			if raw, ok := tok.Raw(name); ok || raw != "" {
				t.Errorf("Raw(%q) = %q, %t", name, raw, ok)
			}
			if ok, err := tok.Claim(name, new(string)); ok || err != nil {
				t.Errorf("Claim(%q) = %t, %v", name, ok, err)
			}
		}
		if claims, err := tok.Claims(); len(claims) != 0 || claims == nil || err != nil {
			t.Errorf("Claims = %v, %v", claims, err)
		}
	}
}

func TestOnlyMembersOfTheObjectAreClaims(t *testing.T) {
	tests := []struct {
		why, claims string
		name        string // of the token
		raw         string // "" for absent
	}{
		{"null is not absent", `{"name":null}`, "", `null`},
		{"absent", `{"email":"x"}`, "", ``},
		{"empty", `{"name":""}`, "", `""`},
		{"not a string", `{"name":42}`, "", `42`},
		{"an object", `{"name":{"first":"Ann"}}`, "", `{"first":"Ann"}`},
		{"members of members are others", `{"user":{"name":"x","a":[{"name":"y"}]},"name":"Ann","z":{"name":"z"}}`, "Ann", `"Ann"`},
		{"only in a member", `{"user":{"name":"x"}}`, "", ``},
		{"the last of two", `{"name":"x","name":"Ann"}`, "Ann", `"Ann"`},
		{"the last of two, null", `{"name":"x","name":null}`, "", `null`},
		{"the last of two spellings", `{"name":"x","\u006eame":"Ann"}`, "Ann", `"Ann"`},
		{"text that looks like one", `{"a":"\",\"name\":\"x","name":"Ann"}`, "Ann", `"Ann"`},
		{"a backslash at the end", `{"a":"\\","name":"Ann\\"}`, `Ann\`, `"Ann\\"`},
		{"another case", `{"Name":"x"}`, "", ``},
		{"a value that looks like one", `{"a":"name","b":"x"}`, "", ``},
		{"spaces", "{\n\t\"name\" :\r \"Ann\" }", "Ann", `"Ann"`},
		{"a pair of surrogates", `{"name":"\ud83d\ude00"}`, "😀", `"\ud83d\ude00"`},
		{"half a pair", `{"name":"\ud83d"}`, "\ufffd", `"\ud83d"`},
		{"a NUL", `{"name":"a\u0000b"}`, "a\x00b", `"a\u0000b"`},
		{"not ASCII", `{"näme":"x","name":"日本語 Ann Zoë"}`, "日本語 Ann Zoë", `"日本語 Ann Zoë"`},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			tok := claimsToken(t, tt.claims)
			if got := tok.Name(); got != tt.name {
				t.Errorf("Name() = %q, want %q", got, tt.name)
			}
			if raw, ok := tok.Raw("name"); raw != tt.raw || ok != (tt.raw != "") {
				t.Errorf("Raw(name) = %s, %t; want %s", raw, ok, tt.raw)
			}
		})
	}
}

func TestDistantTimesCanBeFormatted(t *testing.T) {
	for exp, want := range map[string]string{
		"1e300":        "9999-12-31T23:59:59Z",
		"1e999":        "9999-12-31T23:59:59Z",
		"253402300800": "9999-12-31T23:59:59Z",
		"4002717406":   "2096-11-02T17:56:46Z",
	} {
		if got := claimsToken(t, `{"exp":`+exp+`}`).Expires().UTC().Format(time.RFC3339); got != want {
			t.Errorf("exp %s is %s, want %s", exp, got, want)
		}
	}
	if got := claimsToken(t, `{"iat":-1e300}`).IssuedAt().Year(); got != 1 {
		t.Errorf("iat -1e300 is in year %d, want 1", got)
	}
}

func TestClaim(t *testing.T) {
	tok := claimsToken(t, `{"role":"x","role":"admin","ids":[1,2],"none":null,"name":"Ann","r\u00f4le":true}`)

	var role string
	if ok, err := tok.Claim("role", &role); !ok || err != nil || role != "admin" {
		t.Errorf("role: %q, %t, %v", role, ok, err)
	}
	var ids []int
	if ok, err := tok.Claim("ids", &ids); !ok || err != nil || !cmp.Equal(ids, []int{1, 2}) {
		t.Errorf("ids: %v, %t, %v", ids, ok, err)
	}
	none := new(string)
	if ok, err := tok.Claim("none", &none); !ok || err != nil || none != nil {
		t.Errorf("an absent claim: %v, %t, %v", none, ok, err)
	}
	var odd bool
	if ok, err := tok.Claim("rôle", &odd); !ok || err != nil || !odd {
		t.Errorf("rôle: %t, %t, %v", odd, ok, err)
	}
	if ok, err := tok.Claim("absent", &role); ok || err != nil || role != "admin" {
		t.Errorf("absent: %q, %t, %v", role, ok, err)
	}
	var number int
	if ok, err := tok.Claim("name", &number); !ok || err == nil || !strings.Contains(err.Error(), `"name"`) {
		t.Errorf("name into a number: %t, %v", ok, err)
	}
}

func TestClaims(t *testing.T) {
	tok := claimsToken(t, `{"s":"a\nb","n":-1.5e1,"t":true,"f":false,"z":null,"o":{"a":{},"b":[]},"l":[1,[2,"x"],{"y":null}],"d":1,"d":2}`)
	got, err := tok.Claims()
	if err != nil {
		t.Fatal(err)
	}
	want := token.Claims{
		"s": "a\nb", "n": -15.0, "t": true, "f": false, "z": nil,
		"o": map[string]any{"a": map[string]any{}, "b": []any{}},
		"l": []any{1.0, []any{2.0, "x"}, map[string]any{"y": nil}},
		"d": 2.0,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}

	got["s"] = "changed"
	if again, _ := tok.Claims(); again["s"] != "a\nb" {
		t.Error("a change of the map changed the token")
	}
	if claims, err := claimsToken(t, `{"n":[1e400]}`).Claims(); err == nil || claims != nil {
		t.Errorf("Claims with 1e400 = %v, %v; want an error", claims, err)
	}
}

func TestTokenAsJSON(t *testing.T) {
	const text = `{"html":"<b>","picture":null,"n":1}`
	tok := claimsToken(t, text)
	tok.JSON()[0] = 'x' // belongs to the caller
	if got := string(tok.JSON()); got != text {
		t.Errorf("JSON() = %s, want %s", got, text)
	}
	for want, v := range map[string]any{`{"T":{"a":"b"}}`: claimsToken(t, `{"a":"b"}`), `{"T":null}`: token.Token{}} {
		if got, err := json.Marshal(struct{ T any }{v}); err != nil || string(got) != want {
			t.Errorf("Marshal = %s, %v; want %s", got, err, want)
		}
	}
}

// SH-13: a token that is printed to a log shows the subject, but no other claims.
func TestLogsShowOnlySubjectAndExpiry(t *testing.T) {
	tok := claimsToken(t, `{"name":"canary","email":"canary","sub":"42","access_token":"canary","exp":4002717406}`)
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("text", "token", tok)
	slog.New(slog.NewJSONHandler(&log, nil)).Info("json", "token", tok)
	fmt.Fprintf(&log, "%v %+v %s\n", tok, tok, tok)
	fmt.Fprintln(&log, claimsToken(t, `{"sub":"forever"}`))
	if strings.Contains(log.String(), "canary") {
		t.Errorf("the log has more than it should: %s", log.String())
	}
	for _, want := range []string{"token.sub=42", `"sub":"42"`, `token of "42" until 2096-11-02T17:56:46Z`, `token of "forever"` + "\n"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("no %s in the log: %s", want, log.String())
		}
	}
}
