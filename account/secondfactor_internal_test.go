package account

import (
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/store/memstore"
)

// AC-100
func TestAPasskeyThatVerifiedItsUserAndATrustedProviderAreTwoFactors(t *testing.T) {
	rows := memstore.New().AccountStore()
	if err := rows.AddFactor(t.Context(), &accountstore.Factor{UserID: "ada", Kind: factorTOTP, ID: "1"}); err != nil {
		t.Fatal(err)
	}
	a := &Accounts{rows: rows, site: &site{base: "/auth"}}
	a.o.SecondFactor.SkipFor = []string{"corporate"}
	for name, tt := range map[string]struct {
		provider string
		kind     pintle.ProviderType
		methods  []string
		asked    bool
	}{
		"a passkey with a PIN":           {"passkey", pintle.TypeWebAuthn, []string{"pop", "user", "mfa"}, false},
		"a passkey without":              {"passkey", pintle.TypeWebAuthn, []string{"pop", "user"}, true},
		"a provider that reports mfa":    {"github", pintle.TypeOAuth, []string{"fed", "fed:mfa", "fed:otp"}, true},
		"a provider that is trusted":     {"corporate", pintle.TypeOIDC, []string{"fed"}, false},
		"a method of another kind":       {"own", pintle.TypeCredentials, []string{"mfa"}, true},
		"a mail":                         {"email", pintle.TypeEmail, []string{"mail"}, true},
		"a password and a code":          {"credentials", pintle.TypeCredentials, []string{"pwd", "otp"}, false},
		"a password and a recovery code": {"credentials", pintle.TypeCredentials, []string{"pwd", "recovery"}, false},
	} {
		page, err := a.askSecondFactor(t.Context(), &pintle.PendingSignIn{
			User: &pintle.User{ID: "ada"}, Account: &pintle.Account{Type: tt.kind},
			Authentication: pintle.Authentication{Provider: tt.provider, Methods: tt.methods},
		})
		if err != nil || (page != "") != tt.asked {
			t.Errorf("%s goes to %q, %v", name, page, err)
		}
	}
}

// A passkey that verified its user is none of the codes that are suspended.
func TestAPasskeyEndsTheSuspensionOfCodes(t *testing.T) {
	for name, tt := range map[string]struct {
		pending *pintle.PendingSignIn
		ends    bool
	}{
		"with a PIN":               {&pintle.PendingSignIn{Account: &pintle.Account{Type: pintle.TypeWebAuthn}, Authentication: by("pop", "mfa")}, true},
		"without":                  {&pintle.PendingSignIn{Account: &pintle.Account{Type: pintle.TypeWebAuthn}, Authentication: by("pop")}, false},
		"a provider with the name": {&pintle.PendingSignIn{Account: &pintle.Account{Type: pintle.TypeOAuth}, Authentication: by("fed", "mfa")}, false},
		"a provider that vouches":  {&pintle.PendingSignIn{Authentication: pintle.Authentication{Provider: "corporate", Methods: []string{"fed"}}}, false},
		"a page that is shown": {&pintle.PendingSignIn{
			Account: &pintle.Account{Type: pintle.TypeWebAuthn}, Authentication: by("pop", "mfa"), Expires: time.Now().Add(time.Minute),
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			rows := memstore.New().AccountStore()
			a := &Accounts{rows: rows, site: &site{base: "/auth"}}
			a.o.SecondFactor.SkipFor = []string{"corporate"}
			for range streakLimit {
				if _, err := rows.CountFailure(t.Context(), "ada", time.Now(), time.Minute, 2*streakLimit); err != nil {
					t.Fatal(err)
				}
			}
			if err := a.changeState(t.Context(), "ada", func(s *accountstore.State) { s.Suspended = true }); err != nil {
				t.Fatal(err)
			}
			tt.pending.User = &pintle.User{ID: "ada"}
			if _, err := a.askSecondFactor(t.Context(), tt.pending); err != nil {
				t.Fatal(err)
			}
			state, err := rows.State(t.Context(), "ada")
			if err != nil || isSuspended(state) == tt.ends || state.Suspended == tt.ends {
				t.Errorf("the state is %+v, %v", state, err)
			}
		})
	}
}

func by(methods ...string) pintle.Authentication { return pintle.Authentication{Methods: methods} }
