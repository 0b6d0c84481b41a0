package ldapauth

import (
	"strings"
	"testing"

	"github.com/go-ldap/ldap/v3"

	"github.com/pintleauth/pintle"
)

func TestInvalidOptionsAreRejected(t *testing.T) {
	good := Options{URL: "ldaps://ldap.example.com", BaseDN: "dc=example,dc=com"}
	tests := []struct {
		name   string
		change func(*Options)
		says   string
	}{
		{"no URL", func(o *Options) { o.URL = "" }, "Options.URL"},
		{"a web address", func(o *Options) { o.URL = "https://ldap.example.com" }, "Options.URL"},
		{"no base", func(o *Options) { o.BaseDN = "" }, "Options.BaseDN"},
		{"a filter without the name", func(o *Options) { o.Filter = "(objectClass=person)" }, "Options.Filter"},
		{"an invalid filter", func(o *Options) { o.Filter = "((uid=%s)" }, "Options.Filter"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := good
			tt.change(&o)
			if _, err := New(o); err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("New: %v, want an error that names %s", err, tt.says)
			}
		})
	}
	if _, err := New(good); err != nil {
		t.Errorf("New: %v", err)
	}
}

func TestANameCannotChangeTheFilter(t *testing.T) {
	d, err := newDirectory(Options{URL: "ldaps://ldap.example.com", BaseDN: "dc=example,dc=com", Filter: "(uid=%s)"})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := d.filter("*)(uid=*"), `(uid=\2a\29\28uid=\2a)`; got != want {
		t.Errorf("filter = %s, want %s", got, want)
	}
}

func TestPasswordsAreNotSentUnencrypted(t *testing.T) {
	for url, want := range map[string]bool{
		"ldap://ldap.example.com": true, "ldaps://ldap.example.com": false,
		"ldap://127.0.0.1:389": false, "ldap://[::1]": false, "ldap://localhost": false,
		"ldap://LDAP.LocalHost": false, "ldap://evillocalhost": true, "ldap://localhost.example.com": true, "ldap://127.1": true,
	} {
		d, err := newDirectory(Options{URL: url, BaseDN: "dc=example,dc=com"})
		if err != nil {
			t.Fatal(err)
		}
		if d.startTLS != want {
			t.Errorf("%s is upgraded by StartTLS: %t, want %t", url, d.startTLS, want)
		}
	}
}

func TestASubmissionWithoutNameOrPasswordSendsNoRequest(t *testing.T) {
	d, err := newDirectory(Options{URL: "ldaps://no-such-host.invalid", BaseDN: "dc=example,dc=com"})
	if err != nil {
		t.Fatal(err)
	}
	for _, fields := range []map[string]any{
		nil,
		{"username": "ada"},
		{"username": "ada", "password": ""},
		{"password": "secret"},
		{"username": strings.Repeat("a", 1000), "password": "secret"},
		{"username": []any{"ada"}, "password": "secret"},
	} {
		if name, err := d.account(t.Context(), &pintle.Submission{Fields: fields}); name != "" || err != nil {
			t.Errorf("account(%v) = %q, %v, want an empty name", fields, name, err)
		}
		user, err := d.authorize(t.Context(), &pintle.Submission{Fields: fields})
		if user != nil || err != nil {
			t.Errorf("authorize(%v) = %v, %v, want no user", fields, user, err)
		}
	}
}

// An address of a directory does not become one at another domain.
func TestAddressesAreFoldedInASCIIOnly(t *testing.T) {
	d := &directory{}
	d.Attributes.Email, d.Attributes.Name = "mail", "cn"
	for sent, want := range map[string]string{
		"CEO@Microsoft.com":      "ceo@microsoft.com",
		"ceo@m\u0130crosoft.com": "ceo@m\u0130crosoft.com",
		"ceo@\u212Aernel.org":    "ceo@\u212Aernel.org",
	} {
		t.Run("SA-M5 "+sent, func(t *testing.T) {
			user, err := d.user(t.Context(), ldap.NewEntry("cn=ceo", map[string][]string{"mail": {sent}, "entryUUID": {"1"}}))
			if err != nil || user.Email != want {
				t.Errorf("the address is %q (%v), want %q", user.Email, err, want)
			}
		})
	}
}
