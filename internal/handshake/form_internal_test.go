package handshake

import (
	"testing"

	"github.com/pintleauth/pintle/internal/query"
)

func TestClientCredentialsAreEscapedAsTheWireContractSays(t *testing.T) {
	const in = "Aa0-_.!~*'() é日/:?#[]@$&+,;=|%\"<>\\^`{}"
	const want = "Aa0-_.!~*'()+%C3%A9%E6%97%A5%2F%3A%3F%23%5B%5D%40%24%26%2B%2C%3B%3D%7C%25%22%3C%3E%5C%5E%60%7B%7D"
	if got := componentEscape(in); got != want {
		t.Errorf("componentEscape(…) = %s, want %s", got, want)
	}
	if got := componentEscape("%21%2A"); got != "%2521%252A" {
		t.Errorf("componentEscape of text that looks escaped = %s", got)
	}
}

func TestSetKeepsTheFirstPlaceAndRemovesTheRest(t *testing.T) {
	v, err := query.Parse("a=1&b=2&a=3&c=4&a=5")
	if err != nil {
		t.Fatal(err)
	}
	set(&v, "a", "x")
	set(&v, "d", "y")
	if got, want := v.Encode(), "a=x&b=2&c=4&d=y"; got != want {
		t.Errorf("set = %q, want %q", got, want)
	}
	apply(&v, query.Values{{Key: "b"}, {Key: "c", Value: "z"}})
	if got, want := v.Encode(), "a=x&c=z&d=y"; got != want {
		t.Errorf("apply = %q, want %q", got, want)
	}
}
