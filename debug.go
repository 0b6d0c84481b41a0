package pintle

import (
	"context"
	"errors"
	"log/slog"

	"github.com/pintleauth/pintle/internal/clip"
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

// debug logs a step of the flow that the exchange belongs to.
func (x *exchange) debug(step string, pairs ...string) {
	if !x.log.debugs(x.ctx) {
		return
	}
	own := []string{"action", string(x.action)}
	if x.provider != nil {
		own = append(own, "provider", clip.Text(x.provider.id, clip.Max))
	}
	x.log.debug(x.ctx, step, append(own, pairs...)...)
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
