package pintle

import (
	"errors"
	"log/slog"
	"slices"

	"github.com/pintleauth/pintle/internal/clip"
	"github.com/pintleauth/pintle/internal/handshake"
)

// A clientError is caused by the request alone, although its code does not show
// it.
type clientError struct{ err error }

func byClient(err error) error { return &clientError{err} }

func (e *clientError) Error() string { return e.err.Error() }
func (e *clientError) Unwrap() error { return e.err }

// level returns the level at which an error is logged. Anyone can send any
// number of failing requests, so errors that clients cause are below ERROR.
// ERROR is for what the operator has to repair: clients must not be able to
// trigger alarms on it.
func (e *Error) level() slog.Level {
	if _, ok := errors.AsType[*clientError](e.Err); ok {
		return slog.LevelInfo
	}
	if errors.Is(e.Err, errTooManyHeld) {
		return slog.LevelWarn
	}
	switch e.Code {
	case codeMissingCSRF, CodeVerification, CodeLastSignIn, CodeInvalidCheck, codeWebAuthn,
		CodeAccountNotLinked, codePasskeyNotLinked, codeInvalidProvider, codeUnknownAction, codeUnknownTenant:
		return slog.LevelInfo
	case CodeAccessDenied:
		return slog.LevelWarn // the callback may have failed, too
	case CodeCredentials:
		return e.limited(slog.LevelInfo)
	case codeEmailSignIn:
		if e.recipientRefused() {
			return slog.LevelWarn // the form input decides
		}
		return e.limited(slog.LevelError)
	case codeOAuthCallback:
		return e.providerLevel()
	case codeCallbackRoute:
		if e.Detail == flowReplaced {
			return slog.LevelInfo
		}
		// A client can make up the parameters of a callback, and the code that
		// is redeemed.
		if _, ok := errors.AsType[*handshake.AnswerError](e.Err); ok {
			return slog.LevelWarn
		}
		if refused, ok := errors.AsType[*handshake.TokenError](e.Err); ok && refused.Code == "invalid_grant" {
			return slog.LevelWarn
		}
	}
	return slog.LevelError
}

// recipientRefused reports that a mail server rejected the recipient as
// unknown; see [Email.Send].
func (e *Error) recipientRefused() bool {
	var refused interface {
		error
		RecipientRefused() bool
	}
	return errors.As(e.Err, &refused) && refused.RecipientRefused()
}

// limited is the level of an error that is a warning if a limit rejected the
// request: a client guesses, or requests many mails.
func (e *Error) limited(otherwise slog.Level) slog.Level {
	if e.RetryAfter > 0 {
		return slog.LevelWarn
	}
	return otherwise
}

// choices are the responses of a provider that mean that the user did not go
// on.
//
// https://www.rfc-editor.org/rfc/rfc6749#section-4.1.2.1
// https://openid.net/specs/openid-connect-core-1_0.html#AuthError
var choices = []string{"access_denied", "login_required", "interaction_required", "consent_required", "account_selection_required"}

// providerLevel is the level of an error with which a provider returned the
// browser. A client can make up such a response to its own flow.
func (e *Error) providerLevel() slog.Level {
	answer, ok := errors.AsType[*handshake.ResponseError](e.Err)
	switch {
	case !ok:
		return slog.LevelError // the application cannot read the profile
	case slices.Contains(choices, answer.Code):
		return slog.LevelInfo
	}
	return slog.LevelWarn
}

// maxLogged bounds the text of an error that a client causes. Each part of a
// request in it is bounded by package clip already.
const maxLogged = 1000

// A boundedError is an error in a log record.
type boundedError struct{ error }

func (e boundedError) Error() string {
	text := e.error.Error()
	if len(text) <= maxLogged {
		return text
	}
	return clip.Text(text, maxLogged) + "…"
}

func (e boundedError) Unwrap() error { return e.error }

// describe returns the attributes of the one record of a request that failed.
func (x *exchange) describe(level slog.Level, e *Error) []slog.Attr {
	attrs := []slog.Attr{slog.String("code", string(e.Code)), slog.String("action", string(x.action))}
	if id := x.providerOf(e); id != "" {
		attrs = append(attrs, slog.String("provider", clip.Text(id, clip.Max)))
	}
	if client := x.clientAddress(x.r); client.IsValid() {
		attrs = append(attrs, slog.String("client", client.String()))
	}
	if err := e.Err; err != nil {
		if level < slog.LevelError {
			err = boundedError{err}
		}
		attrs = append(attrs, slog.Any("error", err))
	}
	return attrs
}

// providerOf returns the id of the provider that an error is about, or empty.
func (x *exchange) providerOf(e *Error) string {
	if e.Provider == "" && x.provider != nil {
		return x.provider.id
	}
	return e.Provider
}
