package main

import (
	"context"
	"net/http"

	"github.com/pintleauth/pintle"
)

// localProvider is the id of the identity provider in our configuration.
const localProvider = "local"

// A linkedAccount is an account elsewhere that signs its owner in.
type linkedAccount struct{ Provider, ProviderName, ID string }

func (s *site) accounts(ctx context.Context, session *pintle.Session) ([]*linkedAccount, error) {
	linked, err := s.auth.Accounts(ctx, session)
	if err != nil {
		return nil, err
	}
	var accounts []*linkedAccount
	for _, a := range linked {
		if a.Provider == localProvider {
			accounts = append(accounts, &linkedAccount{a.Provider, "Local identity provider", a.ProviderAccountID})
		}
	}
	return accounts, nil
}

// link redirects the user to the identity provider. Since the user is signed in at
// the callback, the account is linked. On an error the browser is redirected back,
// too: to Pages.Account in config.go.
func (s *site) link(w http.ResponseWriter, r *http.Request) {
	next, err := s.auth.SignIn(w, r, localProvider, pintle.SignInOptions{RedirectTo: "/account?done=linked"})
	if err != nil {
		s.fail(w, r, err)
		return
	}
	http.Redirect(w, r, next, http.StatusSeeOther) //nolint:gosec // next is ours or the provider's
}

func (s *site) unlink(w http.ResponseWriter, r *http.Request) {
	err := s.auth.Unlink(r.Context(), pintle.SessionFrom(r.Context()), r.PostFormValue("provider"), r.PostFormValue("id"))
	s.finish(w, r, "unlinked", err)
}
