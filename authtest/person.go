package authtest

import (
	"hash/fnv"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// A Person is a user of the provider. Empty fields are left out of its claims.
type Person struct {
	// Subject is the sub claim, the permanent id of the person. A subject of
	// digits is also the numeric id of the plain OAuth profiles; for any other
	// subject a stable number is derived from it.
	Subject string

	Name          string
	Login         string // nickname and preferred_username; GitHub's login
	Email         string
	EmailVerified bool
	Picture       string // an absolute URL; the consent page does not load it

	// Claims are added to the fields above, and replace those with the same
	// name. Values must be encodable as JSON.
	Claims map[string]any
}

// DefaultPeople returns the people of a provider whose [Options] name none.
func DefaultPeople() []Person {
	return []Person{
		{Subject: "1001", Name: "Ada Lovelace", Login: "ada", Email: "ada@example.com", EmailVerified: true},
		{Subject: "1002", Name: "Grace Hopper", Login: "grace", Email: "grace@example.com", EmailVerified: true},
		{Subject: "1003", Name: "Alan Turing", Login: "alan", Email: "alan@example.com", EmailVerified: true},
		{Subject: "1004", Name: "Emmy Noether", Login: "emmy", Email: "emmy@example.com"},
	}
}

// Number returns the numeric id of the plain OAuth profiles. It is positive,
// and small enough for a JavaScript number.
func (p Person) Number() int64 {
	if n, err := strconv.ParseInt(p.Subject, 10, 53); err == nil && n > 0 {
		return n
	}
	h := fnv.New32a()
	h.Write([]byte(p.Subject))
	return int64(h.Sum32()) + 1
}

// answersTo reports whether hint, a login_hint, identifies this person.
func (p Person) answersTo(hint string) bool {
	return hint != "" && (hint == p.Subject || hint == p.Login || strings.EqualFold(hint, p.Email))
}

// initials returns up to two letters to stand for a picture.
func (p Person) initials() string {
	words := strings.Fields(p.Name)
	if len(words) > 2 {
		words = []string{words[0], words[len(words)-1]}
	}
	var letters []rune
	for _, word := range words {
		for _, r := range word {
			letters = append(letters, unicode.ToUpper(r))
			break
		}
	}
	if len(letters) == 0 {
		return "?"
	}
	return string(letters)
}

// claimScopes are the scopes of the standard claims. Claims that are not listed are
// returned for every scope.
//
// https://openid.net/specs/openid-connect-core-1_0.html#ScopeClaims
var claimScopes = map[string]string{
	"name": "profile", "nickname": "profile", "preferred_username": "profile", "picture": "profile",
	"given_name": "profile", "family_name": "profile", "middle_name": "profile", "profile": "profile",
	"website": "profile", "gender": "profile", "birthdate": "profile", "zoneinfo": "profile",
	"locale": "profile", "updated_at": "profile",
	"email": "email", "email_verified": "email",
	"address":      "address",
	"phone_number": "phone", "phone_number_verified": "phone",
}

// claims returns the claims of OpenID Connect for the requested scopes.
func (p Person) claims(scopes []string) map[string]any {
	all := map[string]any{"sub": p.Subject}
	for name, value := range map[string]string{
		"name": p.Name, "nickname": p.Login, "preferred_username": p.Login, "picture": p.Picture,
	} {
		if value != "" {
			all[name] = value
		}
	}
	if p.Email != "" {
		all["email"] = p.Email
		all["email_verified"] = p.EmailVerified
	}
	maps.Copy(all, p.Claims)
	maps.DeleteFunc(all, func(name string, _ any) bool {
		scope, standard := claimScopes[name]
		return standard && !slices.Contains(scopes, scope)
	})
	return all
}
