package cookie_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle/internal/cookie"
)

func TestReadChunked(t *testing.T) {
	tests := []struct {
		name     string
		lines    []string
		want     string
		received []string
	}{
		{"nothing", []string{"x=1"}, "", nil},
		{"whole", []string{"x=1; s=abc"}, "abc", []string{"s"}},
		{"parts", []string{"s.0=ab; s.1=cd; s.2=e"}, "abcde", []string{"s.0", "s.1", "s.2"}},
		{"parts in any order", []string{"s.2=e; s.0=ab; s.1=cd"}, "abcde", []string{"s.2", "s.0", "s.1"}},
		{"parts in several lines", []string{"s.1=cd", "s.0=ab"}, "abcd", []string{"s.1", "s.0"}},
		{"eleven parts in numeric order", []string{"s.10=k; s.9=j; s.8=i; s.7=h; s.6=g; s.5=f; s.4=e; s.3=d; s.2=c; s.1=b; s.0=a"}, "abcdefghijk", strings.Fields("s.10 s.9 s.8 s.7 s.6 s.5 s.4 s.3 s.2 s.1 s.0")},
		{"a single numbered part", []string{"s.0=ab"}, "ab", []string{"s.0"}},
		{"encoded parts", []string{"s.0=a%2E; s.1=%2Db"}, "a.-b", []string{"s.0", "s.1"}},
		{"W-10 leftovers beside a whole value", []string{"s=abc; s.0=left; s.1=over"}, "abc", []string{"s", "s.0", "s.1"}},
		{"W-10 another cookie that begins with the name", []string{"s=abc; s-preview=x; sX=y; s.x=z"}, "abc", []string{"s"}},
		{"CK-7 suffix of two numbers", []string{"s.0=ab; s.0.1=x; s.=y"}, "ab", []string{"s.0"}},
		{"parts after a gap are cleared but not read", []string{"s.0=ab; s.2=e"}, "ab", []string{"s.0", "s.2"}},
		{"first part missing", []string{"s.1=cd; s.2=e"}, "", []string{"s.1", "s.2"}},
		{"leading zero is no part", []string{"s.0=ab; s.01=x; s.00=y"}, "ab", []string{"s.0", "s.01", "s.00"}},
		{"number beyond any writer", []string{"s.0=ab; s.99999=x"}, "ab", []string{"s.0", "s.99999"}},
		{"number that would overflow", []string{"s.0=ab; s.18446744073709551617=x"}, "ab", []string{"s.0"}},
		{"first occurrence wins", []string{"s=abc; s=def"}, "abc", []string{"s"}},
		{"first occurrence of a part wins", []string{"s.0=ab; s.0=xx; s.1=c"}, "abc", []string{"s.0", "s.1"}},
		{"empty values are not there", []string{"s=; s.0=ab; s.1=; s.2=x"}, "ab", []string{"s.0", "s.2"}},
		{"an empty first occurrence counts", []string{"s=; s=abc; s.0=; s.0=x"}, "", []string{"s", "s.0"}},
		{"SA-L3 behind 66 KB of other cookies", []string{"x=" + strings.Repeat("y", 66<<10) + "; s=abc"}, "abc", []string{"s"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, received := cookie.ReadChunked(header(tt.lines...), "s"), cookie.Received(header(tt.lines...), "s")
			if got.Value() != tt.want || !slices.Equal(received, tt.received) {
				t.Errorf("ReadChunked = %q, Received = %q, want %q, %q", got.Value(), received, tt.want, tt.received)
			}
		})
	}
}

// A client must not be able to cause an unbounded number of Set-Cookie lines, nor
// to prevent the names that hold the session from being cleared.
func TestReceivedIsBounded(t *testing.T) {
	for _, tt := range []struct {
		name        string
		from, to    int
		want, inUse int
	}{
		{"SA-L3 junk numbers first", 100, 1000, 31 + 33, 33},
		{"SA-L3 junk numbers behind", 100, 100, 31 + 33, 33},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var b strings.Builder
			for i := tt.from; i < tt.to; i++ {
				fmt.Fprintf(&b, "s.%d=x; ", i)
			}
			for range 2 {
				b.WriteString("s=whole; ")
				for i := range 32 {
					fmt.Fprintf(&b, "s.%d=x; ", i)
				}
			}
			for i := range 100 {
				fmt.Fprintf(&b, "s.%d=x; ", 1000+i)
			}
			received := cookie.Received(header(b.String()), "s")
			inUse := 0
			for i := -1; i < 32; i++ {
				name := "s"
				if i >= 0 {
					name = fmt.Sprintf("s.%d", i)
				}
				if slices.Contains(received, name) {
					inUse++
				}
			}
			if len(received) != tt.want || inUse != tt.inUse {
				t.Errorf("%d names, %d of them in use; want %d and %d", len(received), inUse, tt.want, tt.inUse)
			}
		})
	}
}

func TestWriteChunkedKeepsTheOrderOfAuthJS(t *testing.T) {
	const size = 3936
	long := func(n int) string { return strings.Repeat("x", n) }
	tests := []struct {
		name     string
		value    string
		received []string
		want     []string // name and length of the value
	}{
		{"first", long(10), nil, []string{"s 10"}},
		{"just fits", long(size), nil, []string{"s 3936"}},
		{"one more", long(size + 1), nil, []string{"s.0 3936", "s.1 1"}},
		{"exactly two", long(2 * size), nil, []string{"s.0 3936", "s.1 3936"}},
		{"whole again", long(10), []string{"s"}, []string{"s 10"}},
		{"grows", long(2*size + 5), []string{"s"}, []string{"s 0", "s.0 3936", "s.1 3936", "s.2 5"}},
		{"shrinks to one", long(10), []string{"s.2", "s.0", "s.1"}, []string{"s.2 0", "s.0 0", "s.1 0", "s 10"}},
		{"shrinks to two", long(size + 5), []string{"s.0", "s.1", "s.2", "s.3"}, []string{"s.0 3936", "s.1 5", "s.2 0", "s.3 0"}},
		{"same shape in received order", long(size + 5), []string{"s.1", "s.0"}, []string{"s.1 5", "s.0 3936"}},
		{"removed", "", []string{"s", "s.0"}, []string{"s 0", "s.0 0"}},
		{"nothing to remove", "", nil, nil},
		{"a name received twice", "", []string{"s", "s"}, []string{"s 0"}},
	}
	a := cookie.Attributes{Path: "/", HTTPOnly: true, SameSite: "Lax", Expires: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, line := range cookie.WriteChunked("s", tt.value, tt.received, a) {
				pair, rest, _ := strings.Cut(line, "; ")
				name, value, _ := strings.Cut(pair, "=")
				got = append(got, fmt.Sprintf("%s %d", name, len(value)))
				want := "Path=/; Expires=Wed, 02 Jan 2030 03:04:05 GMT; HttpOnly; SameSite=Lax"
				if value == "" {
					want = "Max-Age=0; Path=/; HttpOnly; SameSite=Lax"
				}
				if rest != want {
					t.Errorf("%s has the attributes %q, want %q", name, rest, want)
				}
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("wrote %q, want %q", got, tt.want)
			}
		})
	}
}

// apply does what a browser does with the lines: it stores and deletes cookies.
func apply(jar []string, lines []string) []string {
	for _, line := range lines {
		pair, rest, _ := strings.Cut(line, "; ")
		name, _, _ := strings.Cut(pair, "=")
		at := slices.IndexFunc(jar, func(c string) bool { return strings.HasPrefix(c, name+"=") })
		switch {
		case strings.Contains(rest, "Max-Age=0"):
			if at >= 0 {
				jar = slices.Delete(jar, at, at+1)
			}
		case at >= 0:
			jar[at] = pair
		default:
			jar = append(jar, pair)
		}
	}
	return jar
}

// For any sequence of sizes, and any stray cookies planted in between, the
// browser ends up with exactly the last value, and each cookie stays under the
// 4096 bytes a browser keeps (ASVS-3.3.5, CK-2).
func FuzzChunksRoundTrip(f *testing.F) {
	f.Add(uint16(10), uint16(9000), "s.7=stray; s.01=x")
	f.Add(uint16(16000), uint16(3936), "s=old")
	f.Fuzz(func(t *testing.T, first, second uint16, planted string) {
		var jar []string
		a := cookie.Attributes{Path: "/", HTTPOnly: true, Secure: true, SameSite: "Lax"}
		for i, size := range []uint16{first, second} {
			want := strings.Repeat(string(rune('a'+i)), int(size)%30000)
			h := header(strings.Join(jar, "; "), planted)
			if i == 1 {
				h = header(strings.Join(jar, "; "))
			}
			lines := cookie.WriteChunked("s", want, cookie.Received(h, "s"), a)
			for _, line := range lines {
				if pair, _, _ := strings.Cut(line, "; "); len(pair) > 4096 {
					t.Fatalf("a cookie has %d bytes", len(pair))
				}
				if strings.ContainsAny(line, "\r\n") {
					t.Fatalf("line %q is split", line)
				}
			}
			jar = apply(jar, lines)
			got, left := cookie.ReadChunked(header(strings.Join(jar, "; ")), "s"), cookie.Received(header(strings.Join(jar, "; ")), "s")
			if got.Value() != want || got.Repeated {
				t.Fatalf("read %d bytes back, want %d; jar %.80q", len(got.Value()), len(want), jar)
			}
			if len(left) != len(jar) {
				t.Fatalf("%d cookies left, %d of them ours", len(jar), len(left))
			}
		}
	})
}

func BenchmarkReadChunked(b *testing.B) {
	part := strings.Repeat("x", 3936)
	for _, bm := range []struct {
		name string
		h    http.Header
	}{
		{"whole", header("theme=dark; _ga=GA1.2.3.4; authjs.session-token=" + part[:500])},
		{"three parts", header("theme=dark; authjs.session-token.0=" + part + "; authjs.session-token.1=" + part + "; authjs.session-token.2=" + part[:200])},
	} {
		b.Run(bm.name+"/ReadChunked", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				cookie.ReadChunked(bm.h, "authjs.session-token")
			}
		})
		b.Run(bm.name+"/Received", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				cookie.Received(bm.h, "authjs.session-token")
			}
		})
	}
}
