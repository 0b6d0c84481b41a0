package telemetry

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	metricsv1 "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// A receiver receives traces and metrics over HTTP, as a collector does.
//
// https://opentelemetry.io/docs/specs/otlp/#otlphttp
type receiver struct {
	url string

	mu      sync.Mutex
	traces  []*tracev1.ExportTraceServiceRequest
	metrics []*metricsv1.ExportMetricsServiceRequest
}

func startReceiver(t *testing.T) *receiver {
	t.Helper()
	c := &receiver{}
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	c.url = server.URL
	return c
}

func (c *receiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body := io.Reader(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		unpacked, err := gzip.NewReader(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		body = unpacked
	}
	sent, err := io.ReadAll(body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var answer proto.Message
	switch r.URL.Path {
	case "/v1/traces":
		var m tracev1.ExportTraceServiceRequest
		err, answer = proto.Unmarshal(sent, &m), &tracev1.ExportTraceServiceResponse{}
		c.traces = append(c.traces, &m)
	case "/v1/metrics":
		var m metricsv1.ExportMetricsServiceRequest
		err, answer = proto.Unmarshal(sent, &m), &metricsv1.ExportMetricsServiceResponse{}
		c.metrics = append(c.metrics, &m)
	default:
		http.NotFound(w, r)
		return
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	text, _ := proto.Marshal(answer) // an empty message
	w.Header().Set("Content-Type", "application/x-protobuf")
	_, _ = w.Write(text)
}

func asText(t *testing.T, m proto.Message) []byte {
	t.Helper()
	text, err := protojson.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
