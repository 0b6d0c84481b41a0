package main

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/pintleauth/pintle"
)

// accountPages are for signed-in users, and about their own account: the session
// determines the account, never the request.
func (s *site) accountPages() http.Handler {
	pages := http.NewServeMux()
	pages.HandleFunc("GET /account", s.account)
	pages.HandleFunc("POST /account", s.rename)
	pages.HandleFunc("POST /account/devices/end", s.endDevice)
	pages.HandleFunc("POST /account/devices/end-others", s.endOtherDevices)
	pages.HandleFunc("POST /account/devices/end-all", s.endAllDevices)
	pages.HandleFunc("POST /account/link", s.link)
	pages.HandleFunc("POST /account/unlink", s.unlink)
	pages.HandleFunc("POST /account/passkeys/rename", s.renamePasskey)
	pages.HandleFunc("POST /account/passkeys/remove", s.removePasskey)
	pages.HandleFunc("GET /account/delete", s.askToDelete)
	pages.HandleFunc("POST /account/delete", s.delete)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, 4<<10)
		pages.ServeHTTP(w, r)
	})
}

// An accountPage is the data of the page about an account.
type accountPage struct {
	Devices  []*device
	Others   int // devices that are not this one
	Accounts []*linkedAccount
	Passkeys passkeySection
	Shown    string // the session in the form for scripts
}

func (s *site) account(w http.ResponseWriter, r *http.Request) {
	session := pintle.SessionFrom(r.Context())
	var page accountPage
	shown, err := json.MarshalIndent(session, "", "  ")
	if err == nil {
		page.Shown = string(shown)
		page.Devices, err = s.devices(r.Context(), session)
	}
	if err == nil {
		page.Others = len(page.Devices) - 1
		page.Accounts, err = s.accounts(r.Context(), session)
	}
	if err == nil {
		page.Passkeys, err = s.passkeys(r, session)
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.show(w, r, "account", page)
}

// rename changes the name in the session.
func (s *site) rename(w http.ResponseWriter, r *http.Request) {
	name := []rune(strings.TrimSpace(r.PostFormValue("name")))
	displayName.Set(pintle.SessionFrom(r.Context()), string(name[:min(len(name), 60)]))
	_, err := s.auth.UpdateSession(w, r, nil)
	s.finish(w, r, "renamed", err)
}

// finish redirects the browser back to the page, which shows what was done or why
// it failed.
func (s *site) finish(w http.ResponseWriter, r *http.Request, did string, err error) {
	answer := url.Values{"done": {did}}
	switch {
	case errors.Is(err, pintle.ErrNotFound):
		answer = url.Values{"error": {"NotFound"}}
	case errors.Is(err, pintle.CodeLastSignIn):
		answer = url.Values{"error": {string(pintle.CodeLastSignIn)}}
	case err != nil:
		s.fail(w, r, err)
		return
	}
	http.Redirect(w, r, "/account?"+answer.Encode(), http.StatusSeeOther)
}
