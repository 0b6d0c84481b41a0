package provider_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
	"github.com/pintleauth/pintle/provider"
)

// FuzzMapping passes any profile to every mapping. It either fails or returns a
// valid id (SH-37).
func FuzzMapping(f *testing.F) {
	for _, seed := range []string{
		`{}`, `[]`, `{"id":1,"name":"Ada"}`, `{"sub":"1","emails":["a@example.com"]}`, `{"data":{"id":"7"}}`,
		`{"response":{"user":{"id":"1","photo":{"prefix":"a","suffix":"b"},"contact":{}}}}`, `{"id":"undefined"}`, `{"id":1e3}`,
		`{"id":18446744073709551615,"avatar":null,"discriminator":"x"}`, `{"emails":{"0":1}}`, `{"user":{"name":null},"sub":"1"}`,
	} {
		f.Add(seed)
	}
	ids := slices.Sorted(maps.Keys(constructors))
	mappings := make([]func(pintle.Profile, *pintle.Account) (*pintle.User, error), len(ids))
	for i, id := range ids {
		mappings[i] = constructors[id](provider.Options{}).Profile
	}
	f.Fuzz(func(t *testing.T, text string) {
		for i, id := range ids {
			var profile map[string]any
			d := json.NewDecoder(bytes.NewReader([]byte(text)))
			d.UseNumber()
			if d.Decode(&profile) != nil {
				return
			}
			user, err := mappings[i](profile, &pintle.Account{})
			if err != nil {
				continue
			}
			switch strings.TrimSpace(user.ID) {
			case "", "0", "-0", "undefined", "null", "<nil>", "NaN":
				t.Errorf("%s makes %q the id", id, user.ID)
			}
		}
	})
}

// FuzzAppleName posts any form to Apple's callback: it can only change the name.
func FuzzAppleName(f *testing.F) {
	f.Add(`{"name":{"firstName":"Ada","lastName":"Lovelace"}}`)
	f.Add(`{"name":{"firstName":1,"lastName":null},"sub":"2","email":"b@example.com"}`)
	f.Add(`{"name":[]}`)
	f.Add(`null`)
	p := provider.Apple(provider.AppleOptions{})
	f.Fuzz(func(t *testing.T, field string) {
		a := &oauth.Answer{
			Callback: map[string]string{"user": field}, Profile: map[string]any{"sub": "1", "email": "a@example.com"},
		}
		if err := p.Quirks.AmendProfile(t.Context(), &http.Client{}, a); err != nil {
			t.Fatal(err)
		}
		user, err := p.Profile(a.Profile, &pintle.Account{})
		if err != nil || user.ID != "1" || user.Email != "a@example.com" {
			t.Errorf("the user is %+v, %v", user, err)
		}
	})
}
