package pintleotel_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	"go.opentelemetry.io/otel"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/pintleotel"
)

func Example() {
	// The application has set up OpenTelemetry. Here the spans stay in memory.
	spans := tracetest.NewInMemoryExporter()
	otel.SetTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans)))

	auth, err := pintle.New(pintle.Config{
		Providers: []pintle.Provider{&pintle.Credentials{
			Authorize: func(context.Context, *pintle.Submission) (*pintle.User, error) { return nil, nil },
		}},
		Secrets:  []string{"the output of: openssl rand -base64 33"},
		Getenv:   func(string) string { return "" },
		Observer: pintleotel.New(pintleotel.Options{}),
	})
	if err != nil {
		log.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodGet, "http://localhost:3000/auth/signin", http.NoBody)
	auth.ServeHTTP(httptest.NewRecorder(), r)
	for _, s := range spans.GetSpans() {
		fmt.Println(s.Name)
	}
	// Output: GET /auth/signin
}
