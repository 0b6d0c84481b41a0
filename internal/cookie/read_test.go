package cookie_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/pintleauth/pintle/internal/cookie"
)

func header(lines ...string) http.Header { return http.Header{"Cookie": lines} }

func TestGet(t *testing.T) {
	tests := []struct {
		name  string
		lines []string
		want  string
		ok    bool
	}{
		{"only one", []string{"a=1"}, "1", true},
		{"absent", []string{"b=1"}, "", false},
		{"no header", nil, "", false},
		{"first of two wins", []string{"a=1; a=2"}, "1", true},
		{"in a later line", []string{"x=1", "a=2"}, "2", true},
		{"first line wins", []string{"a=1", "a=2"}, "1", true},
		{"spaces and tabs around", []string{" \ta\t = 1 \t;x=y"}, "1", true},
		{"encoded", []string{"a=t%7Ch"}, "t|h", true},
		{"SH-02 malformed encoding stays", []string{"a=%zz"}, "%zz", true},
		{"quotes belong to the value", []string{`a="1"`}, `"1"`, true},
		{"equals signs belong to the value", []string{"a=1=2"}, "1=2", true},
		{"empty value", []string{"a="}, "", true},
		{"segment without equals sign is skipped", []string{"a; a=1"}, "1", true},
		{"garbage around", []string{";;; =; ==; b; =b; \u00ff;a=1;"}, "1", true},
		{"CK-5 a nameless cookie cannot pose as another", []string{"=a=evil; a=1"}, "1", true},
		{"name is compared exactly", []string{"A=2; aa=3; a=1"}, "1", true},
		{"SA-L3 behind 66 KB of other cookies", []string{"x=" + strings.Repeat("y", 66<<10), "a=1"}, "1", true},
		{"SA-L3 behind 66 KB that hold the name", []string{"x=" + strings.Repeat("a=2", 22<<10) + ";a=1"}, "1", true},
		{"the name inside another name", []string{"ba=2; a.b=3; b a=4; a=1"}, "1", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got, ok := cookie.Get(header(tt.lines...), "a"); got != tt.want || ok != tt.ok {
				t.Errorf("Get = %q, %t, want %q, %t", got, ok, tt.want, tt.ok)
			}
		})
	}
}

func TestGetDoesNotAllocateWhenNothingIsEncoded(t *testing.T) {
	h := header("x=1; y=2; authjs.csrf-token=abc|def; z=3")
	if n := testing.AllocsPerRun(100, func() { cookie.Get(h, "authjs.csrf-token") }); n != 0 {
		t.Errorf("Get allocates %v times, want 0", n)
	}
}

// Searching for the name returns the same as splitting the header by its rules:
// split at semicolons, skip segments without "=", trim, take the first of the name.
func FuzzGet(f *testing.F) {
	for _, s := range []string{
		"a=1; b=2", " a = %zz ;;=;a", `a="x;y"`, "=a; a", "ba=1;a=2", "b=a=1; a=2", "a a=1; a=3", ";a\t=\t1", "a\v=1;\fa=2", "x;a=1",
	} {
		f.Add(s, "a")
	}
	f.Fuzz(func(t *testing.T, line, name string) {
		if name == "" || strings.ContainsAny(name, "; \t=") {
			return // no cookie can have such a name
		}
		want, there := "", false
		for segment := range strings.SplitSeq(line, ";") {
			key, value, ok := strings.Cut(segment, "=")
			if ok && strings.Trim(key, " \t") == name {
				want, there = cookie.Decode(strings.Trim(value, " \t")), true
				break
			}
		}
		if value, ok := cookie.Get(header(line), name); value != want || ok != there {
			t.Fatalf("Get(%q, %q) = %q, %t; want %q, %t", line, name, value, ok, want, there)
		}
		if value, ok := cookie.Get(header("", line, "x=y"), name); ok && there && value != want {
			t.Errorf("in several lines %q, in one %q", value, want)
		}
	})
}

func BenchmarkGet(b *testing.B) {
	h := header("theme=dark; _ga=GA1.2.3.4; authjs.callback-url=http%3A%2F%2Flocalhost; authjs.csrf-token=0123456789abcdef|0123456789abcdef")
	b.ReportAllocs()
	for b.Loop() {
		cookie.Get(h, "authjs.csrf-token")
	}
}
