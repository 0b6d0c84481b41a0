package provider_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/pintleauth/pintle/provider"
)

// elsewhere are the entries of the facts that are not made here, with the place
// where they are.
var elsewhere = map[string]string{
	"credentials": "pintle.Credentials",
	"email":       "package smtp",
	"nodemailer":  "package smtp",
	"passkey":     "package passkey",
	"webauthn":    "package passkey",
}

func TestEveryServiceOfTheFactsHasAConstructor(t *testing.T) {
	for id, f := range readFacts(t) {
		if f.signsIn() == (constructors[id] == nil) {
			t.Errorf("%s: signs in: %t, has a constructor: %t", id, f.signsIn(), constructors[id] != nil)
		}
		if f.Type == "email" && elsewhere[id] == "" && mailServices[id] == nil {
			t.Errorf("%s sends mails and has no constructor", id)
		}
		if !f.signsIn() && f.Type != "email" && elsewhere[id] == "" {
			t.Errorf("%s is nowhere", id)
		}
	}
}

func TestEveryConstructorIsOfTheFacts(t *testing.T) {
	facts := readFacts(t)
	functions, _ := readSource(t)
	names := map[string]bool{}
	for id, create := range constructors {
		p := create(provider.Options{})
		f := facts[id]
		if f == nil || p.ID != id || p.Name != f.Name {
			t.Errorf("the constructor of %q makes %q, %q", id, p.ID, p.Name)
		}
		if own := create(provider.Options{ID: "own"}); own.ID != "own" || own.Name != p.Name {
			t.Errorf("%s: the option ID makes it %q, %q", id, own.ID, own.Name)
		}
		if names[p.Name] && id != "twitter" {
			t.Errorf("there are two providers of the name %q", p.Name)
		}
		names[p.Name] = true
	}
	oauth, mails := 0, 0
	for _, d := range functions {
		if d.Mail {
			mails++
		} else {
			oauth++
		}
	}
	if oauth != len(constructors) {
		t.Errorf("%d functions make an OAuth provider, but %d are tested", oauth, len(constructors))
	}
	if mails != len(mailServices)+1 { // and the webhook
		t.Errorf("%d functions make a mail provider, but %d are tested", mails, len(mailServices)+1)
	}
}

func TestConstructorsAreShortAndDocumented(t *testing.T) {
	functions, _ := readSource(t)
	entries := catalogue(t)
	for name, d := range functions {
		if d.Lines > 60 {
			t.Errorf("%s has %d lines: facts are shorter; code belongs beside them", d.File, d.Lines)
		}
		if !strings.HasPrefix(d.Doc, name+" ") {
			t.Errorf("the documentation of %s does not begin with its name", name)
		}
		if len(linkLine.FindAllString(d.Doc, -1)) != 1 {
			t.Errorf("the documentation of %s does not link one page of the service", name)
		}
		if want := strings.ToLower(name) + ".go"; d.File != want {
			t.Errorf("%s is in %s, want %s", name, d.File, want)
		}
		i := slices.IndexFunc(entries, func(e entry) bool { return e.Func == name })
		if i < 0 {
			t.Errorf("%s is not in the catalogue", name)
			continue
		}
		e := entries[i]
		for _, variable := range variables.FindAllString(d.Doc, -1) {
			if !slices.Contains(e.Variables, variable) {
				t.Errorf("the documentation of %s names the variable %s, which is not used", name, variable)
			}
		}
		if !d.Mail && !strings.Contains(d.Doc, "AUTH_") {
			t.Errorf("the documentation of %s names no variables", name)
		}
		if !d.Mail && e.Protocol != "OpenID 2.0" && !strings.Contains(strings.Join(strings.Fields(d.Doc), " "), "/auth/callback/"+e.ID) {
			t.Errorf("the documentation of %s does not name what to register", name)
		}
	}
}

// A service that was shut down keeps its constructor for hosts that have stored
// accounts of it.
func TestServicesThatAreGoneSaySo(t *testing.T) {
	// The catalogue uses the successors of these already.
	moved := []string{"todoist", "patreon", "eveonline", "hubspot"}
	facts := readFacts(t)
	for _, e := range catalogue(t) {
		f := facts[e.ID]
		if f == nil || slices.Contains(moved, e.ID) {
			continue
		}
		gone := slices.Contains([]string{"retired", "deprecated", "end-of-life", "renamed"}, f.Status) && e.ID != "boxyhq-saml"
		if gone != (e.Deprecated != "") {
			t.Errorf("%s is %s; deprecated: %q", e.ID, f.Status, e.Deprecated)
		}
	}
}
