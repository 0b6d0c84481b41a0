package account

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/userrule"
)

// Roles are a set of texts in the state of a user, which operators write. No route does: not
// a sign-up, not a page of the account, not a profile of a provider.

// checkRoles returns roles in order, each once.
func checkRoles(method string, roles []string) ([]string, error) {
	for _, role := range roles {
		if !userrule.IsRole(role) {
			return nil, fmt.Errorf("account: %s: %q is no role: one has %s", method, role, userrule.RoleForm)
		}
	}
	set := slices.Compact(slices.Sorted(slices.Values(roles)))
	if len(set) > userrule.MaxRoles {
		return nil, fmt.Errorf("account: %s: %d roles are too many: a user has at most %d", method, len(set), userrule.MaxRoles)
	}
	return set, nil
}

// Roles returns the roles of the user of a session, which [Operators.SetRoles] has set. A nil
// session has none.
//
// For a session in the database it reads the store, so a change counts at once. A token
// carries the roles of the sign-in, or of its last renewal, in the claim "roles":
// [pintle.Session].Roles. If an operator takes a role away, the tokens of the user end.
func (a *Accounts) Roles(ctx context.Context, s *pintle.Session) ([]string, error) {
	switch {
	case a.auth == nil:
		return nil, errors.New("account: Roles was called before pintle.New has the Accounts as Config.Accounts")
	case s == nil || s.User.ID == "":
		return nil, nil
	case a.tokens:
		return slices.Clone(s.Roles), nil
	}
	return a.rolesOf(ctx, s.User.ID)
}

// rolesOf returns the roles of a user as the store has them.
func (a *Accounts) rolesOf(ctx context.Context, userID string) ([]string, error) {
	state, err := a.rows.State(ctx, userID)
	if err != nil {
		return nil, storeFault(err)
	}
	return slices.Clone(state.Roles), nil
}

// tokenRoles is what [pintle.Callbacks].Roles asks when a token is made or renewed. A user who is
// banned gets none: the list of ended sessions may have lost the end of a token, or be one that
// the program that has banned the user does not write. One who is to be deleted gets roles: the
// sign-in that keeps the account is asked, too.
func (a *Accounts) tokenRoles(ctx context.Context, userID string) ([]string, error) {
	state, err := a.rows.State(ctx, userID)
	if err != nil {
		return nil, storeFault(err)
	}
	if state.BannedUntil.After(time.Now()) {
		return nil, &pintle.Error{Code: pintle.CodeAccessDenied, Err: errors.New("the user is banned")}
	}
	return slices.Clone(state.Roles), nil
}

// RequireRole returns a handler that passes requests on to next if their user has one of the
// roles. It is [pintle.Auth.Require] as well, for requests without a session. Users without
// a role get status 403, and status 503 if the store does not answer.
//
// While an operator acts as a user, RequireRole ignores the roles in [Acting].Roles and
// [Acting].Protected. If no other role is listed, it rejects the request with status 403 and the
// code "acting".
//
// A role is compared as a whole. RequireRole panics without roles, or if one of them is
// not a role.
func (a *Accounts) RequireRole(next http.Handler, roles ...string) http.Handler {
	if _, err := checkRoles("RequireRole", roles); err != nil || len(roles) == 0 {
		panic(fmt.Sprintf("account: RequireRole needs roles: %v", err))
	}
	guarded := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s, enough := pintle.SessionFrom(r.Context()), roles
		if s != nil && s.Actor != nil {
			enough = slices.DeleteFunc(slices.Clone(roles), a.o.Acting.protects)
		}
		has, err := a.Roles(r.Context(), s)
		switch {
		case err != nil:
			a.guardVisit(w, r).fail(unavailable(err))
		case len(enough) == 0:
			p := problemOf("acting")
			p.text = "acting_role" // the user could not open the page either
			a.guardVisit(w, r).fail(p)
		case !slices.ContainsFunc(enough, func(role string) bool { return slices.Contains(has, role) }):
			a.guardVisit(w, r).fail(problemOf("refused"))
		default:
			next.ServeHTTP(w, r)
		}
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if a.auth == nil {
			a.log().ErrorContext(r.Context(), "pintle: Accounts.RequireRole answers before pintle.New has the Accounts as Config.Accounts", slog.String("code", codeNotAttached), slog.String("fix", fixNotAttached))
			http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
			return
		}
		a.auth.Require(guarded).ServeHTTP(w, r)
	})
}
