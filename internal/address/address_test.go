package address

import (
	"net/mail"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestAnAddressIsBroughtIntoItsNormalForm(t *testing.T) {
	tests := []struct{ name, typed, want string }{
		{"plain", "ada@example.com", "ada@example.com"},
		{"capitals", "Ada.Lovelace@Example.COM", "ada.lovelace@example.com"},
		{"space around it", " \tada@example.com \r\n", "ada@example.com"},
		{"a no-break space around it", "\u00a0ada@example.com\u3000", "ada@example.com"},
		{"a tag", "ada+news@example.com", "ada+news@example.com"},
		{"an apostrophe", "o'neil@example.com", "o'neil@example.com"},
		{"full-width letters", "\uff41\uff24a@example.com", "ada@example.com"},
		{"a full-width @", "ada\uff20example.com", "ada@example.com"},
		{"a small @", "ada\ufe6bexample.com", "ada@example.com"},
		{"a sign that stands for capitals", "\u2121@example.com", "tel@example.com"},
		{"a ligature", "\ufb01ne@example.com", "fine@example.com"},
		{"letters and marks apart", "ade\u0301le@example.com", "ad\u00e9le@example.com"},
		{"a capital that only its small letter composes", "J\u030c@example.com", "\u01f0@example.com"},
		{"the Kelvin sign", "\u212aim@example.com", "kim@example.com"},
		{"letters beyond ASCII", "\u03b4\u03bf\u03ba@\u03c0\u03b1\u03c1.\u03b5\u03bb", "\u03b4\u03bf\u03ba@\u03c0\u03b1\u03c1.\u03b5\u03bb"},
		{"SH-07 a second domain", "ada@example.com,evil.example", "ada@example.com"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got, err := Normalize(tt.typed); err != nil || got != tt.want {
				t.Errorf("Normalize(%q) = %q, %v, want %q", tt.typed, got, err, tt.want)
			}
		})
	}
}

func TestWhatIsNotOneAddressIsRefused(t *testing.T) {
	tests := []struct{ name, typed string }{
		{"nothing", ""},
		{"space", "  "},
		{"no @", "ada.example.com"},
		{"no local part", "@example.com"},
		{"no domain", "ada@"},
		{"a comma for a domain", "ada@,example.com"},
		{"SH-68 two @", "ada@evil@example.com"},
		{"SH-07 a list", "ada@example.com,eve@evil.example"},
		{"SH-07 a list with spaces", "ada@example.com eve@evil.example"},
		{"SH-07 a list with semicolons", "ada@example.com;eve@evil.example"},
		{"SH-07 a comma before the @", "ada,eve@evil.example"},
		{"SH-07 a space before the @", "ada eve@evil.example"},
		{"SH-07 angle brackets", "<eve@evil.example>"},
		{"SH-07 a name", "Ada <eve@evil.example>"},
		{"SH-07 a comment", "ada(eve)@example.com"},
		{"SH-07 a header field", "ada\r\nBcc:eve@evil.example"},
		{"SH-01 a full-width @ beside a real one", "eve\uff20evil.example@example.com"},
		{"SH-01 a small @ beside a real one", "eve\ufe6bevil.example@example.com"},
		{"SH-01 a full-width comma", "ada\uff0ceve@evil.example"},
		{"SH-01 a full-width semicolon", "ada\uff1beve@evil.example"},
		{"SH-01 a full-width quote", "\uff02ada\uff02@example.com"},
		{"SH-01 a full-width bracket", "\uff1ceve@evil.example\uff1e"},
		{"SH-01 an ideographic space", "ada\u3000eve@example.com"},
		{"SH-14 a quoted local part", `"eve@evil.example x"@example.com`},
		{"SH-14 a lone quote", `a"b@example.com`},
		{"SH-14 a backslash", `a\b@example.com`},
		{"an address literal", "ada@[192.0.2.1]"},
		{"a zero byte", "ada\x00@example.com"},
		{"a line separator", "ada\u2028@example.com"},
		{"a zero-width space", "a\u200bda@example.com"},
		{"a mark that turns the text around", "ada\u202e@example.com"},
		{"bytes that are not UTF-8", "ada\xff@example.com"},
		{"a very long text", strings.Repeat("a", 2000) + "@example.com"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got, err := Normalize(tt.typed); err == nil || got != "" {
				t.Errorf("Normalize(%q) = %q, %v, want an error alone", tt.typed, got, err)
			}
		})
	}
}

// The result is one address to every reader, whatever the input, and normalising
// it again does not change it: SH-01, SH-07, SH-14.
func FuzzANormalizedAddressIsOneAddress(f *testing.F) {
	for _, seed := range []string{
		"ada@example.com", " Ada@Example.com ", "ada\uff20example.com", "J\u030c@example.com", "\u0130@example.com", "a@b,c@d",
		`"a@b"@c`, "<a@b>", "a,b@c", "a\r\nb@c", "\u1e9e@\u00df", "\u037a@x", "\u03a3\u03c2@x", "\uff71\uff9e@x",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, typed string) {
		address, err := Normalize(typed)
		if err != nil {
			if address != "" {
				t.Fatalf("%q is returned beside an error", address)
			}
			return
		}
		if again, err := Normalize(address); again != address || err != nil {
			t.Errorf("%q becomes %q, and then %q, %v", typed, address, again, err)
		}
		if strings.Count(address, "@") != 1 || !utf8.ValidString(address) {
			t.Errorf("%q becomes %q, which is not one address", typed, address)
		}
		if strings.ContainsAny(address, specials) || strings.ContainsFunc(address, unicode.IsControl) {
			t.Errorf("%q becomes %q, which has to be quoted", typed, address)
		}
		// The standard library is stricter about dots; where it reads an
		// address, it must be this one.
		if list, err := mail.ParseAddressList(address); err == nil && (len(list) != 1 || list[0].Address != address) {
			t.Errorf("%q becomes %q, which reads as %q", typed, address, list)
		}
	})
}

func TestOnlyASCIIGetsLowerCase(t *testing.T) {
	for in, want := range map[string]string{
		"Ada@Example.COM":                "ada@example.com",
		"AZ@YZ.example":                  "az@yz.example",
		"ada@example.com":                "ada@example.com",
		"":                               "",
		"[\\]^_`@{|}~":                   "[\\]^_`@{|}~",
		"\u212aim@M\u0130T.example":      "\u212aim@m\u0130t.example",
		"\u00c4NNE@\u0391\u0392.example": "\u00c4nne@\u0391\u0392.example",
		"A\xffB":                         "a\xffb",
	} {
		if got := LowerASCII(in); got != want {
			t.Errorf("LowerASCII(%q) = %q, want %q", in, got, want)
		}
	}
}
