package cookie_test

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pintleauth/pintle/internal/cookie"
)

var errNotOurs = errors.New("not ours")

// openUser opens the values "ada!", "ada2!" and "grace!", each of which is of
// the user whose name it begins with.
func openUser(value string) (string, error) {
	user, ok := strings.CutSuffix(value, "!")
	if !ok {
		return "", errNotOurs
	}
	return strings.TrimRight(user, "0123456789"), nil
}

func sameUser(a, b string) bool { return a == b }

func TestOpen(t *testing.T) {
	for _, tt := range []struct {
		name, header, user string
		err                error
	}{
		{"the whole value", "s=ada!", "ada", nil},
		{"the parts", "s.0=ad; s.1=a!", "ada", nil},
		{"nothing", "x=1", "", errNotOurs},
		{"SA-M8 junk parts beside the whole value", "s.0=x; s.1=y; s=ada!", "ada", nil},
		{"SA-M8 a planted part of another user", "s.0=grace!; s=ada!", "", cookie.ErrConflict},
		{"SA-M8 a planted whole value beside the parts of another user", "s=grace!; s.0=ad; s.1=a!", "", cookie.ErrConflict},
		{"both of one user", "s=ada!; s.0=ada2!", "ada", nil},
		{"a left-over whole value beside the parts", "s=x; s.0=ad; s.1=a!", "ada", nil},
		{"neither opens", "s=x; s.0=y", "", errNotOurs},
		{"SA-M8 two cookies of one name and two users", "s=grace!; s=ada!", "", cookie.ErrConflict},
		{"two cookies of one name and one user", "s=ada!; s=ada2!", "ada", nil},
		{"the same cookie twice", "s=grace!; s=grace!", "grace", nil},
		{"junk after the cookie", "s=ada!; s=x", "ada", nil},
		{"SH-47 junk before the cookie", "s=x; s=ada!", "", errNotOurs},
		{"an empty cookie before the cookie", "s=; s=ada!", "", errNotOurs},
		{"SA-M8 the last of four is of another user", "s=ada!; s=1; s=2; s=grace!", "", cookie.ErrConflict},
		{"more cookies of one name than are compared", "s=ada!; s=1; s=2; s=3; s=4", "", cookie.ErrConflict},
		{"SA-M8 parts of two users", "s.0=gra; s.1=ce!; s.0=ad; s.1=a!", "", cookie.ErrConflict},
		{"SA-M8 a repeated part beside the whole value", "s=grace!; s.0=x; s.0=ad; s.1=a!", "", cookie.ErrConflict},
		{"a part that came twice the same", "s.0=ad; s.0=ad; s.1=a!", "ada", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			user, err := cookie.Open(header(tt.header), "s", openUser, sameUser)
			if user != tt.user || !errors.Is(err, tt.err) {
				t.Errorf("Open = %q, %v; want %q, %v", user, err, tt.user, tt.err)
			}
		})
	}
}

func TestValues(t *testing.T) {
	for _, tt := range []struct {
		name, header string
		want         []string
		all          bool
	}{
		{"nothing", "x=1", nil, true},
		{"one", "s=a%2Eb", []string{"a.b"}, true},
		{"whole and parts", "s.1=y; s=a; s.0=x", []string{"a", "xy"}, true},
		{"several", "s=a; s=b; s=a; s=; s.0=c", []string{"a", "b", "c"}, true},
		{"too many", "s=a; s=b; s=c; s=d; s=e", []string{"a", "b", "c", "d"}, false},
		{"a repeated part", "s.0=a; s.0=b", []string{"a"}, false},
		{"orphans", "s.1=a; s.40=b", nil, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			values, all := cookie.Values(header(tt.header), "s", 4)
			if !slices.Equal(values, tt.want) || all != tt.all {
				t.Errorf("Values = %q, %t; want %q, %t", values, all, tt.want, tt.all)
			}
		})
	}
}

// For any request, the value that opens is one of those that a sign-out ends,
// each name that was read is cleared, and no other user's value opens beside it.
func TestCandidates(t *testing.T) {
	for _, tt := range []struct {
		name, header string
		want         []string
		all          bool
	}{
		{"nothing", "x=1", nil, true},
		{"the whole value", "s=a%2E", []string{"a."}, true},
		{"the parts, as long as they may have been", "s.0=a%2E; s.1=b", []string{"a.", "a.b"}, true},
		{"SA-L3 a planted first part", "s.0=x; s.0=a; s.1=b", []string{"x", "a", "xb", "ab"}, true},
		{"SA-L3 a planted part in the middle, which comes last", "s.0=a; s.1=b; s.2=c; s.1=x", []string{"a", "ab", "ax", "abc", "axc"}, true},
		{"SA-L3 a planted part behind the last", "s.0=a; s.1=b; s.2=x", []string{"a", "ab", "abx"}, true},
		{"SA-L3 an empty part", "s.0=; s.0=a; s=; s=w", []string{"w", "a"}, true},
		{"the same part twice", "s.0=a; s.0=a; s=a", []string{"a"}, true},
		{"a part behind a gap", "s.0=a; s.2=c; s.1x=d; s.77=e", []string{"a"}, true},
		{"parts without the first", "s.1=b", nil, true},
		{"as many as are returned", "s=1; s=2; s=3; s.0=a; s.1=b", []string{"1", "2", "3", "a", "ab"}, true},
		{"SA-L3 more whole values than are returned", "s=1; s=2; s=3; s=4; s=5; s=6", []string{"1", "2", "3", "4", "5"}, false},
		{"SA-L3 more ways to join parts than are returned", "s=1; s=2; s.0=a; s.0=b; s.1=c", []string{"1", "2", "a", "b", "ac"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			values, all := cookie.Candidates(header(tt.header), "s", 5)
			if !slices.Equal(values, tt.want) || all != tt.all {
				t.Errorf("Candidates = %q, %t; want %q, %t", values, all, tt.want, tt.all)
			}
		})
	}
}

func FuzzOpen(f *testing.F) {
	for _, s := range []string{"s=ada!; s.0=grace!", "s.0=ad;s.1=a!", "s=; s=ada!", "s=ada!;s=1;s=2;s=3;s=grace!", "s.40=x; s.01=y; sX=z", "s.0=ada!;s.0=grace!"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		h := header(line)
		user, err := cookie.Open(h, "s", openUser, sameUser)
		values, all := cookie.Values(h, "s", 4)
		held := cookie.ReadChunked(h, "s")
		if v := held.Value(); v != "" && !slices.Contains(values, v) {
			t.Fatalf("%q is read and not among %q", v, values)
		}
		received := cookie.Received(h, "s")
		if held.Whole != "" && !slices.Contains(received, "s") || held.Parts != "" && !slices.Contains(received, "s.0") {
			t.Fatalf("%+v is read and only %q would be cleared", held, received)
		}
		if len(received) > 64 || len(values) > 5 {
			t.Fatalf("%d names and %d values", len(received), len(values))
		}
		if err != nil {
			if user != "" {
				t.Fatalf("%q beside %v", user, err)
			}
			return
		}
		if !all && (held.Repeated || held.Whole != "" && held.Parts != "") {
			t.Fatalf("%q is signed in although not all values were compared", user)
		}
		for _, v := range values {
			if other, err := openUser(v); err == nil && other != user {
				t.Fatalf("%q is signed in beside %q", user, other)
			}
		}
	})
}

func BenchmarkReadBehindManyCookies(b *testing.B) {
	var line strings.Builder
	for i := range 200 {
		fmt.Fprintf(&line, "other%s=%s; ", strconv.Itoa(i), strings.Repeat("v", 30))
	}
	h := header(line.String() + "authjs.session-token=abc")
	b.ReportAllocs()
	for b.Loop() {
		cookie.ReadChunked(h, "authjs.session-token")
	}
}
