package pintleotel

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/pintleauth/pintle"
)

// mail returns send with a span for each mail.
func (t *telemetry) mail(send func(context.Context, *pintle.Message) error) func(context.Context, *pintle.Message) error {
	return func(ctx context.Context, m *pintle.Message) (err error) {
		began := time.Now()
		kind := kindOf(m)
		ctx, span := t.tracer.Start(ctx, "mail "+kind,
			trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(keyMailKind.String(kind)))
		outcome := "panic"
		defer func() {
			if outcome != "ok" && outcome != "recipient_refused" {
				span.SetStatus(codes.Error, "")
			}
			attrs := []attribute.KeyValue{keyMailKind.String(kind), keyOutcome.String(outcome)}
			span.SetAttributes(attrs...)
			t.mails.Record(ctx, time.Since(began).Seconds(), metric.WithAttributes(attrs...))
			span.End()
		}()
		err = send(ctx, m)
		outcome = mailOutcome(ctx, err)
		return err
	}
}

func mailOutcome(ctx context.Context, err error) string {
	var refused interface {
		error
		RecipientRefused() bool
	}
	switch {
	case err == nil:
		return "ok"
	case errors.As(err, &refused) && refused.RecipientRefused():
		return "recipient_refused" // any client can type such an address
	case errors.Is(ctx.Err(), context.Canceled):
		return "canceled"
	}
	return "fault"
}

// kindOf is what a mail is about: the Kind of package account, which is a short word.
func kindOf(m *pintle.Message) string {
	if m == nil || m.Kind == "" {
		return "sign_in"
	}
	for _, c := range []byte(m.Kind) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' && c != '-' || len(m.Kind) > maxKind {
			return other
		}
	}
	return m.Kind
}

// maxKind is longer than every Kind of package account.
const maxKind = 40
