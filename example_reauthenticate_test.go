package pintle_test

import (
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/store/memstore"
)

// recordingAuth is an Auth whose token sessions record how they began, and can be ended.
func recordingAuth() *pintle.Auth {
	auth, err := pintle.New(pintle.Config{
		Providers: []pintle.Provider{&pintle.Credentials{Authorize: checkPassword}},
		Secrets:   []string{secret},
		Getenv:    noEnv,
		Session:   pintle.SessionConfig{RecordAuthentication: true, Revocation: &memstore.Revocations{}},
	})
	if err != nil {
		log.Fatal(err)
	}
	return auth
}

// withCookies is a request of a browser after an answer.
func withCookies(w *httptest.ResponseRecorder) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "http://localhost/", nil)
	for _, c := range w.Result().Cookies() {
		if c.MaxAge >= 0 {
			r.AddCookie(c)
		}
	}
	return r
}

// A page asks for the password once more before something that matters. The page that
// matters looks at when the password was proven.
func ExampleAuth_Reauthenticate() {
	auth := recordingAuth()
	confirm := func(w http.ResponseWriter, r *http.Request) {
		session, err := auth.Session(r)
		if err != nil || session == nil || !isPasswordOf(session.User.ID, r.FormValue("password")) {
			http.Error(w, "That is not your password.", http.StatusForbidden)
			return
		}
		if _, err := auth.Reauthenticate(w, r, pintle.CompleteOptions{Methods: []string{"pwd"}}); err != nil {
			http.Error(w, "Please sign in.", http.StatusForbidden)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}
	fresh := func(s *pintle.Session) bool {
		return s != nil && time.Since(s.Authentication.Proofs["pwd"]) < 10*time.Minute
	}

	// Ada came by a provider, an hour ago.
	w := httptest.NewRecorder()
	how := pintle.Authentication{Time: time.Now().Add(-time.Hour), Provider: "github", Methods: []string{"fed"}}
	_, before, err := auth.StartSession(w, httptest.NewRequest(http.MethodPost, "http://localhost/", nil), &pintle.User{ID: "7", Name: "Ada"}, pintle.StartOptions{Authentication: how})
	if err != nil {
		log.Fatal(err)
	}
	r := withCookies(w)
	r.Form = map[string][]string{"password": {"analytical engine"}}
	w = httptest.NewRecorder()
	confirm(w, r)
	after, err := auth.Session(withCookies(w))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(fresh(before), fresh(after), after.Authentication.Methods)
	// Output: false true [fed pwd]
}

func isPasswordOf(_, typed string) bool { return typed == "analytical engine" }

// A user ends all other sessions, on every device, and the sign-ins that wait. This
// browser stays signed in, by a new session that records what the one before had proven.
func ExampleAuth_SignOutEverywhere_butHere() {
	auth := recordingAuth()
	endOthers := func(w http.ResponseWriter, r *http.Request) {
		session, err := auth.Session(r)
		if err != nil || session == nil {
			http.Error(w, "Please sign in.", http.StatusUnauthorized)
			return
		}
		proven := session.Authentication
		proven.Started = time.Time{} // the new session begins now
		proven.Time = time.Time{}
		err = auth.SignOutEverywhere(r.Context(), session.User.ID)
		if err == nil {
			_, _, err = auth.StartSession(w, r, &session.User, pintle.StartOptions{Authentication: proven})
		}
		if err != nil {
			http.Error(w, "Please try again.", http.StatusInternalServerError)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}

	ada := &pintle.User{ID: "7", Name: "Ada"}
	how := pintle.StartOptions{Authentication: pintle.Authentication{Provider: "registration", Methods: []string{"pwd"}}}
	here, elsewhere := httptest.NewRecorder(), httptest.NewRecorder()
	for _, w := range []*httptest.ResponseRecorder{here, elsewhere} {
		if _, _, err := auth.StartSession(w, httptest.NewRequest(http.MethodPost, "http://localhost/", nil), ada, how); err != nil {
			log.Fatal(err)
		}
	}
	r := withCookies(here)
	here = httptest.NewRecorder()
	endOthers(here, r)
	for _, w := range []*httptest.ResponseRecorder{here, elsewhere} {
		session, err := auth.Session(withCookies(w))
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(session != nil)
	}
	// Output:
	// true
	// false
}
