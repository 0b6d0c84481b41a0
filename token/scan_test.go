package token

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// seeds are texts that JSON scanners often get wrong.
var seeds = []string{
	`{}`, ` { } `, `{"name":"Ann"}`, `{"name":null,"email":"a\"b\\","exp":1.5e3}`, `{"a":{"name":[1,"}"]},"name":"x"}`,
	`{"a":1,"a":2}`, `{"n\u0061me":"Ann","x":"\ud83d\ude00\ud83d"}`, `{"a":[[],{},[1,-0,0.5,1E+5,true,false,null]]}`,
	`{"a":1,}`, `{"a":01}`, `{"a":-}`, `{"a":1e}`, `{"a":tru}`, `{"a"`, `{"a":"`, `{"a":"\`, `{"a":"\u`, `{"a":"\u1`, `{"a":"\u12`, `{"a":"\u123`, `{"a":"\u1234`, `[]`, `null`, ``,
	"{\"a\":\"\xff\"}", "{\"a\":\"\x1f\"}", "{\"a\":\"\x7f é 日 😀\"}", "{\"a\x00\":1}", `{"12345678":"12345678\"","1234567\\":""}`,
	`{"exp":1e999,"iat":99999999999999999999,"nbf":-12}`, `{"exp":123456789012345,"iat":9007199254740993,"nbf":999999999999999999}`, `{"exp":9999999999999999999,"iat":-9007199254740993}`, "{}\ufeff", `{"":{"":""}}`,
	`{"a":"\b\f\n\r\t\/\\\""}`, `{"jti":1,"iat":2,"exp":3,"jti":4}`, `{"<&>":"<&>` + "\u2028" + `"}`,
}

// The scanner accepts the same objects as encoding/json, and returns the same
// claims.
func FuzzParse(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Count(text, "{")+strings.Count(text, "[") > maxDepth {
			return // perhaps deeper than encoding/json allows
		}
		tok, ok := parse(text)
		var members map[string]json.RawMessage
		err := json.Unmarshal([]byte(text), &members)
		if want := err == nil && members != nil && utf8.ValidString(text); ok != want {
			t.Fatalf("parse(%q) = %t, want %t", text, ok, want)
		}
		if !ok {
			return
		}

		for name, want := range members {
			got, ok := tok.Raw(name)
			if !ok || got != string(want) {
				t.Errorf("Raw(%q) of %q = %q, %t; want %q", name, text, got, ok, want)
			}
		}
		for i, name := range []string{"name", "email", "picture", "sub", "jti", "exp", "iat", "nbf"} {
			if known(name) != i {
				t.Fatalf("known(%q) = %d, want %d", name, known(name), i)
			}
			want, there := members[name]
			if got, ok := tok.Raw(name); ok != there || got != string(want) {
				t.Errorf("Raw(%q) of %q = %q, %t; want %q, %t", name, text, got, ok, want, there)
			}
			var s string
			if json.Unmarshal(want, &s) != nil {
				s = ""
			}
			if got := tok.str(i); got != s {
				t.Errorf("claim %q of %q is %q, want %q", name, text, got, s)
			}
			var n float64
			if len(want) > 0 && isNumber(string(want)) && json.Unmarshal(want, &n) == nil && number(tok.raw(i)) != n {
				t.Errorf("claim %q of %q is %v, want %v", name, text, number(tok.raw(i)), n)
			}
		}

		claims, err := tok.Claims()
		var want Claims
		if wantErr := json.Unmarshal([]byte(text), &want); (err == nil) != (wantErr == nil) {
			t.Fatalf("Claims of %q: %v, want %v", text, err, wantErr)
		}
		if err == nil && !reflect.DeepEqual(claims, want) {
			t.Errorf("Claims of %q = %#v, want %#v", text, claims, want)
		}
	})
}

// A renewal changes only three claims.
func FuzzStamp(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	now := time.Unix(1795197406, 0)
	f.Fuzz(func(t *testing.T, text string) {
		got, ok := appendStamped([]byte("before"), text, now, time.Hour)
		if _, object := parse(text); ok != object {
			t.Fatalf("appendStamped of %q = %t", text, ok)
		}
		if !ok {
			return
		}
		stamped, ok := strings.CutPrefix(string(got), "before")
		if !ok {
			t.Fatalf("what was there before is gone: %q", got)
		}
		tok, ok := parse(stamped)
		if !ok {
			t.Fatalf("%q became %q", text, stamped)
		}
		if tok.raw(claimIssued) != "1795197406" || tok.raw(claimExpires) != "1795201006" || len(tok.ID()) != 36 {
			t.Errorf("%q became %q", text, stamped)
		}
		var before, after map[string]json.RawMessage
		if err := json.Unmarshal([]byte(text), &before); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(stamped), &after); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"iat", "exp", "jti"} {
			delete(before, name)
			delete(after, name)
		}
		if !reflect.DeepEqual(before, after) {
			t.Errorf("%q became %q", text, stamped)
		}
	})
}

// The eight bytes at a time must agree with one at a time, wherever the
// special byte is.
func TestSkipPlainStopsAtEachSpecialByte(t *testing.T) {
	for special := range 256 {
		c := byte(special)
		stops := c == '"' || c == '\\' || c < ' ' || c >= 0x80
		for at := range 20 {
			text := []byte(strings.Repeat("~", 20))
			text[at] = c
			want := 20
			if stops {
				want = at
			}
			for start := range at + 1 {
				if got := skipPlain(string(text), start); got != want {
					t.Fatalf("skipPlain(%q, %d) = %d, want %d", text, start, got, want)
				}
			}
		}
	}
}
