package provider_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
	"github.com/pintleauth/pintle/provider"
)

// A verification is the promise in the documentation of a service, at Source,
// about the address in a profile.
type verification struct {
	Source string

	True    []string // members that are true for a verified address
	One     []string // members that are the number 1
	Present []string // places where only a verified address is
	Asked   string   // from a second request; the text is for readers
	Never   bool     // the service calls its addresses unverified
}

// text returns the text for the documents: the members, or the method.
func (v *verification) text() string {
	if v == nil {
		return ""
	}
	members := append(append(append([]string(nil), v.True...), v.One...), v.Present...)
	switch {
	case v.Never:
		return "never"
	case v.Asked != "":
		return v.Asked
	}
	return "`" + strings.Join(members, "`, `") + "`"
}

// profileWith returns a profile in the form that a provider's functions get, with
// values at the given paths.
func profileWith(t *testing.T, paths []string, value any) pintle.Profile {
	t.Helper()
	doc := map[string]any{}
	for _, path := range paths {
		place(doc, path, value)
	}
	prune(doc)
	text, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	var p map[string]any
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber()
	if err := d.Decode(&p); err != nil {
		t.Fatal(err)
	}
	return p
}

// The documentation of a service decides whether its addresses are verified. An
// address that it does not call verified is not verified.
func TestAddressesAreVerifiedAsDocumented(t *testing.T) {
	facts := readFacts(t)
	for id, create := range constructors {
		t.Run("SA-M1 "+id, func(t *testing.T) {
			v, verified := facts[id].EmailVerified, create(provider.Options{}).EmailVerified
			byHost := v != nil && v.Asked == "with TrustEmailVerified"
			if v == nil || v.Never || byHost {
				if verified != nil {
					t.Fatal("no page states which addresses are verified, but the provider has EmailVerified")
				}
				if !byHost {
					return
				}
				verified = create(provider.Options{TrustEmailVerified: true}).EmailVerified
			}
			if verified == nil || !strings.HasPrefix(v.Source, "https://") {
				t.Fatalf("EmailVerified is missing: %t, the source is %q", verified == nil, v.Source)
			}
			yes, no := []any{true, "true"}, []any{absent, nil, false, "false", "TRUE", "yes", "", 0, 1, 2, []any{true}, map[string]any{"a": true}}
			paths := v.True
			switch {
			case byHost:
				paths = []string{"email_verified"}
			case v.Asked != "":
				return // TestGitHub… and the like
			case v.One != nil:
				paths, yes, no = v.One, []any{1}, []any{absent, nil, true, "true", "1", 0, 2, 1.5, []any{1}}
			case v.Present != nil:
				paths, yes, no = v.Present, []any{"ada@example.com"}, []any{absent, nil, true, "", 1, []any{"ada@example.com"}}
			case v.True[0] == "xms_edov":
				yes = append(yes, "1")
			}
			for _, value := range yes {
				if !verified(profileWith(t, paths, value)) {
					t.Errorf("the address is not verified with %v = %#v", paths, value)
				}
			}
			for _, value := range no {
				if verified(profileWith(t, paths, value)) {
					t.Errorf("the address is verified with %v = %#v", paths, value)
				}
			}
			if len(paths) > 1 && verified(profileWith(t, paths[:1], true)) {
				t.Errorf("%s alone verifies the address", paths[0])
			}
			if verified(pintle.Profile{"email": map[string]any{}, "verified": json.Number("7")}) || verified(nil) {
				t.Error("an empty profile has a verified address")
			}
		})
	}
}

// The services that need a second request to find which addresses are verified.
func TestAddressesAreVerifiedByAFurtherRequest(t *testing.T) {
	list := func(entries ...any) func(string, any) any {
		return func(address string, answer any) any {
			if strings.HasSuffix(address, "/emails") {
				return entries
			}
			return answer
		}
	}
	public := func(address string, next func(string, any) any) func(string, any) any {
		return func(at string, answer any) any {
			if doc, ok := answer.(map[string]any); ok && strings.HasSuffix(at, "/user") {
				doc["email"], doc["email_verified"] = address, true
			}
			return next(at, answer)
		}
	}
	same := func(_ string, answer any) any { return answer }
	entry := func(address string, primary, verified any) any {
		return map[string]any{"email": address, "primary": primary, "verified": verified}
	}
	for _, tt := range []struct {
		name, id, issuer string
		answer           func(string, any) any
		address          string
		verified         bool
	}{
		{name: "SA-M1 P-13 GitHub the verified one of a user without a public one", id: "github", answer: same, address: "ada@example.com", verified: true},
		{
			name: "SA-M1 P-13 GitHub a public address that is verified", id: "github", address: "ada@example.com", verified: true,
			answer: public("ada@example.com", list(entry("other@example.com", true, true), entry("ada@example.com", false, true))),
		},
		{
			name: "SA-M1 P-13 GitHub a public address that is not verified", id: "github", address: "ada@example.com", verified: true,
			answer: public("victim@example.com", list(entry("victim@example.com", true, false), entry("ada@example.com", false, true))),
		},
		{
			name: "SA-M1 P-13 GitHub a public address that is not in the list", id: "github",
			answer: public("victim@example.com", list(entry("ada@example.com", true, false))),
		},
		{name: "SA-M1 P-13 GitHub a rejected request for the list", id: "github", address: "victim@example.com", answer: public("victim@example.com", failing("/emails"))},
		{name: "SA-M1 P-13 GitHub verified by a word", id: "github", answer: list(entry("ada@example.com", true, "true")), address: ""},
		{name: "SA-M1 Bitbucket a confirmed address", id: "bitbucket", answer: same, address: "ada@example.com", verified: true},
		{name: "SA-M1 Bitbucket a rejected request for the list", id: "bitbucket", address: "victim@example.com", answer: public("victim@example.com", failing("/emails"))},
		{name: "SA-M1 GitLab a confirmed address", id: "gitlab", answer: set("/user", "confirmed_at", "2018-05-23T08:00:58Z"), address: "ada@example.com", verified: true},
		{name: "SA-M1 GitLab an address that waits", id: "gitlab", answer: set("/user", "confirmed_at", nil), address: "ada@example.com"},
		{name: "SA-M1 GitLab a word of the answer", id: "gitlab", answer: set("/user", "email_verified", true), address: "ada@example.com"},
		{
			name: "SA-M1 GitLab another server", id: "gitlab", issuer: "https://server.example",
			answer: set("/user", "confirmed_at", "2018-05-23T08:00:58Z"), address: "ada@example.com",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := *readFacts(t)[tt.id]
			if tt.issuer != "" {
				f.UserInfo.Requests = slices.Clone(f.UserInfo.Requests)
				for _, address := range []*string{&f.Authorization.URL, &f.Token.URL, &f.UserInfo.Requests[0].URL} {
					*address = strings.Replace(*address, "https://gitlab.com", tt.issuer, 1)
				}
			}
			s := newService(t, &f, ada)
			p := makeProvider(t, &f, s)
			if tt.issuer != "" {
				p.Issuer = tt.issuer
			}
			var profile pintle.Profile
			mapping := p.Profile
			p.Profile = func(given pintle.Profile, a *pintle.Account) (*pintle.User, error) {
				profile = given
				return mapping(given, a)
			}
			a := newApplication(t, p, tampering{s, tt.answer})
			a.signIn(s)
			if a.signedIn == nil {
				t.Fatalf("the sign-in failed: %s", a.log.String())
			}
			if got := a.signedIn.User.Email; got != tt.address {
				t.Errorf("the address is %q, want %q", got, tt.address)
			}
			if got := p.EmailVerified(profile); got != tt.verified {
				t.Errorf("EmailVerified = %t, want %t, of %v", got, tt.verified, profile)
			}
		})
	}
}

func TestOpenIDConnectTrustsTheIssuerOnRequest(t *testing.T) {
	if provider.OpenIDConnect(provider.Options{}).EmailVerified != nil {
		t.Error("an unknown issuer is trusted")
	}
	p := provider.OpenIDConnect(provider.Options{TrustEmailVerified: true})
	for _, tt := range []struct {
		name            string
		profile, claims map[string]any
		want            bool
	}{
		{"both in the profile", map[string]any{"email": "a@example.com", "email_verified": true}, nil, true},
		{"both in the ID token", map[string]any{}, map[string]any{"email": "a@example.com", "email_verified": true}, true},
		{"the same address in both", map[string]any{"email": "a@example.com"}, map[string]any{"email": "a@example.com", "email_verified": true}, true},
		{"another address in the ID token", map[string]any{"email": "victim@example.com"}, map[string]any{"email": "a@example.com", "email_verified": true}, false},
		{"no address in the ID token", map[string]any{"email": "victim@example.com"}, map[string]any{"email_verified": true}, false},
		{"no address in the profile", map[string]any{"email_verified": true}, map[string]any{"email": "victim@example.com"}, false},
		{"an address that is no text", map[string]any{"email": map[string]any{}, "email_verified": true}, map[string]any{"email": map[string]any{}}, false},
		{"false in the profile", map[string]any{"email": "a@example.com", "email_verified": false}, map[string]any{"email": "a@example.com", "email_verified": true}, false},
	} {
		t.Run("SA-M1 "+tt.name, func(t *testing.T) {
			answer := &oauth.Answer{Profile: tt.profile, Claims: tt.claims}
			if err := p.Quirks.AmendProfile(t.Context(), nil, answer); err != nil {
				t.Fatal(err)
			}
			if got := p.EmailVerified(answer.Profile); got != tt.want {
				t.Errorf("EmailVerified = %t, want %t, of %v", got, tt.want, answer.Profile)
			}
		})
	}
}

func TestAGitHubServerIsTrustedOnRequest(t *testing.T) {
	server := provider.Options{Issuer: "https://github.example.com/login/oauth"}
	if provider.GitHub(server).EmailVerified != nil {
		t.Error("SA-M1 a server of another operator is trusted")
	}
	server.TrustEmailVerified = true
	if provider.GitHub(server).EmailVerified == nil || provider.GitHub(provider.Options{}).EmailVerified == nil {
		t.Error("SA-M1 a trusted server, or github.com, is not")
	}
}
