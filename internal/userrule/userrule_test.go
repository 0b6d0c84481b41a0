package userrule

import (
	"strings"
	"testing"
)

// AT-106
func TestARoleIsAShortWordOfFewCharacters(t *testing.T) {
	for text, want := range map[string]bool{
		"admin": true, "a": true, "user:admin-2_x": true, "9": true, ":": true, strings.Repeat("x", MaxRole): true,
		"": false, "Admin": false, "-admin": false, "-": false, "a b": false, "a,b": false, "ä": false, "a\n": false, strings.Repeat("x", MaxRole+1): false,
	} {
		if got := IsRole(text); got != want {
			t.Errorf("IsRole(%q) = %t, want %t", text, got, want)
		}
	}
}
