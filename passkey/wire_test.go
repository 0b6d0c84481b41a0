package passkey_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/passkey"
	"github.com/pintleauth/pintle/passkey/passkeytest"
)

// masked replaces the values that differ from one ceremony to the next.
func masked(body string) string {
	for pattern, mask := range map[string]string{
		`"challenge":"[\w-]{43}"`: `"challenge":"…"`,
		`"id":"[0-9a-f]{64}"`:     `"id":"handle"`,
		`"id":"[\w-]{43}"`:        `"id":"credential"`,
	} {
		body = regexp.MustCompile(pattern).ReplaceAllString(body, mask)
	}
	return body
}

// S-35: the responses of the options route are those of Auth.js, member by member.
func TestOptionsOnTheWire(t *testing.T) {
	s := newSite(t)
	ada := s.browser()
	ada.signIn(passkeytest.New(), "email", "ada@example.com")
	tests := []struct {
		name, query, want string
		b                 *browser
	}{
		{
			"an anonymous client signs in", "", `{"action":"authenticate","options":{"challenge":"…","timeout":300000,"userVerification":"required","rpId":"localhost"}}`,
			s.browser(),
		},
		{
			"a known user signs in", "?email=ada%40example.com", `{"action":"authenticate","options":{"challenge":"…","allowCredentials":[{"id":"credential","type":"public-key","transports":["usb"]}],"timeout":300000,"userVerification":"required","rpId":"localhost"}}`,
			s.browser(),
		},
		{
			"a new user registers", "?email=eve%40example.com", `{"action":"register","options":{"challenge":"…","rp":{"name":"localhost:3000","id":"localhost"},"user":{"id":"handle","name":"eve@example.com","displayName":"eve@example.com"},"pubKeyCredParams":[{"alg":-8,"type":"public-key"},{"alg":-7,"type":"public-key"},{"alg":-257,"type":"public-key"}],"timeout":300000,"attestation":"none","excludeCredentials":[],"authenticatorSelection":{"residentKey":"required","userVerification":"required","requireResidentKey":true},"extensions":{"credProps":true}}}`,
			s.browser(),
		},
		{
			"a user registers", "?action=register", `{"action":"register","options":{"challenge":"…","rp":{"name":"localhost:3000","id":"localhost"},"user":{"id":"handle","name":"ada@example.com","displayName":"ada@example.com"},"pubKeyCredParams":[{"alg":-8,"type":"public-key"},{"alg":-7,"type":"public-key"},{"alg":-257,"type":"public-key"}],"timeout":300000,"attestation":"none","excludeCredentials":[{"id":"credential","type":"public-key","transports":["usb"]}],"authenticatorSelection":{"residentKey":"required","userVerification":"required","requireResidentKey":true},"extensions":{"credProps":true}}}`,
			ada,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			resp, body := tt.b.get(base + "/webauthn-options/passkey" + tt.query)
			if diff := cmp.Diff(tt.want, masked(body)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if kind := resp.Header.Get("Content-Type"); kind != "application/json" {
				t.Errorf("Content-Type %q", kind)
			}
		})
	}
	t.Run("a script receives the URL to open", func(t *testing.T) {
		if resp, body := s.browser().get(base + "/webauthn-options/passkey?action=x"); resp.StatusCode != 400 || body != `{"error":"Invalid action"}` {
			t.Errorf("status %d: %s", resp.StatusCode, body)
		}
	})
}

// WA-17: rows have the shape Auth.js gives them.
func TestStoredRows(t *testing.T) {
	s := newSite(t)
	key := passkeytest.New()
	key.Flags |= passkeytest.BackupEligible | passkeytest.BackupState
	key.Answer = func(a map[string]any) {
		if response(a)["transports"] != nil {
			response(a)["transports"] = []string{"internal", "hybrid", "no such, thing", strings.Repeat("x", 33)}
		}
	}
	s.browser().signIn(key, "email", "ada@example.com")
	user, err := s.store.UserByEmail(t.Context(), "ada@example.com")
	if err != nil {
		t.Fatal(err)
	}
	id := base64.StdEncoding.EncodeToString(key.Credentials[0].ID)
	public, err := passkeytest.COSEKey(key.Credentials[0].Key.Public())
	if err != nil {
		t.Fatal(err)
	}
	want := &pintle.Passkey{
		CredentialID: id, UserID: user.ID, ProviderAccountID: id, PublicKey: base64.StdEncoding.EncodeToString(public),
		DeviceType: "multiDevice", BackedUp: true, Transports: []string{"internal", "hybrid"},
	}
	stored := s.passkeys("ada@example.com")
	want.Created = stored[0].Created // which Auth.js has no column for
	if diff := cmp.Diff([]*pintle.Passkey{want}, stored); diff != "" {
		t.Errorf("WA-17 authenticator: -want +got:\n%s", diff)
	}
	account, err := s.store.Account(t.Context(), "passkey", id)
	if err != nil {
		t.Fatal(err)
	}
	if account.ID == "" {
		t.Error("the account has no id")
	}
	if diff := cmp.Diff(&pintle.Account{ID: account.ID, UserID: user.ID, Type: "webauthn", Provider: "passkey", ProviderAccountID: id}, account); diff != "" {
		t.Errorf("WA-17 account: -want +got:\n%s", diff)
	}

	s.browser().signIn(key)
	s.browser().signIn(key)
	if counter := s.passkeys("ada@example.com")[0].Counter; counter != 2 {
		t.Errorf("the counter is %d after two uses", counter)
	}
}

// Rows that Auth.js wrote are accepted: its user handles are random.
func TestRowsOfAuthJS(t *testing.T) {
	s := newSite(t)
	user, err := s.store.CreateUser(t.Context(), &pintle.User{ID: "ada", Email: "ada@example.com"})
	if err != nil {
		t.Fatal(err)
	}
	key := passkeytest.New()
	// A credential made at another server of the same site.
	other := newSite(t, func(s *site) { s.Secrets = []string{"another secret, 32 characters or more"} })
	other.browser().signIn(key, "email", "ada@example.com")
	row := other.passkeys("ada@example.com")[0]
	row.UserID, row.Transports = user.ID, nil
	if err := s.store.LinkAccount(t.Context(), &pintle.Account{UserID: user.ID, Type: "webauthn", Provider: "passkey", ProviderAccountID: row.CredentialID}); err != nil {
		t.Fatal(err)
	}
	if err := s.store.CreatePasskey(t.Context(), row); err != nil {
		t.Fatal(err)
	}
	s.browser().signIn(key)
	s.browser().signIn(key, "email", "ada@example.com")
}

func TestOptionsOfTheRelyingParty(t *testing.T) {
	t.Run("what authenticators must do", func(t *testing.T) {
		s := newSite(t, func(s *site) {
			s.Options = passkey.Options{
				RPID: "localhost", RPName: "The Engine", UserVerification: "preferred", ResidentKey: "preferred",
				Attachment: "platform", Attestation: "direct", Timeout: 60e9,
			}
		})
		_, body := s.browser().get(base + "/webauthn-options/passkey?email=ada@example.com")
		var begun struct{ Options map[string]any }
		if err := json.Unmarshal([]byte(body), &begun); err != nil {
			t.Fatal(err)
		}
		want := map[string]any{
			"rp":      map[string]any{"name": "The Engine", "id": "localhost"},
			"timeout": 60000.0, "attestation": "direct",
			"authenticatorSelection": map[string]any{
				"authenticatorAttachment": "platform", "residentKey": "preferred", "userVerification": "preferred", "requireResidentKey": false,
			},
		}
		for name, value := range want {
			if diff := cmp.Diff(value, begun.Options[name]); diff != "" {
				t.Errorf("%s: -want +got:\n%s", name, diff)
			}
		}
	})
	t.Run("WA-6 user verification is optional unless it is required", func(t *testing.T) {
		s := newSite(t, func(s *site) { s.UserVerification = "preferred" })
		key := passkeytest.New()
		key.Flags = passkeytest.UserPresent
		s.browser().signIn(key, "email", "ada@example.com")
		s.browser().signIn(key)
		key.Flags = passkeytest.UserVerified
		if code := s.browser().try(key); code == "" {
			t.Error("a response without user presence was accepted")
		}
	})
	t.Run("WA-4 an application that is listed", func(t *testing.T) {
		const app = "android:apk-key-hash:Li4uYWJj"
		s := newSite(t, func(s *site) { s.Options.Origins = []string{origin, app} })
		key := passkeytest.New()
		clientData("origin", app)(key)
		s.browser().signIn(key, "email", "ada@example.com")
		s.browser().signIn(key)
		clientData("origin", app+"x")(key)
		if code := s.browser().try(key); code == "" {
			t.Error("another application signed in")
		}
	})
	t.Run("WA-4 a frame that is listed", func(t *testing.T) {
		s := newSite(t, func(s *site) { s.TopOrigins = []string{"https://partner.example"} })
		key := passkeytest.New()
		s.browser().signIn(key, "email", "ada@example.com")
		frame := func(top any) {
			key.ClientData = func(data map[string]any) {
				if data["crossOrigin"] = true; top != nil {
					data["topOrigin"] = top
				}
			}
		}
		frame("https://partner.example")
		s.browser().signIn(key)
		for _, top := range []any{"https://evil.example", "https://partner.example.evil.example", "https://partner.example/", origin, nil} {
			frame(top)
			if code := s.browser().try(key); code == "" {
				t.Errorf("signed in in a frame of %v", top)
			}
		}
	})
	t.Run("a domain above the site", func(t *testing.T) {
		s := newSite(t, func(s *site) {
			s.URL = "http://app.localhost:3000"
			s.Options = passkey.Options{RPID: "localhost"}
		})
		b := s.browser()
		key := passkeytest.New()
		resp, err := key.SignIn(t.Context(), b.Client, "http://app.localhost:3000/auth/callback/passkey", fields([]string{"email", "ada@example.com"}))
		if err != nil {
			t.Fatal(err)
		}
		if code := b.outcome(resp); code != "" {
			t.Errorf("error %q; log:\n%s", code, &s.log)
		}
	})
	t.Run("a site at another address than the options", func(t *testing.T) {
		for _, o := range []passkey.Options{{Origins: []string{"https://app.example.com"}}, {RPID: "example.com"}, {RPID: "alhost"}} {
			s := newSite(t, func(s *site) { s.Options = o })
			resp, _ := s.browser().get(base + "/webauthn-options/passkey")
			if resp.StatusCode == 200 {
				t.Errorf("%+v: options were given", o)
			}
		}
	})
}

func TestInvalidOptions(t *testing.T) {
	trusts := func(context.Context, *passkey.Attestation) error { return nil }
	tests := []struct {
		name string
		o    passkey.Options
		fine bool
	}{
		{"none", passkey.Options{}, true},
		{"a domain and its origins", passkey.Options{RPID: "example.com", Origins: []string{"https://example.com", "https://app.example.com:8443", "android:apk-key-hash:AAAA"}}, true},
		{"unknown user verification", passkey.Options{UserVerification: "always"}, false},
		{"unknown kind of credential", passkey.Options{ResidentKey: "always"}, false},
		{"unknown attachment", passkey.Options{Attachment: "usb"}, false},
		{"unknown attestation", passkey.Options{Attestation: "basic"}, false},
		{"trust in attestations", passkey.Options{Attestation: passkey.AttestationDirect, Trust: trusts}, true},
		{"trust in attestations that are not requested", passkey.Options{Trust: trusts}, false},
		{"no time", passkey.Options{Timeout: 1}, false},
		{"a negative time", passkey.Options{Timeout: -1e9}, false},
		{"a domain in capitals", passkey.Options{RPID: "Example.com"}, false},
		{"a URL as the domain", passkey.Options{RPID: "https://example.com"}, false},
		{"a port in the domain", passkey.Options{RPID: "localhost:3000"}, false},
		{"an origin without a scheme", passkey.Options{Origins: []string{"example.com"}}, false},
		{"WA-4 an origin with a path", passkey.Options{Origins: []string{"https://example.com/"}}, false},
		{"an origin in capitals", passkey.Options{Origins: []string{"https://Example.com"}}, false},
		{"an origin elsewhere", passkey.Options{RPID: "example.com", Origins: []string{"https://example.org"}}, false},
		{"an origin that ends like the domain", passkey.Options{RPID: "example.com", Origins: []string{"https://notexample.com"}}, false},
		{"an application as a frame", passkey.Options{TopOrigins: []string{"android:apk-key-hash:AAAA"}}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newSite(t)
			s.Providers = []pintle.Provider{passkey.New(tt.o)}
			if _, err := pintle.New(s.Config); (err == nil) != tt.fine {
				t.Errorf("New: %v", err)
			}
		})
	}
}
