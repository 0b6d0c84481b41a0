package pintle_test

import (
	"fmt"
	"html/template"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/provider"
)

// A page of the host has a sign-out button that posts to the route of Pintle.
func ExampleAuth_CSRFToken() {
	auth, err := pintle.New(pintle.Config{
		Providers: []pintle.Provider{provider.GitHub(provider.Options{ClientID: "id", ClientSecret: "secret"})},
		Secrets:   []string{"an example of at least 32 characters"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	page := template.Must(template.New("").Parse(`<form method="post" action="/auth/signout">
<input type="hidden" name="csrfToken" value="{{.}}">
<button>Sign out</button>
</form>`))
	home := func(w http.ResponseWriter, r *http.Request) {
		token, err := auth.CSRFToken(w, r)
		if err != nil {
			http.Error(w, "try again later", http.StatusInternalServerError)
			return
		}
		_ = page.Execute(w, token)
	}

	w := httptest.NewRecorder()
	home(w, httptest.NewRequest("GET", "http://localhost:3000/", nil))
	cookie := w.Result().Cookies()[0]
	token, _, _ := strings.Cut(cookie.Value, "%7C")
	fmt.Println(cookie.Name)
	fmt.Println(len(token), strings.Contains(w.Body.String(), `value="`+token+`"`))
	// Output:
	// authjs.csrf-token
	// 64 true
}
