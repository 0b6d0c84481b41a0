package userlist_test

import (
	"testing"
	"time"

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

func TestATextSaysTheTimeAndTheIDOfAnEvent(t *testing.T) {
	want := time.Date(2026, 3, 4, 5, 6, 7, 89_000_000, time.UTC)
	at, id, err := userlist.ReadEvent(userlist.OfEvent(want.Add(time.Microsecond), "42").Text())
	if err != nil || !at.Equal(want) || id != "42" {
		t.Errorf("ReadEvent returned %s, %q, %v", at, id, err)
	}
	for _, p := range []userlist.Position{{Order: userlist.Events, Key: "x", ID: "42"}, {Order: userlist.Events, Key: "1"}, {Order: userlist.Newest, Key: "1", ID: "42"}} {
		if at, id, err := userlist.ReadEvent(p.Text()); err == nil {
			t.Errorf("%+v continues a list at %s, %q", p, at, id)
		}
	}
}
