package main

import (
	"net"
	"net/http"
	"strings"
	"time"
	"unicode"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/passkey"
)

// passkeyProvider is the id of passkeys in our configuration.
const passkeyProvider = "passkey"

// byPasskey signs users in with a passkey that they have added on the page about
// their account. SignInOnly requires that: without it an anonymous client could
// sign up with an address that it does not own.
func byPasskey() pintle.Provider {
	keys := passkey.New(passkey.Options{RPName: "Pintle quickstart"})
	keys.ID, keys.Name = passkeyProvider, "a passkey"
	keys.SignInOnly = true
	return keys
}

// A heldPasskey is a passkey as its owner sees it.
type heldPasskey struct {
	ID, Name string
	Synced   bool
	Added    time.Time
	LastUsed string // empty when it never was
}

// A passkeySection is the part of the page about an account that is about
// passkeys.
type passkeySection struct {
	Held []*heldPasskey

	// Elsewhere is this page under a name, if the browser is at an address:
	// passkeys are for names only.
	Elsewhere string
}

func (s *site) passkeys(r *http.Request, session *pintle.Session) (passkeySection, error) {
	section := passkeySection{Elsewhere: underAName(r)}
	list, err := s.auth.Passkeys(r.Context(), session)
	for _, a := range list {
		held := &heldPasskey{ID: a.CredentialID, Name: a.Name, Synced: a.BackedUp, Added: a.Created}
		if held.Name == "" {
			held.Name = "Passkey"
		}
		if !a.LastUsed.IsZero() {
			held.LastUsed = ago(time.Since(a.LastUsed))
		}
		section.Held = append(section.Held, held)
	}
	return section, err
}

// underAName returns where the page is to be had under a name of this machine.
//
// https://www.w3.org/TR/webauthn-3/#rp-id
func underAName(r *http.Request) string {
	host, port, err := net.SplitHostPort(r.Host)
	if err != nil || net.ParseIP(host) == nil {
		return ""
	}
	return "http://" + net.JoinHostPort("localhost", port) + r.URL.Path
}

func (s *site) renamePasskey(w http.ResponseWriter, r *http.Request) {
	typed := strings.Map(func(c rune) rune {
		if unicode.IsControl(c) {
			return -1
		}
		return c
	}, strings.ToValidUTF8(r.PostFormValue("name"), ""))
	name := []rune(strings.TrimSpace(typed))
	err := s.auth.RenamePasskey(r.Context(), pintle.SessionFrom(r.Context()), r.PostFormValue("id"), string(name[:min(len(name), 64)]))
	s.finish(w, r, "passkey-renamed", err)
}

// removePasskey unlinks it like every account, so that users cannot remove their
// last way to sign in.
func (s *site) removePasskey(w http.ResponseWriter, r *http.Request) {
	err := s.auth.Unlink(r.Context(), pintle.SessionFrom(r.Context()), passkeyProvider, r.PostFormValue("id"))
	s.finish(w, r, "passkey-removed", err)
}
