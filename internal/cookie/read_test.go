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
		{"beyond 64 KiB is not read", []string{"x=" + strings.Repeat("y", 64<<10), "a=1"}, "", false},
		{"just within 64 KiB", []string{"x=" + strings.Repeat("y", 64<<10-10), "a=1"}, "1", true},
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

// What a stranger sends is read the same whether it comes in one line or two,
// never exceeds what came, and never panics.
func FuzzGet(f *testing.F) {
	for _, s := range []string{"a=1; b=2", " a = %zz ;;=;a", `a="x;y"`, "=a; a"} {
		f.Add(s, "a")
	}
	f.Fuzz(func(t *testing.T, line, name string) {
		value, ok := cookie.Get(header(line), name)
		if !ok && value != "" || len(value) > len(line) {
			t.Fatalf("Get(%q, %q) = %q, %t", line, name, value, ok)
		}
		if again, _ := cookie.Get(header("", line, "x=y"), name); ok && again != value {
			t.Errorf("in several lines %q, in one %q", again, value)
		}
		if ok && !strings.Contains(line, "%") && !strings.Contains(line, value) {
			t.Errorf("Get(%q, %q) = %q, which nobody sent", line, name, value)
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
