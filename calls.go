package pintle

import (
	"context"
	"errors"
	"log/slog"

	"github.com/pintleauth/pintle/internal/clip"
)

// logCall logs the failure of a function that server code called. The function
// returns the error as well, which the host may show or drop.
func (a *Auth) logCall(ctx context.Context, function string, err error) {
	log := slog.Default()
	if a.fixed != nil {
		log = a.fixed.log.Logger
	} else if s := a.known(ctx); s != nil {
		log = s.log.Logger
	}
	attrs := []slog.Attr{slog.String("function", function)}
	if isClassified(err) {
		e := classified(err)
		attrs = append(attrs, slog.String("code", string(e.Code)))
		if e.Provider != "" {
			attrs = append(attrs, slog.String("provider", clip.Text(e.Provider, clip.Max)))
		}
	}
	level := callLevel(ctx, err)
	if level < slog.LevelError {
		err = boundedError{err}
	}
	log.LogAttrs(ctx, level, "pintle: call failed", append(attrs, slog.Any("error", err))...)
}

// known returns the configuration that an Auth of [NewFunc] uses, if it has one.
func (a *Auth) known(ctx context.Context) *settings {
	if a.of != nil {
		return a.chosen.kept(a.tenant)
	}
	s, _ := ctx.Value(chosenKey{a}).(*settings)
	return s
}

// logFailed is [Auth.logCall] to be deferred.
func (a *Auth) logFailed(ctx context.Context, function string, err *error) {
	if *err != nil {
		a.logCall(ctx, function, *err)
	}
}

// callLevel returns the level at which the failure of a function is logged. Which
// account, passkey or session there is depends on the user, and on forms.
func callLevel(ctx context.Context, err error) slog.Level {
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return slog.LevelInfo // the client has left
	case errors.Is(err, ErrNotFound), errors.Is(err, ErrNoRefresh):
		return slog.LevelInfo
	case errors.Is(err, errors.ErrUnsupported):
		return slog.LevelWarn // the page offers what the store cannot do
	}
	return classified(err).level()
}
