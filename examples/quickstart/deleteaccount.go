package main

import (
	"errors"
	"net/http"

	"github.com/pintleauth/pintle"
)

func (s *site) askToDelete(w http.ResponseWriter, r *http.Request) {
	s.show(w, r, "delete", nil)
}

// delete removes the signed-in user with all stored data.
func (s *site) delete(w http.ResponseWriter, r *http.Request) {
	if r.PostFormValue("confirmed") != "yes" {
		http.Redirect(w, r, "/account/delete?error=Unconfirmed", http.StatusSeeOther)
		return
	}
	user := pintle.SessionFrom(r.Context()).User
	err := s.auth.DeleteUser(r.Context(), user.ID)
	if err == nil || errors.Is(err, pintle.ErrNotFound) { // deleted before, perhaps in another tab
		_, err = s.auth.SignOut(w, r, pintle.SignOutOptions{RedirectTo: "/"}) // clears the cookie
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	http.Redirect(w, r, "/?done=deleted", http.StatusSeeOther)
}
