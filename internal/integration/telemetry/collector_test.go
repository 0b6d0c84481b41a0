package telemetry

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
)

// collectorProgram is the command of internal/integration/collector. It takes minutes to build, so
// that make test does without it, and make collector has it.
var collectorProgram = flag.String("collector", "", "the `program` of a collector, through which the tests send as well")

// A collector is one that runs. It sends what it receives on to a receiver.
type collector struct {
	url        string // for OTLP over HTTP
	prometheus string
}

const collectorConfig = `
receivers:
  otlp:
    protocols:
      http:
        endpoint: %s
exporters:
  otlp_http:
    endpoint: %s
    sending_queue:
      enabled: false
  prometheus:
    endpoint: %s
service:
  telemetry:
    metrics:
      level: none
  pipelines:
    traces:
      receivers: [otlp]
      exporters: [otlp_http]
    metrics:
      receivers: [otlp]
      exporters: [otlp_http, prometheus]
`

func startCollector(t *testing.T, to *receiver) *collector {
	t.Helper()
	otlp, prometheus := freeAddr(t), freeAddr(t)
	config := filepath.Join(t.TempDir(), "collector.yaml")
	if err := os.WriteFile(config, fmt.Appendf(nil, collectorConfig, otlp, to.url, prometheus), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(*collectorProgram, "--config", "file:"+config)
	cmd.Stdout, cmd.Stderr = t.Output(), t.Output()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	})
	for _, addr := range []string{otlp, prometheus} {
		for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
			conn, err := net.Dial("tcp", addr)
			if err == nil {
				_ = conn.Close()
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("the collector does not listen: %v", err)
			}
		}
	}
	return &collector{url: "http://" + otlp, prometheus: "http://" + prometheus + "/metrics"}
}

func freeAddr(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// scraped are the metrics that the collector shows to Prometheus.
func scraped(t *testing.T) metrics {
	t.Helper()
	c := startCollector(t, startReceiver(t))
	exporter, err := otlpmetrichttp.New(t.Context(), otlpmetrichttp.WithEndpointURL(c.url+"/v1/metrics"))
	if err != nil {
		t.Fatal(err)
	}
	reader := sdkmetric.NewPeriodicReader(exporter, sdkmetric.WithInterval(time.Hour))
	measure(t, reader)
	if err := reader.Shutdown(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.prometheus, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := new(http.Client).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(io.LimitReader(resp.Body, 1<<24))
	if err != nil {
		t.Fatal(err)
	}
	var all []*dto.MetricFamily
	for _, f := range families {
		all = append(all, f)
	}
	return named(all)
}
