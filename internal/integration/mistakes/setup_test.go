package mistakes

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/internal/testsite"
)

const (
	secret      = testsite.Secret
	otherSecret = "another secret, 32 characters or more"

	// The title of the page for what only the operator can repair.
	ourSide = "Something is wrong on our side"
)

// A setup is a site whose configuration is without mistakes until the test makes
// one, with all that is around it.
type setup struct {
	*testing.T
	net hosts
	idp *authtest.IdentityProvider
	log *logBook

	// cfg is a configuration without the mistake, and env its environment.
	cfg pintle.Config
	env map[string]string
}

func newSetup(t *testing.T) *setup {
	w := &setup{T: t, net: hosts{}, log: &logBook{}, env: map[string]string{}}
	w.idp = authtest.Start(t, authtest.Options{AutoConsent: true})
	w.cfg = pintle.Config{
		Providers: []pintle.Provider{w.idp.OIDC("acme"), &pintle.Credentials{Authorize: w.check}},
		Secrets:   []string{secret},

		TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},

		Getenv: func(name string) string { return w.env[name] },
		Logger: slog.New(slog.NewJSONHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	return w
}

func (w *setup) check(_ context.Context, s *pintle.Submission) (*pintle.User, error) {
	if s.Text("username") != "ada" {
		return nil, nil // wrong credentials
	}
	return &pintle.User{ID: "1", Name: "Ada"}, nil
}

// each makes a mistake in several ways, each at a separate site.
func (w *setup) each(ways map[string]func(w *setup)) {
	w.Helper()
	for name, way := range ways {
		w.Run(name, func(t *testing.T) {
			one := newSetup(t)
			way(one)
			one.nothingElse()
		})
	}
}

func (w *setup) auth() *pintle.Auth {
	w.Helper()
	auth, err := pintle.New(w.cfg)
	if err != nil {
		w.Fatal(err)
	}
	return auth
}

// refused fails the test unless the error of New contains the texts.
func (w *setup) refused(texts ...string) {
	w.Helper()
	_, err := pintle.New(w.cfg)
	w.contains("the error of New", fmt.Sprint(err), texts...)
}

func (w *setup) contains(what, text string, parts ...string) {
	w.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			w.Errorf("%s does not contain %q: %s", what, part, text)
		}
	}
}

// page is one of the application's, with a link to the sign-in page.
var page = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	name := "guest"
	if s := pintle.SessionFrom(r.Context()); s != nil {
		name = s.User.Name
	}
	fmt.Fprintf(w, "Hello, %s", name)
})

// app is an application as the guides have it: the routes below /auth/, a page
// for every visitor, and one for members.
func app(auth *pintle.Auth) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/auth/", auth)
	mux.Handle("/", page)
	mux.Handle("/members", auth.Require(page))
	return auth.Load(mux)
}

// serve runs a handler on this machine and returns its address.
func (w *setup) serve(h http.Handler) string {
	server := httptest.NewServer(h)
	w.Cleanup(server.Close)
	return server.URL
}

// publish gives a handler an address that the browsers of the test know.
func (w *setup) publish(address string, h http.Handler) string {
	u, err := url.Parse(address)
	if err != nil {
		w.Fatal(err)
	}
	start, port := httptest.NewServer, "80"
	if u.Scheme == "https" {
		start, port = httptest.NewTLSServer, "443"
	}
	server := start(h)
	w.Cleanup(server.Close)
	w.net[u.Hostname()+":"+port] = server.Listener.Addr().String()
	return address
}

// proxy passes requests on after rewrite. If that is nil, it is a
// [httputil.ReverseProxy] with only a target.
func proxy(upstream string, rewrite func(*httputil.ProxyRequest)) http.Handler {
	target, _ := url.Parse(upstream) // of httptest
	return &httputil.ReverseProxy{
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target) // which puts the address of the upstream into the Host header
			if rewrite != nil {
				rewrite(r)
			}
		},
	}
}

// sameHost passes the Host header on, and nothing of the scheme.
func sameHost(r *httputil.ProxyRequest) { r.Out.Host = r.In.Host }

// nginxDefaults is what "proxy_pass http://app;" does: the name of the upstream is
// the Host header.
func nginxDefaults(r *httputil.ProxyRequest) { r.Out.Host = "app" }

// wellConfigured sends all headers that a site with TrustHost needs.
func wellConfigured(r *httputil.ProxyRequest) {
	r.SetXForwarded()
	r.Out.Host = r.In.Host
}

// nginx has the limits of nginx: the bytes of an answer's header (proxy_buffer_size)
// and of one header of a request (large_client_header_buffers).
func nginx(upstream string, answer, request int) http.Handler {
	h := proxy(upstream, sameHost).(*httputil.ReverseProxy)
	h.ModifyResponse = func(r *http.Response) error {
		var header bytes.Buffer
		if err := r.Header.Write(&header); err != nil || header.Len() > answer {
			return errors.New("upstream sent too big header")
		}
		return nil
	}
	h.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, _ error) {
		http.Error(w, "502 Bad Gateway", http.StatusBadGateway)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.Header.Get("Cookie")) > request {
			http.Error(w, "Request Header Or Cookie Too Large", http.StatusBadRequest)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// A balancer passes requests on to one of several instances of an application.
type balancer struct{ instance atomic.Pointer[http.Handler] }

func (b *balancer) use(instance http.Handler) { b.instance.Store(&instance) }

func (b *balancer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	(*b.instance.Load()).ServeHTTP(w, r)
}

// A logBook is a log that tests read.
type logBook struct {
	testsite.LogBook
	checked []string // codes
}

// records returns the records of a level with a code, as text.
func (w *setup) records(level, code string) []string {
	var found []string
	for line := range strings.Lines(w.log.String()) {
		var entry struct{ Level, Code string }
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			w.Fatal(err)
		}
		if entry.Level == level && entry.Code == code {
			found = append(found, strings.ReplaceAll(line, `\"`, `"`))
		}
	}
	return found
}

// logged fails the test unless the log has so many records of a level with a code,
// and each contains the texts: the cause and the fix.
func (w *setup) logged(times int, level, code string, texts ...string) {
	w.Helper()
	found := w.records(level, code)
	if len(found) != times {
		w.Fatalf("the log has %d records %s %s, want %d: %s", len(found), level, code, times, w.log)
	}
	for _, record := range found {
		w.contains("the log", record, texts...)
	}
	w.log.checked = append(w.log.checked, level+" "+code)
}

// nothingElse fails the test if the log has warnings or errors that were not
// looked for.
func (w *setup) nothingElse() {
	w.Helper()
	for line := range strings.Lines(w.log.String()) {
		var entry struct{ Level, Code string }
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			w.Fatal(err)
		}
		if (entry.Level == "WARN" || entry.Level == "ERROR") && !slices.Contains(w.log.checked, entry.Level+" "+entry.Code) {
			w.Errorf("the log has another record than that of the mistake: %s", line)
		}
	}
}

// failing is a testing.TB that notes why it was stopped.
type failing struct{ why string }

func (f *failing) Helper()        {}
func (f *failing) Cleanup(func()) {}
func (f *failing) Fatalf(format string, args ...any) {
	f.why = fmt.Sprintf(format, args...)
}
