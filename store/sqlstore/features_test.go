package sqlstore_test

import (
	"strings"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/store/sqlstore"
)

// ceremony is one of a configuration that gets no request.
type ceremony struct{ pintle.Ceremony }

func TestALayoutSaysWhetherItHasPasskeys(t *testing.T) {
	named := sqlstore.Drizzle(sqlstore.PostgreSQL)
	named.Authenticators.Columns = map[string]string{"name": "label"}
	for _, tt := range []struct {
		name            string
		layout          sqlstore.Layout
		passkeys, names bool
		remedy          string
	}{
		{"without a table", sqlstore.PG(), false, false, "Layout.Authenticators"},
		{"with a table of Auth.js", sqlstore.Drizzle(sqlstore.PostgreSQL), true, false, `"name" in Layout.Authenticators.Columns`},
		{"with a column for names", named, true, true, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			store, err := sqlstore.NewShared(nil, tt.layout)
			if err != nil {
				t.Fatal(err)
			}
			f := store.Features()
			if f.Passkeys != tt.passkeys || f.PasskeyNames != tt.names || !strings.Contains(f.Remedy, tt.remedy) || (f.Remedy == "") != (tt.remedy == "") {
				t.Errorf("the features are %+v", f)
			}
			_, err = pintle.New(pintle.Config{
				URL:                  "https://app.example.com",
				Secrets:              []string{"at least thirty-two characters of randomness"},
				Providers:            []pintle.Provider{&pintle.WebAuthn{Ceremony: ceremony{}}},
				Store:                store,
				ExperimentalPasskeys: true,
			})
			if tt.passkeys {
				if err != nil {
					t.Errorf("New() = %v", err)
				}
				return
			}
			for _, want := range []string{"passkey provider", "pintle.Features.Passkeys", "*sqlstore.Store", "Layout.Authenticators"} {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("New() = %v, want an error with %s", err, want)
				}
			}
		})
	}
}
