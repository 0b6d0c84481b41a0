package pintle

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pintleauth/pintle/connection"
	"github.com/pintleauth/pintle/internal/address"
	"github.com/pintleauth/pintle/internal/flight"
	"github.com/pintleauth/pintle/internal/lru"
	"github.com/pintleauth/pintle/internal/page"
	"github.com/pintleauth/pintle/oauth"
)

const (
	// maxConnections bounds the connections that are kept. Ids come from requests.
	maxConnections = 1000

	// connectionAge is how long a connection is used before the source is asked again.
	connectionAge = 30 * time.Second

	// sourceTimeout bounds a call of the source.
	sourceTimeout = 5 * time.Second

	// discoveryTime is how long a search by an address takes that finds no connection. It
	// is the same whatever the reason is, so that nothing tells which organisations are
	// customers. What takes longer counts as not found.
	discoveryTime = 2 * time.Second

	// maxSubject is the length of the longest subject of an ID token. The standard has 255
	// bytes, which are the column of the id in tables that Auth.js shares: the id of the
	// account begins with the issuer.
	//
	// https://openid.net/specs/openid-connect-core-1_0.html#IDToken
	maxSubject = 255 - issuerLength

	// issuerLength is the length of what [accountsOf] returns.
	issuerLength = 17

	// goneTime is how long a connection that the source no longer had is not used with the
	// same version. Replicas of a database are rarely that far behind.
	goneTime = 10 * time.Minute

	// maxLoginHint bounds a hint, which becomes part of a URL.
	maxLoginHint = 256
)

// connections are those of [Config.Connections], as far as they have been used.
type connections struct {
	*settings
	client *http.Client

	asking  flight.Group[*connected]
	looking flight.Group[[]string]

	mu   sync.Mutex
	kept lru.Map[string, *connected]
}

// connected is a connection made ready. It does not change.
type connected struct {
	connection.Connection
	provider *provider
	fault    error // of the connection, which the customer or the host has to repair
	asked    time.Time
	gone     time.Time // when the source no longer had it, or zero
}

// resolveConnections checks [Config.Connections] and makes their source ready.
func (s *settings) resolveConnections() *Error {
	given := &s.Connections
	if given.Source == nil {
		return nil
	}
	given.Prefix = cmp.Or(given.Prefix, connection.DefaultPrefix)
	invalid := func(format string, args ...any) *Error {
		return fail(CodeConfiguration, fmt.Errorf("Config.Connections: "+format, args...))
	}
	switch {
	case isNil(given.Source):
		return invalid("Source is a nil %T: look at the error of the function that made it, or leave it out", given.Source)
	case !connection.ValidID(given.Prefix) || !strings.HasSuffix(given.Prefix, "-"):
		return invalid("Prefix is %q: use a-z and 0-9, and a - at the end", given.Prefix)
	}
	c := &connections{settings: s, client: cmp.Or(given.Client, s.publicClient()), kept: lru.Map[string, *connected]{Max: maxConnections}}
	s.connect = c.connect
	for _, p := range s.providers {
		if _, clash := s.connectionID(p.id); clash || p.id == discoveryID {
			return &Error{Code: CodeConfiguration, Provider: p.id, Err: fmt.Errorf("Config.Connections: the ID is one of a "+
				"connection, or %q, by which connections are found: set the field ID to another name, or Prefix", discoveryID)}
		}
	}
	find := providerBase{id: discoveryID, name: "SSO", kind: TypeEmail}
	s.byID[discoveryID] = &provider{providerBase: find, way: &discovery{find, c}}
	return nil
}

// connect is [settings.connect].
func (c *connections) connect(ctx context.Context, id string) (*provider, error) {
	m, err := c.of(ctx, id, false)
	if errors.Is(err, connection.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return m.usable(ctx, c.settings)
}

// usable returns the provider of a connection that signs users in, or nil.
func (m *connected) usable(ctx context.Context, s *settings) (*provider, error) {
	if m.Disabled {
		s.log.debug(ctx, "connection disabled", "connection", m.ID)
		return nil, nil
	}
	if m.fault != nil {
		return nil, m.fault
	}
	return m.provider, nil
}

// of returns the connection with an id. With fresh the source is asked whatever is kept.
func (c *connections) of(ctx context.Context, id string, fresh bool) (*connected, error) {
	if m := c.known(id); !fresh && m != nil && m.gone.IsZero() && time.Since(m.asked) < connectionAge {
		return m, nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, sourceTimeout, errSourceSlow)
	defer cancel()
	return c.asking.Do(ctx, id, func(ctx context.Context) (*connected, error) { return c.ask(ctx, id) })
}

var errSourceSlow = fmt.Errorf("the source of connections has not answered for %v", sourceTimeout)

func (c *connections) known(id string) *connected {
	c.mu.Lock()
	defer c.mu.Unlock()
	m, _ := c.kept.Get(id)
	return m
}

// ask reads a connection from the source, and makes it ready if it has changed.
func (c *connections) ask(ctx context.Context, id string) (*connected, error) {
	asked := time.Now()
	ctx, cancel := context.WithTimeoutCause(ctx, sourceTimeout, errSourceSlow)
	defer cancel()
	given, err := c.Connections.Source.Connection(ctx, id)
	before := c.known(id)
	switch {
	case errors.Is(err, connection.ErrNotFound):
		if before != nil {
			gone := *before
			gone.gone = asked
			c.keep(&gone)
		}
		return nil, connection.ErrNotFound
	case err != nil:
		return nil, fmt.Errorf("the source of connections: %w", err)
	case given == nil:
		return nil, errors.New("the source of connections returned no connection and no error")
	case given.ID != id:
		// An account of one customer would belong to another one.
		return nil, fmt.Errorf("the source of connections returned %q for %q", given.ID, id)
	}
	m := c.ready(ctx, before, given)
	m.asked = asked
	if !m.gone.IsZero() {
		return nil, connection.ErrNotFound
	}
	c.keep(m)
	return m, nil
}

func (c *connections) keep(m *connected) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kept.Put(m.ID, m)
}

// ready returns what is used of a connection from now on: what was kept if that is newer
// or the same, with its metadata and keys.
func (c *connections) ready(ctx context.Context, before *connected, given *connection.Connection) *connected {
	if before != nil && before.isNewerThan(given) {
		c.log.LogAttrs(ctx, slog.LevelWarn, "pintle: the source of connections returned an older version of a connection than "+
			"before, or one that it no longer had, which is not used", slog.String("connection", given.ID), slog.Int64("version", given.Version),
			slog.Int64("used", before.Version))
		kept := *before
		return &kept
	}
	if before != nil && before.gone.IsZero() && isSameConnection(&before.Connection, given) {
		kept := *before
		return &kept
	}
	m := &connected{Connection: *given}
	m.Domains, m.Scopes = slices.Clone(given.Domains), slices.Clone(given.Scopes)
	m.provider, m.fault = c.provider(m)
	return m
}

// isNewerThan reports whether a state of the connection comes from a replica that lags behind.
func (m *connected) isNewerThan(given *connection.Connection) bool {
	return given.Version < m.Version || given.Version == m.Version && time.Since(m.gone) < goneTime
}

// isSameConnection reports whether two states of a connection are the same. A signer may
// be another value each time that it is read: a new key has a new version.
func isSameConnection(a, b *connection.Connection) bool {
	one, two := *a, *b
	if one.Version == two.Version {
		one.PrivateKey, two.PrivateKey = nil, nil
	}
	return reflect.DeepEqual(one, two)
}

// provider makes the provider of a connection.
func (c *connections) provider(m *connected) (*provider, error) {
	prefix := c.Connections.Prefix
	scopes := m.Scopes
	if scopes == nil {
		scopes = []string{"openid", "profile", "email"}
	}
	own := OAuth{
		ID: prefix + m.ID, Name: cmp.Or(m.Name, m.ID), Protocol: oauth.OIDC,
		Issuer: m.Issuer, ClientID: m.ClientID, ClientSecret: m.ClientSecret,
		ClientAuth: m.ClientAuth, PrivateKey: m.PrivateKey, PrivateKeyID: m.PrivateKeyID,
		Authorization: oauth.Endpoint{Params: map[string]string{"scope": strings.Join(scopes, " ")}},
		Checks:        []oauth.Check{oauth.CheckPKCE, oauth.CheckState, oauth.CheckNonce},
		MaxAge:        m.MaxAge, ProfileFromUserInfo: m.ProfileFromUserInfo,
		Profile: c.profileOf(&m.Connection), EmailVerified: func(p Profile) bool { return c.verifies(&m.Connection, p) },
		DangerouslyLinkByEmail: m.LinkVerifiedDomain, PublicNetworkOnly: true, AllowInitiated: m.AllowInitiated,
	}
	authority := shortHash(m.Issuer, m.ClientID)
	p, fault := c.newOAuthFlow(own, nil, &joined{
		id: m.ID, prefix: prefix, authority: authority, accounts: accountsOf(m.Issuer), neverLinks: m.NeverLink, onlyKnown: m.DisableProvision,
		client: c.client, current: func(ctx context.Context) error { return c.stillSignsIn(ctx, m.ID, authority) },
	})
	if fault != nil {
		return nil, fault
	}
	if err := p.checkClient(); err != nil {
		return nil, err
	}
	return p, nil
}

// stillSignsIn fails if a connection does not sign users in any more, as the source has
// it now, or does so with another issuer or client.
func (c *connections) stillSignsIn(ctx context.Context, id, authority string) error {
	failed := func(err error) error {
		return &Error{Code: CodeConfiguration, Provider: c.Connections.Prefix + id, Err: err}
	}
	m, err := c.of(ctx, id, true)
	if err != nil {
		return failed(err)
	}
	p, err := m.usable(ctx, c.settings)
	if err == nil && p == nil {
		err = byClient(errors.New("the connection was disabled after the sign-in began"))
	}
	if err == nil && p.joined.authority != authority {
		err = byClient(errors.New("the connection has got another issuer or client after the sign-in began"))
	}
	if err != nil {
		return failed(err)
	}
	return nil
}

// profileOf maps a profile of a connection. The account is found by the issuer and the
// subject. The address is only that of the user if the customer has proven the domain.
func (c *connections) profileOf(of *connection.Connection) func(Profile, *Account) (*User, error) {
	issuer := accountsOf(of.Issuer)
	return func(p Profile, a *Account) (*User, error) {
		u, err := defaultProfile(p, a)
		if err != nil {
			return nil, err
		}
		subject, _ := p["sub"].(string)
		if subject == "" || len(subject) > maxSubject {
			return nil, fmt.Errorf("the subject has %d bytes, and not 1 to %d", len(subject), maxSubject)
		}
		u.ID = issuer + subject
		if !c.verifies(of, p) {
			u.Email = ""
		}
		return u, nil
	}
}

// verifies reports whether the address of a profile counts: it is in a domain of the
// connection, and the provider does not deny it. What the provider says of addresses
// outside of the domains means nothing.
func (c *connections) verifies(of *connection.Connection, p Profile) bool {
	email, _ := p["email"].(string)
	if p["email_verified"] != nil && !p.Bool("email_verified") {
		return false
	}
	email = address.LowerASCII(email)
	if normal, err := address.Normalize(email); err != nil || normal != email {
		return false // another spelling would be another user
	}
	domain, err := address.Domain(email)
	return err == nil && of.Verifies(domain) && !c.Connections.IsPublic(domain)
}

// accountsOf begins the ids of the accounts of an issuer.
func accountsOf(issuer string) string { return shortHash(issuer) + ":" }

// shortHash is 96 bits of a hash of texts that have no zero byte, as every URL.
func shortHash(texts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(texts, "\x00")))
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}

// discovery finds the connection of a user by the domain of an address.
type discovery struct {
	providerBase
	all *connections
}

// begin goes on with the connection that the address leads to.
func (d *discovery) begin(x *exchange) error {
	until := time.Now().Add(discoveryTime)
	typed, _, _ := x.body.String("email")
	domain, malformed := address.Domain(typed)
	if allow := x.Connections.Allow; allow != nil {
		if err := allow(x.counting(), &connection.Lookup{Domain: domain, Client: x.clientAddress(x.r), Request: x.r}); err != nil {
			if isClassified(err) {
				return err
			}
			return fail(codeNoConnection, byClient(err))
		}
	}
	own := x.provider
	err := error(fail(codeNoConnection, byClient(malformed)))
	if malformed == nil {
		if err = d.goTo(x, typed, domain, until); err == nil {
			return nil
		}
	}
	// Nothing of the connection remains: what the answer depends on is that there is none.
	x.provider, x.answer = own, answer{}
	left := time.NewTimer(time.Until(until))
	defer left.Stop()
	select {
	case <-left.C:
	case <-x.ctx.Done():
	}
	return err
}

// goTo begins a sign-in with the connection of a domain.
func (d *discovery) goTo(x *exchange, typed, domain string, until time.Time) error {
	whole := x.ctx
	ctx, cancel := context.WithDeadlineCause(whole, until, errDiscoverySlow)
	defer cancel()
	x.ctx = ctx
	defer func() { x.ctx = whole }()
	p, err := d.all.ofDomain(ctx, domain)
	if err != nil {
		return err
	}
	x.provider = p
	if hint, err := address.Normalize(typed); err == nil && len(hint) <= maxLoginHint {
		x.own.Add("login_hint", hint)
	}
	if err := p.begin(x); err != nil {
		return &Error{Code: codeNoConnection, Provider: p.id, Err: err}
	}
	return nil
}

var errDiscoverySlow = fmt.Errorf("the connection was not ready within %v", discoveryTime)

func (*discovery) finish(x *exchange) (*arrival, error) {
	return nil, fail(codeInvalidProvider, fmt.Errorf("no sign-in ends at the callback route of %s", x.provider.id))
}

func (*discovery) describe(_ *exchange, entry page.Provider) page.Provider { return entry }

// ofDomain returns the provider of the one connection with a domain.
func (c *connections) ofDomain(ctx context.Context, domain string) (*provider, error) {
	none := func(reason string) error { return fail(codeNoConnection, byClient(errors.New(reason))) }
	if c.Connections.IsPublic(domain) {
		return nil, none("the domain is one of a public mail service")
	}
	ids, err := c.looking.Do(ctx, domain, func(ctx context.Context) ([]string, error) {
		ctx, cancel := context.WithTimeoutCause(ctx, sourceTimeout, errSourceSlow)
		defer cancel()
		return c.Connections.Source.IDs(ctx, domain)
	})
	switch {
	case errors.Is(err, connection.ErrNotFound) || err == nil && len(ids) == 0:
		return nil, none("no connection has the domain")
	case err != nil:
		return nil, fail(codeNoConnection, fmt.Errorf("the source of connections: %w", err))
	case len(ids) > 1:
		return nil, fail(codeNoConnection, fmt.Errorf("%d connections have the domain %q, and none of them is used", len(ids), domain))
	}
	failed := func(err error) error {
		return &Error{Code: codeNoConnection, Provider: c.Connections.Prefix + ids[0], Err: err}
	}
	if !connection.ValidID(ids[0]) {
		return nil, failed(errors.New("the source of connections returned an id that no connection can have"))
	}
	m, err := c.of(ctx, ids[0], false)
	switch {
	case err != nil:
		return nil, failed(err)
	case m.Hidden:
		return nil, none("the connection is hidden")
	case !m.Verifies(domain):
		return nil, failed(fmt.Errorf("the domain %q is not one of the connection that the source returned for it", domain))
	}
	p, err := m.usable(ctx, c.settings)
	switch {
	case err != nil:
		return nil, failed(err)
	case p == nil:
		return nil, none("the connection is disabled")
	}
	return p, nil
}
