package telemetry

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	commonv1 "go.opentelemetry.io/proto/otlp/common/v1"
	metricsv1 "go.opentelemetry.io/proto/otlp/metrics/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/internal/integration/accountsite"
	"github.com/pintleauth/pintle/pintleotel"
	"github.com/pintleauth/pintle/store/memstore"
)

// TM-01. A user signs in by a provider and by a mail, and enters a wrong password. A receiver of
// OTLP has the spans with their parents, and the metrics, and nothing of the user; and so it has
// behind a collector.
func TestACollectorReceivesTheSpansOfASignInWithTheirParents(t *testing.T) {
	t.Run("directly", func(t *testing.T) {
		r := startReceiver(t)
		signInsReach(t, r.url, r)
	})
	if *collectorProgram != "" {
		t.Run("behind a collector", func(t *testing.T) {
			r := startReceiver(t)
			signInsReach(t, startCollector(t, r).url, r)
		})
	}
}

func signInsReach(t *testing.T, to string, r *receiver) {
	spanExporter, err := otlptracehttp.New(t.Context(), otlptracehttp.WithEndpointURL(to+"/v1/traces"))
	if err != nil {
		t.Fatal(err)
	}
	metricExporter, err := otlpmetrichttp.New(t.Context(), otlpmetrichttp.WithEndpointURL(to+"/v1/metrics"))
	if err != nil {
		t.Fatal(err)
	}
	tracers := sdktrace.NewTracerProvider(sdktrace.WithBatcher(spanExporter))
	meters := sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewPeriodicReader(metricExporter, sdkmetric.WithInterval(time.Hour))))

	seen := &secrets{values: map[string]string{}}
	address := "ada-" + strings.ToLower(rand.Text()) + "@example.com"
	idp := authtest.Start(t, authtest.Options{AutoConsent: true})
	person := authtest.Person{Subject: "subject-" + rand.Text(), Name: "Ada " + rand.Text(), Email: address, EmailVerified: true}
	idp.SignInAs(person)
	site := accountsite.New(t, memstore.New(), func(cfg *pintle.Config) {
		cfg.Providers = append(cfg.Providers, idp.OIDC("acme"))
		cfg.HTTPClient = &http.Client{Transport: seen}
		cfg.Observer = pintleotel.New(pintleotel.Options{TracerProvider: tracers, MeterProvider: meters, StoreSystem: "sqlite"})
	})
	seen.note("the address", address)
	seen.note("the subject", person.Subject)
	seen.note("the name", person.Name)

	seen.byProvider(t, site.URL, address)
	byMail := site.Browser()
	other := "bob-" + strings.ToLower(rand.Text()) + "@example.com"
	seen.note("the address of a mail", other)
	byMail.Post("/auth/signin/email", "email", other)
	link, err := url.Parse(site.Mail(other).URL)
	if err != nil {
		t.Fatal(err)
	}
	seen.note("the token of a mail", link.Query().Get("token"))
	byMail.Get(link.String()).Post(link.RequestURI()).IsSignedInAs(other)
	seen.cookies(byMail.Cookies())
	wrong := "Canary " + rand.Text()
	seen.note("a password", wrong)
	seen.cookies(site.Browser().SignIn(address, wrong).IsSignedInAs("").Cookies())
	for _, stop := range []func(context.Context) error{tracers.Shutdown, meters.Shutdown} {
		if err := stop(context.WithoutCancel(t.Context())); err != nil {
			t.Fatal(err)
		}
	}
	r.hasSpans(t)
	r.hasMetrics(t)
	r.hasNothingOf(t, seen)
}

// secrets are what browsers and the provider have sent and received.
type secrets struct {
	mu     sync.Mutex
	values map[string]string // what each is
}

func (s *secrets) note(what, value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(value) >= 8 {
		s.values[value] = what
	}
}

// byProvider signs in, and notes what the addresses of the redirects have.
func (s *secrets) byProvider(t *testing.T, site, address string) {
	t.Helper()
	jar, _ := cookiejar.New(nil) // never fails without options
	at, err := url.Parse(site)
	if err != nil {
		t.Fatal(err)
	}
	noteCookies := func() {
		all := map[string]string{}
		for _, c := range jar.Cookies(at) {
			all[c.Name] = c.Value
		}
		s.cookies(all)
	}
	client := &http.Client{Jar: jar, CheckRedirect: func(r *http.Request, _ []*http.Request) error {
		noteCookies()
		for _, name := range []string{"state", "code", "nonce", "code_challenge"} {
			s.note("the parameter "+name, r.URL.Query().Get(name))
		}
		return nil
	}}
	do := func(method, target string, form url.Values) string {
		r, err := http.NewRequestWithContext(t.Context(), method, target, strings.NewReader(form.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		resp, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	var form struct{ CSRFToken string }
	if err := json.Unmarshal([]byte(do(http.MethodGet, site+"/auth/csrf", nil)), &form); err != nil {
		t.Fatal(err)
	}
	do(http.MethodPost, site+"/auth/signin/acme", url.Values{"csrfToken": {form.CSRFToken}})
	noteCookies()
	if got := do(http.MethodGet, site+"/", nil); got != address {
		t.Fatalf("the browser is signed in as %q, want %q", got, address)
	}
}

// cookies notes those of a browser, in which states, nonces and sessions are.
func (s *secrets) cookies(all map[string]string) {
	for name, value := range all {
		if name != "authjs.callback-url" { // a URL of the site
			s.note("the cookie "+name, value)
		}
	}
}

// RoundTrip notes what is sent to the provider, and what it answers.
func (s *secrets) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		body, err := io.ReadAll(r.Body)
		_ = r.Body.Close()
		if err != nil {
			return nil, err
		}
		r = r.Clone(r.Context())
		r.Body = io.NopCloser(bytes.NewReader(body))
		form, _ := url.ParseQuery(string(body))
		for _, field := range []string{"code", "code_verifier", "client_secret"} {
			s.note("the field "+field, form.Get(field))
		}
	}
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	for _, field := range []string{"access_token", "refresh_token", "id_token"} {
		if _, rest, is := strings.Cut(string(body), `"`+field+`":`); is {
			if parts := strings.SplitN(rest, `"`, 3); len(parts) == 3 {
				s.note("the answer "+field, parts[1])
			}
		}
	}
	return resp, nil
}

func (c *receiver) spans() (all []*tracev1.Span) {
	for _, m := range c.traces {
		for _, resource := range m.ResourceSpans {
			for _, scope := range resource.ScopeSpans {
				all = append(all, scope.Spans...)
			}
		}
	}
	return all
}

// attributes are those of a span or of a point, with their types.
func attributes(all []*commonv1.KeyValue) map[string]any {
	values := map[string]any{}
	for _, a := range all {
		switch v := a.Value.Value.(type) {
		case *commonv1.AnyValue_StringValue:
			values[a.Key] = v.StringValue
		case *commonv1.AnyValue_IntValue:
			values[a.Key] = v.IntValue
		case *commonv1.AnyValue_BoolValue:
			values[a.Key] = v.BoolValue
		default:
			values[a.Key] = v
		}
	}
	return values
}

// has reports whether attributes have the wanted ones. A nil value is any.
func has(all, wanted map[string]any) bool {
	for key, want := range wanted {
		got, is := all[key]
		if !is || want != nil && got != want {
			return false
		}
	}
	return true
}

func (c *receiver) hasSpans(t *testing.T) {
	t.Helper()
	all := c.spans()
	byID := map[string]*tracev1.Span{}
	for _, s := range all {
		byID[string(s.SpanId)] = s
	}
	// root is the span of the route, whose trace it is.
	root := func(s *tracev1.Span) *tracev1.Span {
		for byID[string(s.ParentSpanId)] != nil {
			s = byID[string(s.ParentSpanId)]
		}
		return s
	}
	for _, want := range []struct {
		name, below string // below is the root, or "" if it is the root
		kind        tracev1.Span_SpanKind
		attributes  map[string]any
	}{
		{"GET /auth/callback/{provider}", "", tracev1.Span_SPAN_KIND_INTERNAL, map[string]any{
			"http.request.method": "GET", "http.route": "/auth/callback/{provider}", "http.response.status_code": int64(302),
			"pintle.provider": "acme", "pintle.outcome": "ok", "pintle.sign_in.outcome": "signed_in", "pintle.new_user": true,
		}},
		{"POST acme token", "GET /auth/callback/{provider}", tracev1.Span_SPAN_KIND_CLIENT, map[string]any{
			"http.request.method": "POST", "http.response.status_code": int64(200), "server.address": "127.0.0.1", "server.port": nil,
			"pintle.provider": "acme", "pintle.provider.endpoint": "token",
		}},
		{"Store.CreateUser", "GET /auth/callback/{provider}", tracev1.Span_SPAN_KIND_CLIENT, map[string]any{
			"db.operation.name": "Store.CreateUser", "db.system.name": "sqlite", "pintle.outcome": "ok",
		}},
		{"mail sign_in", "POST /auth/signin/{provider}", tracev1.Span_SPAN_KIND_CLIENT, map[string]any{"pintle.mail.kind": "sign_in", "pintle.outcome": "ok"}},
		{"POST /auth/callback/{provider}", "", tracev1.Span_SPAN_KIND_INTERNAL, map[string]any{
			"http.request.method": "POST", "pintle.provider": "email", "pintle.sign_in.outcome": "signed_in",
		}},
		{"POST /auth/callback/{provider}", "", tracev1.Span_SPAN_KIND_INTERNAL, map[string]any{
			"pintle.provider": "credentials", "pintle.outcome": "refused", "pintle.sign_in.outcome": "refused", "error.type": "CredentialsSignin",
		}},
	} {
		if !slices.ContainsFunc(all, func(s *tracev1.Span) bool {
			top := root(s)
			return s.Name == want.name && s.Kind == want.kind && has(attributes(s.Attributes), want.attributes) &&
				(want.below == "") == (top == s) && (top == s || top.Name == want.below) && bytes.Equal(top.TraceId, s.TraceId) &&
				s.GetStatus().GetCode() == tracev1.Status_STATUS_CODE_UNSET && s.EndTimeUnixNano >= s.StartTimeUnixNano && s.StartTimeUnixNano > 0
		}) {
			var like []string
			for _, s := range all {
				if s.Name == want.name {
					like = append(like, "below "+root(s).Name+": "+s.String())
				}
			}
			t.Errorf("the receiver has no span %q below %q with %v, but %q", want.name, want.below, want.attributes, like)
		}
	}
}

func (c *receiver) hasMetrics(t *testing.T) {
	t.Helper()
	all := map[string][]*metricsv1.Metric{}
	for _, m := range c.metrics {
		for _, resource := range m.ResourceMetrics {
			for _, scope := range resource.ScopeMetrics {
				for _, metric := range scope.Metrics {
					all[metric.Name] = append(all[metric.Name], metric)
				}
			}
		}
	}
	for _, want := range []struct {
		name       string
		count      int // 0 is any
		attributes map[string]any
	}{
		{pintleotel.SignIns, 1, map[string]any{"pintle.provider": "acme", "pintle.provider.type": "oidc", "pintle.outcome": "signed_in"}},
		{pintleotel.SignIns, 1, map[string]any{"pintle.provider": "email", "pintle.provider.type": "email", "pintle.outcome": "signed_in"}},
		{pintleotel.SignIns, 1, map[string]any{
			"pintle.provider": "credentials", "pintle.provider.type": "credentials", "pintle.outcome": "refused", "error.type": "CredentialsSignin",
		}},
		{pintleotel.RouteDuration, 1, map[string]any{
			"http.request.method": "GET", "http.route": "/auth/callback/{provider}", "http.response.status_code": int64(302), "pintle.outcome": "ok",
		}},
		{pintleotel.SessionDuration, 2, map[string]any{"pintle.outcome": "valid"}},
		{pintleotel.ProviderDuration, 1, map[string]any{"pintle.provider": "acme", "http.request.method": "POST", "http.response.status_code": int64(200)}},
		{pintleotel.StoreDuration, 1, map[string]any{"db.operation.name": "Store.CreateUser", "db.system.name": "sqlite", "pintle.outcome": "ok"}},
		{pintleotel.MailDuration, 1, map[string]any{"pintle.mail.kind": "sign_in", "pintle.outcome": "ok"}},
	} {
		found := 0
		for _, metric := range all[want.name] {
			for _, p := range metric.GetSum().GetDataPoints() {
				if has(attributes(p.Attributes), want.attributes) {
					found += int(p.GetAsInt())
				}
			}
			for _, p := range metric.GetHistogram().GetDataPoints() {
				if has(attributes(p.Attributes), want.attributes) {
					found += int(p.Count)
				}
			}
			if metric.GetHistogram() != nil && metric.Unit != "s" {
				t.Errorf("the unit of %s is %q", want.name, metric.Unit)
			}
		}
		if found == 0 || want.count != 0 && found < want.count {
			t.Errorf("the receiver has %d of %s with %v, want %d; it has %q: %v", found, want.name, want.attributes, want.count,
				slices.Sorted(maps.Keys(all)), all[want.name])
		}
	}
}

func (c *receiver) hasNothingOf(t *testing.T, seen *secrets) {
	t.Helper()
	var received []byte
	for _, m := range c.traces {
		received = append(received, asText(t, m)...)
	}
	for _, m := range c.metrics {
		received = append(received, asText(t, m)...)
	}
	kinds := map[string]bool{}
	for value, what := range seen.values {
		kinds[what] = true
		for _, form := range []string{value, url.QueryEscape(value), url.PathEscape(value)} {
			if bytes.Contains(received, []byte(form)) {
				t.Errorf("the receiver has %s", what)
			}
		}
	}
	for _, what := range []string{
		"the address", "the address of a mail", "the subject", "the name", "a password", "the token of a mail", "the parameter state", "the field code", "the field code_verifier",
		"the answer access_token", "the answer id_token", "the cookie authjs.session-token", "the cookie authjs.csrf-token",
	} {
		if !kinds[what] {
			t.Errorf("the test looks for %q, without %s", slices.Sorted(maps.Keys(kinds)), what)
		}
	}
}
