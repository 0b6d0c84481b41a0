package pintle_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/pintleauth/pintle"
)

// SA-M3: Server code of one Auth updates its session where the context has that of
// another Auth, or of another tenant. Neither gets anything of the other.
func TestAnUpdateDoesNotMixTheSessionsOfTwoAuths(t *testing.T) {
	role := pintle.NewClaim[string]("role")
	t.Run("of two Auths", func(t *testing.T) {
		customers, staff, r := twoAuths(t)
		r.Header.Set("Cookie", "customers="+sealed(t, "customers", claimsFor("ada"))+"; staff="+sealed(t, "staff", claimsFor("grace")))
		w := httptest.NewRecorder()
		customers.Load(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			role.Set(pintle.SessionFrom(r.Context()), "owner of a shop")
			if s, err := staff.UpdateSession(w, r, nil); err != nil || s == nil || s.User.Name != people["grace"].user.Name {
				t.Errorf("the update returns %+v, %v", s, err)
			}
			customers.Require(http.HandlerFunc(sayWho)).ServeHTTP(w, r)
		})).ServeHTTP(w, r)
		if strings.Contains(w.Body.String(), "Grace") {
			t.Errorf("the guard of the customers takes the user of the staff: %q", w.Body)
		}
		after := httptest.NewRequest("GET", "http://localhost:3000/", nil)
		for _, c := range w.Result().Cookies() {
			after.AddCookie(c)
		}
		s, err := staff.Session(after)
		if err != nil || s == nil {
			t.Fatal(s, err)
		}
		if got, ok := role.Get(s); ok {
			t.Errorf("the session of the staff has the role %q that was set in the session of the customers", got)
		}
	})
	t.Run("of two tenants", func(t *testing.T) {
		var book logBook
		auth := houses(&book, func(string, *pintle.Config) {})
		evil, bank := adaAt(t, auth, "evil.example"), adaAt(t, auth, "bank.example")
		moved := func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				r.Host = "bank.example"
				next.ServeHTTP(w, r)
			})
		}
		r := httptest.NewRequest("GET", "http://evil.example/", nil)
		r.Header.Set("Cookie", evil+"; "+strings.Replace(bank, sessionCookie+"=", sessionCookie+".0=", 1))
		w := httptest.NewRecorder()
		auth.Load(moved(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			role.Set(pintle.SessionFrom(r.Context()), "admin")
			if _, err := auth.UpdateSession(w, r, nil); err != nil {
				t.Error(err)
			}
		}))).ServeHTTP(w, r)
		after := httptest.NewRequest("GET", "http://bank.example/", nil)
		for _, c := range w.Result().Cookies() {
			if c.Value != "" {
				after.AddCookie(c)
			}
		}
		s, err := auth.Session(after)
		if err != nil || s == nil {
			t.Fatal(s, err)
		}
		if got, ok := role.Get(s); ok {
			t.Errorf("the session at the bank has the role %q", got)
		}
	})
}
