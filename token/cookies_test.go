package token

import (
	"net/url"
	"strconv"
	"strings"
	"testing"
)

// The one pass over the header finds what reading it by the rules finds: split
// at semicolons, skip what has no "=", trim, first of a name, decode.
func FuzzCookies(f *testing.F) {
	const name = "s"
	for _, line := range []string{
		"", "s=1", "a=b; s=1;s=2", "s.0=a; s.1=b; s.3=d", "s.1=b;s.0=a", " s\t=\t x y ; s.00=z", "s.01=a; s.+1=b; s.0.1=c",
		"s", "s=", "=s=1", "s==1", "s=%41%zz; s.0=%41", "s.31=a; s.32=b; s.0=", `s="q"`, "S=1; sX=2; s.x=3", ";;; ;", "s=\f1\v", "s.001=a; s.0=b", "s.0=%C3; s.1=%E0%A4%A",
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		first := make(map[string]string)
		for pair := range strings.SplitSeq(line, ";") {
			key, value, ok := strings.Cut(pair, "=")
			key, value = strings.Trim(key, " \t"), strings.Trim(value, " \t")
			if _, seen := first[key]; ok && !seen {
				if plain, err := url.PathUnescape(value); err == nil {
					value = plain
				}
				first[key] = value
			}
		}
		var joined string
		for i := range maxChunks {
			chunk := first[name+"."+strconv.Itoa(i)]
			if chunk == "" {
				break
			}
			joined += chunk
		}

		var got cookies
		got.read(line, name)
		if got.whole != first[name] || got.joined() != joined {
			t.Errorf("read(%q) = %q and %q, want %q and %q", line, got.whole, got.joined(), first[name], joined)
		}
	})
}
