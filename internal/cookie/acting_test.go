package cookie_test

import (
	"strings"
	"testing"

	"github.com/pintleauth/pintle/internal/cookie"
)

// AC-188, AT-105: sessions that are apart have their own cookies of operators who act.
func TestSessionsThatAreApartHaveTheirOwnCookiesOfOperatorsWhoAct(t *testing.T) {
	seen := map[string]int{}
	for i, name := range []string{
		cookie.ActingName("", "", ""),
		cookie.ActingName("shop", "", ""),
		cookie.ActingName("", "/shop", ""),
		cookie.ActingName("", "", "shop"),
		cookie.ActingName("", "", "blue"),
		cookie.ActingName("shop", "", "blue"),
	} {
		if before, taken := seen[name]; taken {
			t.Errorf("the cookies %d and %d have the name %q", before, i, name)
		}
		if seen[name] = i; !strings.HasPrefix(name, "pintle.acting") {
			t.Errorf("the cookie %d has the name %q", i, name)
		}
		if err := cookie.Check("__Host-"+name, cookie.Attributes{Path: "/", Secure: true}); err != nil {
			t.Error(err)
		}
	}
	if a, b := cookie.ActingName(" shop ", "", ""), cookie.ActingName("shop", "/", ""); a != b {
		t.Errorf("one session has the cookies %q and %q", a, b)
	}
}
