package pintleotel

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/codes"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/providersession"
	"github.com/pintleauth/pintle/store/memstore"
	"github.com/pintleauth/pintle/storetest"
)

// recorded returns a telemetry and the spans that it has ended.
func recorded() (*telemetry, *tracetest.SpanRecorder) {
	spans := tracetest.NewSpanRecorder()
	return newTelemetry(Options{
		TracerProvider: sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans)), MeterProvider: sdkmetric.NewMeterProvider(),
	}), spans
}

func TestAnObservedStoreKeepsThePromisesOfAStore(t *testing.T) {
	tel, _ := recorded()
	storetest.Run(t, func(*testing.T) pintle.Store { return tel.store(memstore.New()) })
}

func TestAnObservedRevocationListKeepsItsPromises(t *testing.T) {
	tel, _ := recorded()
	storetest.RunRevocation(t, func(*testing.T) pintle.RevocationStore { return tel.revocation(&memstore.Revocations{}) })
}

func TestAnObservedStoreHasTheFeaturesOfItsStore(t *testing.T) {
	tel, _ := recorded()
	inner := memstore.New()
	s := tel.store(inner)
	if s.Features() != inner.Features() {
		t.Errorf("the features are %+v", s.Features())
	}
	if s.AccountStore() == nil || s.ProviderSessions() == nil || s.SharedState() == nil {
		t.Error("the rows of accounts, the sign-ins at providers or the shared state are lost")
	}
	bare := tel.store(usersOnly{})
	if bare.AccountStore() != nil || bare.ProviderSessions() != nil || bare.SharedState() != nil {
		t.Error("a store without further rows has some")
	}
	if err := bare.DeleteUser(t.Context(), "1"); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("DeleteUser: %v", err)
	}
	if _, marks := tel.revocation(&memstore.Revocations{}).(providersession.Marker); !marks {
		t.Error("the revocation list has lost EndMarked")
	}
	if _, marks := tel.revocation(plainList{}).(providersession.Marker); marks {
		t.Error("a revocation list without EndMarked has it")
	}
}

// usersOnly is a store without features.
type usersOnly struct{ pintle.UnimplementedStore }

func (usersOnly) CreateUser(context.Context, *pintle.User) (*pintle.User, error) { return nil, nil }

func (usersOnly) User(context.Context, string) (*pintle.User, error) {
	return nil, pintle.ErrNotFound
}

func (usersOnly) UserByEmail(context.Context, string) (*pintle.User, error) {
	return nil, pintle.ErrNotFound
}

func (usersOnly) LinkAccount(context.Context, *pintle.Account) error { return nil }

func (usersOnly) UserByAccount(context.Context, string, string) (*pintle.User, error) {
	return nil, pintle.ErrNotFound
}

func (usersOnly) UpdateUser(context.Context, string, pintle.UserUpdate) (*pintle.User, error) {
	return nil, pintle.ErrNotFound
}

// plainList is a revocation list that ends no sessions by marks.
type plainList struct{ pintle.RevocationStore }

// A second wrapper would count each call twice.
func TestAnObserverWrapsWhatIsThereOnce(t *testing.T) {
	tel, _ := recorded()
	s, state, list := tel.store(memstore.New()), tel.shared(memstore.New().SharedState()), tel.revocation(&memstore.Revocations{})
	if tel.store(s) != s || tel.shared(state) != state || tel.revocation(list) != list {
		t.Error("what is wrapped is wrapped again")
	}
	if _, wrapped := s.(store); !wrapped {
		t.Errorf("the store is a %T", s)
	}
	if _, wrapped := state.(shared); !wrapped {
		t.Errorf("the shared state is a %T", state)
	}
}

// Every method of the interfaces has a span, also one that a later version adds: a wrapper of
// nothing panics, and its spans still end.
func TestEveryCallOfAStoreHasASpan(t *testing.T) {
	tel, spans := recorded()
	list := tel.revocation(markingList{})
	for prefix, wrapper := range map[string]any{
		"Store.": store{t: tel}, "AccountStore.": accountRows{c: caller{t: tel}}, "ProviderSessions.": providerSessions{c: caller{t: tel}},
		"SharedState.": shared{t: tel}, "Revocation.": list,
	} {
		value := reflect.ValueOf(wrapper)
		for i := range value.NumMethod() {
			name := value.Type().Method(i).Name
			switch name {
			case "Features", "AccountStore", "ProviderSessions", "SharedState":
				continue // which reach no database
			}
			spans.Reset()
			callWithNothing(value.Method(i))
			ended := spans.Ended()
			if len(ended) != 1 || ended[0].Name() != prefix+name {
				t.Errorf("%s%s has the spans %v", prefix, name, names(ended))
				continue
			}
			if got := attributesOf(ended[0]); got["pintle.outcome"] != "panic" || got["db.operation.name"] != prefix+name {
				t.Errorf("%s%s, which panics, has the attributes %v", prefix, name, got)
			}
		}
	}
}

type markingList struct {
	pintle.RevocationStore
	providersession.Marker
}

// callWithNothing calls a method with zero values, and goes through its result.
func callWithNothing(method reflect.Value) {
	defer func() { _ = recover() }()
	kind := method.Type()
	arguments := []reflect.Value{reflect.ValueOf(context.Background())}
	for i := 1; i < kind.NumIn(); i++ {
		if kind.IsVariadic() && i == kind.NumIn()-1 {
			break
		}
		arguments = append(arguments, reflect.Zero(kind.In(i)))
	}
	for _, result := range method.Call(arguments) {
		if result.Kind() == reflect.Func && result.Type().CanSeq2() {
			for range result.Seq2() {
				break
			}
		}
	}
}

func names(spans []sdktrace.ReadOnlySpan) (all []string) {
	for _, s := range spans {
		all = append(all, s.Name())
	}
	return all
}

func attributesOf(s sdktrace.ReadOnlySpan) map[string]string {
	all := map[string]string{}
	for _, a := range s.Attributes() {
		all[string(a.Key)] = a.Value.String()
	}
	return all
}

func TestACallInATransactionIsPartOfIt(t *testing.T) {
	tel, spans := recorded()
	s := tel.store(memstore.New())
	ctx := t.Context()
	err := s.InTx(ctx, func(tx pintle.Store) error {
		if _, err := tx.CreateUser(ctx, &pintle.User{ID: "1"}); err != nil {
			return err
		}
		_, err := tx.AccountStore().State(ctx, "1")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	ended := spans.Ended()
	if got, want := strings.Join(names(ended), " "), "Store.CreateUser AccountStore.State Store.InTx"; got != want {
		t.Fatalf("the spans are %s, not %s", got, want)
	}
	for _, call := range ended[:2] {
		if call.Parent().SpanID() != ended[2].SpanContext().SpanID() {
			t.Errorf("%s is not below the transaction", call.Name())
		}
	}
}

// A client that is refused at each sign-in would otherwise cause an alert about the store.
func TestATransactionThatItsCallerEndsIsNoFaultOfTheStore(t *testing.T) {
	refused, away := errors.New("refused"), errors.New("no answer")
	for _, tt := range []struct {
		what    string
		of      pintle.Store
		f       func(pintle.Store) error
		outcome string
		fault   bool
	}{
		{"the caller commits", memstore.New(), func(pintle.Store) error { return nil }, "ok", false},
		{"the caller returns an error", memstore.New(), func(pintle.Store) error { return refused }, "rolled_back", false},
		{"the store does not begin", brokenTx{begin: away}, func(pintle.Store) error { return nil }, "fault", true},
		{"the store does not commit", brokenTx{end: away}, func(pintle.Store) error { return nil }, "fault", true},
		{"the store does not roll back", brokenTx{end: away}, func(pintle.Store) error { return refused }, "fault", true},
	} {
		tel, spans := recorded()
		_ = tel.store(tt.of).InTx(t.Context(), tt.f)
		ended := spans.Ended()
		if got := attributesOf(ended[len(ended)-1])["pintle.outcome"]; got != tt.outcome {
			t.Errorf("%s: the outcome is %s, want %s", tt.what, got, tt.outcome)
		}
		if fault := ended[len(ended)-1].Status().Code == codes.Error; fault != tt.fault {
			t.Errorf("%s: the span is an error: %t", tt.what, fault)
		}
	}
}

// brokenTx is a store whose transactions do not begin, or do not end.
type brokenTx struct {
	usersOnly
	begin, end error
}

func (b brokenTx) InTx(_ context.Context, f func(pintle.Store) error) error {
	if b.begin != nil {
		return b.begin
	}
	_ = f(b)
	return b.end
}

func TestTheOutcomeOfACallIsAWord(t *testing.T) {
	tel, spans := recorded()
	tel.system = "postgresql"
	for _, tt := range []struct {
		err     error
		outcome string
		failed  bool
	}{
		{nil, "ok", false},
		{pintle.ErrNotFound, "not_found", false},
		{pintle.ErrConflict, "conflict", false},
		{errors.ErrUnsupported, "unsupported", true},
		{context.Canceled, "canceled", false},
		{context.DeadlineExceeded, "timeout", true},
		{errors.New("duplicate key: ada@example.com"), "fault", true},
	} {
		spans.Reset()
		rows := tel.revocation(failingList{err: tt.err})
		if err := rows.RevokeUser(t.Context(), "ada", time.Time{}); !errors.Is(err, tt.err) {
			t.Errorf("the error of the store becomes %v", err)
		}
		span := spans.Ended()[0]
		got := attributesOf(span)
		if got["pintle.outcome"] != tt.outcome || (span.Status().Code != 0) != tt.failed || (got["error.type"] != "") != tt.failed {
			t.Errorf("%v is %v with status %v", tt.err, got, span.Status())
		}
		if span.Status().Description != "" || len(span.Events()) > 0 {
			t.Errorf("the span has the text of the error: %v %v", span.Status(), span.Events())
		}
		if got["db.system.name"] != "postgresql" {
			t.Errorf("the attributes are %v", got)
		}
	}
}

type failingList struct {
	pintle.RevocationStore
	err error
}

func (l failingList) RevokeUser(context.Context, string, time.Time) error { return l.err }
