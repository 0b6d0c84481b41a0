package origin_test

import (
	"encoding/json"
	"errors"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/pintleauth/pintle/internal/origin"
)

const base = "http://app.example.test"

func TestRedirectIsNotDeceived(t *testing.T) {
	const failed = "error"
	tests := []struct{ name, target, want string }{
		{"path", "/dashboard?tab=a#part", base + "/dashboard?tab=a#part"},
		{"the origin itself", base, base},
		{"same origin", base + "/inside?x=1", base + "/inside?x=1"},
		{"W-31 capitals", "HTTP://APP.EXAMPLE.TEST/Inside", base + "/Inside"},
		{"W-31 default port", base + ":80/inside", base + "/inside"},
		{"W-31 odd slashes", `http:\\app.example.test\a`, base + "/a"},
		{"W-31 white space", " " + base + "/x\t ", base + "/x"},
		{"W-31 beyond ASCII", "/木村", base + "/%E6%9C%A8%E6%9D%91"},
		{"W-31 not UTF-8", "/\xff", base + "/%EF%BF%BD"},
		{"SH-12 host as a prefix of another", base + ".evil.test/", base},
		{"SH-12 host without a boundary", "http://app.example.testevil/", base},
		{"SH-12 host as a user name", base + "@evil.test/", base},
		{"SH-12 host and port as user name and password", base + ":80@evil.test/", base},
		{"SH-12 user name on our host", "http://evil.test@app.example.test/", base},
		{"SH-12 two at signs", "http://a@evil.test@app.example.test/", base},
		{"SH-12 two at signs, our host first", base + "@app.example.test@evil.test/", base},
		{"SH-12 other scheme", "https://app.example.test/", base},
		{"SH-12 other port", base + ":8080/", base},
		{"SH-12 two slashes", "//evil.test/x", base + "//evil.test/x"},
		{"SH-12 slash and backslash", `/\evil.test`, base + "//evil.test"},
		{"SH-12 two backslashes", `\\evil.test`, failed},
		{"SH-12 tab between slashes", "/\t/evil.test", base + "//evil.test"},
		{"SH-12 encoded tab", "/%09/evil.test", base + "/%09/evil.test"},
		{"SH-12 encoded slashes", "/%2f%2fevil.test", base + "/%2f%2fevil.test"},
		{"SH-12 one slash", "https:/evil.test", base},
		{"SH-12 no slashes", "http:evil.test", base},
		{"SH-12 backslash before the at sign", base + `\@evil.test/`, base + "/@evil.test/"},
		{"SH-12 javascript", "javascript:alert(1)", base},
		{"SH-12 javascript in capitals after a space", " JavaScript:alert(1)", base},
		{"SH-12 tab inside the scheme", "java\tscript:alert(1)", base},
		{"SH-12 line break inside the scheme", "java\nscript:alert(1)", failed},
		{"blob of our origin", "blob:" + base + "/1", base},
		{"header split", "/x\r\nSet-Cookie: a=b", failed},
		{"null byte", "/x\x00", failed},
		{"dot segments", "/../a/./b/%2e%2E/c", base + "/a/c"},
		{"name that maps to ours", "http://ａpp.example.test/", base},
		{"SH-11 no host", "http://[", failed},
		{"SH-11 no scheme", "://", failed},
		{"ten kilobytes after percent-encoding", "/" + strings.Repeat("é", 2_000), base},
		{"SH-11 ten kilobytes", "/" + strings.Repeat("a", 10_000), base},
		{"no URL", "evil.test", failed},
		{"empty", "", failed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := origin.Redirect(tt.target, base)
			if err != nil {
				if !errors.Is(err, origin.ErrTarget) || got != "" {
					t.Errorf("Redirect = %q, %v, want an ErrTarget alone", got, err)
				}
				got = failed
			}
			if got != tt.want {
				t.Errorf("Redirect(%q) = %q, want %q", tt.target, got, tt.want)
			}
		})
	}
}

func TestRedirectKeepsToOriginsOfEveryShape(t *testing.T) {
	tests := []struct{ base, target, want string }{
		{"https://app.example.test", "https://app.example.test:443/x", "https://app.example.test/x"},
		{"https://app.example.test", "http://app.example.test:443/x", "https://app.example.test"},
		{"http://app.example.test:3000", "http://app.example.test:3000/x", "http://app.example.test:3000/x"},
		{"http://app.example.test:3000", "http://app.example.test:3000@evil.test/x", "http://app.example.test:3000"},
		{"http://app.example.test:3000", "http://app.example.test:30000/x", "http://app.example.test:3000"},
		{"http://app.example.test:3000", "http://app.example.test/x", "http://app.example.test:3000"},
		{"http://127.0.0.1:8080", "http://127.0.0.1:8080/x", "http://127.0.0.1:8080/x"},
		{"http://127.0.0.1:8080", "http://127.1:8080/x", "http://127.0.0.1:8080"},
		{"http://[::1]:8080", "http://[0:0::1]:8080/x", "http://[::1]:8080/x"},
		{"http://[::1]:8080", "http://[::1]/x", "http://[::1]:8080"},
		{"http://[::1]:8080", "//[::2]/x", "http://[::1]:8080//[::2]/x"},
	}
	for _, tt := range tests {
		if got, err := origin.Redirect(tt.target, tt.base); got != tt.want || err != nil {
			t.Errorf("Redirect(%q, %q) = %q, %v, want %q", tt.target, tt.base, got, err, tt.want)
		}
	}
}

// testdata/whatwg.json holds what another implementation of the URL standard
// (Node.js 20) makes of each input, a path being put behind our origin first.
func TestRedirectAgreesWithAnotherURLParser(t *testing.T) {
	data, err := os.ReadFile("testdata/whatwg.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors []struct {
		Input, Href, Origin string
		Userinfo            bool
	}
	if err := json.Unmarshal(data, &vectors); err != nil {
		t.Fatal(err)
	}
	if len(vectors) < 100 {
		t.Fatalf("only %d vectors", len(vectors))
	}
	// Names a browser maps to ours are taken for another site: Redirect
	// answers with the origin, which is always safe.
	foreignToUs := map[string]bool{
		"http://app%2eexample.test/x": true, "http://%61pp.example.test/x": true, "http://ａpp.example.test/x": true,
		"http://app。example.test/x": true, "http://app.example.test\u00ad/x": true,
	}
	for _, v := range vectors {
		want := base
		if v.Href != "" && v.Origin == base && !v.Userinfo && !foreignToUs[v.Input] && !strings.HasPrefix(v.Input, "blob:") {
			want = v.Href
		}
		got, err := origin.Redirect(v.Input, base)
		switch {
		case strings.Contains(v.Input, "\x00") || v.Href == "":
			if err == nil {
				t.Errorf("Redirect(%q) = %q, want an error", v.Input, got)
			}
		case err != nil:
			t.Errorf("Redirect(%q): %v, want %q", v.Input, err, want)
		case got != want && (got != base || want != base+"/"):
			t.Errorf("Redirect(%q) = %q, want %q", v.Input, got, want)
		}
	}
}

func TestVerbatimKeepsWhatRedirectAccepts(t *testing.T) {
	tests := []struct{ name, target, want string }{
		{"path", "/a b", base + "/a b"},
		{"slash and backslash", `/\evil.test`, base + `/\evil.test`},
		{"capitals", "HTTP://APP.EXAMPLE.TEST/inside", "HTTP://APP.EXAMPLE.TEST/inside"},
		{"default port", base + ":80/inside", base + ":80/inside"},
		{"beyond ASCII", "/café", base + "/café"},
		{"another site", "https://evil.test", base},
		{"user name", "http://evil.test@app.example.test/", base},
		{"too long", "/" + strings.Repeat("a", 10_000), base},
		{"line break", "/x\r\ny", base + "/x\r\ny"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got, err := origin.Verbatim(tt.target, base); got != tt.want || err != nil {
				t.Errorf("Verbatim(%q) = %q, %v, want %q", tt.target, got, err, tt.want)
			}
		})
	}
	if _, err := origin.Verbatim("nonsense", base); !errors.Is(err, origin.ErrTarget) {
		t.Errorf("Verbatim of no URL: %v, want ErrTarget", err)
	}
}

func TestAllowed(t *testing.T) {
	for raw, want := range map[string]bool{
		"/x": true, "//x": true, "http://a.test": true, "HTTPS://a.test/x": true, " http://a.test": true, "http://bücher.test": true,
		"": false, "x": false, "javascript:alert(1)": false, "ftp://a.test/": false, "data:,x": false, "not a url": false,
		"http://": false, "http://[": false, "?x": false, `\\a.test`: false, "%zz": false, "%ff%fe": false,
	} {
		if got := origin.Allowed(raw); got != want {
			t.Errorf("Allowed(%q) = %t, want %t", raw, got, want)
		}
	}
}

func TestRedirectDoesNotAllocateForTheOriginItself(t *testing.T) {
	if n := testing.AllocsPerRun(100, func() { _, _ = origin.Redirect(base, base) }); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}

// likeBrowser returns the host to which a browser goes. It follows the standard as
// far as it concerns our responses, and shares no code with the package.
func likeBrowser(t *testing.T, location string) (host string) {
	t.Helper()
	s := strings.NewReplacer("\t", "", "\r", "", "\n", "").Replace(strings.Trim(location, "\x00\x01\x02\x03\x04\x05\x06\x07\x08\t\n\x0b\x0c\r\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f "))
	scheme, rest, ok := strings.Cut(s, ":")
	if !ok || scheme != "http" {
		t.Fatalf("%q has the scheme %q", location, scheme)
	}
	rest = strings.TrimLeft(strings.ReplaceAll(rest, `\`, "/"), "/")
	authority := rest[:indexOrEnd(rest, "/?#")]
	return authority[strings.LastIndexByte(authority, '@')+1:]
}

func indexOrEnd(s, chars string) int {
	if i := strings.IndexAny(s, chars); i >= 0 {
		return i
	}
	return len(s)
}

// For every requested target: the browser stays on our origin, the header is
// not split, net/url agrees on the host, and a second call changes nothing.
func FuzzRedirect(f *testing.F) {
	data, err := os.ReadFile("testdata/whatwg.json")
	if err != nil {
		f.Fatal(err)
	}
	var vectors []struct{ Input string }
	if err := json.Unmarshal(data, &vectors); err != nil {
		f.Fatal(err)
	}
	for _, v := range vectors {
		f.Add(v.Input)
	}
	f.Fuzz(func(t *testing.T, target string) {
		verbatim, verbatimErr := origin.Verbatim(target, base)
		got, err := origin.Redirect(target, base)
		if err != nil {
			if got != "" {
				t.Fatalf("%q beside an error", got)
			}
			return
		}
		if verbatimErr != nil {
			t.Fatalf("Redirect accepts %.200q, Verbatim does not: %v", target, verbatimErr)
		}
		if got != base && !strings.HasPrefix(got, base+"/") {
			t.Fatalf("%.200q leads to %.200q", target, got)
		}
		for i := range len(got) {
			if got[i] <= ' ' || got[i] > '~' {
				t.Fatalf("%.200q gives %.200q, which has the octet %#x", target, got, got[i])
			}
		}
		if host := likeBrowser(t, got); host != "app.example.test" {
			t.Fatalf("%.200q leads to %.200q, for a browser on %.200q", target, got, host)
		}
		if u, err := url.Parse(got); err == nil && u.Host != "app.example.test" {
			t.Fatalf("%.200q leads to %.200q, for net/url on %.200q", target, got, u.Host)
		}
		if again, err := origin.Redirect(got, base); err != nil || again != got {
			t.Fatalf("%.200q gives %.200q, and that gives %.200q, %v", target, got, again, err)
		}
		if stored, err := origin.Redirect(verbatim, base); err != nil || stored != got {
			t.Fatalf("%.200q gives %.200q, but read back from the cookie %.200q, %v", target, got, stored, err)
		}
	})
}

func BenchmarkRedirect(b *testing.B) {
	for _, target := range []string{base, "/dashboard?tab=1", base + "/dashboard?tab=1", "https://evil.example.test/x"} {
		b.Run(target, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _ = origin.Redirect(target, base)
			}
		})
	}
}
