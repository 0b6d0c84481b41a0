package xatastore_test

import (
	"net/http"
	"testing"
)

// FuzzAnswer: whatever the service answers, the store returns no other user than
// the requested one.
func FuzzAnswer(f *testing.F) {
	f.Add(200, []byte(`{"records": [{"id": "s", "sessionToken": "token", "expires": "2099-01-01T00:00:00Z", "user": {"id": "1", "email": "ada@example.org"}}], "meta": {"page": {"more": false}}}`))
	f.Add(200, []byte(`{"records": [{"id": "s", "sessionToken": "other", "user": {"id": "1"}}], "meta": {"page": {}}}`))
	f.Add(200, []byte(`{"records": [{"id": "j", "user": {"id": "1"}, "account": {"id": "a", "provider": "github", "providerAccountId": "42"}}], "meta": {"page": {"more": false}}}`))
	f.Add(200, []byte(`{"id": "1", "name": "Ada"}`))
	f.Add(400, []byte(`{"id": "1", "errors": [{"index": 0, "message": "no"}]}`))
	f.Add(503, []byte(`<html>`))
	f.Add(204, []byte(``))
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		if status < 100 || status > 999 {
			return
		}
		pages := 0
		s := reached(t, transport(func(r *http.Request) (*http.Response, error) {
			if pages++; pages > 3 { // another test has a list without an end
				return answer(500, "")(r)
			}
			return answer(status, string(body))(r)
		}))
		if session, user, err := s.SessionAndUser(t.Context(), "token"); err == nil {
			if session.Token != "token" || session.UserID == "" || user.ID != session.UserID {
				t.Errorf("SessionAndUser() = %+v, %+v", session, user)
			}
		}
		pages = 0
		if u, err := s.UserByEmail(t.Context(), "ada@example.org"); err == nil && (u.Email != "ada@example.org" || u.ID == "") {
			t.Errorf("UserByEmail() = %+v", u)
		}
		pages = 0
		if u, err := s.UserByAccount(t.Context(), "github", "42"); err == nil && u.ID == "" {
			t.Errorf("UserByAccount() = %+v", u)
		}
		pages = 0
		if a, err := s.Account(t.Context(), "github", "42"); err == nil && (a.Provider != "github" || a.ProviderAccountID != "42" || a.UserID == "") {
			t.Errorf("Account() = %+v", a)
		}
		pages = 0
		if u, err := s.User(t.Context(), "1"); err == nil && u.ID != "1" {
			t.Errorf("User() = %+v", u)
		}
		pages = 0
		if a, err := s.Passkey(t.Context(), "AAAA"); err == nil && (a.CredentialID != "AAAA" || a.UserID == "") {
			t.Errorf("Authenticator() = %+v", a)
		}
		pages = 0
		if v, err := s.UseVerification(t.Context(), "ada@example.org", "hash"); err == nil && v.Identifier != "ada@example.org" {
			t.Errorf("UseVerification() = %+v", v)
		}
		if _, err := s.Check(t.Context()); err == nil && status/100 != 2 {
			t.Error("Check() took a refusal for a schema")
		}
	})
}
