package main

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/accountstore"
)

// operatorRole is the role of users who see the page about all users. No user has it until
// makeOperator gives it.
const operatorRole = "operator"

// makeOperator gives the role to the user with an address. Whoever can run this program on
// the database may do that.
func makeOperator(ctx context.Context, store pintle.Store, accounts *account.Accounts, email string) error {
	user, err := store.UserByEmail(ctx, strings.ToLower(email)) // as users type it
	if errors.Is(err, pintle.ErrNotFound) {
		return errors.New("no user has the address " + email + ": sign up first")
	}
	if err != nil {
		return err
	}
	return accounts.Operators().SetRoles(ctx, user.ID, []string{operatorRole})
}

// operatorPages are for users with the role who have proven two factors within the last hour.
// The forms name other users, so no other check protects these.
func (s *site) operatorPages() http.Handler {
	pages := http.NewServeMux()
	pages.HandleFunc("GET /operators", s.listUsers)
	pages.HandleFunc("POST /operators/ban", s.ban)
	pages.HandleFunc("POST /operators/unban", s.unban)
	recent := s.users.Demand(account.Demand{Level: account.TwoFactors, MaxAge: time.Hour}, pages)
	return s.users.RequireRole(recent, operatorRole)
}

// A listedUser is a user as an operator sees it.
type listedUser struct {
	*accountstore.User
	Banned bool
}

func (s *site) listUsers(w http.ResponseWriter, r *http.Request) {
	found, next, err := s.users.Operators().Users(r.Context(), accountstore.UserQuery{Limit: 20, After: r.FormValue("after")})
	if errors.Is(err, account.ErrCursor) {
		http.Redirect(w, r, "/operators", http.StatusSeeOther)
		return
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	var users []listedUser
	for _, u := range found {
		users = append(users, listedUser{u, u.State.BannedUntil.After(time.Now())})
	}
	more := ""
	if next != "" {
		more = "/operators?" + url.Values{"after": {next}}.Encode()
	}
	s.show(w, r, "operators", map[string]any{"Users": users, "More": more})
}

func (s *site) ban(w http.ResponseWriter, r *http.Request) {
	s.act(w, r, "banned", func(ctx context.Context, id string) error {
		return s.users.Operators().Ban(ctx, id, time.Now().Add(24*time.Hour), "by the quickstart")
	})
}

func (s *site) unban(w http.ResponseWriter, r *http.Request) {
	s.act(w, r, "unbanned", s.users.Operators().Unban)
}

// act does something to the user of a form, in the name of the operator.
func (s *site) act(w http.ResponseWriter, r *http.Request, did string, do func(ctx context.Context, userID string) error) {
	ctx := account.WithOperator(r.Context(), pintle.SessionFrom(r.Context()).User.ID)
	err := do(ctx, r.PostFormValue("user"))
	answer := url.Values{"done": {did}}
	if errors.Is(err, pintle.ErrNotFound) {
		answer = url.Values{"error": {"NotFound"}}
	} else if err != nil {
		s.fail(w, r, err)
		return
	}
	http.Redirect(w, r, "/operators?"+answer.Encode(), http.StatusSeeOther)
}
