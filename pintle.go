// Package pintle gives a web application sign-in and sessions.
//
// A host application mounts an [Auth], which serves the sign-in routes and
// pages below a base path, and reads the session of each request:
//
//	auth, err := pintle.New(pintle.Config{
//		Providers: []pintle.Provider{provider.GitHub(provider.Options{})},
//	})
//	…
//	mux.Handle("/auth/", auth)
//	mux.Handle("/", auth.Load(auth.Require(app)))
//
// The secret is in AUTH_SECRET, the client id and secret of the provider are in
// AUTH_GITHUB_ID and AUTH_GITHUB_SECRET.
//
//   - A [Provider] is a way to sign in: [OAuth], [Email], [Credentials] or
//     [WebAuthn]. Package provider has ready-made ones, and package oauth the
//     types that describe a provider's protocol.
//   - A [Session] is kept in an encrypted token in a cookie, or in a database.
//     [Auth.Load] reads it, [SessionFrom] returns it, and a [Claim] carries data
//     of the application with it.
//   - A [Store] keeps users, their accounts and sessions. Without one no user is
//     recorded: a session token is all there is.
//   - [Callbacks] let the host decide, [Events] report what happened.
//   - [Pages] puts pages of the host in the place of built-in ones; package pages
//     has the words and the look of those.
//
// Routes, cookies, session tokens and database rows are those of Auth.js: its
// browser clients work with this package, either side reads the other's session
// cookie, and both can share a database. docs/compatibility.md lists where this
// package is safer, and SECURITY.md what is left to the host.
package pintle

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/pintleauth/pintle/health"
)

// Auth signs people in and keeps their sessions. It is an [http.Handler] for
// the routes below [Config.BasePath]; [Auth.Load] and [Auth.Require] wrap the
// handlers of the application. It may be used concurrently.
//
// Methods that return an error have logged it, as the routes log theirs.
type Auth struct {
	fixed  *settings
	chosen *tenants

	// of is the Auth whose tenant this one is, and tenant its key; see
	// [Auth.Tenant]. Other Auths have neither.
	of     *Auth
	tenant string
}

// New checks cfg and returns the service it describes. It reads environment
// variables through [Config.Getenv], opens no connection and starts no
// goroutine. The error of a configuration that cannot work names the option
// and what to do.
func New(cfg Config) (*Auth, error) {
	a := &Auth{}
	s := resolve(cfg, a.attach)
	if s.fault != nil {
		return nil, s.fault
	}
	if len(s.providers) == 0 && s.connect == nil {
		return nil, fail(CodeConfiguration, errors.New("Config.Providers is empty: add at least one provider"))
	}
	s.announce(context.Background())
	a.fixed = s
	return a, nil
}

// attach lets [Config.Accounts] complete a configuration of which a is the Auth.
func (a *Auth) attach(cfg *Config) (http.Handler, error) { return cfg.Accounts.Attach(a, cfg) }

// NewFunc returns a service whose configuration depends on the request: other
// providers for another host, other secrets for another tenant.
//
// key names the configuration of a request, and config makes the one that has
// that name. Configurations are made once and kept, up to a thousand of them;
// the least recently used one is forgotten. Concurrent requests for one that is
// being made wait for it, until their own context ends. To replace one, let its
// key hold a version.
//
// An error of config is not kept, and the next request tries again. One that
// matches [ErrNotFound] means that there is no such tenant: the request is
// answered with status 404. Any other error is answered as a fault of the
// server. A configuration that [New] would reject is kept, and its requests are
// answered in the same way. A configuration without providers is valid here:
// its tenant has no way to sign in yet.
//
// Configurations are tenants whose sessions are apart. The key takes part in
// what seals session tokens and flows, so that they may share a secret; see
// [Config.Tenant] for keys with a version and [Config.SharedSessions] for
// configurations of one site. Users are as apart as their stores: a [Store]
// identifies an account by the provider's id and the subject, without the
// issuer. Where tenants share a store and each has an issuer, give each issuer
// its own provider id. Under one id, the operator of one tenant's issuer can
// sign in as any user of the other tenants. The log warns of such a pair.
//
// Methods that take no request, such as [Auth.Refresh] and [Auth.Devices], use
// the configuration of their context: the context of a request inside
// [Auth.Load] that carries a session, or the context that a callback or an event
// receives. Anything else, such as a job at night, calls them on [Auth.Tenant].
//
// A key often comes from the Host header, which any client can set: config must
// return an error that matches [ErrNotFound] for hosts it does not know. That
// includes the empty key, of a request of HTTP/1.0 without a host. If config
// returns a configuration for the empty key, it is a tenant like others: its
// sessions are those of an Auth of [New] with the same secret and without a
// Tenant, and are not valid for any other key.
func NewFunc(key func(*http.Request) string, config func(ctx context.Context, key string) (Config, error)) *Auth {
	a := &Auth{chosen: newTenants(key, config)}
	a.chosen.auth = a
	return a
}

// Tenant returns the service of one tenant of an Auth of [NewFunc], named by the
// key of its configuration:
//
//	err := auth.Tenant("blue").SignOutEverywhere(ctx, userID)
//
// Its methods use that configuration, whatever request or context they are given.
// So they work in a job at night, which has no request, and for another tenant than
// that of a request. The key is not checked here: the methods fail where there is no
// such tenant, with an error that matches [ErrNotFound], or where its configuration
// cannot be made.
//
// The configurations are those of a, made when they are needed and kept as long: a
// configuration that was forgotten meanwhile is made again. Sessions that a has read
// for the tenant are sessions of the result, and the other way round. The result is
// small, need not be kept, and may be used concurrently.
//
// An Auth of [New] has one configuration and returns itself.
func (a *Auth) Tenant(key string) *Auth {
	if a.fixed != nil {
		return a
	}
	return &Auth{chosen: a.chosen, of: a.root(), tenant: key}
}

// root returns the Auth that the host made, of which a is a tenant or itself.
func (a *Auth) root() *Auth {
	if a.of != nil {
		return a.of
	}
	return a
}

// chosenFor returns the configuration that an Auth of [NewFunc] has for a request.
func (a *Auth) chosenFor(r *http.Request) (*settings, error) {
	if a.of != nil {
		return a.chosen.ofKey(r.Context(), a.tenant)
	}
	return a.chosen.ofKey(r.Context(), a.chosen.key(r))
}

// StoreFor returns the [Config.Store] of the configuration for a request, or what
// [Observer].Store has put in its place, or nil if there is none. With [NewFunc] that is the
// store of the tenant. The request may be
// nil for an Auth of [New] or of [Auth.Tenant]: a job finds its store so.
func (a *Auth) StoreFor(r *http.Request) (Store, error) {
	if r == nil {
		if a.fixed == nil && a.of == nil {
			err := fail(codeUnknownTenant, errors.New("StoreFor of an Auth of NewFunc needs a request, which names the tenant: call it on Auth.Tenant"))
			a.logCall(context.Background(), "StoreFor", err)
			return nil, err
		}
		r = &http.Request{}
	}
	s, known, err := a.settings(r)
	if err == nil && s.fault != nil {
		err = s.fault
	}
	if err != nil {
		a.logCall(known.Context(), "StoreFor", err)
		return nil, err
	}
	return s.Store, nil
}

// settings returns the configuration of a request, and the request with a
// context from which [Auth.settingsFor] knows it.
func (a *Auth) settings(r *http.Request) (*settings, *http.Request, error) {
	if a.fixed != nil {
		return a.fixed, r, nil
	}
	s, err := a.chosenFor(r)
	if err != nil {
		return nil, r, err
	}
	return s, r.WithContext(context.WithValue(r.Context(), chosenKey{a.root()}, s)), nil
}

// settingsOrFault is settings for a request that must be answered even without
// a configuration. It then returns settings with a fault, which can show an
// error page and log.
func (a *Auth) settingsOrFault(r *http.Request) (*settings, *http.Request) {
	s, known, err := a.settings(r)
	if err != nil {
		s = resolve(Config{TrustHost: true}, nil)
		s.fault = classified(err)
		s.guessBase(r.URL.EscapedPath())
	}
	return s, known
}

// chosenKey is the key of what an Auth of [NewFunc] chose for a request.
type chosenKey struct{ auth *Auth }

// settingsFor returns the configuration for a method that has no request.
func (a *Auth) settingsFor(ctx context.Context, method string) (*settings, error) {
	if a.fixed != nil {
		return a.fixed, nil
	}
	s, _ := ctx.Value(chosenKey{a}).(*settings)
	if a.of != nil {
		var err error
		if s, err = a.chosen.ofKey(ctx, a.tenant); err != nil {
			return nil, err
		}
	}
	if s == nil {
		return nil, fail(CodeConfiguration, fmt.Errorf("%s does not know which tenant of NewFunc is meant: call it "+
			"on Auth.Tenant, or give it the context of a request with a session inside Auth.Load, of a callback or "+
			"of an event", method))
	}
	if s.fault != nil {
		return nil, s.fault
	}
	return s, nil
}

// Load reads the session of a request and puts it into the request's context,
// where [SessionFrom] and [Auth.Require] find it. A request without a session
// cookie costs nothing. A token that is older than [SessionConfig.UpdateAge] is
// renewed, and so is a database session. Inside another Load or Require of the
// same Auth it does nothing. It replaces the result of another Auth, or of
// another configuration of [NewFunc], even if it finds no session.
//
// If the session is not valid, or the store or the revocation list is
// unavailable, the request goes on signed out and the reason is logged. If one
// of them is unavailable the cookie is kept, and [Auth.Require] responds with
// status 503.
//
// If the browser has the cookie of an operator who acted as a user, and no longer does, Load
// answers a request other than GET and HEAD, or with the header Upgrade, with status 409, and
// next is not called: what the request does was meant for the user; see [Session].Actor. Requests to the routes of the Auth
// are passed on without a session. While an operator acts, Load sets the header Cache-Control
// to "private, no-store", which next can replace.
func (a *Auth) Load(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !a.loaded(r, nil) {
			var ok bool
			if r, ok = a.load(w, r); !ok {
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// load returns the request with its session, or marked to have none. It reports whether the
// request may go on. Otherwise it has answered the request.
func (a *Auth) load(w http.ResponseWriter, r *http.Request) (*http.Request, bool) {
	s, known, err := a.settings(r)
	if err != nil {
		a.logCall(r.Context(), "Load", err)
	}
	c := &sessionContext{Context: known.Context(), loader: a, settings: s}
	if err == nil {
		found := s.loadSession(w, known)
		// The routes decide by themselves: a browser in which nobody is signed in any more can
		// sign in, and the banner can end what is over.
		if found.err != nil && found.cause == meantForUser && !s.isRoute(known) {
			s.refuseMeantForUser(w, known)
			return nil, false
		}
		c.session, c.page = found.session, found.page
		c.away = found.err != nil && found.cause == unanswered
	}
	if c.session == nil {
		if outer := sessionContextOf(r.Context()); outer != nil && outer.given {
			c.session, c.given = outer.session, true
		}
	}
	// Also without a session: guards further in need not look again, and the
	// session of another Auth ends here.
	return r.WithContext(c), true //nolint:contextcheck // made from that of the request
}

// Session returns the session of a request, or nil when the request is signed
// out. It is for code that [Auth.Load] does not wrap, and does not extend the
// session.
//
// Unlike Load it distinguishes a failure from a signed-out request: an error
// means that the session could not be read, and nil without an error that there
// is no session. Where Load answers with status 409 and a user is signed in, the error matches
// [CodeActingEnded].
func (a *Auth) Session(r *http.Request) (*Session, error) {
	s, known, err := a.settings(r)
	if err != nil {
		a.logCall(r.Context(), "Session", err)
		return nil, err
	}
	return s.readSession(known)
}

// HealthChecks returns the checks of [health.Handler] for this configuration:
//
//   - "sessions" is required: whether database sessions, or the revocation list of token
//     sessions, can be read.
//   - "store", if sessions are tokens: whether users can be read, which sign-ins need.
//   - "shared_state", if there is one: whether it can be written.
//   - "provider:ID", for each provider of OAuth and OpenID: whether it answers. A success is kept
//     for a minute, a failure for a second. The request has no credentials.
//
// The checks that are not required are in the log only: users who are signed in do not need
// them. The caller may change that, and add checks. An Auth of [NewFunc] has no configuration
// of its own: call the method on [Auth.Tenant], or on the Auth of a configuration.
func (a *Auth) HealthChecks(ctx context.Context) (_ []health.Check, err error) {
	defer a.logFailed(ctx, "HealthChecks", &err)
	s, err := a.settingsFor(ctx, "HealthChecks")
	if err != nil {
		return nil, err
	}
	checks := []health.Check{{Name: "sessions", Run: s.sessions.readable, Required: true}}
	if s.records != nil && !s.sessions.needStoredUser() {
		checks = append(checks, health.Check{Name: "store", Run: s.records.answers})
	}
	if s.shared != nil {
		checks = append(checks, health.Check{Name: "shared_state", Run: s.shared.answers})
	}
	for _, p := range s.providers {
		if p.reach != nil {
			checks = append(checks, health.Check{Name: "provider:" + p.id, Run: p.reach, Keep: time.Minute})
		}
	}
	return checks, nil
}

// Require passes requests on that carry a session with a user, or that
// [Callbacks.Authorized] allows. It redirects browsers to the sign-in page,
// from where they come back, and answers other clients with status 401. A user
// who is signed in but not authorized gets status 403. If the session could not
// be read because the store or the revocation list is unavailable, it responds
// with status 503, because a new sign-in would fail as well. Browsers are shown
// a page with 403 and 503. [Config.Refuse] replaces these answers.
//
// Inside [Auth.Load] it uses the session that Load found; otherwise it reads
// the session as Load does.
func (a *Auth) Require(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r, ok := a.allows(w, r); ok {
			next.ServeHTTP(w, r)
		}
	})
}

// ServeHTTP answers the requests below [Config.BasePath]. It may be mounted at
// any pattern that covers them; it does not strip prefixes.
func (a *Auth) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s, known := a.settingsOrFault(r)
	x := &exchange{settings: s, ctx: known.Context(), w: w, r: known, began: time.Now()}
	if s.Observer.Route != nil {
		defer x.observe()() //nolint:contextcheck // it is that of the request
	}
	x.serve() //nolint:contextcheck // undoing half a sign-in must outlive its request
	x.write(w)
}

// A sessionContext carries a session, or records that a request has none. It is
// what [context.WithValue] returns, without the cost of a key of any type.
type sessionContext struct {
	context.Context
	session *Session

	// loader is the Auth that looked for the session, and settings the
	// configuration it did so by, nil where it had none. Both are nil for sessions
	// of [WithSession], where given is true.
	loader   *Auth
	settings *settings
	given    bool

	// away reports that there is no session because it could not be read.
	away bool

	// page is where the user of a session goes that Callbacks.Accept does not use.
	page string
}

type sessionContextKey struct{}

func (c *sessionContext) Value(key any) any {
	if _, own := key.(sessionContextKey); own {
		return c
	}
	return c.Context.Value(key)
}

// sessionContextOf returns what was last recorded about the session of a
// request, or nil.
func sessionContextOf(ctx context.Context) *sessionContext {
	c, _ := ctx.Value(sessionContextKey{}).(*sessionContext)
	return c
}

// SessionFrom returns the session that [Auth.Load] put into ctx, or nil when the
// request is signed out. Where the Load of one Auth is inside that of another, the
// inner one decides.
func SessionFrom(ctx context.Context) *Session {
	if c := sessionContextOf(ctx); c != nil {
		return c.session
	}
	return nil
}

// WithSession returns a copy of ctx that carries s. Tests of a host application
// use it to act as a signed-in user.
func WithSession(ctx context.Context, s *Session) context.Context {
	return &sessionContext{Context: ctx, session: s, given: true}
}
