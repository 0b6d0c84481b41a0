package pintle

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"

	"github.com/pintleauth/pintle/internal/clip"
	"github.com/pintleauth/pintle/internal/handshake"
)

// A logger is where a configuration logs, and whether it logs debug records.
type logger struct {
	*slog.Logger

	// verbose reports that debug records are made, if the level of the logger lets
	// them pass. A logger of the host decides by its level alone.
	verbose bool
}

func newLogger(cfg *Config) logger {
	switch {
	case cfg.Logger != nil:
		return logger{cfg.Logger, true}
	case cfg.Debug:
		return logger{slog.New(debugHandler{slog.Default().Handler()}), true}
	}
	return logger{slog.Default(), false}
}

// debugs reports whether debug records are logged. What would cost something to
// find out for them is found out only then.
func (l logger) debugs(ctx context.Context) bool {
	return l.verbose && l.Enabled(ctx, slog.LevelDebug)
}

// A debugHandler passes debug records on to a handler whose level is higher, as
// that of [slog.Default] is.
type debugHandler struct{ slog.Handler }

func (debugHandler) Enabled(_ context.Context, level slog.Level) bool {
	return level >= slog.LevelDebug
}

func (h debugHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return debugHandler{h.Handler.WithAttrs(attrs)}
}

func (h debugHandler) WithGroup(name string) slog.Handler {
	return debugHandler{h.Handler.WithGroup(name)}
}

// debug logs a step of a flow. pairs are names and values of further attributes.
//
// A reader of the log must not be able to take part in the flow or to identify
// its user: values are words of this package, and names from the configuration.
func (l logger) debug(ctx context.Context, step string, pairs ...string) {
	if !l.debugs(ctx) {
		return
	}
	attrs := append(make([]slog.Attr, 0, 4), slog.String("step", step))
	for i := 0; i+1 < len(pairs); i += 2 {
		attrs = append(attrs, slog.String(pairs[i], pairs[i+1]))
	}
	l.LogAttrs(ctx, slog.LevelDebug, "pintle: flow", attrs...)
}

// createdOr, undecidedBy and answerOf are words for steps of a sign-in.
func createdOr(created bool, otherwise string) string {
	if created {
		return "user created"
	}
	return otherwise
}

func undecidedBy(err error) string {
	if errors.Is(err, CodeStore) {
		return "none: the store failed"
	}
	return "refused"
}

func answerOf(goTo string, err error) string {
	switch {
	case err != nil:
		return "refused"
	case goTo != "":
		return "sent elsewhere"
	}
	return "allowed"
}

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
	case codeMissingCSRF, CodeVerification, CodeStepUp, codeConsentRequired, CodeLastSignIn, CodeInvalidCheck, codeWebAuthn,
		CodeAccountNotLinked, codePasskeyNotLinked, codeInvalidProvider, codeUnknownAction, codeUnknownTenant,
		CodeActing, CodeActingEnded:
		return slog.LevelInfo
	case codeNotRevoked:
		return slog.LevelWarn // what was asked for is done, and a provider may be down
	case CodeAccessDenied:
		return slog.LevelWarn // the callback may have failed, too
	case CodeCredentials:
		return e.limited(slog.LevelInfo)
	case codeNoConnection:
		return e.limited(slog.LevelError)
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

// Hosts print the values that callbacks and events receive. Package fmt prints
// the fields of a struct, and so do handlers of log/slog: a log would have
// tokens, passwords and mail links, with which its readers can sign in. The
// types below have a LogValue for log/slog and a Format for every verb of
// package fmt.

// redacted writes the attributes of v in place of its fields.
func redacted(to fmt.State, name string, v slog.LogValuer) {
	_, _ = io.WriteString(to, "pintle."+name+v.LogValue().String()) // fmt has no place for an error
}

// logUser is the attribute of a user, who may be nil.
func logUser(key string, u *User) slog.Attr {
	if u == nil {
		return slog.Attr{} // which handlers ignore
	}
	return slog.String(key, u.ID)
}

// logPart is the attribute of a part that redacts itself, and may be nil.
func logPart[T any, P interface {
	*T
	slog.LogValuer
}](key string, part P) slog.Attr {
	if part == nil {
		return slog.Attr{}
	}
	return slog.Any(key, part.LogValue())
}

// group is a group without empty attributes.
func group(attrs ...slog.Attr) slog.Value {
	return slog.GroupValue(slices.DeleteFunc(attrs, func(a slog.Attr) bool { return a.Equal(slog.Attr{}) })...)
}

// Format prints what LogValue returns, whatever the verb.
func (a Account) Format(to fmt.State, _ rune) { redacted(to, "Account", a) }

// Format prints what LogValue returns, whatever the verb.
func (s Session) Format(to fmt.State, _ rune) { redacted(to, "Session", &s) }

// Format prints what String returns, whatever the verb.
func (s StoredSession) Format(to fmt.State, _ rune) { _, _ = io.WriteString(to, s.String()) }

// LogValue names the device without its handle and data.
func (d Device) LogValue() slog.Value {
	return group(slog.Bool("current", d.Current), slog.Time("created", d.Created), slog.Time("expires", d.Expires))
}

// Format prints what LogValue returns, whatever the verb.
func (d Device) Format(to fmt.State, _ rune) { redacted(to, "Device", d) }

// LogValue names the user and the account without what was typed.
func (s SignInAttempt) LogValue() slog.Value {
	return group(logUser("user", s.User), logPart("account", s.Account), logUser("linkTo", s.LinkTo),
		slog.Bool("verificationRequest", s.VerificationRequest))
}

// Format prints what LogValue returns, whatever the verb.
func (s SignInAttempt) Format(to fmt.State, _ rune) { redacted(to, "SignInAttempt", s) }

// LogValue names the user and the account without the request and its cookies.
func (p PendingSignIn) LogValue() slog.Value {
	return group(logUser("user", p.User), logPart("account", p.Account), slog.Time("expires", p.Expires))
}

// Format prints what LogValue returns, whatever the verb.
func (p PendingSignIn) Format(to fmt.State, _ rune) { redacted(to, "PendingSignIn", p) }

// LogValue names what caused the change, without claims.
func (t TokenChange) LogValue() slog.Value {
	return group(slog.String("trigger", string(t.Trigger)), logUser("user", t.User), logPart("account", t.Account))
}

// Format prints what LogValue returns, whatever the verb.
func (t TokenChange) Format(to fmt.State, _ rune) { redacted(to, "TokenChange", t) }

// LogValue names the session without claims and data.
func (v SessionView) LogValue() slog.Value {
	return group(slog.String("trigger", string(v.Trigger)), logPart("session", v.Session))
}

// Format prints what LogValue returns, whatever the verb.
func (v SessionView) Format(to fmt.State, _ rune) { redacted(to, "SessionView", v) }

// LogValue names the user and the account.
func (e SignInEvent) LogValue() slog.Value {
	return group(logUser("user", e.User), logPart("account", e.Account))
}

// Format prints what LogValue returns, whatever the verb.
func (e SignInEvent) Format(to fmt.State, _ rune) { redacted(to, "SignInEvent", e) }

// LogValue names the user without claims.
func (e SignOutEvent) LogValue() slog.Value {
	subject, _ := e.Claims["sub"].(string)
	return group(slog.String("sub", subject), logPart("session", e.Session), slog.String("provider", e.Provider), slog.String("user", e.UserID))
}

// Format prints what LogValue returns, whatever the verb.
func (e SignOutEvent) Format(to fmt.State, _ rune) { redacted(to, "SignOutEvent", e) }

// LogValue names the user and the account.
func (e LinkAccountEvent) LogValue() slog.Value {
	return group(logUser("user", e.User), logPart("account", e.Account))
}

// Format prints what LogValue returns, whatever the verb.
func (e LinkAccountEvent) Format(to fmt.State, _ rune) { redacted(to, "LinkAccountEvent", e) }

// LogValue names the user without claims.
func (e SessionEvent) LogValue() slog.Value {
	subject, _ := e.Claims["sub"].(string)
	return group(slog.String("sub", subject))
}

// Format prints what LogValue returns, whatever the verb.
func (e SessionEvent) Format(to fmt.State, _ rune) { redacted(to, "SessionEvent", e) }

// LogValue describes the mail without its link.
func (m Message) LogValue() slog.Value {
	return group(slog.String("to", m.To), slog.String("subject", m.Subject), slog.String("provider", m.Provider),
		slog.String("kind", m.Kind), slog.Time("expires", m.Expires))
}

// Format prints what LogValue returns, whatever the verb.
func (m Message) Format(to fmt.State, _ rune) { redacted(to, "Message", m) }

// LogValue names the fields without what was typed into them.
func (s Submission) LogValue() slog.Value {
	return group(slog.Any("fields", slices.Sorted(maps.Keys(s.Fields))), slog.String("client", s.Client.String()))
}

// Format prints what LogValue returns, whatever the verb.
func (s Submission) Format(to fmt.State, _ rune) { redacted(to, "Submission", s) }

// LogValue names the address without the hash of the token.
func (v Verification) LogValue() slog.Value {
	return group(slog.String("identifier", v.Identifier), slog.Time("expires", v.Expires))
}

// Format prints what LogValue returns, whatever the verb.
func (v Verification) Format(to fmt.State, _ rune) { redacted(to, "Verification", v) }

// LogValue names the provider without its client secret.
func (p OAuth) LogValue() slog.Value {
	return group(slog.String("id", p.ID), slog.String("issuer", p.Issuer), slog.String("clientId", p.ClientID))
}

// Format prints what LogValue returns, whatever the verb.
func (p OAuth) Format(to fmt.State, _ rune) { redacted(to, "OAuth", p) }

// LogValue names the provider without its secrets.
func (p Email) LogValue() slog.Value {
	return group(slog.String("id", p.base().id), slog.String("from", p.From))
}

// Format prints what LogValue returns, whatever the verb.
func (p Email) Format(to fmt.State, _ rune) { redacted(to, "Email", p) }

// LogValue names the site without its secrets.
func (c Config) LogValue() slog.Value {
	ids := []string{}
	for _, p := range c.Providers {
		if !isNil(p) {
			ids = append(ids, p.base().id)
		}
	}
	return group(slog.String("url", c.URL), slog.String("basePath", c.BasePath), slog.Any("providers", ids))
}

// Format prints what LogValue returns, whatever the verb.
func (c Config) Format(to fmt.State, _ rune) { redacted(to, "Config", c) }
