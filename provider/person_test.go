package provider_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

var (
	ada   = person{ID: "583231", Name: "Ada", Email: "ada@example.com"}
	grace = person{ID: "583232", Name: "Grace", Email: "grace@example.org"}
)

// steamID returns the id of a user in the form of Steam.
func steamID(who person) string { return fmt.Sprintf("76561197960%v", who.ID) }

// claims returns the profile of the user, with its values at the paths of the
// mapping in the facts.
func (s *service) claims() map[string]any {
	doc := map[string]any{}
	values := map[string]any{"image": "https://img.example/1.png", "name": s.who.Name, "email": s.who.Email, "id": s.who.ID}
	for _, member := range []string{"image", "name", "email", "id"} { // the id is often part of the others
		m, value := s.fact.Mapping[member], values[member]
		paths := append(m.From, m.Join...)
		if member == "id" && s.anonymous {
			if len(paths) > 0 {
				place(doc, paths[0], absent)
			}
			continue
		}
		if member == "id" || member == "email" {
			paths = paths[:min(len(paths), 1)]
		}
		if s.fact.UserInfo.Source == "id-token-claims" {
			m.Template = "" // filled from elsewhere
		}
		for _, braces := range regexp.MustCompile(`\{([\w.]+)\}`).FindAllStringSubmatch(m.Template, -1) {
			paths = append(paths, braces[1])
		}
		for _, path := range paths {
			place(doc, path, value)
		}
	}
	prune(doc)
	// Members that have to be there, be it null.
	switch s.fact.ID {
	case "discord":
		doc["avatar"], doc["discriminator"] = nil, "0"
	case "steam":
		place(doc, "response.players[0].steamid", steamID(s.who))
	case "lastfm":
		place(doc, "user.name", s.values["login"])
		place(doc, "user.registered.unixtime", "1037793040")
	case "github":
		doc["email"] = nil
	case "intercom":
		doc["email_verified"] = true
	case "bitly":
		doc["created"] = "2009-06-30T18:30:00+0000"
		doc["emails"] = []any{map[string]any{"email": s.who.Email, "is_primary": true, "is_verified": true}}
	}
	if s.spoil != nil {
		s.spoil(doc)
	}
	return doc
}

// further returns the response to the second request that some profiles need. The
// provider must not use those of its addresses that are not the user's (P-7).
func (s *service) further() any {
	switch s.fact.ID {
	case "github":
		return []any{
			map[string]any{"email": "unverified@example.com", "primary": true, "verified": false},
			map[string]any{"email": s.who.Email, "primary": false, "verified": true},
		}
	case "bitbucket":
		return map[string]any{"values": []any{
			map[string]any{"email": "other@example.com", "is_primary": false, "is_confirmed": true},
			map[string]any{"email": s.who.Email, "is_primary": true, "is_confirmed": true},
		}}
	}
	return nil
}

// wrap puts a profile into the form of the service's response.
func (s *service) wrap(doc map[string]any) any {
	switch s.fact.ID {
	case "nextcloud":
		return map[string]any{"ocs": map[string]any{"data": doc}}
	case "notion":
		return map[string]any{"bot": map[string]any{"owner": map[string]any{"user": doc}}}
	case "todoist":
		return map[string]any{"user": doc}
	case "vk":
		delete(doc, "email")
		return map[string]any{"response": []any{doc}}
	case "threads":
		return doc["data"]
	case "bankid-no":
		return s.sign(doc)
	case "wechat":
		if text, ok := s.who.ID.(string); ok {
			doc["openid"] = text
		} else if !s.anonymous {
			doc["openid"] = s.who.ID
		}
	}
	return doc
}

// place sets the member at a path such as a.b[0].c or emails[primary=true].email.
func place(at map[string]any, path string, value any) {
	head, rest, deeper := strings.Cut(path, ".")
	name, index, list := strings.Cut(strings.TrimSuffix(head, "]"), "[")
	if !list {
		if !deeper {
			at[name] = value
			return
		}
		inner, ok := at[name].(map[string]any)
		if !ok {
			inner = map[string]any{}
			at[name] = inner
		}
		place(inner, rest, value)
		return
	}
	elements, _ := at[name].([]any)
	n, err := strconv.Atoi(index)
	if err != nil {
		n = 0
	}
	for len(elements) <= n {
		elements = append(elements, map[string]any{})
	}
	at[name] = elements
	if !deeper {
		elements[n] = value
		return
	}
	inner := elements[n].(map[string]any)
	for condition := range strings.SplitSeq(index, ",") {
		if flag, truth, ok := strings.Cut(condition, "="); ok {
			inner[flag] = truth == "true"
		}
	}
	place(inner, rest, value)
}

// absent marks a member that is to be left out.
var absent = &struct{ marker byte }{}

// prune removes absent values.
func prune(doc any) {
	switch d := doc.(type) {
	case map[string]any:
		for name, value := range d {
			if value == absent {
				delete(d, name)
			}
			prune(value)
		}
	case []any:
		for _, value := range d {
			prune(value)
		}
	}
}
