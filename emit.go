package pintle

import (
	"context"
	"fmt"
	"log/slog"
)

// emit calls a handler of the host. What it fails with is for the log: the
// thing it is told about has happened.
func emit[E any](s *settings, ctx context.Context, name string, handler func(context.Context, E) error, event E) {
	if handler == nil {
		return
	}
	if err := handler(ctx, event); err != nil {
		s.log.LogAttrs(ctx, slog.LevelError, "pintle: event handler failed",
			slog.String("code", string(ErrEvent)), slog.String("event", name), slog.Any("error", err))
	}
}

func (x *exchange) emitUser(name string, handler func(context.Context, *User) error, u *User) {
	emit(x.settings, x.ctx, name, handler, u)
}

func (x *exchange) emitLink(e *LinkAccountEvent) {
	emit(x.settings, x.ctx, "linkAccount", x.Events.LinkAccount, e)
}

func (x *exchange) emitSignIn(who *arrival, d *decision) {
	e := &SignInEvent{User: d.user, Account: d.account, Profile: who.profile, NewUser: d.newUser}
	if who.provider.credentials != nil {
		e.NewUser = nil
	}
	emit(x.settings, x.ctx, "signIn", x.Events.SignIn, e)
}

// debug notes a step of a flow. Nothing that would let a reader of the log take
// part in the flow is among the attributes.
func (x *exchange) debug(step string, p *provider) {
	if !x.Debug {
		return
	}
	x.log.LogAttrs(x.ctx, slog.LevelDebug, "pintle: "+step, slog.String("provider", p.id), slog.String("action", string(x.action)))
}

// announce says at the start what an operator should not overlook.
func (s *settings) announce(ctx context.Context) {
	warn := func(code, message string) {
		s.log.LogAttrs(ctx, slog.LevelWarn, "pintle: "+message, slog.String("code", code))
	}
	if s.Debug {
		warn("debug-enabled", "Config.Debug is on: the log tells more than is needed in production")
	}
	if s.URL != "" && s.BasePath != "" && pathOf(s.URL) != "" && pathOf(s.URL) != s.base {
		warn("env-url-basepath-mismatch", fmt.Sprintf("Config.URL (AUTH_URL) has the path %s but Config.BasePath is %s, which is used", pathOf(s.URL), s.base))
	}
}
