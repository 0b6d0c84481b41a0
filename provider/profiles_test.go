package provider_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
	"github.com/pintleauth/pintle/provider"
)

// A profileCase is Auth.js's mapping of a profile.
type profileCase struct {
	Name, Provider string
	Options        map[string]any
	Profile        map[string]any
	Tokens         map[string]any
	Stub           *struct {
		Method, URL, BodyBase64 string
		Status                  int
	}

	// Defect means that the result of Auth.js is unintended.
	Defect   string
	Expected struct {
		ID, Name, Email, Image any
		Absent                 []string
		Extra                  map[string]any
		Error                  string
	}
}

// readProfileCases reads testdata/profiles.json, or the file that the variable
// PINTLE_PROFILE_CASES names.
func readProfileCases(t *testing.T) []profileCase {
	t.Helper()
	path := "testdata/profiles.json"
	if other := os.Getenv("PINTLE_PROFILE_CASES"); other != "" {
		path = other
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var cases []profileCase
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) == 0 {
		t.Fatalf("%s has no cases", path)
	}
	return cases
}

// safer are the cases in which the result of Auth.js is unintended, with the result
// of this package (P-1). The file marks all of them as defects.
var safer = map[string]map[string]any{
	"azure-devops/avatar bytes null": {"image": nil},
	"foursquare/last name missing":   {"name": "Siobhán"},
	"strava/last name missing":       {"name": "Siobhán"},
	"workos/first name null":         {"name": "O'Brien-Müller"},
	"zoom/last name missing":         {"name": "Siobhán"},
}

// The users are those of Auth.js, except for texts in place of missing values
// (P-1), users without an id (P-2) and numbers as ids (P-3).
func TestProfilesAreMappedAsAuthJSMapsThem(t *testing.T) {
	for _, c := range readProfileCases(t) {
		t.Run(c.Name, func(t *testing.T) {
			got, err := c.run(t)
			if c.Expected.Error != "" || c.Expected.ID == nil || c.Expected.ID == "<random-uuid>" {
				// Auth.js makes up a missing id, so that each sign-in makes a new
				// user (SH-37, P-2).
				if err == nil {
					t.Errorf("the mapping gave %v, want an error", got)
				}
				return
			}
			if err != nil {
				t.Fatalf("the mapping failed: %v", err)
			}
			want := c.want()
			if c.Defect != "" {
				maps.Copy(want, safer[c.Name])
				if safer[c.Name] == nil {
					t.Skipf("a defect of Auth.js: %s; here: %v", c.Defect, got)
				}
			}
			for name, value := range want {
				given, there := got[name]
				if value == nil && slices.Contains(c.Expected.Absent, name) {
					if there {
						t.Errorf("%s is %v, want it to be left out", name, given)
					}
				} else if given != value {
					t.Errorf("%s is %v, want %v", name, given, value)
				}
			}
			for name := range got {
				if _, known := want[name]; !known {
					t.Errorf("the user has a member %q that Auth.js does not have", name)
				}
			}
		})
	}
}

// want are the members of the user, with the id as text: Auth.js passes some on
// as numbers and puts them into a text column (P-3).
func (c profileCase) want() map[string]any {
	want := map[string]any{"name": c.Expected.Name, "email": c.Expected.Email, "image": c.Expected.Image}
	maps.Copy(want, c.Expected.Extra)
	switch id := c.Expected.ID.(type) {
	case json.Number:
		want["id"] = id.String()
	default:
		want["id"] = id
	}
	return want
}

// run maps the profile of the case, after the one further request that some
// providers make has been answered by the stub, and returns the user's members.
func (c profileCase) run(t *testing.T) (map[string]any, error) {
	t.Helper()
	p := c.provider(t)
	p.ClientID, p.ClientSecret = "client", "secret"
	if p.Complete != nil {
		if err := p.Complete(p); err != nil {
			t.Fatalf("complete the provider: %v", err)
		}
	}
	profile := c.Profile
	if c.Stub != nil {
		answer := &oauth.Answer{Profile: profile, Tokens: c.Tokens}
		if err := p.Quirks.AmendProfile(t.Context(), &http.Client{Transport: c}, answer); err != nil {
			t.Fatalf("amend the profile: %v", err)
		}
		profile = answer.Profile
	}
	account := &pintle.Account{}
	account.AccessToken, _ = c.Tokens["access_token"].(string)
	user, err := p.Profile(profile, account)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(user)
	if err != nil {
		t.Fatal(err)
	}
	var members map[string]any
	if err := json.Unmarshal(text, &members); err != nil {
		t.Fatal(err)
	}
	return members, nil
}

func (c profileCase) provider(t *testing.T) *pintle.OAuth {
	t.Helper()
	o := provider.Options{}
	o.Issuer, _ = c.Options["issuer"].(string)
	text := func(name string) string { s, _ := c.Options[name].(string); return s }
	switch c.Provider {
	case "microsoft-entra-id", "azure-ad":
		entra := provider.MicrosoftEntraIDOptions{Options: o}
		if size, ok := c.Options["profilePhotoSize"].(json.Number); ok {
			n, _ := size.Int64()
			entra.PhotoSize = int(n)
		}
		if c.Provider == "azure-ad" {
			return provider.AzureAD(entra)
		}
		return provider.MicrosoftEntraID(entra)
	// Auth.js uses ids for these that can change owners (P-12).
	case "eveonline":
		return provider.EVEOnline(provider.EVEOnlineOptions{Options: o, LegacyAccountID: true})
	case "pinterest":
		return provider.Pinterest(provider.PinterestOptions{Options: o, LegacyAccountID: true})
	case "trakt":
		return provider.Trakt(provider.TraktOptions{Options: o, LegacyAccountID: true})
	case "netsuite":
		return provider.NetSuite(provider.NetSuiteOptions{Options: o, AccountID: text("accountID"), UserInfoURL: text("userinfo")})
	}
	make := constructors[c.Provider]
	if make == nil {
		t.Fatalf("there is no provider %q", c.Provider)
	}
	return make(o)
}

// RoundTrip answers with the stub.
func (c profileCase) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Method != c.Stub.Method || req.URL.String() != c.Stub.URL || req.Header.Get("Authorization") != "Bearer graph-access-token" {
		return &http.Response{StatusCode: http.StatusTeapot, Header: http.Header{}, Body: http.NoBody, Request: req}, nil
	}
	body, err := base64.StdEncoding.DecodeString(c.Stub.BodyBase64)
	return &http.Response{StatusCode: c.Stub.Status, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(body)), Request: req}, err
}
