package frameworks_test

import (
	"cmp"
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
)

// A framework serves the application of this suite, which has these routes:
//
//	/auth/…          the sign-in routes
//	GET  /           returns the name of the signed-in user, or "guest"
//	GET  /account    the same, for signed-in users
//	GET  /admin      the same, for requests that Callbacks.Authorized allows
//	POST /login      signs in from a handler, with a form of the application
//	POST /leave      redirects to the provider "acme" from a handler
//	POST /logout     signs out from a handler
//	GET  /role       returns the role in the session
//	POST /role       sets it from a handler
//	GET  /devices    returns on how many devices the user is signed in
//	GET  /stream     answers in two pieces and flushes between them
//	GET  /late       gives the session a role, then streams
//	GET  /upgrade    hijacks the connection and sends back what it receives
type framework struct {
	name string

	// serve starts the application. It ends with the test.
	serve func(t *testing.T, s setting) (address string)

	// http1 is set where the framework's server has no HTTP/2.
	http1 bool

	// header is a header of the request as the framework's own context has it.
	// Nil means that a request is net/http's.
	header func(r *http.Request, name string) string
}

var frameworks = []framework{
	{name: "net/http", serve: overHTTP(netHTTP)},
	{name: "chi", serve: overHTTP(chiRouter)},
	{name: "Gin", serve: overHTTP(ginRouter), header: ginHeader},
	{name: "Echo", serve: overHTTP(echoRouter), header: echoHeader},
	{name: "Echo 4", serve: overHTTP(echo4Router)},
	{name: "Fiber", serve: serveFiber, http1: true, header: fiberHeader},
}

// A setting has the options of the application for a test.
type setting struct {
	pintle.Config

	// auth is made of the Config, unless a test brings one.
	auth *pintle.Auth

	// base is where the sign-in routes are. Empty means "/auth".
	base string

	// proxy is the framework's setting about the peer: behindProxy means a
	// trusted proxy, notBehind an untrusted peer.
	proxy proxy

	// tls serves over TLS, with HTTP/2 where the framework has it.
	tls bool
}

type proxy int

const (
	unsaid proxy = iota
	behindProxy
	notBehind
)

// each runs a test in every framework.
func each(t *testing.T, test func(*testing.T, framework)) {
	t.Helper()
	for _, f := range frameworks {
		t.Run(f.name, func(t *testing.T) { test(t, f) })
	}
}

// start serves the application with the changes and returns a browser that has
// not been there.
func (f framework) start(t *testing.T, changes ...func(*setting)) *browser {
	t.Helper()
	s := setting{Config: config()}
	for _, change := range changes {
		change(&s)
	}
	s.base = cmp.Or(s.base, "/auth")
	if s.auth == nil {
		var err error
		if s.auth, err = pintle.New(s.Config); err != nil {
			t.Fatal(err)
		}
	}
	return newBrowser(t, f.serve(t, s))
}

// role is the data of the application in the session.
var role = pintle.NewClaim[string]("role")

// config has the user Kim, with the password "kim's". Authorized decides by the
// name of a session's user.
func config() pintle.Config {
	return pintle.Config{
		Providers: []pintle.Provider{&pintle.Credentials{ID: "password", Authorize: checkPassword}},
		Secrets:   []string{"a secret for tests, 32 characters or more"},
		Callbacks: pintle.Callbacks{Authorized: func(r *http.Request, s *pintle.Session) (pintle.Access, error) {
			return pintle.Access{Allowed: s != nil && (r.URL.Path != "/admin" || s.User.Name == "Root")}, nil
		}},
		Getenv: func(string) string { return "" },
		Logger: slog.New(slog.DiscardHandler),
	}
}

func checkPassword(_ context.Context, s *pintle.Submission) (*pintle.User, error) {
	switch {
	case s.Text("username") == "kim" && s.Text("password") == "kim's":
		return &pintle.User{ID: "1", Name: "Kim", Email: "kim@example.com"}, nil
	case s.Text("username") == "root" && s.Text("password") == "root's":
		return &pintle.User{ID: "2", Name: "Root"}, nil
	}
	return nil, nil // wrong credentials
}

// withProvider adds an identity provider called "acme", where the user is Ada.
func withProvider(t *testing.T) func(*setting) {
	t.Helper()
	idp := authtest.Start(t, authtest.Options{AutoConsent: true, RequirePKCE: true, Algorithm: authtest.ES256})
	idp.SignInAs(authtest.Person{Subject: "42", Name: "Ada", Email: "ada@example.com", EmailVerified: true})
	return func(s *setting) { s.Providers = append(s.Providers, idp.OIDC("acme")) }
}

// greeting is the text of the application's pages.
func greeting(s *pintle.Session) string {
	if s == nil {
		return "guest"
	}
	return s.User.Name
}

// devices reads the sessions like an account page, with only the framework's
// context of the request.
func devices(ctx context.Context, auth *pintle.Auth) string {
	n := 0
	for _, err := range auth.Devices(ctx, pintle.SessionFrom(ctx)) {
		if err != nil {
			return err.Error()
		}
		n++
	}
	return strconv.Itoa(n)
}

// overHTTP serves the application of a framework with net/http's server.
func overHTTP(app func(setting) http.Handler) func(*testing.T, setting) string {
	return func(t *testing.T, s setting) string {
		t.Helper()
		srv := httptest.NewUnstartedServer(app(s))
		srv.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
		if s.tls {
			srv.EnableHTTP2 = true
			srv.StartTLS()
		} else {
			srv.Start()
		}
		t.Cleanup(srv.Close)
		return srv.URL
	}
}

// host returns the host and port of an address.
func host(address string) string {
	_, host, _ := strings.Cut(address, "://")
	return host
}

// connect opens a connection on which a test can send any bytes.
func connect(t *testing.T, address string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", host(address))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}
