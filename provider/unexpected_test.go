package provider_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/provider"
)

// Services change their responses without notice. A member with another type is
// left out; the user still signs in, with the same account.
func TestMembersOfUnexpectedTypesAreIgnored(t *testing.T) {
	for id, f := range readFacts(t) {
		if !f.signsIn() || id == "bankid-no" { // whose response is a signed text
			continue
		}
		own := f.Mapping["id"].From
		for _, member := range []string{"name", "email", "image"} {
			m := f.Mapping[member]
			paths := append(slices.Clone(m.From), m.Join...)
			paths = slices.DeleteFunc(paths, func(path string) bool { return len(own) > 0 && path == own[0] })
			if len(paths) == 0 {
				continue
			}
			for _, value := range []any{5, 1.5, true, map[string]any{}, []any{}, []any{"x"}, map[string]any{"a": 1}} {
				t.Run(fmt.Sprintf("P-14 %s %s %T %v", id, member, value, value), func(t *testing.T) {
					s := newService(t, f, ada)
					s.spoil = func(doc map[string]any) {
						for _, path := range paths {
							place(doc, path, value)
						}
					}
					a := newApplication(t, makeProvider(t, f, s), s)
					a.signIn(s)
					if a.signedIn == nil {
						t.Fatalf("%v = %v keeps the user out: %s", paths, value, a.log.String())
					}
					if got, want := a.signedIn.Account.ProviderAccountID, s.accountID(); got != want {
						t.Errorf("the account is %q, want %q", got, want)
					}
				})
			}
		}
	}
}

// The object that holds a name or a picture may have another type, too.
func TestContainersOfUnexpectedTypesAreIgnored(t *testing.T) {
	for _, tt := range []struct{ id, container string }{
		{"facebook", "picture"},
		{"42-school", "image"},
		{"bitbucket", "links"},
		{"dropbox", "name"},
		{"eventbrite", "emails"},
		{"foursquare", "response.user.contact"},
		{"intercom", "avatar"},
		{"kakao", "kakao_account"},
		{"notion", "person"},
		{"patreon", "data.attributes"},
		{"spotify", "images"},
		{"trakt", "images"},
		{"webex", "emails"},
		{"workos", "raw_attributes"},
		{"onedrive", "emails"},
		{"bitly", "emails"},
	} {
		for _, value := range []any{5, "text", true} {
			t.Run(fmt.Sprintf("P-14 %s %v", tt.id, value), func(t *testing.T) {
				f := readFacts(t)[tt.id]
				s := newService(t, f, ada)
				s.spoil = func(doc map[string]any) { place(doc, tt.container, value) }
				a := newApplication(t, makeProvider(t, f, s), s)
				a.signIn(s)
				if a.signedIn == nil {
					t.Fatalf("%s = %v keeps the user out: %s", tt.container, value, a.log.String())
				}
				if got, want := a.signedIn.Account.ProviderAccountID, s.accountID(); got != want {
					t.Errorf("the account is %q, want %q", got, want)
				}
			})
		}
	}
}

// If another user registers a name that was given up, that is another account,
// because account ids are made of values that the service never reassigns.
func TestATakenNameIsAnotherAccount(t *testing.T) {
	for _, tt := range []struct {
		id     string
		before map[string]any // members of the profile that the name has with it
		after  map[string]any
	}{
		{"pinterest", map[string]any{"id": "1", "username": "ada"}, map[string]any{"id": "2", "username": "ada"}},
		{"trakt", map[string]any{"ids.uuid": "u1", "ids.slug": "ada"}, map[string]any{"ids.uuid": "u2", "ids.slug": "ada"}},
		{
			"tumblr",
			map[string]any{"response.user.name": "ada", "response.user.blogs[primary=true].uuid": "t:1"},
			map[string]any{"response.user.name": "ada", "response.user.blogs[primary=true].uuid": "t:2"},
		},
		{
			"bitly",
			map[string]any{"login": "ada", "created": "2009-06-30T18:30:00+0000"},
			map[string]any{"login": "ada", "created": "2026-01-02T03:04:05+0000"},
		},
		{"lark", map[string]any{"data.user_id": "ada", "data.open_id": "o1"}, map[string]any{"data.user_id": "ada", "data.open_id": "o2"}},
		{
			"lastfm",
			map[string]any{"user.id": nil, "user.registered.unixtime": "1037793040"},
			map[string]any{"user.id": nil, "user.registered.unixtime": "1767323045"},
		},
	} {
		t.Run("SA-M9 P-12 "+tt.id, func(t *testing.T) {
			f := readFacts(t)[tt.id]
			account := func(members map[string]any) string {
				s := newService(t, f, ada)
				s.spoil = func(doc map[string]any) {
					for path, value := range members {
						place(doc, path, value)
					}
				}
				a := newApplication(t, makeProvider(t, f, s), s)
				a.signIn(s)
				if a.signedIn == nil {
					t.Fatalf("the sign-in failed: %s", a.log.String())
				}
				return a.signedIn.Account.ProviderAccountID
			}
			before, after := account(tt.before), account(tt.after)
			if before == after {
				t.Errorf("the next owner of the name gets the account %q of the previous one", after)
			}
			if again := account(tt.before); again != before {
				t.Errorf("the account was %q and is %q", before, again)
			}
		})
	}
	t.Run("SA-M9 P-12 eveonline", func(t *testing.T) {
		p := provider.EVEOnline(provider.EVEOnlineOptions{})
		seen := map[string]bool{}
		for _, owner := range []string{"first", "second", "first"} {
			seen[eveAccount(t, p.Quirks.FetchProfile, p.Profile, owner)] = true
		}
		if len(seen) != 2 {
			t.Errorf("two owners of a character are the accounts %v", seen)
		}
		if _, err := fetchEVE(t, p.Quirks.FetchProfile, p.Profile, ""); err == nil || !strings.Contains(err.Error(), "id of the account") {
			t.Errorf("a character without an owner: %v", err)
		}
		old := provider.EVEOnline(provider.EVEOnlineOptions{LegacyAccountID: true})
		if got := eveAccount(t, old.Quirks.FetchProfile, old.Profile, "first"); got != "583231" {
			t.Errorf("with LegacyAccountID the account is %q", got)
		}
	})
}

type (
	fetchFunc = func(context.Context, *http.Client, map[string]any) (map[string]any, error)
	mapFunc   = func(pintle.Profile, *pintle.Account) (*pintle.User, error)
)

// fetchEVE returns the user of a token of EVE Online with an owner.
func fetchEVE(t *testing.T, fetch fetchFunc, mapping mapFunc, owner string) (*pintle.User, error) {
	t.Helper()
	claims, _ := json.Marshal(map[string]string{"sub": "CHARACTER:EVE:583231", "name": "Ada", "owner": owner})
	profile, err := fetch(t.Context(), nil, map[string]any{"access_token": "e30." + base64.RawURLEncoding.EncodeToString(claims) + ".e30"})
	if err != nil {
		t.Fatal(err)
	}
	return mapping(profile, nil)
}

func eveAccount(t *testing.T, fetch fetchFunc, mapping mapFunc, owner string) string {
	t.Helper()
	user, err := fetchEVE(t, fetch, mapping, owner)
	if err != nil {
		t.Fatal(err)
	}
	return user.ID
}
