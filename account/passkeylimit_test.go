package account_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
)

// A registrar is a ceremony that makes passkeys as well. The authenticator answers with the id
// of the new one and the challenge.
type registrar struct{ echo }

func (registrar) RegistrationOptions(_ context.Context, r *pintle.CeremonyRequest) (json.RawMessage, error) {
	return json.Marshal(map[string]any{"challenge": r.Challenge})
}

func (registrar) VerifyRegistration(_ context.Context, r *pintle.CeremonyRequest) (*pintle.Passkey, error) {
	var answer struct{ ID, Challenge string }
	if err := json.Unmarshal(r.Answer, &answer); err != nil || answer.Challenge != r.Challenge {
		return nil, errors.New("the answer is to another challenge")
	}
	return &pintle.Passkey{CredentialID: answer.ID, ProviderAccountID: answer.ID, DeviceType: "singleDevice"}, nil
}

// addPasskey does what the script of an account page does.
func (b *browser) addPasskey(name string) *browser {
	b.t.Helper()
	var begun struct{ Options struct{ Challenge string } }
	if err := json.Unmarshal([]byte(b.get("/auth/webauthn-options/passkey?action=register").want(http.StatusOK).page), &begun); err != nil {
		b.t.Fatal(err)
	}
	id := base64.StdEncoding.EncodeToString([]byte(name))
	data, err := json.Marshal(map[string]string{"id": id, "challenge": begun.Options.Challenge})
	if err != nil {
		b.t.Fatal(err)
	}
	return b.post("/auth/callback/passkey", "action", "register", "data", string(data))
}

func (s *site) passkeys(u *pintle.User) int {
	s.t.Helper()
	all, err := s.store.UserPasskeys(s.t.Context(), u.ID)
	if err != nil {
		s.t.Fatal(err)
	}
	return len(all)
}

// AC-3, AC-110: a passkey is another way in. It has the demand of all such changes, needs a
// proven address, and a user has twenty at most.
func TestAPasskeyIsAddedByTheRulesOfAFactor(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens, func(c *pintle.Config, _ *account.Options) {
			c.Providers = append(c.Providers, &pintle.WebAuthn{Ceremony: &registrar{}})
			c.ExperimentalPasskeys = true
		})
		unproven, u := s.seed("eve@example.com", "", false), s.seed(ada, goodPassword, true)
		s.browser().startSession(unproven, 0, "fed").addPasskey("eve").isAt("/auth/account/prove")
		s.browser().startSession(u, time.Hour, "pwd").addPasskey("stale").isAt("/auth/account/confirm")
		if n, m := s.passkeys(unproven), s.passkeys(u); n+m != 0 {
			t.Errorf("there are %d and %d passkeys", n, m)
		}
		for i := range 19 {
			id := base64.StdEncoding.EncodeToString(fmt.Append(nil, "key ", i))
			err := s.store.LinkAccount(t.Context(), &pintle.Account{UserID: u.ID, Type: pintle.TypeWebAuthn, Provider: "passkey", ProviderAccountID: id})
			if err == nil {
				err = s.store.CreatePasskey(t.Context(), &pintle.Passkey{CredentialID: id, ProviderAccountID: id, UserID: u.ID, DeviceType: "singleDevice"})
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		b := s.browser().startSession(u, 0, "pwd", "otp").addPasskey("the twentieth").isSignedInAs(ada)
		if n := s.passkeys(u); n != 20 {
			t.Fatalf("the user has %d passkeys, want 20; the browser is at %s", n, b.at)
		}
		b.addPasskey("one more").isSignedInAs(ada)
		if n := s.passkeys(u); n != 20 || b.at.Query().Get("error") != "AccessDenied" {
			t.Errorf("the user has %d passkeys; the browser is at %s", n, b.at)
		}
	})
}
