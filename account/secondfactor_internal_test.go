package account

import (
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/store/memstore"
)

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
