package provider

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/pintleauth/pintle"
)

// claims are the paths of a user's members in a profile. An empty path leaves the
// member out:
//
//	data.id               a member of a member
//	emails.0              the first of a list
//	emails.primary.email  of the first of a list in which primary is true
//	name|login            the first of these that is present and not null
//	name||login           … and not empty
//	email|null            null if it is missing
//	image!.link           an error if image is missing or null
//	first_name+last_name  those that are not empty, with a space between them
type claims struct {
	id, name, email, image string

	// picture computes the image if the profile has none. Nil means null.
	picture func(pintle.Profile) (any, error)

	// extra are further members of the user, and where they are.
	extra map[string]string
}

// standardClaims are those of OpenID Connect, and the names that plain OAuth 2
// services have for the same.
//
// https://openid.net/specs/openid-connect-core-1_0.html#StandardClaims
var standardClaims = claims{id: "sub|id", name: "name|nickname|preferred_username", email: "email", image: "picture"}

// user maps a profile. Only the id identifies an account, so a missing id is an
// error: all users without an id would share one account (SH-37).
func (c claims) user(p pintle.Profile, _ *pintle.Account) (*pintle.User, error) {
	id, err := find(p, c.id)
	if err != nil {
		return nil, err
	}
	paths := map[string]string{"name": c.name, "email": c.email, "image": c.image}
	maps.Copy(paths, c.extra)
	members := map[string]any{}
	for name, path := range paths {
		found, err := find(p, path)
		if err != nil {
			return nil, err
		}
		if found.present && (c.extra[name] != "" || isText(found.value)) {
			members[name] = found.value
		}
	}
	if c.picture != nil {
		if members["image"], err = c.picture(p); err != nil {
			return nil, fmt.Errorf("map the profile: %w", err)
		}
	}
	return newUser(id.value, members)
}

// isText reports whether a value can be a name, an address or a picture. Services
// change their answers without notice, and a member of another type must not keep
// the user out: it is left out. The id is judged by accountID.
func isText(value any) bool {
	_, text := value.(string)
	return text || value == nil
}

// newUser makes a user from its JSON members. A member that is null, and not
// absent, is null in the session, too.
func newUser(id any, members map[string]any) (*pintle.User, error) {
	text, err := accountID(id)
	if err != nil {
		return nil, err
	}
	members["id"] = text
	encoded, err := json.Marshal(members)
	if err != nil {
		return nil, fmt.Errorf("map the profile: %w", err)
	}
	u := new(pintle.User)
	if err := json.Unmarshal(encoded, u); err != nil {
		return nil, fmt.Errorf("map the profile: %w", err)
	}
	return u, nil
}

// accountID returns an id as text. It rejects the placeholders that services have
// sent for an unknown account (SH-37).
func accountID(value any) (string, error) {
	var id string
	switch v := value.(type) {
	case string:
		id = v
	case json.Number:
		// With a fraction or an exponent one account would have several spellings.
		if _, err := strconv.ParseInt(v.String(), 10, 64); err != nil {
			if _, err := strconv.ParseUint(v.String(), 10, 64); err != nil {
				return "", errors.New("map the profile: the id of the account is not a whole number")
			}
		}
		id = v.String()
	}
	switch strings.TrimSpace(id) {
	case "", "0", "-0", "undefined", "null", "<nil>", "NaN", "[object Object]":
		return "", fmt.Errorf("map the profile: the id of the account is missing or empty (%T)", value)
	}
	return id, nil
}

// found is a value of a profile. An absent one is neither present nor null.
type found struct {
	value   any
	present bool
}

// find evaluates a path of [claims].
func find(p pintle.Profile, path string) (found, error) {
	if path == "" {
		return found{}, nil
	}
	skipEmpty := strings.Contains(path, "||")
	var last found
	for alternative := range strings.SplitSeq(strings.ReplaceAll(path, "||", "|"), "|") {
		if alternative == "null" {
			return found{present: true}, nil
		}
		f, err := findOne(p, alternative)
		if err != nil {
			return found{}, err
		}
		if f.value != nil && (!skipEmpty || f.value != "") {
			return f, nil
		}
		last = f
	}
	return last, nil
}

// findOne evaluates one alternative.
func findOne(p pintle.Profile, path string) (found, error) {
	parts := strings.Split(path, "+")
	if len(parts) == 1 {
		return walk(p, path)
	}
	var words []string
	for _, part := range parts {
		f, err := walk(p, part)
		if err != nil {
			return found{}, err
		}
		if text, _ := f.value.(string); text != "" {
			words = append(words, text)
		}
	}
	return found{strings.Join(words, " "), true}, nil
}

// walk follows the steps of a path without alternatives.
func walk(p pintle.Profile, path string) (found, error) {
	at := found{value: map[string]any(p), present: true}
	for step := range strings.SplitSeq(path, ".") {
		name, required := strings.CutSuffix(step, "!")
		switch v := at.value.(type) {
		case map[string]any:
			value, present := v[name]
			at = found{value, present}
		case []any:
			at = element(v, name)
		default:
			return found{}, nil // a member of an unexpected type has no members
		}
		if required && at.value == nil {
			return found{}, fmt.Errorf("map the profile: %q is missing", name)
		}
	}
	return at, nil
}

// element returns an element of a list, by its index or by a member that is true.
func element(list []any, step string) found {
	if index, err := strconv.Atoi(step); err == nil {
		if index >= 0 && index < len(list) {
			return found{list[index], true}
		}
		return found{}
	}
	for _, e := range list {
		object, _ := e.(map[string]any)
		fits := true
		for flag := range strings.SplitSeq(step, "&") {
			fits = fits && object[flag] == true
		}
		if fits {
			return found{e, true}
		}
	}
	return found{}
}

// object returns the object at a path. Its error names the missing member, but
// repeats no value of the response.
func object(profile map[string]any, path string) (map[string]any, error) {
	f, err := walk(profile, path)
	if err != nil {
		return nil, err
	}
	member, ok := f.value.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("the answer has no %q", path)
	}
	return member, nil
}

// template returns a function for claims.picture that fills the paths in braces
// into a URL. A URL of which a part is missing is null.
func template(text string) func(pintle.Profile) (any, error) {
	return func(p pintle.Profile) (any, error) {
		var b strings.Builder
		for rest := text; ; {
			before, after, more := strings.Cut(rest, "{")
			b.WriteString(before)
			if !more {
				return b.String(), nil
			}
			path, after, _ := strings.Cut(after, "}")
			f, err := find(p, path)
			if err != nil {
				return nil, err
			}
			part := ""
			switch v := f.value.(type) {
			case string:
				part = v
			case json.Number:
				part = v.String()
			}
			if part == "" {
				return nil, nil // null: the user has no picture
			}
			b.WriteString(part)
			rest = after
		}
	}
}
