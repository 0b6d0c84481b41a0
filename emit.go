package pintle

import (
	"context"
	"log/slog"
	"time"

	"github.com/pintleauth/pintle/internal/origin"
)

// emit calls a handler of the host. Its error is only logged: the event has
// already happened.
func emit[E any](ctx context.Context, s *settings, name string, handler func(context.Context, E) error, event E) {
	if handler == nil {
		return
	}
	if err := handler(ctx, event); err != nil {
		s.log.LogAttrs(ctx, slog.LevelError, "pintle: event handler failed",
			slog.String("code", string(codeEvent)), slog.String("event", name), slog.Any("error", err))
	}
}

func (x *exchange) emitUser(name string, handler func(context.Context, *User) error, u *User) {
	emit(x.ctx, x.settings, name, handler, u)
}

func (x *exchange) emitLink(e *LinkAccountEvent) {
	emit(x.ctx, x.settings, "linkAccount", x.Events.LinkAccount, e)
}

func (x *exchange) emitSignIn(who *arrival, d *decision) {
	e := &SignInEvent{User: d.user, Account: d.account, Profile: who.profile, NewUser: d.newUser}
	if who.by == byHost {
		e.NewUser = nil
	}
	emit(x.ctx, x.settings, "signIn", x.Events.SignIn, e)
}

// emitSignInFailed tells the host of a sign-in that failed.
func (x *exchange) emitSignInFailed(e *Error) {
	if x.provider == nil || x.provider.kind == "" || x.action != actionCallback && x.action != actionSignIn {
		return
	}
	switch e.Code {
	case codeMissingCSRF, codeInvalidProvider, codeUnknownAction:
		return
	}
	emit(x.ctx, x.settings, "signInFailed", x.Events.SignInFailed, &SignInFailedEvent{
		Provider: x.providerOf(e), Code: e.Code, Err: e, Client: x.clientAddress(x.r), Request: x.r,
	})
}

// browserMaxAge is how long browsers keep a cookie, whatever it asks for.
//
// https://datatracker.ietf.org/doc/html/draft-ietf-httpbis-rfc6265bis#section-5.5
const browserMaxAge = 400 * 24 * time.Hour

// announce logs at the start what an operator should not overlook.
func (s *settings) announce(ctx context.Context) {
	switch {
	case s.Debug && s.Logger == nil:
		s.log.LogAttrs(ctx, slog.LevelWarn, "pintle: Config.Debug is on, so the log tells more than is needed in production",
			slog.String("code", "debug-enabled"))
	case s.Debug:
		s.log.LogAttrs(ctx, slog.LevelWarn, "pintle: Config.Debug has no effect, because Config.Logger is set: the level of its handler decides",
			slog.String("code", "debug-enabled"))
	}
	if s.DangerouslyAllowShortSecrets {
		s.log.LogAttrs(ctx, slog.LevelWarn, "pintle: Config.DangerouslyAllowShortSecrets is on: replace the secret by one of 32 characters or more",
			slog.String("code", "short-secrets-allowed"))
	}
	for _, p := range s.providers {
		if p.announce != nil {
			p.announce(ctx, s)
		}
	}
	if s.Session.MaxAge > browserMaxAge {
		s.log.LogAttrs(ctx, slog.LevelWarn, "pintle: browsers keep cookies for 400 days at most, so Config.Session.MaxAge is not reached",
			slog.String("code", "cookie-lifetime"))
	}
	if site, err := origin.Parse(s.URL); err == nil && !site.Secure() && !site.Loopback() {
		s.log.LogAttrs(ctx, slog.LevelWarn, "pintle: Config.URL (AUTH_URL) is http: cookies lack the attribute Secure, passwords and sessions can be read on the way, and browsers warn of forms that a page with TLS posts there",
			slog.String("code", "insecure-url"), slog.String("url", string(site)), slog.String("fix", "set it to the https URL that users open, also where a proxy ends the TLS connection"))
	}
	if s.BasePath != "" && pathOf(s.URL) != "" && pathOf(s.URL) != s.base {
		s.log.LogAttrs(ctx, slog.LevelWarn, "pintle: the path of Config.URL (AUTH_URL) differs from Config.BasePath, which is used",
			slog.String("code", "env-url-basepath-mismatch"), slog.String("url", pathOf(s.URL)), slog.String("basePath", s.base))
	}
}
