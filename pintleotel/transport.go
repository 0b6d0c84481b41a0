package pintleotel

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/pintleauth/pintle/oauth"
)

// A transport sends the requests to a provider.
type transport struct {
	base     http.RoundTripper
	t        *telemetry
	provider string
}

func (t *telemetry) transport(provider string, base http.RoundTripper) http.RoundTripper {
	return transport{base, t, provider}
}

// RoundTrip implements [http.RoundTripper].
func (c transport) RoundTrip(r *http.Request) (*http.Response, error) {
	began := time.Now()
	method := methodOf(r.Method)
	attrs := []attribute.KeyValue{semconv.HTTPRequestMethodKey.String(method), keyProvider.String(c.provider)}
	name := method + " " + c.provider
	endpoint := oauth.EndpointOf(r.Context())
	if endpoint != "" {
		name += " " + endpoint
	}
	ctx, span := c.t.tracer.Start(r.Context(), name, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attrs...),
		trace.WithAttributes(serverOf(r)...))
	defer span.End()
	if endpoint != "" {
		span.SetAttributes(keyEndpoint.String(endpoint))
	}
	seen := r.WithContext(ctx)
	if c.t.propagator != nil {
		seen.Header = r.Header.Clone()
		c.t.propagator.Inject(ctx, propagation.HeaderCarrier(seen.Header))
	}
	response, err := c.base.RoundTrip(seen)
	switch {
	case err != nil:
		attrs = append(attrs, semconv.ErrorTypeKey.String(failureOf(ctx, err)))
	case response.StatusCode >= http.StatusBadRequest:
		attrs = append(attrs, semconv.HTTPResponseStatusCode(response.StatusCode), semconv.ErrorTypeKey.String(strconv.Itoa(response.StatusCode)))
	default:
		attrs = append(attrs, semconv.HTTPResponseStatusCode(response.StatusCode))
	}
	if err != nil || response.StatusCode >= http.StatusBadRequest {
		span.SetStatus(codes.Error, "")
	}
	span.SetAttributes(attrs...)
	c.t.requests.Record(ctx, time.Since(began).Seconds(), metric.WithAttributes(attrs...))
	return response, err
}

// CloseIdleConnections is for the method of that name of [http.Client].
func (c transport) CloseIdleConnections() {
	if closer, ok := c.base.(interface{ CloseIdleConnections() }); ok {
		closer.CloseIdleConnections()
	}
}

// serverOf describes the server of a request. It is for spans only: the servers of
// connections are as many as the customers of the host.
func serverOf(r *http.Request) []attribute.KeyValue {
	attrs := []attribute.KeyValue{semconv.ServerAddress(r.URL.Hostname())}
	port := r.URL.Port()
	switch {
	case port != "":
	case r.URL.Scheme == "http":
		port = "80"
	default:
		port = "443"
	}
	if number, err := strconv.Atoi(port); err == nil {
		attrs = append(attrs, semconv.ServerPort(number))
	}
	return attrs
}

// failureOf names why a request had no response. The text of the error has its URL.
func failureOf(ctx context.Context, err error) string {
	var timeout interface{ Timeout() bool }
	switch {
	case errors.Is(err, context.Canceled) || errors.Is(ctx.Err(), context.Canceled):
		return "canceled"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return "timeout"
	}
	return other
}
