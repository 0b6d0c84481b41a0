package account_test

import (
	"errors"
	"html/template"
	"net/http"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
)

// The page of an operator who helps a user: a form begins to act as the user, every page of the
// application has the banner, and one page refuses what the user alone decides. Users with the
// role "support" may act, and nobody acts as a user with the role "admin":
//
//	account.Options{Acting: account.Acting{Roles: []string{"support"}, Protected: []string{"admin"}}}
func ExampleOperators_ActAs() {
	var (
		auth     *pintle.Auth      // of pintle.New
		accounts *account.Accounts // of account.New, in Config.Accounts
	)
	forms := http.NewCrossOriginProtection()

	http.Handle("POST /admin/act", forms.Handler(auth.Require(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := accounts.Operators().ActAs(w, r, r.FormValue("user"), account.ActOptions{
			Reason: r.FormValue("reason"), ReturnTo: "/admin/users",
		})
		if stepUp, is := errors.AsType[*account.StepUpError](err); is {
			stepUp.ServeHTTP(w, r) // the operator proves both factors first
			return
		}
		if err != nil {
			http.Error(w, "You cannot act as this user.", http.StatusForbidden)
			return
		}
		http.Redirect(w, r, "/", http.StatusSeeOther)
	}))))

	page := template.Must(template.New("").Parse(`<!doctype html>{{.Banner}}<h1>Hello, {{.User.Name}}</h1>`))
	http.Handle("/{$}", auth.Require(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		banner, err := accounts.ActingBanner(w, r)
		if err != nil {
			http.Error(w, "Try again later.", http.StatusServiceUnavailable)
			return
		}
		_ = page.Execute(w, map[string]any{"Banner": banner, "User": pintle.SessionFrom(r.Context()).User})
	})))

	http.Handle("POST /pay", forms.Handler(auth.Require(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if pintle.SessionFrom(r.Context()).Actor != nil {
			http.Error(w, "Only the user can pay.", http.StatusForbidden)
			return
		}
		// …
	}))))
}
