package pintle

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pintleauth/pintle/internal/handshake"
)

// Bounds of what server code asks of a provider. It travels in a URL and in a cookie.
const (
	maxACRValues = 8
	maxACRValue  = 128
	maxPrompt    = 128
	maxAskedAge  = 100 * 365 * 24 * time.Hour
)

// askFor checks what server code asks of the provider, and keeps it in x.asked. With confirm
// it also marks the session that the answer confirms.
func (x *exchange) askFor(a asked, confirm bool) error {
	if a.Prompt == "" && a.MaxAge == 0 && len(a.ACR) == 0 && !confirm {
		return nil
	}
	wrong := func(format string, args ...any) error {
		return fail(CodeConfiguration, fmt.Errorf("SignInOptions: "+format, args...))
	}
	switch {
	case x.provider == nil || !x.provider.tells:
		// Other providers send nothing by which it could be checked.
		return wrong("Prompt, MaxAge, ACRValues and Confirm need an OAuth provider with the protocol OIDC")
	case a.MaxAge < 0 || a.MaxAge > maxAskedAge:
		return wrong("MaxAge is %v", a.MaxAge)
	case len(a.Prompt) > maxPrompt || strings.ContainsFunc(a.Prompt, isUnprintable):
		return wrong("Prompt %q has more than %d bytes, or characters that are not printable ASCII", a.Prompt, maxPrompt)
	case len(a.ACR) > maxACRValues:
		return wrong("%d ACRValues are more than %d", len(a.ACR), maxACRValues)
	}
	for _, acr := range a.ACR {
		if acr == "" || len(acr) > maxACRValue || strings.ContainsFunc(acr, isUnprintable) || strings.Contains(acr, " ") {
			return wrong("the value %q in ACRValues is empty, has more than %d bytes, a space, or characters that are not printable ASCII", acr, maxACRValue)
		}
	}
	if confirm {
		here, err := x.sessionToConfirm()
		if err != nil {
			return err
		}
		if a.Session = x.sessionMark(here); !a.ask().Login() {
			a.Prompt = strings.TrimSpace("login " + a.Prompt)
		}
	}
	a.Login = a.ask().Login()
	x.asked = &a
	return nil
}

func isUnprintable(r rune) bool { return r < ' ' || r > '~' }

// sessionToConfirm returns the presence whose session is to be confirmed.
func (x *exchange) sessionToConfirm() (*presence, error) {
	switch {
	case !x.Session.RecordAuthentication:
		return nil, fail(CodeConfiguration, errors.New("a confirmation is recorded in the session: set Config.Session.RecordAuthentication"))
	case x.records == nil:
		return nil, fail(CodeConfiguration, errors.New("a confirmation needs Config.Store, which knows the accounts of the user"))
	}
	if err := x.records.missing("a confirmation", featureAccounts); err != nil {
		return nil, fail(codeMissingAdapterMethods, err)
	}
	here, err := x.sessions.present(x)
	if err == nil && here.user == nil {
		err = noSession(errNoSession)
	}
	return here, err
}

// comeBackFrom sets where the browser goes after a confirmation, whatever a flow in
// another tab has set since. It passes through the redirect rules again.
func (x *exchange) comeBackFrom(kept *keptChecks) (err error) {
	if kept.callbackURL != "" {
		x.callbackURL, x.callbackText, err = x.redirectTarget(kept.callbackURL)
	}
	return err
}

// refusals are the errors by which a provider says that it does not do what it was asked.
//
// https://openid.net/specs/openid-connect-core-1_0.html#AuthError
// https://openid.net/specs/openid-connect-unmet-authentication-requirements-1_0.html
var refusals = []string{
	"unmet_authentication_requirements", "login_required", "interaction_required", "consent_required", "account_selection_required",
}

// unmet classifies the failure of a flow in which something was asked of the provider.
func (x *exchange) unmet(err error) error {
	if x.asked == nil {
		return err
	}
	if unmet, ok := errors.AsType[*handshake.UnmetError](err); ok {
		return &Error{Code: CodeStepUp, Provider: x.provider.id, Err: unmet}
	}
	if answer, ok := errors.AsType[*handshake.ResponseError](err); ok && slices.Contains(refusals, answer.Code) {
		return &Error{Code: CodeStepUp, Provider: x.provider.id, Err: answer}
	}
	return err
}

// confirmBy records in the session that its user has just signed in at a provider. It is
// the end of a flow that began for this session: no user is signed in, and no account is
// linked.
func (x *exchange) confirmBy(who *arrival) error {
	refuse := func(reason string) error {
		return &Error{Code: CodeStepUp, Provider: who.provider.id, Err: errors.New(reason)}
	}
	here, err := x.sessions.present(x)
	if err != nil {
		return err
	}
	if !x.isMarked(x.asked.Session, here) {
		return refuse("the session that was to be confirmed is no longer in the browser")
	}
	owner, err := x.records.userByAccount(x.ctx, who.account)
	if err != nil {
		return err
	}
	if owner == nil || owner.ID != here.user.ID {
		return refuse("the account is not one of the signed-in user")
	}
	methods := who.authentication.Methods
	if here.authentication.Provider != who.provider.id {
		// The session names one provider. What another one reports must not pass for
		// what that one has reported.
		methods = []string{methodProvider}
	}
	if _, err := x.sessions.prove(x, methods); err != nil {
		return err
	}
	x.debug("session confirmed")
	return x.redirect(x.callbackURL)
}
