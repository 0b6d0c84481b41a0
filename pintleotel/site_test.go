package pintleotel_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/connection"
	"github.com/pintleauth/pintle/internal/testsite"
	"github.com/pintleauth/pintle/pintleotel"
	"github.com/pintleauth/pintle/store/memstore"
	"github.com/pintleauth/pintle/throttle"
)

const (
	origin   = "http://localhost:3000"
	password = "analytical-engine-of-ada"
	client   = "198.51.100.77"
)

// A site is an application whose traces and metrics stay in memory. It has every kind of
// provider, and a connection for corp.example.
type site struct {
	t      *testing.T
	config pintle.Config
	auth   *pintle.Auth
	store  *memstore.Store
	net    testsite.Network
	idp    *authtest.IdentityProvider
	spans  *tracetest.SpanRecorder
	reader *sdkmetric.ManualReader

	options pintleotel.Options

	mu    sync.Mutex
	mails []*pintle.Message
	used  map[string]string // what requests and answers had, and where
}

func newSite(t *testing.T, changes ...func(*site)) *site {
	t.Helper()
	s := &site{
		t: t, store: memstore.New(), net: testsite.Network{}, spans: tracetest.NewSpanRecorder(), reader: sdkmetric.NewManualReader(),
		used: map[string]string{},
	}
	s.options = pintleotel.Options{
		TracerProvider: sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(s.spans)),
		MeterProvider:  sdkmetric.NewMeterProvider(sdkmetric.WithReader(s.reader)),
	}
	s.idp = s.identityProvider("idp.example", "ada@mail.example")
	s.identityProvider("idp.corp.example", "ada@corp.example")
	guard := &throttle.Guard{PerAccountAndClient: throttle.Limit{Burst: 2}}
	source := oneConnection(connection.Connection{
		ID: "corp", Version: 1, Issuer: "https://idp.corp.example", ClientID: "client", ClientSecret: "any secret will do", Domains: []string{"corp.example"},
	})
	s.config = pintle.Config{
		Providers: []pintle.Provider{
			s.idp.OIDC("acme"),
			&pintle.Email{From: "app@example.com", Send: s.keepMail},
			guard.Credentials(&pintle.Credentials{
				Authorize: s.checkPassword, CanSignIn: func(context.Context, *pintle.User) (bool, error) { return false, nil },
			}, "username"),
			&pintle.WebAuthn{Ceremony: anyPasskey{}},
		},
		Store: s.store, Session: pintle.SessionConfig{Strategy: pintle.StrategyJWT, Revocation: &memstore.Revocations{}},
		Secrets: []string{testsite.Secret}, Getenv: func(string) string { return "" }, URL: origin,
		HTTPClient:           &http.Client{Transport: s.keep("provider", s.net)},
		Connections:          connection.Config{Source: source, Client: &http.Client{Transport: s.keep("connection", s.net)}},
		Logger:               slog.New(slog.DiscardHandler),
		ExperimentalPasskeys: true,
	}
	for _, change := range changes {
		change(s)
	}
	s.config.Observer = pintleotel.New(s.options)
	var err error
	if s.auth, err = pintle.New(s.config); err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/auth/", s.auth)
	mux.Handle("/", s.auth.Load(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if session := pintle.SessionFrom(r.Context()); session != nil {
			_, _ = io.WriteString(w, session.User.Email)
		}
	})))
	s.net["localhost:3000"] = mux
	return s
}

func (s *site) identityProvider(host, address string) *authtest.IdentityProvider {
	idp := authtest.NewIdentityProvider(authtest.Options{AutoConsent: true})
	idp.Issuer = "https://" + host
	idp.SignInAs(authtest.Person{Subject: "subject-of-" + host, Name: "Ada King of " + host, Email: address, EmailVerified: true})
	s.net[host] = idp
	return idp
}

func (s *site) checkPassword(_ context.Context, c *pintle.Submission) (*pintle.User, error) {
	if c.Text("password") != password {
		return nil, nil
	}
	return &pintle.User{ID: "id-of-grace", Name: "Grace Hopper", Email: "grace@navy.example"}, nil
}

func (s *site) keepMail(_ context.Context, m *pintle.Message) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mails = append(s.mails, m)
	s.note("a mail", m.To, m.Token, m.URL)
	return nil
}

// note notes values that no span may have. The caller holds the lock.
func (s *site) note(where string, values ...string) {
	for _, value := range values {
		if len(value) >= 4 {
			s.used[value] = where
		}
	}
}

// keep notes what requests and their answers have: each parameter, each cookie, each member of
// an object, and the URLs.
func (s *site) keep(where string, base http.RoundTripper) http.RoundTripper {
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		var sent []byte
		if r.Body != nil {
			sent, _ = io.ReadAll(r.Body)
			r.Body = io.NopCloser(bytes.NewReader(sent))
		}
		response, err := base.RoundTrip(r)
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(response.Body)
		if err != nil {
			return nil, err
		}
		response.Body = io.NopCloser(bytes.NewReader(text))
		s.mu.Lock()
		defer s.mu.Unlock()
		values, _ := url.ParseQuery(string(sent))
		for _, group := range []url.Values{values, r.URL.Query(), url.Values(r.Header), queryOf(response.Header.Get("Location"))} {
			for name, list := range group {
				s.note("a "+where+": "+name, list...)
			}
		}
		for _, c := range append(r.Cookies(), response.Cookies()...) {
			s.note("the cookie "+c.Name, c.Value)
		}
		var object map[string]any
		_ = json.Unmarshal(text, &object)
		for name, value := range object {
			if text, is := value.(string); is && !strings.HasPrefix(text, "https://") {
				s.note("the answer of a "+where+": "+name, text)
			}
		}
		return response, nil
	})
}

func queryOf(location string) url.Values {
	u, err := url.Parse(location)
	if err != nil {
		return nil
	}
	return u.Query()
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// oneConnection is a source of one connection.
type oneConnection connection.Connection

func (c oneConnection) Connection(_ context.Context, id string) (*connection.Connection, error) {
	if id != c.ID {
		return nil, connection.ErrNotFound
	}
	own := connection.Connection(c)
	return &own, nil
}

func (c oneConnection) IDs(_ context.Context, domain string) ([]string, error) {
	if domain != c.Domains[0] {
		return nil, nil
	}
	return []string{c.ID}, nil
}

// A browser is one of a user at the address client.
type browser struct {
	s      *site
	client *http.Client
}

func (s *site) browser() *browser { return &browser{s, testsite.Browser(s.keep("browser", s.net))} }

// do sends a request and returns the answer, its body and where it leads.
func (b *browser) do(method, target string, form url.Values) (status int, body, location string) {
	b.s.t.Helper()
	if strings.HasPrefix(target, "/") {
		target = origin + target
	}
	r, err := http.NewRequestWithContext(b.s.t.Context(), method, target, strings.NewReader(form.Encode()))
	if err != nil {
		b.s.t.Fatal(err)
	}
	r.Header.Set("User-Agent", "Browser of Ada")
	r.Header.Set("X-Forwarded-For", client)
	r.Header.Set("Traceparent-Of-Nobody", "0af7651916cd43dd8448eb211c80319c")
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	response, err := b.client.Do(r)
	if err != nil {
		b.s.t.Fatal(err)
	}
	text, err := io.ReadAll(response.Body)
	if err != nil {
		b.s.t.Fatal(err)
	}
	return response.StatusCode, string(text), response.Header.Get("Location")
}

func (b *browser) get(target string) (body, location string) {
	b.s.t.Helper()
	_, body, location = b.do(http.MethodGet, target, nil)
	return body, location
}

func (b *browser) post(target string, fields ...string) (location string) {
	b.s.t.Helper()
	text, _ := b.get("/auth/csrf")
	var token struct{ CSRFToken string }
	if err := json.Unmarshal([]byte(text), &token); err != nil {
		b.s.t.Fatal(err)
	}
	form := url.Values{"csrfToken": {token.CSRFToken}}
	for i := 0; i < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	_, _, location = b.do(http.MethodPost, target, form)
	return location
}

// signInAt goes to the provider at a URL and comes back.
func (b *browser) signInAt(provider string) {
	b.s.t.Helper()
	_, back := b.get(provider)
	b.get(back)
}

// isSignedInAs fails the test unless a page of the application shows the address.
func (b *browser) isSignedInAs(address string) {
	b.s.t.Helper()
	if body, _ := b.get("/"); body != address {
		b.s.t.Fatalf("the browser is signed in as %q, not %q", body, address)
	}
}

// passkey does a ceremony with a credential id.
func (b *browser) passkey(action, id string, typed ...string) {
	b.s.t.Helper()
	form := url.Values{"action": {action}}
	for i := 0; i < len(typed); i += 2 {
		form.Set(typed[i], typed[i+1])
	}
	b.get("/auth/webauthn-options/passkey?" + form.Encode())
	b.post("/auth/callback/passkey", "action", action, "data", `{"id":"`+id+`"}`)
}

// anyPasskey is a ceremony that accepts every answer as that of the passkey whose id it has.
type anyPasskey struct{}

func (anyPasskey) RegistrationOptions(context.Context, *pintle.CeremonyRequest) (json.RawMessage, error) {
	return json.RawMessage(`{"kind":"registration"}`), nil
}

func (anyPasskey) AuthenticationOptions(context.Context, *pintle.CeremonyRequest) (json.RawMessage, error) {
	return json.RawMessage(`{"kind":"authentication"}`), nil
}

func (anyPasskey) VerifyRegistration(_ context.Context, r *pintle.CeremonyRequest) (*pintle.Passkey, error) {
	var answer struct{ ID string }
	if err := json.Unmarshal(r.Answer, &answer); err != nil {
		return nil, err
	}
	id, err := base64.RawURLEncoding.DecodeString(answer.ID)
	return &pintle.Passkey{CredentialID: base64.StdEncoding.EncodeToString(id)}, err
}

func (c anyPasskey) VerifyAuthentication(ctx context.Context, r *pintle.CeremonyRequest) (*pintle.Passkey, error) {
	used, err := c.VerifyRegistration(ctx, r)
	if err == nil && len(r.Passkeys) == 0 {
		err = errors.New("an unknown passkey")
	}
	if err == nil {
		used.Counter = r.Passkeys[0].Counter + 1
	}
	return used, err
}

func (anyPasskey) Check() error { return nil }

// metrics returns the data of a metric, as name{attributes} and its count.
func (s *site) metrics() map[string]int {
	s.t.Helper()
	var all metricdata.ResourceMetrics
	if err := s.reader.Collect(s.t.Context(), &all); err != nil {
		s.t.Fatal(err)
	}
	counts := map[string]int{}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			switch data := m.Data.(type) {
			case metricdata.Sum[int64]:
				for _, p := range data.DataPoints {
					counts[m.Name+" "+text(p.Attributes.ToSlice())] += int(p.Value)
				}
			case metricdata.Histogram[float64]:
				for _, p := range data.DataPoints {
					counts[m.Name+" "+text(p.Attributes.ToSlice())] += int(p.Count)
				}
			default:
				s.t.Errorf("the metric %s is a %T", m.Name, data)
			}
		}
	}
	return counts
}

// count is the sum of a metric over the series that have all attributes, such as
// "pintle.outcome=ok".
func (s *site) count(name string, having ...string) (sum int) {
	s.t.Helper()
	for series, n := range s.metrics() {
		is := strings.HasPrefix(series, name+" ")
		for _, attribute := range having {
			is = is && strings.Contains(series+" ", " "+attribute+" ")
		}
		if is {
			sum += n
		}
	}
	return sum
}

func text(attributes []attribute.KeyValue) string {
	var all []string
	for _, a := range attributes {
		all = append(all, fmt.Sprintf("%s=%s", a.Key, a.Value.String()))
	}
	return strings.Join(all, " ")
}
