package query_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/pintleauth/pintle/internal/query"
)

const everyKind = "Aa0-_.!~*'() é日/:?#[]@$&+,;=|%\"<>\\^`{}"

func TestEncode(t *testing.T) {
	tests := []struct {
		name string
		got  string
		want string
	}{
		{"the contract's vector", query.Values{{everyKind, ""}}.Encode(), "Aa0-_.%21%7E*%27%28%29+%C3%A9%E6%97%A5%2F%3A%3F%23%5B%5D%40%24%26%2B%2C%3B%3D%7C%25%22%3C%3E%5C%5E%60%7B%7D="},
		{"one", query.Values{{"error", "AccessDenied"}}.Encode(), "error=AccessDenied"},
		{"several, in order", query.Values{{"z", "1"}, {"a", "b c"}, {"z", "&"}}.Encode(), "z=1&a=b+c&z=%26"},
		{"last key alone", query.Append("", "a", "1", "b"), "?a=1&b="},
		{"empty", query.Values{}.Encode(), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.got != tt.want {
				t.Errorf("got %s, want %s", tt.got, tt.want)
			}
		})
	}
}

func TestParse(t *testing.T) {
	tests := []struct {
		name string
		raw  string
		want query.Values
	}{
		{"nothing", "", nil},
		{"members", "a=1&b=2", query.Values{{"a", "1"}, {"b", "2"}}},
		{"repeated", "a=1&a=2", query.Values{{"a", "1"}, {"a", "2"}}},
		{"empty members", "&&a=1&=x&&b", query.Values{{"a", "1"}, {"", "x"}, {"b", ""}}},
		{"plus and escapes", "p=p%C3%A4+%e2%98%83", query.Values{{"p", "pä ☃"}}},
		{"escaped key", "%61=1", query.Values{{"a", "1"}}},
		{"malformed escapes stand for themselves", "a=%zz%&b=%4", query.Values{{"a", "%zz%"}, {"b", "%4"}}},
		{"not UTF-8", "a=%ff%fe&b=\xff", query.Values{{"a", "\ufffd\ufffd"}, {"b", "\ufffd"}}},
		{"null byte", "a=x%00", query.Values{{"a", "x\x00"}}},
		{"semicolon does not separate", "a=1;b=2", query.Values{{"a", "1;b=2"}}},
		{"equals sign in the value", "a=b=c", query.Values{{"a", "b=c"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := query.Parse(tt.raw)
			if err != nil || !slices.Equal(got, tt.want) {
				t.Errorf("Parse(%q) = %q, %v, want %q", tt.raw, got, err, tt.want)
			}
		})
	}
}

func TestParseRejectsWhatIsTooMuch(t *testing.T) {
	tests := []struct {
		name string
		raw  string
		ok   bool
	}{
		{"two thousand members", strings.Repeat("a=1&", 2000), true},
		{"as many as allowed", strings.Repeat("a&", query.MaxMembers), true},
		{"one more", strings.Repeat("a&", query.MaxMembers+1), false},
		{"empty members are free", strings.Repeat("&", query.MaxLength), true},
		{"as long as allowed", strings.Repeat("a", query.MaxLength), true},
		{"one byte more", strings.Repeat("a", query.MaxLength+1), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v, err := query.Parse(tt.raw)
			if errors.Is(err, query.ErrTooMuch) == tt.ok || err != nil && v != nil {
				t.Errorf("Parse of %d bytes: %d members, %v", len(tt.raw), len(v), err)
			}
		})
	}
}

func TestFirstLastAndMap(t *testing.T) {
	v, err := query.Parse("error=AccessDenied&x=&error=Configuration")
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := v.First("error"); got != "AccessDenied" || !ok {
		t.Errorf("First = %q, %t", got, ok)
	}
	if got, ok := v.Last("error"); got != "Configuration" || !ok {
		t.Errorf("Last = %q, %t", got, ok)
	}
	if got, ok := v.Last("x"); got != "" || !ok {
		t.Errorf("Last of an empty value = %q, %t, want it to be there", got, ok)
	}
	_, first := v.First("y")
	_, last := v.Last("y")
	if first || last {
		t.Error("a key that is not there was found")
	}
	if m := v.Map(); len(m) != 2 || m["error"] != "Configuration" {
		t.Errorf("Map = %v", m)
	}
}

func TestAppend(t *testing.T) {
	tests := []struct{ name, url, want string }{
		{"no query", "/login", "/login?error=a%26b&x=+"},
		{"W-7 there is a query", "/login?tab=1", "/login?tab=1&error=a%26b&x=+"},
		{"empty query", "/login?", "/login?error=a%26b&x=+"},
		{"query with an open end", "/login?a=1&", "/login?a=1&error=a%26b&x=+"},
		{"before the fragment", "/login#top", "/login?error=a%26b&x=+#top"},
		{"question mark in the fragment starts no query", "/login#a?b", "/login?error=a%26b&x=+#a?b"},
		{"query and fragment", "https://a.test/l?t=1#top", "https://a.test/l?t=1&error=a%26b&x=+#top"},
		{"empty URL", "", "?error=a%26b&x=+"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := query.Append(tt.url, "error", "a&b", "x", " "); got != tt.want {
				t.Errorf("Append(%q) = %s, want %s", tt.url, got, tt.want)
			}
		})
	}
	if got := query.AppendValues("/x", nil); got != "/x" {
		t.Errorf("AppendValues without members = %q", got)
	}
}

func FuzzParseRoundTrips(f *testing.F) {
	f.Add("a=1&b=%zz&&=x&c")
	f.Add("p=p%C3%A4+%e2%98%83&\xff")
	f.Fuzz(func(t *testing.T, raw string) {
		v, err := query.Parse(raw)
		if err != nil {
			return
		}
		for _, p := range v {
			if !utf8.ValidString(p.Key) || !utf8.ValidString(p.Value) {
				t.Fatalf("Parse(%q) gave %q, which is not UTF-8", raw, p)
			}
		}
		encoded := v.Encode()
		if strings.ContainsAny(encoded, "\r\n #?;\"<>") {
			t.Fatalf("Encode = %q", encoded)
		}
		if len(encoded) > query.MaxLength {
			return
		}
		again, err := query.Parse(encoded)
		if err != nil || !slices.Equal(again, v) {
			t.Errorf("%q became %q, %v", v, again, err)
		}
	})
}
