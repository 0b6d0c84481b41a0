package account_test

import (
	"context"
	"errors"
	"expvar"
	"log"
	"net/http"
	"strings"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/store/memstore"
)

// An application with sign-up and passwords. The sign-in page is at /auth/signin.
func Example() {
	var send func(context.Context, *pintle.Message) error // of package smtp, or your own
	accounts := account.New(account.Options{From: "App <no-reply@app.example.com>", Mail: send})
	auth, err := pintle.New(pintle.Config{Store: memstore.New(), URL: "https://app.example.com", Accounts: accounts})
	if err != nil {
		log.Fatal(err)
	}
	http.Handle("/auth/", auth)
	http.Handle("/.well-known/change-password", accounts.ChangePasswordHandler())
	http.Handle("/", auth.Require(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte("Hello " + pintle.SessionFrom(r.Context()).User.Email))
	})))
}

// A page for operators of the application, who have made sure that the owner of the account
// asks for it. The application decides who may see this page.
func ExampleOperators_SetTemporaryPassword() {
	var accounts *account.Accounts // of account.New, in Config.Accounts
	http.HandleFunc("POST /admin/temporary-password", func(w http.ResponseWriter, r *http.Request) {
		password, err := accounts.Operators().SetTemporaryPassword(r.Context(), r.FormValue("user"))
		if err != nil {
			http.Error(w, "The password was not changed.", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Cache-Control", "no-store")
		_, _ = w.Write([]byte(password))
	})
}

// A page of the application on which users change their password. The rules are those of the
// built-in page: the session, a fresh proof, the current password.
func ExampleAccounts_Do() {
	var accounts *account.Accounts // of account.New, in Config.Accounts
	protect := http.NewCrossOriginProtection()
	http.Handle("POST /settings/password", protect.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, err := accounts.Do(w, r, "password", map[string]string{
			"current": r.PostFormValue("current"), "password": r.PostFormValue("password"),
		})
		var stepUp *account.StepUpError
		var failed *account.Error
		switch {
		case err == nil:
			http.Redirect(w, r, "/settings?done=password", http.StatusSeeOther)
		case errors.As(err, &stepUp):
			stepUp.ServeHTTP(w, r) // leads to the page on which the user confirms
		case errors.Is(err, account.CodeSignedOut):
			http.Redirect(w, r, "/auth/signin", http.StatusSeeOther)
		case errors.As(err, &failed) && failed.Code != account.CodeUnavailable:
			http.Redirect(w, r, "/settings/password?problem="+string(failed.Code), http.StatusSeeOther)
		default:
			http.Error(w, "Try again in a moment.", http.StatusServiceUnavailable)
		}
	})))
}

// Mails about new devices do not go to users of the company, whose devices are known, and
// every notice is counted. A notice with Required set is sent as it is, whatever is returned.
func ExampleNotices() {
	var send func(context.Context, *pintle.Message) error // of package smtp, or your own
	sent := expvar.NewMap("notices")
	_ = account.New(account.Options{
		From: "App <no-reply@app.example.com>",
		Mail: send,
		Notices: account.Notices{
			Change: func(_ context.Context, n *account.Notice) (*pintle.Message, error) {
				sent.Add(n.Kind, 1)
				if n.Kind == "new-device" && strings.HasSuffix(n.User.Email, "@company.example") {
					return nil, nil
				}
				return n.Message, nil
			},
		},
	})
}
