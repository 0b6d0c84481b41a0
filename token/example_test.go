package token_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/pintleauth/pintle/token"
)

// A Go API beside a Next.js application accepts the sessions of its users.
func Example() {
	sessions, err := token.New("__Secure-authjs.session-token", "the application's AUTH_SECRET")
	if err != nil {
		panic(err)
	}
	hello := func(w http.ResponseWriter, r *http.Request) {
		session, err := sessions.FromRequest(r)
		if err != nil {
			http.Error(w, "sign in first", http.StatusUnauthorized)
			return
		}
		fmt.Fprintf(w, "Hello %s", session.Name())
	}

	// The browser sends one request without and one with a session.
	r := httptest.NewRequest("GET", "/hello", nil)
	for range 2 {
		w := httptest.NewRecorder()
		hello(w, r)
		fmt.Println(w.Code, strings.TrimSpace(w.Body.String()))

		value, err := sessions.Encode(token.Claims{"name": "Ann", "sub": "42"}, time.Hour)
		if err != nil {
			panic(err)
		}
		r.Header.Set("Cookie", "__Secure-authjs.session-token="+value)
	}
	// Output:
	// 401 sign in first
	// 200 Hello Ann
}

// An application reads its own claims one at a time, or all into a struct.
func ExampleToken_Claim() {
	codec, err := token.New("authjs.session-token", "a secret of at least 32 characters")
	if err != nil {
		panic(err)
	}
	sealed, err := codec.Encode(struct {
		Subject string   `json:"sub"`
		Roles   []string `json:"roles"`
	}{"42", []string{"admin", "author"}}, time.Hour)
	if err != nil {
		panic(err)
	}

	session, err := codec.Decode(sealed)
	if err != nil {
		panic(err)
	}
	var roles []string
	ok, err := session.Claim("roles", &roles)
	fmt.Println(session.Subject(), roles, ok, err)
	// Output: 42 [admin author] true <nil>
}
