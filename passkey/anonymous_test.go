package passkey_test

import (
	"context"
	"net/http"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/passkey/passkeytest"
)

func TestOptionsRouteChoosesTheCeremony(t *testing.T) {
	s := newSite(t)
	ada := s.browser()
	ada.signIn(passkeytest.New(), "email", "ada@example.com")
	tests := []struct {
		name   string
		b      *browser
		typed  []string
		status int
		action string // or the error
	}{
		{"an anonymous client sends nothing", s.browser(), nil, 200, "authenticate"},
		{"an anonymous client sends a known address", s.browser(), []string{"email", "ada@example.com"}, 200, "authenticate"},
		{"an anonymous client sends a new address", s.browser(), []string{"email", "eve@example.com"}, 200, "register"},
		{"an anonymous client sends an invalid address", s.browser(), []string{"email", "eve"}, 200, "authenticate"},
		{"a script has no address", s.browser(), []string{"email", "undefined"}, 200, "authenticate"},
		{"an anonymous client requests to sign in", s.browser(), []string{"action", "authenticate", "email", "eve@example.com"}, 200, "authenticate"},
		{"an anonymous client requests to register", s.browser(), []string{"action", "register", "email", "eve@example.com"}, 200, "register"},
		{"an anonymous client requests to register a known address", s.browser(), []string{"action", "register", "email", "ada@example.com"}, 400, "Invalid request"},
		{"an anonymous client requests to register without an address", s.browser(), []string{"action", "register"}, 400, "Invalid request"},
		{"Ada sends nothing", ada, nil, 400, "Invalid request"},
		{"Ada requests to register", ada, []string{"action", "register"}, 200, "register"},
		{"Ada requests to register with another address", ada, []string{"action", "register", "email", "eve@example.com"}, 200, "register"},
		{"Ada requests to sign in", ada, []string{"action", "authenticate"}, 200, "authenticate"},
		{"another action", s.browser(), []string{"action", "delete"}, 400, "Invalid action"},
		{"an empty action", s.browser(), []string{"action", ""}, 400, "Invalid action"},
		{"an action in capitals", s.browser(), []string{"action", "REGISTER"}, 400, "Invalid action"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			status, answer := tt.b.options(tt.typed...)
			got, _ := answer["action"].(string)
			if status != 200 {
				got, _ = answer["error"].(string)
			}
			if status != tt.status || got != tt.action {
				t.Errorf("status %d, %v, want %d, %s", status, answer, tt.status, tt.action)
			}
		})
	}
	t.Run("Ada registers for her own account whatever address she sends", func(t *testing.T) {
		_, answer := ada.options("action", "register", "email", "eve@example.com")
		user, _ := answer["options"].(map[string]any)["user"].(map[string]any)
		if user["name"] != "ada@example.com" {
			t.Errorf("the options are for %v", user["name"])
		}
	})
}

func TestAUserWithoutAnAddressCannotRegister(t *testing.T) {
	s := newSite(t, func(s *site) {
		s.Session.Strategy = pintle.StrategyJWT
		s.Providers = []pintle.Provider{s.keys, &pintle.Credentials{
			Authorize: func(ctx context.Context, _ *pintle.Submission) (*pintle.User, error) {
				return s.store.CreateUser(ctx, &pintle.User{Name: "No Address"})
			},
		}}
	})
	b := s.browser()
	_, body := b.get(base + "/csrf")
	csrf := body[len(`{"csrfToken":"`) : len(body)-len(`"}`)]
	resp, err := b.PostForm(base+"/callback/credentials", fields([]string{"csrfToken", csrf}))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if status, answer := b.options("action", "register"); status != http.StatusBadRequest || answer["error"] != "Invalid request" {
		t.Errorf("status %d, %v", status, answer)
	}
}

// W-20: an expired session counts as signed out, here too.
func TestAnExpiredSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, func(s *site) { s.Session.MaxAge = time.Hour })
		b := s.browser()
		b.signIn(passkeytest.New(), "email", "ada@example.com")
		held := b.cookie("authjs.session-token")
		time.Sleep(2 * time.Hour)
		b.setCookie("authjs.session-token", held)
		if status, answer := b.options("action", "register"); status != http.StatusBadRequest {
			t.Errorf("status %d, %v", status, answer)
		}
	})
}

// W-49: a stale session cookie does not prevent a sign-in.
func TestAStaleSessionCookie(t *testing.T) {
	strategies(t, func(t *testing.T, s *site) {
		key := passkeytest.New()
		s.browser().signIn(key, "email", "ada@example.com")
		b := s.browser()
		b.setCookie("authjs.session-token", "stale")
		b.signIn(key)
	})
}

// W-36, Q21, WA-15: a site without sign-up does not reveal which addresses have
// an account.
func TestSignInOnly(t *testing.T) {
	s := newSite(t, func(s *site) {
		s.keys.SignInOnly = true
		s.Providers = []pintle.Provider{s.keys, &pintle.Credentials{
			Authorize: func(ctx context.Context, _ *pintle.Submission) (*pintle.User, error) {
				return s.store.UserByEmail(ctx, "ada@example.com")
			},
		}}
	})
	if _, err := s.store.CreateUser(t.Context(), &pintle.User{ID: "ada", Email: "ada@example.com"}); err != nil {
		t.Fatal(err)
	}
	key := passkeytest.New()
	b := s.browser()
	_, body := b.get(base + "/csrf")
	resp, err := b.PostForm(base+"/callback/credentials", fields([]string{"csrfToken", body[14 : 14+64]}))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	b.signIn(key, "action", "register")

	t.Run("WA-15 every address gives an anonymous client the same response", func(t *testing.T) {
		for _, action := range [][]string{nil, {"action", "authenticate"}, {"action", "register"}} {
			var answers []map[string]any
			for _, email := range []string{"ada@example.com", "eve@example.com", "", "nonsense"} {
				status, answer := s.browser().options(append(slices.Clone(action), "email", email)...)
				answer["status"] = status
				if options, ok := answer["options"].(map[string]any); ok {
					delete(options, "challenge")
				}
				answers = append(answers, answer)
			}
			for _, answer := range answers[1:] {
				if !reflect.DeepEqual(answer, answers[0]) {
					t.Errorf("%v: %v for one address and %v for another", action, answers[0], answer)
				}
			}
		}
	})
	t.Run("discoverable passkeys sign in whatever the address", func(t *testing.T) {
		b := s.browser()
		b.signIn(key, "email", "whatever")
		if who := b.signedInAs(); who != "ada@example.com" {
			t.Errorf("%q is signed in", who)
		}
	})
}

// Identify takes the place of the look-up by address.
func TestIdentify(t *testing.T) {
	s := newSite(t, func(s *site) {
		s.keys.Identify = func(r *http.Request) (*pintle.User, error) {
			if name := r.URL.Query().Get("name"); name != "" {
				return &pintle.User{Name: name, Email: name + "@example.com", Extra: map[string]any{"team": "blue"}}, nil
			}
			return nil, nil
		}
	})
	s.browser().signIn(passkeytest.New(), "name", "ada")
	user, err := s.store.UserByEmail(t.Context(), "ada@example.com")
	if err != nil || user.Name != "ada" || user.Extra["team"] != "blue" {
		t.Errorf("the user is %+v, %v", user, err)
	}
}

func TestAPasskeyBelongsToOneUser(t *testing.T) {
	t.Run("WA-11 the authenticator and the store disagree", func(t *testing.T) {
		s := newSite(t)
		ada, bob := s.browser(), s.browser()
		ada.signIn(passkeytest.New(), "email", "ada@example.com")
		bob.signIn(passkeytest.New(), "email", "bob@example.com")
		adas, bobs := passkeytest.New(), passkeytest.New()
		ada.signIn(adas, "action", "register")
		bob.signIn(bobs, "action", "register")
		adas.Answer = func(a map[string]any) { response(a)["userHandle"] = bobs.Credentials[0].UserHandle }
		if code := s.browser().try(adas); code != "WebAuthnVerificationError" {
			t.Errorf("error %q", code)
		}
		adas.Answer = nil
		s.browser().signIn(adas)
	})
	t.Run("WA-11 the passkey and its account are of two users", func(t *testing.T) {
		s := newSite(t)
		key := passkeytest.New()
		s.browser().signIn(key, "email", "ada@example.com")
		row := s.passkeys("ada@example.com")[0]
		eve, err := s.store.CreateUser(t.Context(), &pintle.User{ID: "eve"})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.store.UnlinkAccount(t.Context(), row.UserID, "passkey", row.ProviderAccountID, nil); err != nil {
			t.Fatal(err)
		}
		if err := s.store.CreatePasskey(t.Context(), row); err != nil { // which went with its account
			t.Fatal(err)
		}
		if code := s.browser().try(key); code != "WebAuthnVerificationError" {
			t.Errorf("without an account: error %q", code)
		}
		account := &pintle.Account{UserID: eve.ID, Type: pintle.TypeWebAuthn, Provider: "passkey", ProviderAccountID: row.ProviderAccountID}
		if err := s.store.LinkAccount(t.Context(), account); err != nil {
			t.Fatal(err)
		}
		if code := s.browser().try(key); code != "WebAuthnVerificationError" {
			t.Errorf("with the account of another user: error %q", code)
		}
	})
	t.Run("a passkey whose user is gone", func(t *testing.T) {
		s := newSite(t)
		key := passkeytest.New()
		s.browser().signIn(key, "email", "ada@example.com")
		if err := s.store.DeleteUser(t.Context(), s.passkeys("ada@example.com")[0].UserID); err != nil {
			t.Fatal(err)
		}
		if code := s.browser().try(key); code != "WebAuthnVerificationError" {
			t.Errorf("error %q", code)
		}
	})
}
