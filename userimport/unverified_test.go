package userimport_test

import (
	"iter"
	"strings"
	"testing"

	"github.com/pintleauth/pintle/store/memstore"
	"github.com/pintleauth/pintle/userimport"
)

// AC-61: another person may have typed the address into the other system.
func TestAllVerifiedDoesNotVerifyWhatTheSourceSaysIsNot(t *testing.T) {
	t.Parallel()
	const hash = "$2b$04$abcdefghijklmnopqrstuuABCDEFGHIJKLMNOPQRSTUVWXYZ01234"
	csv := func(header, values string) *strings.Reader {
		return strings.NewReader(header + "\n" + values + "\n")
	}
	for name, c := range map[string]struct {
		users    iter.Seq2[*userimport.User, error]
		verified bool
	}{
		"JSON lines, no":       {userimport.JSONLines(strings.NewReader(`{"email":"ada@example.com","emailVerified":false}`)), false},
		"JSON lines, yes":      {userimport.JSONLines(strings.NewReader(`{"email":"ada@example.com","emailVerified":true}`)), true},
		"JSON lines, null":     {userimport.JSONLines(strings.NewReader(`{"email":"ada@example.com","emailVerified":null}`)), true},
		"JSON lines, no word":  {userimport.JSONLines(strings.NewReader(`{"email":"ada@example.com"}`)), true},
		"Auth0, no":            {userimport.Auth0(strings.NewReader(`{"email":"ada@example.com","email_verified":false}`)), false},
		"Auth0, no word":       {userimport.Auth0(strings.NewReader(`{"email":"ada@example.com"}`)), true},
		"Keycloak, no":         {userimport.Keycloak(strings.NewReader(`{"users":[{"email":"ada@example.com","enabled":true,"emailVerified":false}]}`)), false},
		"Keycloak, to be done": {userimport.Keycloak(strings.NewReader(`{"users":[{"email":"ada@example.com","enabled":true,"emailVerified":true,"requiredActions":["VERIFY_EMAIL"]}]}`)), false},
		"Keycloak, no word":    {userimport.Keycloak(strings.NewReader(`{"users":[{"email":"ada@example.com","enabled":true}]}`)), true},
		"Firebase, no":         {userimport.Firebase(strings.NewReader(`{"users":[{"localId":"1","email":"ada@example.com","emailVerified":false}]}`), firebaseProject()), false},
		"Firebase, no word":    {userimport.Firebase(strings.NewReader(`{"users":[{"localId":"1","email":"ada@example.com"}]}`), firebaseProject()), true},
		"Devise, no":           {userimport.Devise(csv("email,encrypted_password,confirmed_at", "ada@example.com,,"), deviseApp()), false},
		"Devise, no column":    {userimport.Devise(csv("email,encrypted_password", "ada@example.com,"), deviseApp()), true},
		"Django, no":           {userimport.Django(csv("id,email,password,email_verified", "1,ada@example.com,,f")), false},
		"Django, no column":    {userimport.Django(csv("id,email,password", "1,ada@example.com,")), true},
		"ASP.NET, no":          {userimport.ASPNETIdentity(csv("Email,PasswordHash,EmailConfirmed", "ada@example.com,,0")), false},
		"Better Auth, no":      {userimport.BetterAuth(csv("id,email,emailVerified", "1,ada@example.com,0"), csv("userId,providerId,accountId,password", "1,credential,1,"+hash)), false},
	} {
		store := memstore.New()
		_, outcomes := importAll(t, store, c.users, userimport.Options{AllVerified: true, Partial: true})
		u, err := store.UserByEmail(t.Context(), "ada@example.com")
		if err != nil {
			t.Errorf("%s: %v: %+v", name, err, outcomes)
			continue
		}
		if verified := !u.EmailVerified.IsZero(); verified != c.verified {
			t.Errorf("%s: the address is verified: %t", name, verified)
		}
	}
}
