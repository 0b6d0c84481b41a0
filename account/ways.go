package account

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/page"
	"github.com/pintleauth/pintle/oauth"
)

// Ways of the page to confirm that lead to the root: a passkey, and a provider, whose id
// follows.
const (
	byPasskey  = "passkey"
	byProvider = "provider:"
)

// A keyring is what a user has to sign in with besides a password and a mailbox.
type keyring struct {
	passkey   string   // the id of the provider of the user's passkeys, or empty
	providers []string // the ids of those that can prove when their user signed in there
}

// keyring reads the accounts of a user. Where the configuration has no such providers it
// reads nothing.
func (a *Accounts) keyring(ctx context.Context, userID string) (*keyring, error) {
	k := &keyring{}
	if len(a.passkeys)+len(a.oidc) == 0 {
		return k, nil
	}
	accounts, err := a.store.UserAccounts(ctx, userID)
	if err != nil {
		return nil, unavailable(err)
	}
	has := func(provider string) bool {
		for _, account := range accounts {
			if account.Provider == provider {
				return true
			}
		}
		return false
	}
	for _, id := range a.oidc {
		if has(id) {
			k.providers = append(k.providers, id)
		}
	}
	for _, id := range a.passkeys {
		if has(id) {
			k.passkey = cmp.Or(k.passkey, id)
		}
	}
	if k.passkey == "" {
		return k, nil
	}
	// Auth.js may leave an account behind whose passkey was never stored.
	keys, err := a.store.UserPasskeys(ctx, userID)
	if err != nil {
		return nil, unavailable(err)
	}
	if len(keys) == 0 {
		k.passkey = ""
	}
	return k, nil
}

// maxPasskeys is how many passkeys a user may have. Pages list all of them, and a ceremony
// names all of them.
const maxPasskeys = 20

// mayAddPasskey returns what keeps a user from adding a passkey, if that is what is linked.
func (a *Accounts) mayAddPasskey(ctx context.Context, attempt *pintle.SignInAttempt) error {
	if attempt.Account == nil || attempt.Account.Type != pintle.TypeWebAuthn {
		return nil
	}
	keys, err := a.store.UserPasskeys(ctx, attempt.LinkTo.ID)
	if err != nil {
		return storeFault(err)
	}
	if len(keys) >= maxPasskeys {
		return &pintle.Error{
			Code: pintle.CodeAccessDenied, Provider: attempt.Account.Provider,
			Err: fmt.Errorf("account: the user has %d passkeys, and may have no more", len(keys)),
		}
	}
	return nil
}

// noteProvider notes a provider that users can confirm with. A redirect through
// one that speaks OAuth 2 alone shows that a browser has a session there, and not that
// its user was asked.
func (a *Accounts) noteProvider(p pintle.Provider) {
	switch p := p.(type) {
	case *pintle.OAuth:
		if p.Protocol == oauth.OIDC {
			a.oidc = append(a.oidc, p.ID)
		}
		if p.BackChannelLogout || p.EndSessionsOnRefusal {
			if a.backChannels == nil {
				a.backChannels = map[string]bool{}
			}
			a.backChannels[p.ID] = true
		}
		if p.RevokeAtUnlink {
			if a.revokes == nil {
				a.revokes = map[string]bool{}
			}
			a.revokes[p.ID] = true
		}
	case *pintle.WebAuthn:
		a.passkeys = append(a.passkeys, cmp.Or(p.ID, "passkey"))
	}
}

// isVouched reports whether a provider may make the session one of two factors: the
// application trusts what it reports, and the session is of this provider.
func (v *visit) isVouched(provider string) bool {
	return provider == v.session.Authentication.Provider && v.vouches(provider)
}

// wayText is the text of a way, with the name of a provider in it.
func (v *visit) wayText(way, providerWord string) string {
	if id, is := strings.CutPrefix(way, byProvider); is {
		return strings.Replace(v.word(providerWord), "%s", v.providers[id], 1)
	}
	return v.word(wayWords[way])
}

// requiresVerified reports whether a passkey is of use only if its authenticator verifies
// its user. Beside a password or a mail the possession of the key is the second factor.
func (v *visit) requiresVerified(c *confirmation) bool {
	only := v.without(methodProvider, methodKey, methodTOTP, methodRecovery)
	knows := v.levelSince(only, c.demand.since(0)) > 0
	return c.need == PhishingResistant || c.need == TwoFactors && !knows
}

// passkeyForm is the form whose script runs the ceremony.
func (v *visit) passkeyForm(c *confirmation) page.Form {
	f := v.confirmForm(c.way)
	f.Button, f.PasskeyOptionsURL = v.wayText(c.way, ""), v.site.path("confirm-options")
	return f
}

// passkeyOptions begins the ceremony of a passkey, for the script of the page or of the
// application.
func (v *visit) passkeyOptions() (*view, error) {
	c, err := v.confirmation()
	if err != nil {
		return nil, err
	}
	if !c.offers(byPasskey) {
		return nil, problemOf("invalid")
	}
	o := pintle.SignInOptions{RequireUserVerification: v.requiresVerified(c)}
	options, err := v.auth.BeginPasskeyConfirmation(v.w, v.r, c.passkey, o)
	if err != nil {
		return nil, asConfirmProblem(err, "passkey_failed")
	}
	return &view{data: map[string]any{"action": "authenticate", "options": options}}, nil
}

// provePasskey verifies the answer of the ceremony, and records it.
func (v *visit) provePasskey(c *confirmation) (*pintle.Session, error) {
	session, err := v.unlessBanned(func() (*pintle.Session, error) {
		renewed, err := v.auth.FinishPasskeyConfirmation(v.w, v.r, c.passkey, []byte(v.form["data"]))
		return renewed, asConfirmProblem(err, "passkey_failed")
	})
	if err != nil {
		return nil, err
	}
	// As at a sign-in, an authenticator that has verified its user ends a suspension of codes.
	if proven := session.Authentication.Proofs; !proven[methodVerified].IsZero() && !proven[methodVerified].Before(proven[methodKey]) {
		v.acceptCodes(session.User.ID)
	}
	return session, nil
}

// askProvider sends the browser to a provider, which asks its user to sign in anew. It
// comes back to the page to confirm, which shows what is still missing.
func (v *visit) askProvider(id string) (next string, err error) {
	back := append(v.confirmQuery(), "callbackUrl", v.wayBack(), "from", id)
	next, err = v.auth.SignIn(v.w, v.r, id, pintle.SignInOptions{Confirm: true, RedirectTo: withQuery(v.site.path("confirm"), back...)})
	return next, asConfirmProblem(err, "provider_failed")
}

// asConfirmProblem is the problem of a proof that the root has not accepted.
func asConfirmProblem(err error, code string) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, pintle.CodeAccessDenied):
		return problemOf("signed_out") // the session has ended meanwhile
	case errors.Is(err, pintle.CodeStore), errors.Is(err, pintle.CodeConfiguration):
		return unavailable(err)
	}
	return problemOf(code) // the root has logged it
}

// backFromProvider deals with a browser that comes back from a provider: it shows why the
// proof was not accepted, or goes on at once. Only a flow of this session leads to that
// address, so that two pages cannot send the browser to and fro.
func (v *visit) backFromProvider(c *confirmation) (goOn bool) {
	if v.r.Method == http.MethodPost || queryOf(v.r.URL, "from") == "" {
		return false
	}
	failed := queryOf(v.r.URL, "error") != ""
	if failed && c.has < c.need && v.problem == nil {
		v.problem = problemOf("provider_failed")
	}
	return !failed && c.has >= c.need && !v.json
}
