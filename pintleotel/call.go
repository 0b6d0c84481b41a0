package pintleotel

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/pintleauth/pintle"
)

// A caller makes spans for calls of a store.
type caller struct {
	t *telemetry

	// tx is the span of the transaction to which the calls belong, or nil. The contexts of
	// calls in a transaction are those of its caller, so that they do not have the span.
	tx trace.Span
}

// An operation is a call of a store under way.
type operation struct {
	t       *telemetry
	span    trace.Span
	began   time.Time
	attrs   []attribute.KeyValue
	outcome string
}

// begin begins the span of an operation. The caller defers end, and calls done before.
func (c caller) begin(ctx context.Context, name string) (context.Context, *operation) {
	o := &operation{t: c.t, began: time.Now(), outcome: "panic"}
	o.attrs = append(make([]attribute.KeyValue, 0, 4), semconv.DBOperationName(name))
	kind := trace.SpanKindInternal
	if c.t.system != "" {
		kind = trace.SpanKindClient
		o.attrs = append(o.attrs, semconv.DBSystemNameKey.String(c.t.system))
	}
	if c.tx != nil {
		ctx = trace.ContextWithSpan(ctx, c.tx)
	}
	ctx, o.span = c.t.tracer.Start(ctx, name, trace.WithSpanKind(kind), trace.WithAttributes(o.attrs...))
	return ctx, o
}

// done notes how an operation ended. The error is in no span: databases repeat values in theirs.
func (o *operation) done(err error) {
	switch {
	case err == nil:
		o.outcome = "ok"
	case errors.Is(err, pintle.ErrNotFound):
		o.outcome = "not_found"
	case errors.Is(err, pintle.ErrConflict):
		o.outcome = "conflict"
	case errors.Is(err, errors.ErrUnsupported):
		o.outcome = "unsupported"
	case errors.Is(err, context.Canceled):
		o.outcome = "canceled"
	case errors.Is(err, context.DeadlineExceeded):
		o.outcome = "timeout"
	default:
		o.outcome = "fault"
	}
}

func (o *operation) end(ctx context.Context) {
	switch o.outcome {
	case "ok", "not_found", "conflict", "rolled_back", "canceled": // results, and clients that have left
	default:
		o.span.SetStatus(codes.Error, "")
		o.span.SetAttributes(semconv.ErrorTypeKey.String(o.outcome))
	}
	o.attrs = append(o.attrs, keyOutcome.String(o.outcome))
	o.span.SetAttributes(o.attrs...)
	o.t.stores.Record(ctx, time.Since(o.began).Seconds(), metric.WithAttributes(o.attrs...))
	o.span.End()
}

// do makes a call.
func (c caller) do(ctx context.Context, name string, f func(context.Context) error) error {
	ctx, o := c.begin(ctx, name)
	defer o.end(ctx)
	err := f(ctx)
	o.done(err)
	return err
}

// get makes a call with a result.
func get[T any](ctx context.Context, c caller, name string, f func(context.Context) (T, error)) (T, error) {
	ctx, o := c.begin(ctx, name)
	defer o.end(ctx)
	result, err := f(ctx)
	o.done(err)
	return result, err
}
