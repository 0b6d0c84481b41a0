package handshake

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"
)

// A ResponseError is an error that the provider sent with the browser, or a
// response that a hook recognised as the same. The texts come from the provider,
// or from an attacker who made the link: they are for the log, never for a page.
//
// https://www.rfc-editor.org/rfc/rfc6749#section-4.1.2.1
type ResponseError struct {
	Code        string // "access_denied", "login_required", …
	Description string
	URI         string
}

// Error returns the error code and description, quoted and cut to a bounded length.
func (e *ResponseError) Error() string {
	return "provider answered " + quoted(e.Code, e.Description)
}

// An AnswerError is a callback whose parameters do not come from the provider. Any
// client can send such a request, so it does not mean that the provider misbehaves.
type AnswerError struct{ err error }

func (e *AnswerError) Error() string { return e.err.Error() }

// Unwrap returns the cause.
func (e *AnswerError) Unwrap() error { return e.err }

// ErrOtherFlow is the cause if a response belongs to another flow than the one
// whose secrets this browser holds.
var ErrOtherFlow = errors.New("the one this browser started with")

func (p *Provider) answerErrorf(format string, args ...any) error {
	return &AnswerError{p.errorf("callback: "+format, args...)}
}

// A TokenError is a token endpoint that rejected the request or returned something
// other than tokens, or a revocation endpoint that rejected the request.
//
// https://www.rfc-editor.org/rfc/rfc6749#section-5.2
type TokenError struct {
	Endpoint    string // "revocation", or empty for the token endpoint
	Status      int    // HTTP status; 200 when the error was in the body only
	Code        string // "invalid_grant", …; empty when the body had none
	Description string
	URI         string

	// RetryAfter is how long the server asks to wait. It is zero if it does not say, or
	// not in a form of the standard.
	//
	// https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3
	RetryAfter time.Duration
}

// Error returns the status, error code and description, quoted and cut to a bounded length.
func (e *TokenError) Error() string {
	s := fmt.Sprintf("%s endpoint answered status %d", cmp.Or(e.Endpoint, "token"), e.Status)
	if e.Code != "" {
		s += " " + quoted(e.Code, e.Description)
	}
	return s
}

func quoted(code, description string) string {
	s := fmt.Sprintf("%q", clip(code))
	if description != "" {
		s += fmt.Sprintf(": %q", clip(description))
	}
	return s
}

func clip(s string) string {
	if len(s) <= maxErrorText {
		return s
	}
	cut := maxErrorText
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

// errorOf names the provider in an error.
func errorOf(id, format string, args ...any) error {
	return fmt.Errorf("provider %q: "+format, append([]any{id}, args...)...)
}

// missing is the error for a credential that is not set. env stands for the
// provider in the names of environment variables, ending is the ending of the one
// to set.
func missing(id, env, field, ending string) error {
	return errorOf(id, "%s is missing: set it in the provider's options or in %s", field, variable(id, env, ending))
}

// variable names an environment variable of a provider.
func variable(id, env, ending string) string {
	if env == "" {
		env = strings.ToUpper(strings.ReplaceAll(id, "-", "_"))
	}
	return "AUTH_" + env + "_" + ending
}

// missingClient names both credentials where both are missing.
func missingClient(id, env string, key, secret bool) error {
	var errs []error
	if key {
		errs = append(errs, missing(id, env, "ClientID", "ID"))
	}
	if secret {
		errs = append(errs, missing(id, env, "ClientSecret", "SECRET"))
	}
	return errors.Join(errs...)
}

// conceal returns err without the given secrets in its text. Providers repeat
// values of the request in error descriptions, and a hook's own request may carry
// a token in its URL. [errors.As] still finds the types that callers distinguish.
func conceal(err error, secrets ...string) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*url.Error](err); ok {
		_, query, _ := strings.Cut(e.URL, "?")
		secrets = append(secrets, query)
	}
	var cause error
	if e, ok := errors.AsType[*ResponseError](err); ok {
		e.Code, e.Description, e.URI = redact(e.Code, secrets), redact(e.Description, secrets), redact(e.URI, secrets)
		cause = e
	} else if e, ok := errors.AsType[*TokenError](err); ok {
		e.Code, e.Description, e.URI = redact(e.Code, secrets), redact(e.Description, secrets), redact(e.URI, secrets)
		cause = e
	} else if e, ok := errors.AsType[*UnmetError](err); ok {
		e.reason = redact(e.reason, secrets)
		cause = e
	}
	text := redact(err.Error(), secrets)
	if text == err.Error() {
		return err
	}
	return &concealed{text, cause}
}

// concealed is an error without secrets in its text, and with those of its causes
// that hold none.
type concealed struct {
	text  string
	cause error
}

func (e *concealed) Error() string { return e.text }
func (e *concealed) Unwrap() error { return e.cause }

// redact replaces a secret, both as it is and as it is encoded in a URL.
func redact(text string, secrets []string) string {
	for _, s := range secrets {
		if len(s) < 4 { // would replace parts of ordinary words; no real secret is this short
			continue
		}
		text = strings.ReplaceAll(text, s, "[redacted]")
		text = strings.ReplaceAll(text, url.QueryEscape(s), "[redacted]")
		text = strings.ReplaceAll(text, url.PathEscape(s), "[redacted]")
	}
	return text
}
