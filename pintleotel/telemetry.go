package pintleotel

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/sharedstate"
	"github.com/pintleauth/pintle/throttle"
)

// scope is the name of the tracer and of the meter.
const scope = "github.com/pintleauth/pintle/pintleotel"

// Options are the details of [New]. The zero value uses the global providers of
// OpenTelemetry, also if they are set later.
type Options struct {
	// TracerProvider makes the spans. Nil means that of otel.GetTracerProvider.
	TracerProvider trace.TracerProvider

	// MeterProvider makes the metrics. Nil means that of otel.GetMeterProvider.
	MeterProvider metric.MeterProvider

	// Propagator adds the context of the trace to requests to providers. Nil adds nothing,
	// whatever the global propagator is: providers are third parties, which could link the
	// requests of one user by the trace id.
	Propagator propagation.TextMapPropagator

	// StoreSystem is the attribute db.system.name of calls of the store, such as
	// "postgresql". Empty leaves the attribute out.
	//
	// https://opentelemetry.io/docs/specs/semconv/registry/attributes/db/#db-system-name
	StoreSystem string
}

// The names of the metrics. Durations are histograms, in seconds.
const (
	// SignIns counts sign-ins, by pintle.provider, pintle.provider.type, pintle.outcome,
	// pintle.waited and error.type.
	SignIns = "pintle.sign_ins"

	// Throttled counts attempts beyond a limit, by http.route and pintle.provider.
	Throttled = "pintle.throttled"

	// RouteDuration is how long the routes take, by http.request.method, http.route,
	// http.response.status_code, pintle.outcome and error.type.
	RouteDuration = "pintle.route.duration"

	// SessionDuration is how long it takes to read a session, by pintle.outcome.
	SessionDuration = "pintle.session.duration"

	// ProviderDuration is how long requests to providers take until the headers of the
	// response are there, by pintle.provider, http.request.method,
	// http.response.status_code and error.type.
	ProviderDuration = "pintle.provider.duration"

	// StoreDuration is how long calls of the store take, by db.operation.name,
	// db.system.name and pintle.outcome.
	StoreDuration = "pintle.store.duration"

	// MailDuration is how long it takes to hand over a mail, by pintle.mail.kind and
	// pintle.outcome.
	MailDuration = "pintle.mail.duration"
)

// The attributes that no semantic convention has.
const (
	keyProvider     = attribute.Key("pintle.provider")
	keyProviderType = attribute.Key("pintle.provider.type")
	keyEndpoint     = attribute.Key("pintle.provider.endpoint")
	keyOutcome      = attribute.Key("pintle.outcome")
	keyWaited       = attribute.Key("pintle.waited")
	keyNewUser      = attribute.Key("pintle.new_user")
	keyMailKind     = attribute.Key("pintle.mail.kind")
	keySignIn       = attribute.Key("pintle.sign_in.outcome")
)

// other is the value of an attribute in the place of one that is not in a known list.
const other = "_OTHER"

// New returns an observer for [pintle.Config].Observer. With [pintle.NewFunc] the
// configurations of all tenants may share one. It starts no goroutine.
//
// The observer wraps the Store, the SharedState, the Session.Revocation and what sends the mails
// of a configuration: [pintle.Auth.StoreFor] returns the wrapped store, which is of another
// type.
func New(o Options) pintle.Observer {
	t := newTelemetry(o)
	return pintle.Observer{
		Store: t.store, SharedState: t.shared, Revocation: t.revocation, Mail: t.mail, Transport: t.transport,
		Route: t.route, Session: t.session, SignIn: t.signIn,
	}
}

// A telemetry makes spans and metrics.
type telemetry struct {
	tracer     trace.Tracer
	propagator propagation.TextMapPropagator
	system     string

	signIns, throttled                        metric.Int64Counter
	routes, sessions, requests, stores, mails metric.Float64Histogram
}

func newTelemetry(o Options) *telemetry {
	tracers, meters := o.TracerProvider, o.MeterProvider
	if tracers == nil {
		tracers = otel.GetTracerProvider()
	}
	if meters == nil {
		meters = otel.GetMeterProvider()
	}
	m := meters.Meter(scope, metric.WithSchemaURL(semconv.SchemaURL))
	return &telemetry{
		tracer:     tracers.Tracer(scope, trace.WithSchemaURL(semconv.SchemaURL)),
		propagator: o.Propagator, system: o.StoreSystem,
		signIns:   counter(m, SignIns, "{sign_in}", "Sign-ins by provider and outcome"),
		throttled: counter(m, Throttled, "{attempt}", "Attempts beyond a limit"),
		routes:    histogram(m, RouteDuration, "Duration of requests for the routes", slow),
		sessions:  histogram(m, SessionDuration, "Duration of reading a session", quick),
		requests:  histogram(m, ProviderDuration, "Duration of requests to providers", slow),
		stores:    histogram(m, StoreDuration, "Duration of calls of the store", quick),
		mails:     histogram(m, MailDuration, "Duration of handing over a mail", slow),
	}
}

// The boundaries of histograms, in seconds. slow are those of the semantic conventions for
// HTTP. A session in a token is read in a few microseconds.
var (
	slow  = []float64{0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10}
	quick = []float64{0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10}
)

// counter returns a counter. An error is for the error handler of OpenTelemetry, and the
// counter then does nothing: sign-ins matter more.
func counter(m metric.Meter, name, unit, description string) metric.Int64Counter {
	c, err := m.Int64Counter(name, metric.WithUnit(unit), metric.WithDescription(description))
	if err != nil {
		otel.Handle(err)
	}
	return c
}

func histogram(m metric.Meter, name, description string, boundaries []float64) metric.Float64Histogram {
	h, err := m.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(description),
		metric.WithExplicitBucketBoundaries(boundaries...))
	if err != nil {
		otel.Handle(err)
	}
	return h
}

// store wraps the store of a configuration, once.
func (t *telemetry) store(s pintle.Store) pintle.Store {
	if _, wrapped := s.(store); wrapped {
		return s
	}
	return store{Store: s, t: t}
}

// shared wraps a shared state, once.
func (t *telemetry) shared(s sharedstate.Store) sharedstate.Store {
	if _, wrapped := s.(shared); wrapped {
		return s
	}
	return shared{s, t}
}

// isNil reports whether an interface is nil or holds a nil pointer: a store that lacks a part
// returns either.
func isNil(v any) bool {
	value := reflect.ValueOf(v)
	return v == nil || value.Kind() == reflect.Pointer && value.IsNil()
}

// routeKey is the key of the state of a route in a context.
type routeKey struct{}

// A routeState is a request for a route under way.
type routeState struct {
	span      trace.Span
	throttled atomic.Bool
}

// route begins the span of a route. The span is of the kind internal: that of the server is
// made by what instruments the server, such as otelhttp, and is its parent.
func (t *telemetry) route(ctx context.Context, o *pintle.ObservedRoute) (context.Context, func()) {
	began := time.Now()
	method := methodOf(o.Method)
	name := method
	attrs := []attribute.KeyValue{semconv.HTTPRequestMethodKey.String(method)}
	if o.Route != "" {
		name += " " + o.Route
		attrs = append(attrs, semconv.HTTPRoute(o.Route))
	}
	ctx, span := t.tracer.Start(ctx, name, trace.WithAttributes(attrs...))
	state := &routeState{span: span}
	ctx = context.WithValue(ctx, routeKey{}, state)
	return ctx, func() {
		defer span.End()
		outcome := "ok"
		switch {
		case o.Fault || o.Status == 0 || o.Status >= http.StatusInternalServerError:
			outcome = "fault"
			span.SetStatus(codes.Error, "")
		case o.Code != "" || o.Status >= http.StatusBadRequest:
			outcome = "refused"
		}
		attrs := append(attrs, keyOutcome.String(outcome))
		if o.Status != 0 {
			attrs = append(attrs, semconv.HTTPResponseStatusCode(o.Status))
		}
		switch {
		case o.Code != "":
			attrs = append(attrs, semconv.ErrorTypeKey.String(string(o.Code)))
		case o.Status == 0:
			attrs = append(attrs, semconv.ErrorTypeKey.String("panic"))
		}
		t.routes.Record(ctx, time.Since(began).Seconds(), metric.WithAttributes(attrs...))
		if o.Status == http.StatusTooManyRequests || isThrottled(o.Err) || state.throttled.Load() {
			t.countThrottled(ctx, o.Route, o.Provider)
		}
		if o.Provider != "" {
			attrs = append(attrs, keyProvider.String(o.Provider))
		}
		span.SetAttributes(attrs...)
	}
}

func isThrottled(err error) bool { return errors.Is(err, throttle.ErrTooMany) }

func (t *telemetry) countThrottled(ctx context.Context, route, provider string) {
	t.throttled.Add(ctx, 1, metric.WithAttributes(semconv.HTTPRoute(named(route)), keyProvider.String(named(provider))))
}

// named returns a name that is not empty.
func named(name string) string {
	if name == "" {
		return other
	}
	return name
}

// session notes what came of a session. There is no span for it: that of the call of the
// store is a child of the span of the host.
func (t *telemetry) session(ctx context.Context, o *pintle.ObservedSession) {
	t.sessions.Record(ctx, o.Duration.Seconds(), metric.WithAttributes(keyOutcome.String(o.Result)))
}

// signIn counts a sign-in.
func (t *telemetry) signIn(ctx context.Context, o *pintle.ObservedSignIn) {
	outcome, throttled := o.Outcome, o.Outcome == "throttled"
	attrs := []attribute.KeyValue{
		keyProvider.String(named(o.Provider)), keyProviderType.String(named(string(o.Type))), keyOutcome.String(outcome), keyWaited.Bool(o.Waited),
	}
	if o.Code != "" {
		attrs = append(attrs, semconv.ErrorTypeKey.String(string(o.Code)))
	}
	t.signIns.Add(ctx, 1, metric.WithAttributes(attrs...))
	state, inRoute := ctx.Value(routeKey{}).(*routeState)
	switch {
	case inRoute:
		state.span.SetAttributes(keySignIn.String(outcome), keyNewUser.Bool(o.NewUser))
		if throttled {
			state.throttled.Store(true)
		}
	case throttled:
		t.countThrottled(ctx, "", o.Provider)
	}
}

// methodOf returns the method of a request, or the word of the semantic conventions for one
// that is not known.
func methodOf(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
		http.MethodConnect, http.MethodOptions, http.MethodTrace:
		return method
	}
	return other
}
