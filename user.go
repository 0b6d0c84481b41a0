package pintle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"time"

	"github.com/pintleauth/pintle/internal/wire"
)

// A User is a person that the application knows, in the form in which the store
// keeps them and providers describe them.
//
// The zero value of a field means that it is not known. JSON distinguishes a
// field that is absent from one that is null, and browser clients see the
// difference, so a User remembers which of the two it was made from; see
// [User.MarkNull].
type User struct {
	// ID identifies the user in the store. In what a provider's Profile
	// function returns it is the provider's id of the account instead.
	ID string

	Name string

	// Email is the address in lower case, as the sign-in flows write it.
	Email string

	// EmailVerified is when the person first proved to read mail at Email by
	// opening a link sent there. Zero means never: an address that a provider
	// reports, verified or not, does not set it.
	EmailVerified time.Time

	// Image is the URL of a picture; a data URI is allowed.
	Image string

	// Extra holds fields beyond the five above, by their JSON names: what a
	// Profile function adds, or further columns of the host's own table. Its
	// values are those of encoding/json.
	Extra map[string]any

	stated statedFields
}

// statedFields records, for each field with a zero Go value, what it held:
// nothing, null, or the empty text.
type statedFields uint8

const (
	nullName statedFields = 1 << iota
	nullEmail
	nullImage
	emptyName
	emptyEmail
	emptyImage
	nullVerified
)

// MarkNull records that the zero fields among name, email, emailVerified and
// image are null rather than absent. Stores call it on users made from rows whose columns
// exist, so that clients are sent null for them as Auth.js sends it.
func (u *User) MarkNull() { u.stated |= nullName | nullEmail | nullImage | nullVerified }

func (u *User) name() wire.Text { return u.text(u.Name, nullName, emptyName) }

func (u *User) email() wire.Text { return u.text(u.Email, nullEmail, emptyEmail) }

func (u *User) image() wire.Text { return u.text(u.Image, nullImage, emptyImage) }

// addClaims adds what a token shows of the user to its claims.
func (u *User) addClaims(claims Claims) {
	claims["sub"] = u.ID
	for name, text := range map[string]wire.Text{"name": u.name(), "email": u.email(), "picture": u.image()} {
		if text.Present {
			claims[name] = text.Value()
		}
	}
}

func (u *User) text(value string, null, empty statedFields) wire.Text {
	switch {
	case value != "" || u.stated&empty != 0:
		return wire.Text{Text: value, Present: true}
	case u.stated&null != 0:
		return wire.Text{Present: true, Null: true}
	}
	return wire.Text{}
}

// MarshalJSON writes the members id, name, email, emailVerified, image and
// those of Extra with other names. Absent members are left out; null ones are
// written.
func (u User) MarshalJSON() ([]byte, error) {
	m := wire.NewObject()
	m.AddString("id", u.ID)
	m.AddText("name", u.name())
	m.AddText("email", u.email())
	if !u.EmailVerified.IsZero() {
		m.Add("emailVerified", wire.Time(u.EmailVerified))
	} else if u.stated&nullVerified != 0 {
		m.Add("emailVerified", nil)
	}
	m.AddText("image", u.image())
	m.AddRest(u.extraMembers())
	return m.Bytes()
}

// isUserField reports whether User has a field for a member of its JSON.
func isUserField(name string) bool {
	switch name {
	case "id", "name", "email", "emailVerified", "image":
		return true
	}
	return false
}

// extraMembers returns the members of Extra that do not have the name of a
// field. Otherwise stores that keep the JSON of a user would read back an
// address or an id that a provider put into its profile.
func (u *User) extraMembers() map[string]any {
	for name := range u.Extra {
		if isUserField(name) {
			rest := maps.Clone(u.Extra)
			maps.DeleteFunc(rest, func(name string, _ any) bool { return isUserField(name) })
			return rest
		}
	}
	return u.Extra
}

// UnmarshalJSON reads what MarshalJSON writes. An id may also be a number, as
// databases with serial keys have it.
func (u *User) UnmarshalJSON(data []byte) error {
	var fields map[string]any
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(&fields); err != nil {
		return fmt.Errorf("pintle: read user: %w", err)
	}
	read := User{}
	for name, value := range fields {
		if err := read.set(name, value); err != nil {
			return fmt.Errorf("pintle: read user: %w", err)
		}
	}
	*u = read
	return nil
}

func (u *User) set(name string, value any) error {
	switch name {
	case "id":
		id, ok := wire.ID(value)
		if !ok && value != nil {
			return fmt.Errorf("id is %T, not text", value)
		}
		u.ID = id
	case "name":
		return u.setText(&u.Name, value, name, nullName, emptyName)
	case "email":
		return u.setText(&u.Email, value, name, nullEmail, emptyEmail)
	case "image":
		return u.setText(&u.Image, value, name, nullImage, emptyImage)
	case "emailVerified":
		if value == nil {
			u.stated |= nullVerified
		}
		var err error
		u.EmailVerified, err = wire.ParseTime(value)
		return err
	default:
		if u.Extra == nil {
			u.Extra = map[string]any{}
		}
		u.Extra[name] = value
	}
	return nil
}

func (u *User) setText(field *string, value any, name string, null, empty statedFields) error {
	switch v := value.(type) {
	case nil:
		u.stated |= null
	case string:
		*field = v
		if v == "" {
			u.stated |= empty
		}
	default:
		return fmt.Errorf("%s is %T, not text", name, value)
	}
	return nil
}

// clone returns a copy of u that shares nothing that can be changed.
func (u *User) clone() *User {
	c := *u
	c.Extra = maps.Clone(u.Extra)
	return &c
}

// A UserUpdate lists the fields of a user to change. A nil field stays as it
// is; a pointer to the zero value clears the field.
type UserUpdate struct {
	Name          *string
	Email         *string
	EmailVerified *time.Time
	Image         *string

	// Extra changes members of [User.Extra] by their names; the others stay. A
	// nil value removes the member, whose column becomes NULL. Any other value
	// replaces the stored one as a whole, also where both are objects. The names
	// id, name, email, emailVerified and image change none of these fields.
	Extra map[string]any

	// IfEmail is a condition: unless the stored address is this one, byte by byte, nothing
	// changes and the call fails with ErrConflict. The empty text is that of a user without
	// an address. Of concurrent calls that move an address from the same one to different
	// ones, in any number of processes, one succeeds. Nil is no condition.
	IfEmail *string
}

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
