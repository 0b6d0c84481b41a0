package pintle

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// A Code names a way in which a request can fail. Each code is an error, so
// that errors.Is finds the cause:
//
//	if errors.Is(err, pintle.CodeAccessDenied) { … }
//
// The constants below are the codes that a host may need to test for. Log
// records carry the code of every error in the attribute "code".
type Code string

// The codes that browsers may see, as the parameter "error" of the page they
// are sent to. Every other error is "Configuration" to them.
const (
	// CodeAccessDenied is the refusal of [Callbacks.SignIn].
	CodeAccessDenied Code = "AccessDenied"

	// CodeCredentials is a submission that [Credentials.Authorize] rejected.
	CodeCredentials Code = "CredentialsSignin"

	// CodeStepUp is a sign-in at a provider that does not show what [SignInOptions] asked
	// of it, or that is not of the user whom it was to confirm. The session stays as it
	// was. Built-in pages show it as CodeAccessDenied.
	CodeStepUp Code = "StepUp"

	// CodeVerification is a mail link that is used up, expired or unknown.
	CodeVerification Code = "Verification"

	// codeMissingCSRF is a form without the token of this browser.
	codeMissingCSRF Code = "MissingCSRF"

	// codeOAuthCallback is an error response of a provider.
	codeOAuthCallback Code = "OAuthCallbackError"

	// CodeAccountNotLinked is an account or an address that belongs to
	// another user than the one signed in.
	CodeAccountNotLinked Code = "OAuthAccountNotLinked"

	// codePasskeyNotLinked is the same for passkeys.
	codePasskeyNotLinked Code = "AccountNotLinked"

	// codeWebAuthn is a passkey ceremony that did not verify.
	codeWebAuthn Code = "WebAuthnVerificationError"

	// codeNoConnection is an address by which no connection is found that works.
	codeNoConnection Code = "ConnectionNotFound"

	// CodeSignOut is a sign-out that the store or the revocation list could not
	// record. The user is still signed in and can try again.
	CodeSignOut Code = "SignOutError"
)

// Codes that only the operator sees, beside those of configuration errors,
// which name themselves.
const (
	// CodeConfiguration is everything that only the operator can repair.
	CodeConfiguration Code = "Configuration"

	// CodeStore is a failing [Store].
	CodeStore Code = "AdapterError"

	// CodeInvalidCheck is a callback that does not belong to a flow this
	// browser began, or a sign-in that is no longer pending.
	CodeInvalidCheck Code = "InvalidCheck"

	// codeEmailSignIn is a mail that could not be sent, or an invalid address.
	codeEmailSignIn Code = "EmailSignInError"

	// codeEvent is an error of one of the [Events].
	codeEvent Code = "EventError"
)

// CodeLastSignIn is returned by [Auth.Unlink], which does not remove the last
// way in which a user can sign in. The page of the host may show it.
const CodeLastSignIn Code = "LastSignIn"

// CodeActing is the refusal of what only the user may do, while an operator acts as the
// user; see [Session].Actor.
const CodeActing Code = "Acting"

// CodeActingEnded is the refusal of a request that was meant for the user as whom an operator
// acted, and comes when that has ended. It would change the account of the operator.
// [Auth.Load] answers it with status 409, and [Callbacks].Act returns it.
const CodeActingEnded Code = "ActingEnded"

// codeNotRevoked is returned by [Auth.RevokeTokens], and by [Auth.Unlink] and
// [Auth.DeleteUser] after they have removed what they were to remove; see
// [OAuth.RevokeAtUnlink].
const codeNotRevoked Code = "NotRevoked"

// The codes of mistakes that are in the log once.
const (
	codeAddressMismatch   Code = "AddressMismatch"
	codeBasePathMismatch  Code = "BasePathMismatch"
	codeForeignSecret     Code = "ForeignSecret"
	codeForgottenSession  Code = "ForgottenSession"
	codeLongToken         Code = "LongSessionToken"
	codeOldCopy           Code = "OldProviderCopy"
	codeSignInPageLoop    Code = "SignInPageLoop"
	codeGuardedRoute      Code = "GuardedRoute"
	codeMisdirectedForm   Code = "MisdirectedForm"
	codeNoAccountID       Code = "ProfileWithoutID"
	codeNoClaims          Code = "SignInWithoutClaims"
	codeRefusedTarget     Code = "RefusedTarget"
	codeSignInPageMissing Code = "SignInPageMissing"
	codeUnknownProvider   Code = "UnknownProvider"
	codeUnlistedProxy     Code = "UnlistedProxy"
)

const (
	codeCallbackRoute         Code = "CallbackRouteError"
	codeConsentRequired       Code = "ConsentRequired"
	codeErrorPageLoop         Code = "ErrorPageLoop"
	codeExperimental          Code = "ExperimentalFeatureNotEnabled"
	codeDuplicateConditional  Code = "DuplicateConditionalUI"
	codeInvalidCallbackURL    Code = "InvalidCallbackUrl"
	codeInvalidEndpoints      Code = "InvalidEndpoints"
	codeInvalidProvider       Code = "InvalidProvider"
	codeJWTSession            Code = "JWTSessionError"
	codeLogoutToken           Code = "LogoutTokenError"
	codeMissingAdapter        Code = "MissingAdapter"
	codeMissingAdapterMethods Code = "MissingAdapterMethods"
	codeMissingAuthorize      Code = "MissingAuthorize"
	codeMissingAutocomplete   Code = "MissingWebAuthnAutocomplete"
	codeMissingSecret         Code = "MissingSecret"
	codeOAuthProfileParse     Code = "OAuthProfileParseError"
	codeSessionToken          Code = "SessionTokenError"
	codeUnknownAction         Code = "UnknownAction"
	codeUnknownTenant         Code = "UnknownTenant"
	codeUnsupportedStrategy   Code = "UnsupportedStrategy"
	codeUntrustedHost         Code = "UntrustedHost"
)

// Error returns the code itself.
func (c Code) Error() string { return "pintle: " + string(c) }

// visible reports whether a browser may be told the code.
func (c Code) visible() bool {
	switch c {
	case CodeAccessDenied, CodeCredentials, CodeVerification, codeMissingCSRF, codeOAuthCallback,
		CodeAccountNotLinked, codePasskeyNotLinked, codeWebAuthn, CodeSignOut, CodeStepUp, codeConsentRequired,
		codeNoConnection:
		return true
	}
	return false
}

// onSignInPage reports whether the code is shown on the sign-in page, where
// the person can try again, rather than on the error page.
func (c Code) onSignInPage() bool {
	switch c {
	case CodeCredentials, codeMissingCSRF, codeOAuthCallback, CodeAccountNotLinked, codePasskeyNotLinked, codeNoConnection:
		return true
	}
	return false
}

// bounded returns the code if it is one of this file, and otherwise "other": hosts make codes
// of any text, and each value of an attribute costs the operator of a metric.
func (c Code) bounded() Code {
	switch c {
	case CodeAccessDenied, CodeCredentials, CodeStepUp, CodeVerification, codeMissingCSRF, codeOAuthCallback,
		CodeAccountNotLinked, codePasskeyNotLinked, codeWebAuthn, codeNoConnection, CodeSignOut, CodeConfiguration, CodeStore,
		CodeInvalidCheck, codeEmailSignIn, codeEvent, CodeLastSignIn, CodeActing, CodeActingEnded, codeNotRevoked,
		codeAddressMismatch, codeBasePathMismatch, codeForeignSecret, codeForgottenSession, codeLongToken, codeOldCopy,
		codeSignInPageLoop, codeGuardedRoute, codeMisdirectedForm, codeNoAccountID, codeNoClaims, codeRefusedTarget,
		codeSignInPageMissing, codeUnknownProvider, codeUnlistedProxy, codeCallbackRoute, codeConsentRequired, codeErrorPageLoop, codeExperimental,
		codeDuplicateConditional, codeInvalidCallbackURL, codeInvalidEndpoints, codeInvalidProvider, codeJWTSession,
		codeLogoutToken, codeMissingAdapter, codeMissingAdapterMethods, codeMissingAuthorize, codeMissingAutocomplete,
		codeMissingSecret, codeOAuthProfileParse, codeSessionToken, codeUnknownAction, codeUnknownTenant,
		codeUnsupportedStrategy, codeUntrustedHost:
		return c
	}
	return "other"
}

// An Error is a request that failed. A browser may see Code if it is one of the
// codes for browsers, and then Detail; Err is for the operator only.
type Error struct {
	Code Code

	// Detail is the parameter "code" that goes with [CodeCredentials], for which
	// empty means "credentials", with EmailSignInError, with [CodeInvalidCheck] and with
	// ConnectionNotFound.
	Detail string

	// RetryAfter is how long to wait before the next attempt, where that helps.
	// Scripts receive it with status 429.
	RetryAfter time.Duration

	// Provider is the id of the provider, if one was involved.
	Provider string

	// Err is the cause. It may be nil.
	Err error
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Code.Error())
	if e.Provider != "" {
		b.WriteString(" (provider " + e.Provider + ")")
	}
	if e.Err != nil {
		b.WriteString(": " + strings.TrimPrefix(e.Err.Error(), "pintle: "))
	}
	return b.String()
}

// Unwrap returns the code and the cause.
func (e *Error) Unwrap() []error {
	if e.Err == nil {
		return []error{e.Code}
	}
	return []error{e.Code, e.Err}
}

// fail returns an error with a code and a cause.
func fail(code Code, err error) *Error { return &Error{Code: code, Err: err} }

// classified returns err as an *Error. An error without a code becomes
// CodeConfiguration, which only the operator can repair.
func classified(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	if code, ok := errors.AsType[Code](err); ok {
		if _, bare := err.(Code); bare { //nolint:errorlint // a bare code has no cause to keep
			return &Error{Code: code}
		}
		return &Error{Code: code, Err: err}
	}
	return &Error{Code: CodeConfiguration, Err: err}
}

// noSession is the error of server code that asks for the session of a user where
// there is none.
func noSession(why error) *Error {
	return fail(CodeAccessDenied, fmt.Errorf("the request has no session: %w", why))
}

var (
	errReplaced       = errors.New("it was replaced a moment ago: the browser has the new one")
	errEndedMeanwhile = errors.New("it ended meanwhile: the user signed out of it, or all sessions of the user were ended")
	errNotUsed        = errors.New("Callbacks.Accept sends its user to a page first")
)

// isClassified reports whether err carries a code.
func isClassified(err error) bool {
	if _, ok := errors.AsType[*Error](err); ok {
		return true
	}
	_, ok := errors.AsType[Code](err)
	return ok
}

// These details describe the flow of a returning browser that cannot be
// completed. The sign-in page receives them as the parameter "code", and shows
// what to do.
const (
	flowExpired  = "flow_expired"
	flowReplaced = "flow_replaced" // by one that the browser began later
	flowUsed     = "flow_used"
	flowUnknown  = "flow_unknown" // to this browser
)

// errTooManyHeld is the error of a sign-out that may have missed the session or the
// pending sign-in of the user among what was planted.
var errTooManyHeld = fmt.Errorf("the request carries more than %d cookies with one name and ways to join them, and not "+
	"all could be ended; they were planted by another site of the domain, which the name prefix __Host- prevents", maxEnded)

// maxEnded bounds the work of one sign-out: what is tried as a session. A browser
// sends fewer cookies with one name than that, however many a sibling domain
// plants; cookies of several parts can be joined in more ways.
const maxEnded = 64

// linkCut is a mail link that lost its end on the way. It shows the page of a
// link that no longer works.
const linkCut = "link_cut"

// noPending returns the error for a sign-in that cannot be completed.
func noPending(reason error) *Error { return fail(CodeInvalidCheck, reason) }

// The reasons why a sign-in is not completed.
var (
	errNotHeld       = errors.New("this browser has no pending sign-in")
	errHeldElsewhere = errors.New("the sign-in is pending in another browser, or the cookie of the form token was replaced meanwhile")
	errHeldTooLong   = errors.New("the sign-in began too long ago, and its pages have not been completed in that time")
	errHeldUsed      = errors.New("the sign-in was completed or cancelled before, or another took its place")
	errHeldEnded     = errors.New("the user was deleted, the account unlinked, or the sessions of the user ended, while the sign-in was pending")
	errOtherSessions = errors.New("the sign-in was held while Config.Session.Strategy was another")
)
