package pintleotel_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/pintleotel"
	"github.com/pintleauth/pintle/store/memstore"
	"github.com/pintleauth/pintle/throttle"
)

// TM-01. Traces and metrics go to other systems, which keep them and have other readers.
func TestNoSpanAndNoMetricHasAnythingOfAUser(t *testing.T) {
	s := newSite(t)
	provider := s.browser()
	provider.signInAt(provider.post("/auth/signin/acme"))
	provider.isSignedInAs("ada@mail.example")

	mail := s.browser()
	mail.post("/auth/signin/email", "email", "carol@mail.example")
	mail.get(s.mails[len(s.mails)-1].URL)
	mail.isSignedInAs("carol@mail.example")
	s.browser().get(s.mails[len(s.mails)-1].URL) // which is used up

	form := s.browser()
	form.post("/auth/callback/credentials", "username", "grace-at-navy", "password", password)
	form.isSignedInAs("grace@navy.example")
	for range 4 {
		s.browser().post("/auth/callback/credentials", "username", "grace-at-navy", "password", "a guess of Mallory")
	}

	keys := s.browser()
	keys.passkey("register", "credential-of-judy", "email", "judy@mail.example")
	keys.isSignedInAs("judy@mail.example")
	again := s.browser()
	again.passkey("authenticate", "credential-of-judy")
	again.isSignedInAs("judy@mail.example")

	customer := s.browser()
	customer.signInAt(customer.post("/auth/signin/sso", "email", "ada@corp.example"))
	customer.isSignedInAs("ada@corp.example")

	// What clients make up.
	s.browser().get("/auth/callback/acme?code=code-of-mallory&state=state-of-mallory")
	s.browser().get("/auth/callback/mallory@mail.example")
	s.browser().get("/auth/mallory@mail.example")
	s.browser().do("MALLORY", "/auth/session", nil)
	s.idp.Break(authtest.IDTokenWrongAudience)
	s.browser().signInAt(provider.post("/auth/signin/acme"))
	provider.post("/auth/signout")

	s.mu.Lock()
	defer s.mu.Unlock()
	s.note("the network", client, "127.0.0.1", "192.0.2.1")
	s.note("a person", "ada@mail.example", "carol@mail.example", "grace@navy.example", "judy@mail.example", "ada@corp.example", "Grace Hopper",
		"Ada King", "id-of-grace", "grace-at-navy", "mallory", "MALLORY", "Mallory", password, testSubject, "Browser of Ada", "corp")
	for _, address := range []string{"ada@mail.example", "carol@mail.example", "judy@mail.example", "ada@corp.example"} {
		u, err := s.store.UserByEmail(t.Context(), address)
		if err != nil {
			t.Fatal(err)
		}
		s.note("the store", u.ID)
	}
	// These are words of protocols, and names in the configuration.
	for _, word := range []string{
		"acme", "email", "credentials", "passkey", "register", "authenticate", "AccessDenied", "CredentialsSignin",
		"Configuration", "Verification", "InvalidCheck", "code", "code_used", "registration", "authentication", "true", "openid", "GET", "POST",
	} {
		delete(s.used, word)
	}
	if len(s.used) < 100 {
		t.Errorf("only %d values were used", len(s.used))
	}
	exported := s.exported()
	if len(exported) < 500 {
		t.Errorf("only %d texts were exported", len(exported))
	}
	reported := map[string]bool{}
	for _, text := range exported {
		for value, where := range s.used {
			if value == "corp" && strings.Contains(text, "idp.corp.example") {
				continue // the host of a provider is in the configuration of its customer
			}
			if strings.Contains(text, value) && !reported[text+value] {
				reported[text+value] = true
				t.Errorf("%q has %q, which is %s", text, value, where)
			}
		}
	}
}

const testSubject = "subject-of-"

// exported are all texts in the spans and metrics.
func (s *site) exported() (all []string) {
	for _, span := range s.spans.Ended() {
		all = append(all, span.Name(), span.Status().Description)
		all = append(all, texts(span.Attributes())...)
		for _, e := range span.Events() {
			all = append(all, e.Name)
			all = append(all, texts(e.Attributes)...)
		}
		for _, l := range span.Links() {
			all = append(all, texts(l.Attributes)...)
		}
	}
	for series := range s.metrics() {
		all = append(all, series)
	}
	return all
}

func texts(attributes []attribute.KeyValue) (all []string) {
	for _, a := range attributes {
		all = append(all, string(a.Key), a.Value.String())
	}
	return all
}

// tree describes the spans of a trace, each below its parent.
func tree(spans []sdktrace.ReadOnlySpan, parent trace.SpanID, indent string) (all []string) {
	for _, s := range spans {
		if s.Parent().SpanID() == parent {
			all = append(all, indent+s.Name())
			all = append(all, tree(spans, s.SpanContext().SpanID(), indent+"  ")...)
		}
	}
	return all
}

func TestASignInIsOneTrace(t *testing.T) {
	s := newSite(t, func(s *site) { s.options.StoreSystem = "sqlite" })
	b := s.browser()
	at := b.post("/auth/signin/acme")
	_, back := b.get(at)
	s.spans.Reset()
	b.get(back)
	ended := s.spans.Ended()
	slices.SortStableFunc(ended, func(a, b sdktrace.ReadOnlySpan) int { return a.StartTime().Compare(b.StartTime()) })
	got := tree(ended, trace.SpanID{}, "")
	if len(got) == 0 || got[0] != "GET /auth/callback/{provider}" {
		t.Fatalf("the trace is\n%s", strings.Join(got, "\n"))
	}
	for _, want := range []string{"  SharedState.Once", "  POST acme token", "  Store.InTx", "    Store.CreateUser", "    Store.LinkAccount"} {
		if !slices.Contains(got, want) {
			t.Errorf("the trace does not have %q:\n%s", want, strings.Join(got, "\n"))
		}
	}
	if roots := slices.DeleteFunc(got, func(s string) bool { return strings.HasPrefix(s, " ") }); len(roots) != 1 {
		t.Errorf("there are the traces %q", roots)
	}
	for _, span := range ended {
		attributes := attributesOf(span)
		switch {
		case span.Name() == "POST acme token":
			if span.SpanKind() != trace.SpanKindClient || attributes["server.address"] != "idp.example" || attributes["server.port"] != "443" ||
				attributes["http.response.status_code"] != "200" || attributes["pintle.provider"] != "acme" || attributes["pintle.provider.endpoint"] != "token" {
				t.Errorf("a request to the provider is %v %v", span.SpanKind(), attributes)
			}
		case strings.HasPrefix(span.Name(), "Store."):
			if span.SpanKind() != trace.SpanKindClient || attributes["db.system.name"] != "sqlite" || attributes["db.operation.name"] != span.Name() {
				t.Errorf("a call of the store is %v %v", span.SpanKind(), attributes)
			}
		case span.Parent().SpanID() == trace.SpanID{}:
			if attributes["http.route"] != "/auth/callback/{provider}" || attributes["http.response.status_code"] != "302" ||
				attributes["pintle.outcome"] != "ok" || attributes["pintle.sign_in.outcome"] != "signed_in" || attributes["pintle.new_user"] != "true" {
				t.Errorf("the route is %v", attributes)
			}
		}
	}
}

// Spans of one provider are told apart by what the request is for.
func TestTheSpansOfAProviderNameItsEndpoint(t *testing.T) {
	s := newSite(t)
	b := s.browser()
	_, back := b.get(b.post("/auth/signin/acme"))
	b.get(back)
	var names []string
	for _, span := range s.spans.Ended() {
		if attributes := attributesOf(span); attributes["pintle.provider"] == "acme" && span.SpanKind() == trace.SpanKindClient {
			names = append(names, span.Name())
			if endpoint := attributes["pintle.provider.endpoint"]; endpoint == "" || !strings.HasSuffix(span.Name(), " acme "+endpoint) {
				t.Errorf("the span %q has the endpoint %q", span.Name(), endpoint)
			}
		}
	}
	for _, want := range []string{"GET acme discovery", "POST acme token", "GET acme jwks"} {
		if !slices.Contains(names, want) {
			t.Errorf("there is no span %q among %q", want, names)
		}
	}
}

func attributesOf(s sdktrace.ReadOnlySpan) map[string]string {
	all := map[string]string{}
	for _, a := range s.Attributes() {
		all[string(a.Key)] = a.Value.String()
	}
	return all
}

func TestARouteBelongsToTheTraceOfTheServer(t *testing.T) {
	s := newSite(t)
	ctx, server := s.options.TracerProvider.Tracer("the host").Start(t.Context(), "server")
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, origin+"/auth/signin", nil)
	s.auth.ServeHTTP(httptest.NewRecorder(), r)
	server.End()
	ended := s.spans.Ended()
	if len(ended) != 2 || ended[0].Parent().SpanID() != server.SpanContext().SpanID() || ended[0].SpanKind() != trace.SpanKindInternal {
		t.Errorf("the spans are %v", ended)
	}
}

func TestSignInsAreCountedByProviderAndOutcome(t *testing.T) {
	hold := false
	s := newSite(t, func(s *site) {
		s.config.Callbacks.Hold = func(context.Context, *pintle.PendingSignIn) (string, error) {
			if hold {
				return "/second-factor", nil
			}
			return "", nil
		}
		s.config.Callbacks.SignIn = func(_ context.Context, a *pintle.SignInAttempt) (string, error) {
			if a.User.Email == "broken@mail.example" {
				return "", &pintle.Error{Code: pintle.CodeConfiguration, Err: errors.New("no rules")}
			}
			return "", nil
		}
	})
	b := s.browser()
	b.signInAt(b.post("/auth/signin/acme"))
	for _, guess := range []string{"a guess", "another", "one too many", "and one more"} {
		s.browser().post("/auth/callback/credentials", "username", "grace", "password", guess)
	}
	s.browser().post("/auth/signin/email", "email", "broken@mail.example")
	for _, tt := range []struct {
		count int
		want  []string
	}{
		{1, []string{"pintle.provider=acme", "pintle.provider.type=oidc", "pintle.outcome=signed_in", "pintle.waited=false"}},
		{2, []string{"pintle.provider=credentials", "pintle.outcome=refused", "error.type=CredentialsSignin"}},
		{2, []string{"pintle.provider=credentials", "pintle.outcome=throttled", "error.type=CredentialsSignin"}},
		{1, []string{"pintle.provider=email", "pintle.outcome=refused"}},
		{0, []string{"pintle.outcome=held"}},
	} {
		if got := s.count(pintleotel.SignIns, tt.want...); got != tt.count {
			t.Errorf("%d sign-ins have %v, not %d: %v", got, tt.want, tt.count, s.metrics())
		}
	}
	if got := s.count(pintleotel.Throttled, "http.route=/auth/callback/{provider}", "pintle.provider=credentials"); got != 2 {
		t.Errorf("%d attempts were throttled", got)
	}
	hold = true
	waiting := s.browser()
	waiting.signInAt(waiting.post("/auth/signin/acme"))
	hold = false
	r := httptest.NewRequest(http.MethodPost, origin+"/second-factor", nil)
	for _, c := range waiting.client.Jar.Cookies(r.URL) {
		r.AddCookie(c)
	}
	if _, err := s.auth.CompleteSignIn(httptest.NewRecorder(), r, pintle.CompleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if held, completed := s.count(pintleotel.SignIns, "pintle.outcome=held", "pintle.waited=false"),
		s.count(pintleotel.SignIns, "pintle.provider=acme", "pintle.outcome=signed_in", "pintle.waited=true"); held != 1 || completed != 1 {
		t.Errorf("%d sign-ins waited, and %d of them were completed: %v", held, completed, s.metrics())
	}
}

// Pages of accounts reject an attempt with status 429, and server code gets an error.
func TestAnAttemptBeyondALimitIsCountedOnce(t *testing.T) {
	s := newSite(t, func(s *site) {
		s.config.Accounts = accounts(func(a *pintle.Auth, w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/quiet") {
				w.WriteHeader(http.StatusTooManyRequests)
				return
			}
			_, err := a.SignIn(w, r, "credentials", pintle.SignInOptions{Fields: map[string]any{"username": "grace", "password": "x"}})
			if errors.Is(err, throttle.ErrTooMany) {
				w.WriteHeader(http.StatusTooManyRequests)
			}
		})
	})
	b := s.browser()
	for range 3 {
		b.get("/auth/account/sign-in")
	}
	b.get("/auth/account/quiet")
	if got := s.count(pintleotel.Throttled); got != 2 {
		t.Errorf("%d attempts were throttled: %v", got, s.metrics())
	}
	r := httptest.NewRequest(http.MethodPost, origin+"/login", nil)
	for range 4 {
		_, err := s.auth.SignIn(httptest.NewRecorder(), r, "credentials", pintle.SignInOptions{Fields: map[string]any{"username": "judy", "password": "x"}})
		if err == nil {
			t.Fatal("a wrong password signs in")
		}
	}
	if got := s.count(pintleotel.Throttled, "http.route=_OTHER", "pintle.provider=credentials"); got != 2 {
		t.Errorf("%d attempts of server code were throttled: %v", got, s.metrics())
	}
}

// accounts is a [pintle.Accounts] whose pages a function serves.
type accounts func(a *pintle.Auth, w http.ResponseWriter, r *http.Request)

func (f accounts) Attach(a *pintle.Auth, _ *pintle.Config) (http.Handler, error) {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { f(a, w, r) }), nil
}

func TestSessionsAreCountedByResult(t *testing.T) {
	s := newSite(t)
	b := s.browser()
	b.signInAt(b.post("/auth/signin/acme"))
	b.isSignedInAs("ada@mail.example")
	b.get("/auth/session")
	if got := s.count(pintleotel.SessionDuration, "pintle.outcome=valid"); got != 2 {
		t.Errorf("%d sessions are valid: %v", got, s.metrics())
	}
}

// Alarms belong to what the operator has to repair.
func TestOnlyAFaultIsAnErrorOfARoute(t *testing.T) {
	store := &awayStore{Store: memstore.New()}
	s := newSite(t, func(s *site) { s.config.Store = store })
	s.browser().get("/auth/callback/acme?code=x")
	s.browser().get("/auth/nothing")
	store.away = errors.New("dial tcp 10.0.0.7: no route to host")
	s.browser().post("/auth/signin/email", "email", "ada@mail.example")
	seen := map[string]int{}
	for _, span := range s.spans.Ended() {
		attributes := attributesOf(span)
		if attributes["http.request.method"] == "" || attributes["pintle.provider"] != "" && span.SpanKind() == trace.SpanKindClient {
			continue
		}
		seen[attributes["pintle.outcome"]]++
		if fault := attributes["pintle.outcome"] == "fault"; fault != (span.Status().Code == codes.Error) {
			t.Errorf("%s with %v has the status %v", span.Name(), attributes, span.Status())
		}
	}
	if seen["refused"] != 2 || seen["fault"] != 1 {
		t.Errorf("the outcomes of routes are %v", seen)
	}
	if got := s.count(pintleotel.RouteDuration, "pintle.outcome=fault", "error.type=AdapterError"); got != 1 {
		t.Errorf("%d faults are counted: %v", got, s.metrics())
	}
	if got := s.count(pintleotel.StoreDuration, "pintle.outcome=fault", "db.operation.name=Store.UserByEmail"); got != 1 {
		t.Errorf("%d calls of the store have failed: %v", got, s.metrics())
	}
	if got := s.count(pintleotel.SignIns, "pintle.outcome=fault", "error.type=AdapterError"); got != 1 {
		t.Errorf("%d sign-ins have failed: %v", got, s.metrics())
	}
}

// awayStore is a store that fails to find users while away is set.
type awayStore struct {
	pintle.Store
	away error
}

func (s *awayStore) UserByEmail(ctx context.Context, email string) (*pintle.User, error) {
	if s.away != nil {
		return nil, s.away
	}
	return s.Store.UserByEmail(ctx, email)
}

// TM-03. The id of a trace would connect the requests of a user for the provider.
func TestNoTraceLeavesForAProviderUnlessItIsAskedFor(t *testing.T) {
	for _, tt := range []struct {
		propagator propagation.TextMapPropagator
		sent       bool
	}{{nil, false}, {propagation.TraceContext{}, true}} {
		headers := http.Header{}
		s := newSite(t, func(s *site) {
			s.options.Propagator = tt.propagator
			s.config.HTTPClient = &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
				headers = r.Header
				return s.net.RoundTrip(r)
			})}
		})
		s.browser().post("/auth/signin/acme")
		if sent := headers.Get("Traceparent") != ""; len(headers) == 0 || sent != tt.sent {
			t.Errorf("with %v the provider receives %v", tt.propagator, headers)
		}
	}
}

func TestARequestToAProviderThatFailsHasAWordForIt(t *testing.T) {
	for _, tt := range []struct {
		transport http.RoundTripper
		want      string
	}{
		{roundTrip(func(*http.Request) (*http.Response, error) { return nil, errors.New("dial idp.example?code=secret") }), "error.type=_OTHER"},
		{roundTrip(func(*http.Request) (*http.Response, error) { return nil, context.DeadlineExceeded }), "error.type=timeout"},
		{roundTrip(func(*http.Request) (*http.Response, error) { return nil, context.Canceled }), "error.type=canceled"},
		{roundTrip(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusBadGateway, Body: http.NoBody, Header: http.Header{}}, nil
		}), "error.type=502"},
	} {
		s := newSite(t, func(s *site) { s.config.HTTPClient = &http.Client{Transport: tt.transport} })
		s.browser().post("/auth/signin/acme")
		if got := s.count(pintleotel.ProviderDuration, "pintle.provider=acme", tt.want); got == 0 {
			t.Errorf("no request has %s: %v", tt.want, s.metrics())
		}
		for series := range s.metrics() {
			if strings.HasPrefix(series, pintleotel.ProviderDuration) && strings.Contains(series, "server.address") {
				t.Errorf("a metric has the host of a provider: %s", series)
			}
		}
	}
}

// refusedMail is an error of a mail server that does not know the recipient.
type refusedMail struct{ error }

func (refusedMail) RecipientRefused() bool { return true }

func TestMailsAreCountedByKindAndOutcome(t *testing.T) {
	s := newSite(t)
	var answer error
	send := pintleotel.New(s.options).Mail(func(context.Context, *pintle.Message) error { return answer })
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tt := range []struct {
		ctx     context.Context
		message *pintle.Message
		err     error
		want    []string
	}{
		{t.Context(), &pintle.Message{To: "ada@mail.example"}, nil, []string{"pintle.mail.kind=sign_in", "pintle.outcome=ok"}},
		{t.Context(), &pintle.Message{Kind: "reset"}, nil, []string{"pintle.mail.kind=reset", "pintle.outcome=ok"}},
		{t.Context(), &pintle.Message{Kind: "new-device"}, errors.New("550"), []string{"pintle.mail.kind=new-device", "pintle.outcome=fault"}},
		{t.Context(), &pintle.Message{}, refusedMail{errors.New("550")}, []string{"pintle.mail.kind=sign_in", "pintle.outcome=recipient_refused"}},
		{gone, &pintle.Message{}, context.Canceled, []string{"pintle.mail.kind=sign_in", "pintle.outcome=canceled"}},
		{t.Context(), &pintle.Message{Kind: "To ada@mail.example"}, nil, []string{"pintle.mail.kind=_OTHER", "pintle.outcome=ok"}},
	} {
		answer = tt.err
		if err := send(tt.ctx, tt.message); !errors.Is(err, tt.err) {
			t.Errorf("the error becomes %v", err)
		}
		if got := s.count(pintleotel.MailDuration, tt.want...); got != 1 {
			t.Errorf("%d mails have %v: %v", got, tt.want, s.metrics())
		}
	}
}

// A provider that sends mails by requests sets its Send when it is made ready.
func TestMailsOfAProviderThatCompletesItselfAreCounted(t *testing.T) {
	sent := 0
	s := newSite(t, func(s *site) {
		s.config.Providers[1] = &pintle.Email{Complete: func(p *pintle.Email, c *http.Client) error {
			if c == nil {
				return fmt.Errorf("there is no client")
			}
			p.Send = func(context.Context, *pintle.Message) error { sent++; return nil }
			return nil
		}}
	})
	s.browser().post("/auth/signin/email", "email", "ada@mail.example")
	if got := s.count(pintleotel.MailDuration); sent != 1 || got != 1 {
		t.Errorf("%d mails were sent, and %d are counted", sent, got)
	}
	for _, span := range s.spans.Ended() {
		if span.Name() == "mail sign_in" && !span.Parent().IsValid() {
			t.Error("the mail does not belong to its route")
		}
	}
}
