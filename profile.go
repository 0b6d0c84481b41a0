package pintle

import (
	"encoding/json"
	"fmt"

	"github.com/pintleauth/pintle/internal/wire"
)

// A Profile is what a provider reported about a user, as it was sent: the
// claims of an ID token or the object a userinfo endpoint answered with.
// Numbers are [json.Number], so that ids beyond 2^53 keep their digits.
type Profile map[string]any

// Text returns the named member if it is text, and otherwise the empty string.
func (p Profile) Text(name string) string {
	text, _ := p[name].(string)
	return text
}

// ID returns the named member as the text of an id, whether it was sent as
// text or as a number. It returns the empty string for what cannot be an id:
// a missing member, null, the empty text, or the words "undefined" and "null".
func (p Profile) ID(name string) string {
	id, _ := wire.ID(p[name])
	return id
}

// Bool reports whether the named member is true or, as some services have it,
// the text "true".
func (p Profile) Bool(name string) bool {
	switch v := p[name].(type) {
	case bool:
		return v
	case string:
		return v == "true"
	}
	return false
}

// Object returns the named member if it is an object, and otherwise nil, on
// which every method may be called.
func (p Profile) Object(name string) Profile {
	object, _ := p[name].(map[string]any)
	return object
}

// Decode stores the profile in the struct v points to, as [json.Unmarshal]
// would have.
func (p Profile) Decode(v any) error {
	text, err := json.Marshal(map[string]any(p))
	if err == nil {
		err = json.Unmarshal(text, v)
	}
	if err != nil {
		return fmt.Errorf("pintle: decode profile: %w", err)
	}
	return nil
}

// defaultProfile is the mapping of a provider without a Profile function. It
// fits the standard claims of OpenID Connect and most services besides. A
// member of an unexpected type is left out, so that it does not block the
// sign-in.
//
// https://openid.net/specs/openid-connect-core-1_0.html#StandardClaims
func defaultProfile(p Profile, _ *Account) (*User, error) {
	u := &User{ID: p.ID("sub")}
	if u.ID == "" {
		u.ID = p.ID("id")
	}
	for _, name := range []string{"name", "nickname", "preferred_username"} {
		if p[name] != nil {
			_ = u.set("name", p[name])
			break
		}
	}
	for member, field := range map[string]string{"email": "email", "picture": "image"} {
		if value, sent := p[member]; sent {
			_ = u.set(field, value)
		}
	}
	return u, nil
}
