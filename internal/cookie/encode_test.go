package cookie

import (
	"testing"
	"unicode/utf8"
)

const everyKind = "Aa0-_.!~*'() é日/:?#[]@$&+,;=|%\"<>\\^`{}"

func TestEncodeLeavesExactlyTheUnreservedCharacters(t *testing.T) {
	tests := []struct{ name, value, want string }{
		{"the contract's vector", everyKind, "Aa0-_.!~*'()%20%C3%A9%E6%97%A5%2F%3A%3F%23%5B%5D%40%24%26%2B%2C%3B%3D%7C%25%22%3C%3E%5C%5E%60%7B%7D"},
		{"csrf separator", "ab|cd", "ab%7Ccd"},
		{"url", "http://localhost:3000", "http%3A%2F%2Flocalhost%3A3000"},
		{"token stays", "eyJ.a-b_c", "eyJ.a-b_c"},
		{"line break cannot split the header (CK-5)", "a\r\nSet-Cookie: b=c", "a%0D%0ASet-Cookie%3A%20b%3Dc"},
		{"empty", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(appendEncoded(nil, tt.value)); got != tt.want {
				t.Errorf("the encoding of %q is %q, want %q", tt.value, got, tt.want)
			}
			if got := Decode(tt.want); got != tt.value {
				t.Errorf("Decode(%q) = %q, want %q", tt.want, got, tt.value)
			}
		})
	}
}

func TestDecodeKeepsMalformedTextAsItCame(t *testing.T) {
	for _, raw := range []string{
		"%", "a%", "%z", "%zz", "%4z", "%z4", "%z4%80%80%80", "%4", "a%20%", // SH-02 cut short or not hexadecimal
		"%ff%fe", "%C3", "%C3%28", "%ED%A0%80", "%C3x%A9", // not UTF-8
		"plain", `"quoted"`, "\xff",
	} {
		if got := Decode(raw); got != raw {
			t.Errorf("Decode(%q) = %q, want it unchanged", raw, got)
		}
	}
}

func TestDecodeReadsLowerCaseHexAndBareReservedCharacters(t *testing.T) {
	if got := Decode("abc|hash%7c%c3%a9+"); got != "abc|hash|é+" {
		t.Errorf("Decode = %q", got)
	}
}

func FuzzEncodeRoundTrips(f *testing.F) {
	f.Add(everyKind)
	f.Add("%")
	f.Fuzz(func(t *testing.T, value string) {
		encoded := string(appendEncoded(nil, value))
		for i := range len(encoded) {
			if c := encoded[i]; c <= ' ' || c >= 0x7f || c == ';' || c == ',' || c == '"' || c == '\\' {
				t.Fatalf("the encoding of %q is %q, with the octet %q, which a cookie may not", value, encoded, c)
			}
		}
		if got := Decode(encoded); utf8.ValidString(value) && got != value {
			t.Errorf("Decode(Encode(%q)) = %q", value, got)
		}
		Decode(value)
	})
}
