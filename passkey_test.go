package pintle_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/store/memstore"
)

// noCeremony is a ceremony that always fails. That of package passkey is tested
// there, with the flows around it.
type noCeremony struct{ fault error }

func (noCeremony) RegistrationOptions(context.Context, *pintle.CeremonyRequest) (json.RawMessage, error) {
	return json.RawMessage(`{"kind":"registration"}`), nil
}

func (noCeremony) AuthenticationOptions(context.Context, *pintle.CeremonyRequest) (json.RawMessage, error) {
	return json.RawMessage(`{"kind":"authentication"}`), nil
}

func (noCeremony) VerifyRegistration(context.Context, *pintle.CeremonyRequest) (*pintle.Passkey, error) {
	return nil, errors.New("not verified")
}

func (noCeremony) VerifyAuthentication(context.Context, *pintle.CeremonyRequest) (*pintle.Passkey, error) {
	return nil, errors.New("not verified")
}

func (c noCeremony) Check() error { return c.fault }

// anyCeremony is a ceremony that lets every answer through as the passkey it is
// set to, used once.
type anyCeremony struct {
	noCeremony
	is pintle.Passkey
}

func (c anyCeremony) VerifyRegistration(context.Context, *pintle.CeremonyRequest) (*pintle.Passkey, error) {
	return new(c.is), nil
}

func (c anyCeremony) VerifyAuthentication(context.Context, *pintle.CeremonyRequest) (*pintle.Passkey, error) {
	c.is.Counter++
	return &c.is, nil
}

// withPasskeys gives a site passkeys and what they need.
func withPasskeys(s *site) {
	s.Providers = append(s.Providers, &pintle.WebAuthn{Ceremony: noCeremony{}})
	s.Store = memstore.New()
	s.Session.Strategy = pintle.StrategyJWT
	s.ExperimentalPasskeys = true
}

// withoutNames is a store that has no room for what a passkey is called.
type withoutNames struct{ pintle.Store }

func (s withoutNames) Features() pintle.Features {
	return lacking(s.Store, func(f *pintle.Features) { f.PasskeyNames, f.Remedy = false, "list a column" })
}

// withoutPasskeys is a store that keeps everything else.
type withoutPasskeys struct{ pintle.Store }

func (s withoutPasskeys) Features() pintle.Features {
	return lacking(s.Store, func(f *pintle.Features) { f.Passkeys, f.PasskeyNames = false, false })
}

// withoutAccounts is a store that keeps passkeys, and cannot find their accounts.
type withoutAccounts struct{ pintle.Store }

func (s withoutAccounts) Features() pintle.Features {
	return lacking(s.Store, func(f *pintle.Features) { f.Accounts = false })
}

func TestConfigurationsWithPasskeysThatCannotWork(t *testing.T) {
	autofill := func(words string) []pintle.Field {
		return []pintle.Field{{Name: "email", Attributes: map[string]string{"Autocomplete": words}}}
	}
	tests := []struct {
		name   string
		change func(*pintle.Config, *pintle.WebAuthn)
		want   string // the code, empty for none
	}{
		{"as they should be", func(*pintle.Config, *pintle.WebAuthn) {}, ""},
		{"not switched on", func(c *pintle.Config, _ *pintle.WebAuthn) { c.ExperimentalPasskeys = false }, "ExperimentalFeatureNotEnabled"},
		{"no store", func(c *pintle.Config, _ *pintle.WebAuthn) { c.Store = nil }, "MissingAdapter"},
		{"a store that keeps no passkeys", func(c *pintle.Config, _ *pintle.WebAuthn) { c.Store = withoutPasskeys{memstore.New()} }, "MissingAdapterMethods"},
		{"a store that finds no accounts", func(c *pintle.Config, _ *pintle.WebAuthn) { c.Store = withoutAccounts{memstore.New()} }, "MissingAdapterMethods"},
		{"no ceremony", func(_ *pintle.Config, p *pintle.WebAuthn) { p.Ceremony = nil }, "Configuration"},
		{"a ceremony that cannot work", func(_ *pintle.Config, p *pintle.WebAuthn) { p.Ceremony = noCeremony{errors.New("no domain")} }, "Configuration"},
		{"two in the autofill list", func(c *pintle.Config, p *pintle.WebAuthn) {
			c.Providers = append(c.Providers, &pintle.WebAuthn{ID: "webauthn", Ceremony: p.Ceremony})
		}, "DuplicateConditionalUI"},
		{"two, one of them in the autofill list", func(c *pintle.Config, p *pintle.WebAuthn) {
			c.Providers = append(c.Providers, &pintle.WebAuthn{ID: "webauthn", Ceremony: p.Ceremony, DisableAutofill: true})
		}, ""},
		{"no field for autofill", func(_ *pintle.Config, p *pintle.WebAuthn) { p.Fields = autofill("username") }, "MissingWebAuthnAutocomplete"},
		{"a field for autofill", func(_ *pintle.Config, p *pintle.WebAuthn) { p.Fields = autofill("email WebAuthn") }, ""},
		{"no field for autofill, and none wanted", func(_ *pintle.Config, p *pintle.WebAuthn) {
			p.Fields, p.DisableAutofill = autofill("username"), true
		}, ""},
		{"no form", func(_ *pintle.Config, p *pintle.WebAuthn) { p.Fields = []pintle.Field{} }, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := &pintle.WebAuthn{Ceremony: noCeremony{}}
			c := pintle.Config{
				Providers: []pintle.Provider{p}, Store: memstore.New(), Secrets: []string{secret},
				Session:              pintle.SessionConfig{Strategy: pintle.StrategyJWT},
				ExperimentalPasskeys: true,
				Getenv:               func(string) string { return "" },
			}
			tt.change(&c, p)
			_, err := pintle.New(c)
			var code string
			if e, ok := errors.AsType[*pintle.Error](err); ok {
				code = string(e.Code)
			}
			if code != tt.want {
				t.Errorf("New: %v, want the code %q", err, tt.want)
			}
		})
	}
}

// The input of an anonymous client in the form for passkeys matters if
// anonymous clients may sign up, and as the field at which browsers list
// passkeys.
func TestTheFormForPasskeysAsksForNothingInVain(t *testing.T) {
	password := func(autocomplete string) *pintle.Credentials {
		return &pintle.Credentials{
			Authorize: func(context.Context, *pintle.Submission) (*pintle.User, error) { return nil, nil },
			Fields:    []pintle.Field{{Name: "login", Attributes: map[string]string{"autocomplete": autocomplete}}},
		}
	}
	own := []pintle.Field{{Name: "own", Attributes: map[string]string{"autocomplete": "webauthn"}}}
	tests := []struct {
		name     string
		password *pintle.Credentials
		passkey  *pintle.WebAuthn
		want     []string // the names of its inputs
	}{
		{"new users can sign up", password("username webauthn"), &pintle.WebAuthn{}, []string{"email"}},
		{"no other field is for a name", password("one-time-code"), &pintle.WebAuthn{SignInOnly: true}, []string{"email"}},
		{"another field is for a name", password("username"), &pintle.WebAuthn{SignInOnly: true}, nil},
		{"another field lists passkeys", password("username webauthn"), &pintle.WebAuthn{SignInOnly: true}, nil},
		{"fields of one's own", password("username webauthn"), &pintle.WebAuthn{SignInOnly: true, Fields: own}, []string{"own"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.passkey.Ceremony = noCeremony{}
			s := newSite(t, withPasskeys, func(s *site) { s.Providers = []pintle.Provider{tt.password, tt.passkey} })
			_, form, found := strings.Cut(s.browser().get("/auth/signin").body, `data-passkey-options="/auth/webauthn-options/passkey"`)
			if !found || !strings.Contains(form, "Sign in with a passkey") {
				t.Fatalf("there is no form for passkeys")
			}
			for _, name := range []string{"email", "own"} {
				if has := strings.Contains(form, `name="`+name+`"`); has != slices.Contains(tt.want, name) {
					t.Errorf("a field %s: %t", name, has)
				}
			}
		})
	}
}

func TestPasskeysAnnounceThatTheyAreExperimental(t *testing.T) {
	s := newSite(t, withPasskeys)
	if !strings.Contains(s.log.String(), "experimental-webauthn") {
		t.Errorf("nothing in the log says so:\n%s", s.log)
	}
}

func TestTheOptionsRouteIsForPasskeysOnly(t *testing.T) {
	s := newSite(t, withPasskeys)
	b := s.browser()
	b.get("/auth/webauthn-options/credentials").fails("/auth/error", "Configuration")
	b.get("/auth/webauthn-options").fails("/auth/error", "Configuration")
	b.post("/auth/webauthn-options/passkey").fails("/auth/error", "Configuration")
	b.get("/auth/callback/passkey").fails("/auth/error", "Configuration")
}

func TestTheSignInPageOffersPasskeys(t *testing.T) {
	s := newSite(t, withPasskeys)
	page := s.browser().get("/auth/signin").want(http.StatusOK).body
	for _, want := range []string{
		`data-passkey-options="/auth/webauthn-options/passkey" data-passkey-autofill`,
		`action="/auth/callback/passkey"`,
		`autocomplete="username webauthn"`,
		`id="submitButton-passkey"`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %s", want)
		}
	}
}

// Without scripts the other providers work, and the form of the passkeys shows
// what is wrong.
func TestPasskeysWithoutScripts(t *testing.T) {
	s := newSite(t, withPasskeys, func(s *site) { s.Providers = append(s.Providers, s.mailProvider()) })
	b := s.browser()
	b.post("/auth/callback/passkey", "email", "ada@example.com").fails("/auth/error", "WebAuthnVerificationError")
	b.post("/auth/signin/email", "email", "ada@example.com")
	s.lastMail()
	b.signIn("ada")
	if who := b.who(); who != "Ada Lovelace" {
		t.Errorf("%s is signed in, want Ada", who)
	}
}

// The challenge decides the purpose of an answer, whatever the Ceremony accepts.
func TestAnswersAreForWhatTheChallengeWasMade(t *testing.T) {
	s := newSite(t, withPasskeys, func(s *site) {
		s.Providers = []pintle.Provider{&pintle.WebAuthn{Ceremony: anyCeremony{is: pintle.Passkey{CredentialID: "AAAA"}}}}
	})
	answer := func(action, id string, options string) *reply {
		b := s.browser()
		b.get("/auth/webauthn-options/passkey" + options).want(http.StatusOK)
		return b.post("/auth/callback/passkey", "action", action, "data", `{"id":"`+id+`"}`)
	}
	const signUp = "?email=ada@example.com"
	answer("register", "BBBB", signUp).fails("/auth/error", "WebAuthnVerificationError")
	answer("register", "AAAA", "").fails("/auth/error", "WebAuthnVerificationError")
	answer("register", "AAAA", signUp).goesTo(s.url)
	answer("authenticate", "AAAA", "?email=eve@example.com").fails("/auth/error", "WebAuthnVerificationError")
	answer("authenticate", "AAAA", "").goesTo(s.url)
	answer("authenticate", "AAAA", "").fails("/auth/error", "WebAuthnVerificationError") // the counter stayed
}

func TestMethodsForPasskeysSayWhatTheyNeed(t *testing.T) {
	s, ada := newSite(t), &pintle.Session{User: pintle.User{ID: "ada"}}
	if _, err := s.auth.Passkeys(t.Context(), nil); !errors.Is(err, pintle.CodeAccessDenied) {
		t.Errorf("without a session: %v", err)
	}
	if err := s.auth.RenamePasskey(t.Context(), nil, "AAAA", "Key ring"); !errors.Is(err, pintle.CodeAccessDenied) {
		t.Errorf("without a session: %v", err)
	}
	if _, err := s.auth.Passkeys(t.Context(), ada); !errors.Is(err, pintle.CodeConfiguration) {
		t.Errorf("without a store: %v", err)
	}
	if err := s.auth.RenamePasskey(t.Context(), ada, "AAAA", "Key ring"); !errors.Is(err, pintle.CodeConfiguration) {
		t.Errorf("without a store: %v", err)
	}
	s = newSite(t, withPasskeys, func(s *site) { s.Store = withoutNames{memstore.New()} })
	if err := s.auth.RenamePasskey(t.Context(), ada, "AAAA", "Key ring"); !errors.Is(err, errors.ErrUnsupported) || !errors.Is(err, pintle.Code("MissingAdapterMethods")) || !containsAll(err.Error(), "RenamePasskey", "withoutNames", "pintle.Features.PasskeyNames", "list a column") {
		t.Errorf("without room for names: %v", err)
	}
}
