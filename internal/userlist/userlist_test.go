package userlist_test

import (
	"testing"

	"github.com/pintleauth/pintle/internal/userlist"
)

func TestATextContinuesTheListItIsFrom(t *testing.T) {
	p := userlist.Position{Order: userlist.ByName, Key: `ä"\x00`, ID: "42"}
	got, err := userlist.Read(p.Text(), userlist.ByName)
	if err != nil || got != p {
		t.Errorf("Read returned %+v, %v, want %+v", got, err, p)
	}
	for _, text := range []string{"", "x", "bnVsbA", "e30", p.Text() + "AA", userlist.Position{Order: userlist.Newest, ID: "42"}.Text()} {
		if got, err := userlist.Read(text, userlist.ByName); err == nil {
			t.Errorf("%q continues a list at %+v", text, got)
		}
	}
}

func TestTheOrderFollowsTheText(t *testing.T) {
	for _, c := range []struct {
		email, name string
		want        userlist.Order
	}{{"", "", userlist.Newest}, {"a", "", userlist.ByEmail}, {"", "a", userlist.ByName}, {"a", "a", userlist.ByEmail}} {
		if got := userlist.Of(c.email, c.name); got != c.want {
			t.Errorf("Of(%q, %q) = %q, want %q", c.email, c.name, got, c.want)
		}
	}
}
