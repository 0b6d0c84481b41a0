package account_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/accountstore"
)

// Pages for operators: the application lets users in who have the role "support" and have
// proven two factors in the last hour. The methods take the ids of others, so nothing else
// guards them.
func ExampleOperators() {
	var accounts *account.Accounts // of account.New, in Config.Accounts
	ops := accounts.Operators()
	guarded := func(pattern string, page http.HandlerFunc) {
		recent := accounts.Demand(account.Demand{Level: account.TwoFactors, MaxAge: time.Hour}, page)
		http.Handle(pattern, accounts.RequireRole(recent, "support"))
	}
	guarded("GET /admin/users", func(w http.ResponseWriter, r *http.Request) {
		q := accountstore.UserQuery{EmailPrefix: r.FormValue("address"), After: r.FormValue("after")}
		page, next, err := ops.Users(r.Context(), q)
		if errors.Is(err, account.ErrCursor) {
			http.Error(w, "Begin with the first page.", http.StatusBadRequest)
			return
		}
		if err != nil {
			http.Error(w, "Try again later.", http.StatusServiceUnavailable)
			return
		}
		for _, u := range page {
			fmt.Fprintln(w, u.ID, u.Email, u.State.Roles, u.State.BannedUntil.After(time.Now()))
		}
		fmt.Fprintln(w, "next page:", next)
	})
	guarded("POST /admin/ban", func(w http.ResponseWriter, r *http.Request) {
		ctx := account.WithOperator(r.Context(), pintle.SessionFrom(r.Context()).User.ID)
		err := ops.Ban(ctx, r.FormValue("user"), time.Now().Add(24*time.Hour), r.FormValue("reason"))
		switch {
		case errors.Is(err, pintle.ErrNotFound):
			http.NotFound(w, r)
		case err != nil:
			http.Error(w, "Nothing was done, or not all of it: try again.", http.StatusInternalServerError)
		default:
			http.Redirect(w, r, "/admin/users", http.StatusSeeOther)
		}
	})
	guarded("POST /admin/create", func(w http.ResponseWriter, r *http.Request) {
		ctx := account.WithOperator(r.Context(), pintle.SessionFrom(r.Context()).User.ID)
		_, err := ops.Create(ctx, account.NewUser{Email: r.FormValue("address"), Roles: []string{"editor"}})
		if errors.Is(err, pintle.ErrConflict) {
			http.Error(w, "Another user has the address.", http.StatusConflict)
			return
		}
		if err != nil {
			http.Error(w, "The user was not made.", http.StatusInternalServerError)
			return
		}
		http.Redirect(w, r, "/admin/users", http.StatusSeeOther)
	})
	guarded("POST /admin/invite", func(w http.ResponseWriter, r *http.Request) {
		ctx := account.WithOperator(r.Context(), pintle.SessionFrom(r.Context()).User.ID)
		_, err := ops.Invite(ctx, account.Invitation{Email: r.FormValue("address"), Roles: []string{"editor"}})
		if err != nil {
			http.Error(w, "The invitation was not sent.", http.StatusInternalServerError)
			return
		}
		http.Redirect(w, r, "/admin/users", http.StatusSeeOther)
	})
}

// A page on which operators download what the application has of a user. The export is in the
// activity of the user before the first byte is sent.
func ExampleOperators_RecordExport() {
	var accounts *account.Accounts // of account.New, in Config.Accounts
	var orders func(ctx context.Context, userID string) ([]byte, error)

	page := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := account.WithOperator(r.Context(), pintle.SessionFrom(r.Context()).User.ID)
		var data []byte
		err := accounts.Operators().RecordExport(ctx, r.FormValue("user"), func() (err error) {
			data, err = orders(ctx, r.FormValue("user"))
			return err
		})
		if err != nil {
			http.Error(w, "The data was not read.", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(data)
	})
	recent := accounts.Demand(account.Demand{Level: account.TwoFactors, MaxAge: time.Hour}, page)
	http.Handle("POST /admin/export", accounts.RequireRole(recent, "support"))
}
