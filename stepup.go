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
	maxScopes    = 16
	maxScope     = 256
	maxScopeText = 1000
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

// askForScopes checks which further scopes server code asks for, and of which account. It
// adds them to x.asked, with the mark of the session whose user may get them.
func (x *exchange) askForScopes(scopes []string, accountID string) error {
	if len(scopes) == 0 && accountID == "" {
		return nil
	}
	wrong := func(format string, args ...any) error {
		return fail(CodeConfiguration, fmt.Errorf("SignInOptions: "+format, args...))
	}
	switch {
	case len(scopes) == 0:
		return wrong("ProviderAccountID is for Scopes, which is empty")
	case x.confirming():
		return wrong("Scopes and Confirm exclude one another")
	case x.provider == nil || x.provider.refresh == nil:
		return wrong("Scopes need an OAuth provider with the protocol OAuth2 or OIDC")
	case len(scopes) > maxScopes || len(strings.Join(scopes, " ")) > maxScopeText:
		return wrong("Scopes are more than %d, or have more than %d characters together", maxScopes, maxScopeText)
	case x.records == nil:
		return wrong("Scopes need Config.Store, which knows the accounts of the user")
	}
	for _, scope := range scopes {
		// https://www.rfc-editor.org/rfc/rfc6749#section-3.3
		if scope == "" || len(scope) > maxScope || strings.ContainsFunc(scope, isUnprintable) || strings.ContainsAny(scope, ` "\`) {
			return wrong("the scope %q is empty, has more than %d characters, or one that a scope cannot have", scope, maxScope)
		}
	}
	if err := x.records.missing("SignInOptions.Scopes", featureAccounts); err != nil {
		return fail(codeMissingAdapterMethods, err)
	}
	here, err := x.sessions.present(x)
	switch {
	case err != nil:
		return err
	case here.user == nil:
		return noSession(errNoSession)
	}
	account, err := x.accountOf(x.ctx, &Account{UserID: here.user.ID, Provider: x.provider.id, ProviderAccountID: accountID})
	if errors.Is(err, ErrNotFound) {
		return &Error{Code: CodeAccountNotLinked, Provider: x.provider.id, Err: err}
	}
	if err != nil {
		return err
	}
	if x.asked == nil {
		x.asked = &asked{}
	}
	x.asked.Session, x.asked.Account = x.sessionMark(here), account.ProviderAccountID
	x.asked.Scopes, x.asked.Granted = slices.Clone(scopes), scopesOf(account.Scope)
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
	if x.asked == nil || x.initiated() {
		return err
	}
	if unmet, ok := errors.AsType[*handshake.UnmetError](err); ok {
		return &Error{Code: CodeStepUp, Provider: x.provider.id, Err: unmet}
	}
	if answer, ok := errors.AsType[*handshake.ResponseError](err); ok && slices.Contains(refusals, answer.Code) {
		code := CodeStepUp
		if len(x.asked.Scopes) > 0 && answer.Code != "unmet_authentication_requirements" {
			code = codeConsentRequired
		}
		return &Error{Code: code, Provider: x.provider.id, Err: answer}
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
	if _, err := x.sessions.prove(x, methods, who.atProvider); err != nil {
		return err
	}
	x.keepNewerHint(who, here)
	x.debug("session confirmed")
	return x.redirect(x.callbackURL)
}

// grantBy stores the tokens with which a provider answers a request for further scopes. It
// is the end of a flow that began for this session: no user is signed in, and no account is
// linked. A user may choose another account at the provider, whose tokens must not take
// the place of those of this one.
func (x *exchange) grantBy(who *arrival) error {
	refuse := func(code Code, reason string) error {
		return &Error{Code: code, Provider: who.provider.id, Err: errors.New(reason)}
	}
	here, err := x.sessions.present(x)
	if err != nil {
		return err
	}
	if !x.isMarked(x.asked.Session, here) {
		return refuse(CodeInvalidCheck, "the session whose user asked for the scopes is no longer in the browser")
	}
	if who.account.ProviderAccountID != x.asked.Account {
		return refuse(CodeAccountNotLinked, "the user chose another account at the provider than the one that the scopes are for")
	}
	stored, err := x.accountOf(x.ctx, &Account{UserID: here.user.ID, Provider: who.provider.id, ProviderAccountID: x.asked.Account})
	if errors.Is(err, ErrNotFound) {
		return refuse(CodeAccountNotLinked, "the account is no longer one of the signed-in user")
	}
	if err != nil {
		return err
	}
	account := who.account.clone()
	if account.Scope == "" {
		// A response without a scope grants what was asked for.
		// https://www.rfc-editor.org/rfc/rfc6749#section-5.1
		all := slices.Concat(scopesOf(who.provider.scope), scopesOf(stored.Scope), x.asked.Scopes)
		slices.Sort(all)
		account.Scope = strings.Join(slices.Compact(all), " ")
	}
	if err := x.replaceTokens(x.ctx, account, true); err != nil {
		return err
	}
	if err := x.sessions.rejoin(x, who.atProvider); err != nil {
		return err
	}
	x.keepNewerHint(who, here)
	x.debug("scopes granted")
	if missing := lacking(account.Scope, x.asked.Scopes); len(missing) > 0 {
		return refuse(codeConsentRequired, fmt.Sprintf("the user has not granted the scopes %q", missing))
	}
	return x.redirect(x.callbackURL)
}
