package provider

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/pintleauth/pintle"
)

// claims says where in a profile a user is to be found. Each field is a path,
// and the empty one leaves the member out:
//
//	data.id               a member of a member
//	emails.0              the first of a list
//	name|login            the first of these that is there and not null
//	email|null            null when it is missing
//	image!.link           an error when image is missing
//	first_name+last_name  those that are not empty, with a space between them
type claims struct {
	id, name, email, image string
}

// user maps a profile. Nothing in it identifies a person but the id, so one
// that is missing is an error: everybody without an id would be one account
// (SH-37).
func (c claims) user(p pintle.Profile, _ *pintle.Account) (*pintle.User, error) {
	id, err := find(p, c.id)
	if err != nil {
		return nil, err
	}
	members := map[string]any{}
	for name, path := range map[string]string{"name": c.name, "email": c.email, "image": c.image} {
		found, err := find(p, path)
		if err != nil {
			return nil, err
		}
		if found.present {
			members[name] = found.value
		}
	}
	return newUser(id.value, members)
}

// newUser makes a user of the JSON members of one. A member that is null, and
// not absent, is told to clients as null.
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

// accountID returns an id as text. Services have sent each of the values that
// are refused here for an account they did not know (SH-37).
func accountID(value any) (string, error) {
	var id string
	switch v := value.(type) {
	case string:
		id = v
	case json.Number:
		// A fraction or an exponent would give one account several spellings.
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
	if parts := strings.Split(path, "+"); len(parts) > 1 {
		return joined(p, parts)
	}
	var last found
	for alternative := range strings.SplitSeq(path, "|") {
		if alternative == "null" {
			return found{present: true}, nil
		}
		f, err := walk(p, alternative)
		if err != nil {
			return found{}, err
		}
		if f.value != nil {
			return f, nil
		}
		last = f
	}
	return last, nil
}

// walk follows the steps of one path.
func walk(p pintle.Profile, path string) (found, error) {
	at := found{value: map[string]any(p), present: true}
	for step := range strings.SplitSeq(path, ".") {
		name, required := strings.CutSuffix(step, "!")
		switch v := at.value.(type) {
		case map[string]any:
			at.value, at.present = v[name], has(v, name)
		case []any:
			index, err := strconv.Atoi(name)
			at = found{}
			if err == nil && index >= 0 && index < len(v) {
				at = found{v[index], true}
			}
		default:
			at = found{}
		}
		if required && at.value == nil {
			return found{}, fmt.Errorf("map the profile: %q is missing", name)
		}
	}
	return at, nil
}

// object returns the object at a path. The error of an answer without it says
// which member is missing, and nothing of what it has instead.
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

func has(m map[string]any, name string) bool {
	_, ok := m[name]
	return ok
}

// joined makes one text of several.
func joined(p pintle.Profile, paths []string) (found, error) {
	var words []string
	for _, path := range paths {
		f, err := find(p, path)
		if err != nil {
			return found{}, err
		}
		if text, _ := f.value.(string); text != "" {
			words = append(words, text)
		}
	}
	if len(words) == 0 {
		return found{}, nil
	}
	return found{strings.Join(words, " "), true}, nil
}
