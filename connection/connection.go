// Package connection describes the identity providers that the customers of a service
// connect to it: single sign-on for organisations over OpenID Connect. They come from a database, and are read while the service runs.
//
//	cfg.Connections = connection.Config{Source: source}
//
// A host implements [Source], and package connectiontest checks the implementation.
package connection

import (
	"context"
	"crypto"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/pintleauth/pintle/oauth"
)

// ErrNotFound is what a [Source] returns for an id that has no connection.
var ErrNotFound = errors.New("connection: not found")

// DefaultPrefix is the beginning of the provider ids of connections.
const DefaultPrefix = "sso-"

// MaxID is the length of the longest id.
const MaxID = 64

// A Connection is the identity provider of one customer, over OpenID Connect. The host
// registers the callback URL {base}/callback/sso-{ID} there: each connection has one.
type Connection struct {
	// ID has 1 to 64 characters of a-z, 0-9 and "-". With [Config].Prefix before it, it is
	// the id of the provider in URLs and in stored accounts. An id must never be used again
	// for another customer, even after its connection was deleted: accounts of the first
	// customer would sign in to the second one.
	ID string

	// Version grows whenever anything in the connection changes, for example a counter or
	// the time of the change in microseconds. A connection with a lower version than the
	// one in use is ignored: it comes from a replica that lags behind. So is one with the
	// same version within ten minutes after the source had none: to bring a deleted
	// connection back, give it a higher one.
	Version int64

	// Name is what pages and the log call the customer. Empty means ID.
	Name string

	// Issuer is the issuer of the provider, exactly as its metadata has it. An account is
	// found by the issuer and the subject: with another issuer, every user of the
	// connection has another account.
	Issuer string

	// ClientID and ClientSecret are the credentials at the provider. They are this
	// connection's alone. The source decrypts the secret if the database has it encrypted.
	ClientID     string
	ClientSecret string

	// ClientAuth is how the client authenticates at the token endpoint. Empty means
	// [oauth.ClientSecretBasic]. PrivateKey and PrivateKeyID are for
	// [oauth.PrivateKeyJWT].
	ClientAuth   oauth.ClientAuth
	PrivateKey   crypto.Signer
	PrivateKeyID string

	// Scopes replaces the scopes. Nil means openid, profile and email.
	Scopes []string

	// MaxAge is the longest time since the user last authenticated at the provider. Zero
	// means any time.
	MaxAge time.Duration

	// ProfileFromUserInfo takes the profile from the userinfo endpoint instead of the ID
	// token.
	ProfileFromUserInfo bool

	// Domains are the e-mail domains that the customer has proven to own, in lower case and
	// in ASCII: "example.com", "xn--bcher-kva.example". Only they lead to this connection,
	// and only an address in one of them becomes the address of a user. A subdomain is
	// another domain. How a domain is proven is the host's, for example by a DNS record that
	// is checked again from time to time. Domains of public mail services are ignored.
	Domains []string

	// Disabled refuses every sign-in, also one that has begun. Sessions go on.
	Disabled bool

	// Hidden keeps the connection from being found by an address. Its own URL works.
	Hidden bool

	// LinkVerifiedDomain links a new account to the stored user with the same address, if
	// the address is in one of Domains. That user must have no password, as far as the host
	// knows, and no account of a connection. The operator of the provider can then sign in
	// as any such user. If users of the provider can choose their address there, each of
	// them can, too: the claim email_verified need not be there, because many providers of
	// organisations send none. It needs a store that lists accounts. Without
	// LinkVerifiedDomain the sign-in is refused.
	LinkVerifiedDomain bool

	// NeverLink keeps accounts of the connection from being linked to the signed-in user: a
	// sign-in with the connection is then always one of the connection's users.
	NeverLink bool

	// DisableProvision refuses users without an account here, instead of creating them.
	DisableProvision bool

	// AllowInitiated lets the provider begin a sign-in by sending a browser to
	// {base}/initiate/sso-{ID}; see the field of the same name of pintle.OAuth.
	AllowInitiated bool
}

// LogValue leaves out the secret.
func (c Connection) LogValue() slog.Value {
	return slog.GroupValue(slog.String("id", c.ID), slog.Int64("version", c.Version), slog.String("issuer", c.Issuer))
}

// Format prints what LogValue returns, whatever the verb.
func (c Connection) Format(to fmt.State, _ rune) {
	_, _ = io.WriteString(to, "connection.Connection"+c.LogValue().String()) // fmt has no place for an error
}

// Verifies reports whether a domain is one of c.Domains.
func (c *Connection) Verifies(domain string) bool {
	return domain != "" && slices.Contains(c.Domains, domain)
}

// ValidID reports whether an id is one that a connection can have.
func ValidID(id string) bool {
	return id != "" && len(id) <= MaxID && strings.Trim(id, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// A Source has the connections of the customers, for example in a table. Its methods are
// called concurrently, and fail when ctx has ended. A call may take five seconds.
type Source interface {
	// Connection returns the connection with an id, disabled and hidden ones included, or
	// [ErrNotFound]. Any other error, a panic, and a connection with another id are faults:
	// no user signs in with the connection meanwhile. The result is not changed, and the
	// source does not change it either. The id may come from a request.
	Connection(ctx context.Context, id string) (*Connection, error)

	// IDs returns the ids of all connections with a domain in their Domains, disabled and
	// hidden ones included. There is none for an unknown domain, without an error. Two mean
	// that two customers have proven the domain: neither connection is then found by an
	// address. The domain is in lower case and in ASCII, and comes from a request.
	IDs(ctx context.Context, domain string) ([]string, error)
}

// A Config says how a service uses the connections of its customers. The zero value has
// none.
type Config struct {
	// Source has the connections. Nil means that there are none.
	Source Source

	// Prefix begins the provider ids of the connections. Empty means "sso-". No other
	// provider may have an id that begins with it.
	Prefix string

	// PublicDomains are further domains of public mail services, at which any user can have
	// an address. No customer owns them, and in Domains they are ignored. The best known ones are built in.
	PublicDomains []string

	// HideAddressField leaves the field for an address out of the built-in sign-in page.
	HideAddressField bool

	// Allow decides whether a connection may be looked up by the domain of an address. An
	// error refuses it. Package throttle has limits: see Guard.Connections. Nil means that
	// there are none.
	Allow func(ctx context.Context, l *Lookup) error

	// Limited says that Allow limits searches, and counts them in the shared state of the
	// site. Package throttle sets it. It changes nothing but what pintle.New logs without a
	// shared state.
	Limited bool

	// Client makes the requests to the providers of the connections. Nil means a client
	// that reaches public services only, by the rules of PublicNetworkOnly in
	// pintle.Config, whose PublicNetworkPorts count here, too. A host sets it if it has to
	// use a proxy, which then must refuse addresses of the inner network: the metadata of a
	// customer can name any URL.
	Client *http.Client
}

// A Lookup is a client that looks up a connection by an address.
type Lookup struct {
	// Domain is the domain of the address, in lower case and in ASCII. It is empty if what
	// was sent is not an address.
	Domain string

	// Client is the address of the client. It may be invalid.
	Client netip.Addr

	// Request is the request. Its body has been read.
	Request *http.Request
}

// LogValue leaves out the request with its cookies.
func (l Lookup) LogValue() slog.Value { return slog.GroupValue(slog.String("domain", l.Domain)) }

// Format prints what LogValue returns, whatever the verb.
func (l Lookup) Format(to fmt.State, _ rune) {
	_, _ = io.WriteString(to, "connection.Lookup"+l.LogValue().String()) // fmt has no place for an error
}
