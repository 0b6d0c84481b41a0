package pintle

import "testing"

// Whatever a place to go to holds, it stays one line of one header.
func TestAnAddressInAHeaderIsPlainASCII(t *testing.T) {
	for target, want := range map[string]string{
		"/":                      "/",
		"https://a.example/?q=%": "https://a.example/?q=%",
		"/a b":                   "/a%20b",
		"/naïve":                 "/na%C3%AFve",
		"/a\r\nSet-Cookie: b=c":  "/aSet-Cookie:%20b=c",
		"/\x00\x1f\x7f":          "/",
	} {
		if got := asciiURL(target); got != want {
			t.Errorf("asciiURL(%q) = %q, want %q", target, got, want)
		}
	}
}
