package pintle_test

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/pintleauth/pintle"
)

// A user is signed in at once after a registration.
func ExampleAuth_StartSession() {
	auth := exampleAuth(pintle.Callbacks{})
	register := func(w http.ResponseWriter, r *http.Request) {
		// The application stores the user and the hash of the password, and then:
		user := &pintle.User{ID: "7", Name: r.FormValue("name"), Email: r.FormValue("email")}
		how := pintle.StartOptions{Authentication: pintle.Authentication{Provider: "registration", Methods: []string{"pwd"}}}
		if _, _, err := auth.StartSession(w, r, user, how); err != nil {
			http.Error(w, "You are registered. Please sign in.", http.StatusInternalServerError)
			return
		}
		http.Redirect(w, r, "/welcome", http.StatusSeeOther)
	}

	w := httptest.NewRecorder()
	register(w, httptest.NewRequest(http.MethodPost, "http://localhost/register?name=Ali", nil))
	next := httptest.NewRequest(http.MethodGet, "http://localhost/welcome", nil)
	for _, c := range w.Result().Cookies() {
		next.AddCookie(c)
	}
	session, err := auth.Session(next)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(session.User.Name)
	// Output: Ali
}

// A native application gets the token of a session instead of a cookie. It sends the
// token in the header Authorization, which SessionConfig.AllowBearer accepts.
func ExampleAuth_StartSession_nativeApplication() {
	auth := exampleAuth(pintle.Callbacks{})
	exchange := func(w http.ResponseWriter, r *http.Request) {
		user, when := redeem(r.FormValue("code"))
		token, session, err := auth.StartSession(nil, r, user, pintle.StartOptions{Authentication: when})
		if err != nil {
			http.Error(w, "no session", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Cache-Control", "no-store")
		_ = json.NewEncoder(w).Encode(map[string]any{"access_token": token, "expires": session.Expires})
	}

	w := httptest.NewRecorder()
	exchange(w, httptest.NewRequest(http.MethodPost, "http://localhost/token?code=1", nil))
	var got map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
		log.Fatal(err)
	}
	fmt.Println(got["access_token"] != "", len(w.Result().Cookies()))
	// Output: true 0
}

// redeem returns the user of a code that the application got in the browser, and how
// the user signed in there.
func redeem(string) (*pintle.User, pintle.Authentication) {
	return &pintle.User{ID: "7", Name: "Ali Baba"}, pintle.Authentication{}
}
