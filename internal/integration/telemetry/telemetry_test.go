// Package telemetry has tests of pintleotel with the exporters that programs use: OTLP over
// HTTP, and Prometheus.
package telemetry

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	otelprometheus "go.opentelemetry.io/otel/exporters/prometheus"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/internal/integration/accountsite"
	"github.com/pintleauth/pintle/pintleotel"
	"github.com/pintleauth/pintle/store/memstore"
)

// TM-01. A user signs up, adds an app, resets the password, signs in and is kept from it, and others
// leave things unfinished. Nothing of that reaches a collector.
func TestACollectorReceivesTracesAndMetricsOfAccountsWithoutAnythingOfTheirUsers(t *testing.T) {
	collector := startReceiver(t)
	spanExporter, err := otlptracehttp.New(t.Context(), otlptracehttp.WithEndpointURL(collector.url+"/v1/traces"),
		otlptracehttp.WithCompression(otlptracehttp.GzipCompression))
	if err != nil {
		t.Fatal(err)
	}
	metricExporter, err := otlpmetrichttp.New(t.Context(), otlpmetrichttp.WithEndpointURL(collector.url+"/v1/metrics"))
	if err != nil {
		t.Fatal(err)
	}
	tracers := sdktrace.NewTracerProvider(sdktrace.WithBatcher(spanExporter))
	meters := sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewPeriodicReader(metricExporter, sdkmetric.WithInterval(time.Hour))))
	site := accountsite.New(t, memstore.New(), func(cfg *pintle.Config) {
		cfg.Observer = pintleotel.New(pintleotel.Options{TracerProvider: tracers, MeterProvider: meters})
	})
	journey := site.Take()
	for _, stop := range []func(context.Context) error{tracers.Shutdown, meters.Shutdown} {
		if err := stop(context.WithoutCancel(t.Context())); err != nil {
			t.Fatal(err)
		}
	}

	var received []byte
	routes := map[string]bool{}
	for _, m := range collector.traces {
		received = append(received, asText(t, m)...)
		for _, resource := range m.ResourceSpans {
			for _, scope := range resource.ScopeSpans {
				for _, span := range scope.Spans {
					routes[span.Name] = true
				}
			}
		}
	}
	for _, want := range []string{
		"POST /auth/account/sign-up", "POST /auth/account/totp", "POST /auth/account/reset", "POST /auth/account/second-factor",
		"POST /auth/callback/{provider}", "AccountStore.CreateFlow", "AccountStore.AddFactor", "Store.CreateUser", "mail sign_in",
	} {
		if !routes[want] {
			t.Errorf("the collector receives no span %q, but %q", want, slices.Sorted(maps.Keys(routes)))
		}
	}
	for _, m := range collector.metrics {
		received = append(received, asText(t, m)...)
	}
	for _, name := range []string{
		pintleotel.SignIns, pintleotel.RouteDuration, pintleotel.SessionDuration, pintleotel.StoreDuration, pintleotel.MailDuration,
	} {
		if !bytes.Contains(received, []byte(name)) {
			t.Errorf("the collector receives no metric %s", name)
		}
	}
	if len(journey.Secrets) < 15 {
		t.Errorf("the journey has %d secrets", len(journey.Secrets))
	}
	cell := []accountsite.Cell{{Where: "the collector", Value: received}}
	for _, secret := range append(journey.Secrets, accountsite.Secret{Name: "address", Values: []string{journey.Address}}) {
		if len(secret.Find(cell)) > 0 {
			t.Errorf("the collector receives a %s", secret.Name)
		}
	}
	if bytes.Contains(received, []byte("127.0.0.1")) || bytes.Contains(received, []byte("Go-http-client")) {
		t.Error("the collector receives the address or the name of a client")
	}
}

// metrics are those of Prometheus, with their labels.
type metrics map[string]map[string]bool

// measure makes a sign-in of each outcome that the dashboard shows.
func measure(t *testing.T, reader sdkmetric.Reader) {
	t.Helper()
	idp := authtest.Start(t, authtest.Options{AutoConsent: true})
	idp.SignInAs(authtest.Person{Subject: "1", Name: "Kim", Email: "kim@example.com", EmailVerified: true})
	site := accountsite.New(t, memstore.New(), func(cfg *pintle.Config) {
		cfg.Providers = append(cfg.Providers, idp.OIDC("acme"))
		cfg.Observer = pintleotel.New(pintleotel.Options{MeterProvider: sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))})
	})
	site.Take()
	b := site.Browser()
	b.Post("/auth/signin/acme").IsSignedInAs("kim@example.com")
	idp.Break(authtest.At(authtest.TokenEndpoint, authtest.Unavailable))
	site.Browser().Post("/auth/signin/acme")
	for range 12 {
		site.Browser().SignIn("kim@example.com", "a guess")
	}
}

// gathered are the metrics that the exporter for Prometheus shows.
func gathered(t *testing.T) metrics {
	t.Helper()
	registry := prometheus.NewRegistry()
	exporter, err := otelprometheus.New(otelprometheus.WithRegisterer(registry))
	if err != nil {
		t.Fatal(err)
	}
	measure(t, exporter)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	return named(families)
}

// named are metrics as the expressions of Prometheus name them.
func named(families []*dto.MetricFamily) metrics {
	all := metrics{}
	for _, f := range families {
		names := []string{f.GetName()}
		if f.GetType() == dto.MetricType_HISTOGRAM {
			names = []string{f.GetName() + "_bucket", f.GetName() + "_count", f.GetName() + "_sum"}
		}
		for _, name := range names {
			all[name] = map[string]bool{"job": true} // which Prometheus adds
			if strings.HasSuffix(name, "_bucket") {
				all[name]["le"] = true
			}
			for _, m := range f.GetMetric() {
				for _, l := range m.GetLabel() {
					all[name][l.GetName()] = true
				}
			}
		}
	}
	return all
}

var (
	selector = regexp.MustCompile(`\b([a-z_]+)\{([^}]*)\}|\b(pintle_[a-z_]+)\[`)
	matcher  = regexp.MustCompile(`([a-z_]+)\s*(?:=~|!~|!=|=)\s*"([^"]*)"`)
	grouping = regexp.MustCompile(`\bby \(([^)]*)\)`)
)

// check fails the test if an expression names a metric or a label that does not exist.
func (m metrics) check(t *testing.T, where, expression string) {
	t.Helper()
	found := selector.FindAllStringSubmatch(expression, -1)
	if len(found) == 0 {
		t.Errorf("%s: %s names no metric", where, expression)
	}
	var labels map[string]bool
	for _, match := range found {
		name := match[1] + match[3]
		if labels = m[name]; labels == nil {
			t.Errorf("%s: there is no metric %s: %q", where, name, slices.Sorted(maps.Keys(m)))
			continue
		}
		for _, condition := range matcher.FindAllStringSubmatch(match[2], -1) {
			if !labels[condition[1]] {
				t.Errorf("%s: %s has no label %s: %q", where, name, condition[1], slices.Sorted(maps.Keys(labels)))
			}
			if strings.HasPrefix(condition[0], "pintle_outcome") {
				for value := range strings.SplitSeq(condition[2], "|") {
					if !slices.Contains(outcomes(t), value) {
						t.Errorf("%s: docs/observability.md does not list the outcome %s", where, value)
					}
				}
			}
		}
	}
	for _, by := range grouping.FindAllStringSubmatch(expression, -1) {
		for label := range strings.SplitSeq(by[1], ",") {
			if label = strings.TrimSpace(label); label != "" && !labels[label] {
				t.Errorf("%s: %s groups by %s, which is no label: %q", where, expression, label, slices.Sorted(maps.Keys(labels)))
			}
		}
	}
	for _, pair := range []string{"()", "{}", "[]"} {
		if strings.Count(expression, pair[:1]) != strings.Count(expression, pair[1:]) {
			t.Errorf("%s: the brackets %s of %s do not match", where, pair, expression)
		}
	}
}

// outcomes are the words in the guide that stand in a table.
func outcomes(t *testing.T) (all []string) {
	t.Helper()
	guide, err := os.ReadFile("../../../docs/observability.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(string(guide), -1) {
		all = append(all, word[1])
	}
	return all
}

func TestTheDashboardAndTheAlertsNameMetricsAsPrometheusDoes(t *testing.T) {
	sources := map[string]metrics{"the exporter of OpenTelemetry": gathered(t)}
	if *collectorProgram != "" {
		sources["the collector"] = scraped(t)
	}
	for source, all := range sources {
		t.Run(source, func(t *testing.T) { nameOnly(t, all) })
	}
}

// nameOnly fails the test if the dashboard or an alert names what is not in all.
func nameOnly(t *testing.T, all metrics) {
	text, err := os.ReadFile("../../../pintleotel/grafana/pintle.json")
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
		Templating struct{ List []struct{ Definition string } }
	}
	if err := json.Unmarshal(text, &dashboard); err != nil {
		t.Fatal(err)
	}
	expressions := 0
	shown := ""
	for _, p := range dashboard.Panels {
		for _, target := range p.Targets {
			all.check(t, "panel "+p.Title, target.Expr)
			shown += target.Expr
			expressions++
		}
	}
	for _, v := range dashboard.Templating.List {
		if name, is := strings.CutPrefix(v.Definition, "label_values("); is {
			name, _, _ = strings.Cut(name, ",")
			if all[name] == nil {
				t.Errorf("a variable of the dashboard is of %s, which does not exist", name)
			}
		}
	}
	for name := range all {
		if strings.HasPrefix(name, "pintle_") && !strings.HasSuffix(name, "_sum") &&
			!strings.Contains(shown, strings.TrimSuffix(strings.TrimSuffix(name, "_bucket"), "_count")) {
			t.Errorf("no panel shows %s", name)
		}
	}

	if text, err = os.ReadFile("../../../pintleotel/prometheus/alerts.yaml"); err != nil {
		t.Fatal(err)
	}
	var rules struct {
		Groups []struct {
			Name  string
			Rules []struct {
				Alert, Expr, For    string
				Labels, Annotations map[string]string
			}
		}
	}
	if err := yaml.UnmarshalWithOptions(text, &rules, yaml.Strict()); err != nil {
		t.Fatal(err)
	}
	for _, g := range rules.Groups {
		for _, r := range g.Rules {
			all.check(t, "alert "+r.Alert, r.Expr)
			expressions++
			if _, err := time.ParseDuration(r.For); err != nil || r.Labels["severity"] == "" || r.Annotations["summary"] == "" {
				t.Errorf("the alert %s has the duration %q, the labels %v and the annotations %v", r.Alert, r.For, r.Labels, r.Annotations)
			}
		}
	}
	if expressions < 25 {
		t.Errorf("only %d expressions were found", expressions)
	}
}
