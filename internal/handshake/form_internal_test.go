package handshake

import (
	"net/url"
	"testing"
)

const oddBytes = "Aa0-_.!~*'() é日/:?#[]@$&+,;=|%\"<>\\^`{}"

func TestEscapesAsTheWireContractSays(t *testing.T) {
	const wantForm = "Aa0-_.%21%7E*%27%28%29+%C3%A9%E6%97%A5%2F%3A%3F%23%5B%5D%40%24%26%2B%2C%3B%3D%7C%25%22%3C%3E%5C%5E%60%7B%7D"
	if got := formEscape(oddBytes); got != wantForm {
		t.Errorf("formEscape(…) = %s, want %s", got, wantForm)
	}
	const wantComponent = "Aa0-_.!~*'()+%C3%A9%E6%97%A5%2F%3A%3F%23%5B%5D%40%24%26%2B%2C%3B%3D%7C%25%22%3C%3E%5C%5E%60%7B%7D"
	if got := componentEscape(oddBytes); got != wantComponent {
		t.Errorf("componentEscape(…) = %s, want %s", got, wantComponent)
	}
	if got := formEscape("%2A~%7E"); got != "%252A%7E%257E" {
		t.Errorf("formEscape of text that looks escaped = %s", got)
	}
}

func TestFormReadsQueriesAsABrowserDoes(t *testing.T) {
	tests := []struct{ name, query, want string }{
		{"order and repetition stay", "b=1&a=2&b=3", "b=1&a=2&b=3"},
		{"empty pieces go", "&&a=1&", "a=1"},
		{"a name alone has an empty value", "a", "a="},
		{"plus is a space", "a=x+y", "a=x+y"},
		{"broken escapes stand for themselves", "a=%zz%4", "a=%25zz%254"},
		{"semicolons separate nothing", "a=1;b=2", "a=1%3Bb%3D2"},
		{"invalid UTF-8 becomes the replacement character", "a=%ff", "a=%EF%BF%BD"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := parseForm(tt.query).encode(); got != tt.want {
				t.Errorf("parseForm(%q).encode() = %q, want %q", tt.query, got, tt.want)
			}
		})
	}
}

func TestFormSetKeepsTheFirstPlaceAndRemovesTheRest(t *testing.T) {
	f := parseForm("a=1&b=2&a=3&c=4&a=5")
	f.set("a", "x")
	f.set("d", "y")
	if got, want := f.encode(), "a=x&b=2&c=4&d=y"; got != want {
		t.Errorf("set = %q, want %q", got, want)
	}
	f.apply([]Param{{"b", ""}, {"c", "z"}})
	if got, want := f.encode(), "a=x&c=z&d=y"; got != want {
		t.Errorf("apply = %q, want %q", got, want)
	}
}

func FuzzForm(f *testing.F) {
	for _, seed := range []string{"", "a=1&b=2", "%", "a=%ff", "+", "=", oddBytes} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, query string) {
		parsed := parseForm(query)
		encoded := parsed.encode()
		again := parseForm(encoded)
		if got := again.encode(); got != encoded {
			t.Fatalf("%q: encoded %q, and then %q", query, encoded, got)
		}
		values, err := url.ParseQuery(encoded)
		if err != nil {
			t.Fatalf("%q: net/url cannot read %q: %v", query, encoded, err)
		}
		for _, p := range parsed {
			if !values.Has(p.Name) {
				t.Fatalf("%q: net/url sees no %q in %q", query, p.Name, encoded)
			}
		}
	})
}
