package authtest

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Options describe an [IdentityProvider]. Every zero value is a working
// default.
//
// With no Clients the provider is open: every client id is a client, with any
// secret, if its redirect URI is on this machine (localhost, 127.0.0.0/8 or ::1,
// any port). That is for quickstarts, and for tests of the time after a sign-in.
// Open mode has no secret to verify a signature with, so OAuth 1.0a,
// [ClientSecretJWT] and [PrivateKeyJWT] need a client.
type Options struct {
	// Name is the provider's name on its pages. Empty means
	// "Test identity provider".
	Name string

	// People are offered on the consent page. Nil means [DefaultPeople].
	People []Person

	// Clients are the applications that may use the provider; see also
	// [IdentityProvider.Register].
	Clients []Client

	// AutoConsent makes the provider redirect at once, without a page. The
	// user is the person that login_hint names, else the one of
	// [IdentityProvider.SignInAs], else the first of People.
	AutoConsent bool

	// RequirePKCE rejects authorization requests without a challenge. If there
	// was a challenge, the verifier is checked in any case.
	RequirePKCE bool

	// RequirePush rejects authorization requests that were not pushed (RFC 9126).
	RequirePush bool

	// DPoPNonces asks for a nonce in every proof (RFC 9449). The token endpoint and the
	// profile endpoints have different ones. See [IdentityProvider.ChangeDPoPNonces].
	DPoPNonces bool

	// FAPI2 requires what the FAPI 2.0 Security Profile does of clients: pushed requests,
	// PKCE, signed assertions whose audience is the issuer, and proofs. The algorithm of ID
	// tokens must be [ES256] or [EdDSA].
	FAPI2 bool

	// Algorithm signs ID tokens: [RS256], [ES256] or [EdDSA]. Empty means
	// RS256.
	Algorithm string

	// TokenLifetime is how long access tokens and ID tokens are valid. Zero
	// means one hour.
	TokenLifetime time.Duration

	// Addr is where [IdentityProvider.Listen] listens, always on a loopback
	// address: "localhost:9000", for example. Empty means "127.0.0.1:0".
	Addr string

	// Path puts the provider below a path, as services with tenants do:
	// "/tenant/7" makes the issuer http://127.0.0.1:PORT/tenant/7.
	Path string
}

// An IdentityProvider is an OAuth 2.0, OpenID Connect and OAuth 1.0a service at
// which a user can sign in as any person, without a password. It is an
// [http.Handler]; [IdentityProvider.Listen] serves it. Its methods may be called
// concurrently.
type IdentityProvider struct {
	// Issuer is the issuer identifier, below which all endpoints are. Listen
	// sets it. Set it before the first request when serving the handler in
	// another way; while it is empty, each request is answered as if the
	// issuer were where the request was sent to.
	Issuer string

	opts   Options
	keys   *keyring
	server *http.Server

	mu       sync.Mutex // guards the fields below
	clients  map[string]Client
	person   Person // who consents automatically
	faults   faultSet
	tamper   Tamper
	requests []*Request
	grants   grants
	oauth1   oauth1Tokens
	seen     replayed
	pushed   map[string]pushedRequest

	nonce, apiNonce string // of proofs
}

// NewIdentityProvider returns a provider for opts. It starts nothing, and panics if
// opts is invalid.
func NewIdentityProvider(opts Options) *IdentityProvider {
	opts.Name = cmp.Or(opts.Name, "Test identity provider")
	opts.Algorithm = cmp.Or(opts.Algorithm, RS256)
	opts.TokenLifetime = cmp.Or(opts.TokenLifetime, time.Hour)
	opts.Addr = cmp.Or(opts.Addr, "127.0.0.1:0")
	opts.Path = strings.TrimSuffix(opts.Path, "/")
	if opts.Path != "" && !strings.HasPrefix(opts.Path, "/") {
		panic(fmt.Sprintf("authtest: Options.Path %q must start with a slash", opts.Path))
	}
	switch opts.Algorithm {
	case RS256, ES256, EdDSA:
	default:
		panic(fmt.Sprintf("authtest: Options.Algorithm %q must be RS256, ES256 or EdDSA", opts.Algorithm))
	}
	if opts.FAPI2 && opts.Algorithm == RS256 {
		panic("authtest: Options.FAPI2 needs the Algorithm ES256 or EdDSA")
	}
	opts.RequirePKCE = opts.RequirePKCE || opts.FAPI2
	if len(opts.People) == 0 {
		opts.People = DefaultPeople()
	}
	p := &IdentityProvider{
		opts:    opts,
		keys:    &keyring{alg: opts.Algorithm},
		clients: map[string]Client{},
		person:  opts.People[0],
		grants:  newGrants(),
		oauth1:  newOAuth1Tokens(),
		seen:    replayed{},
		pushed:  map[string]pushedRequest{},
	}
	p.ChangeDPoPNonces()
	for _, c := range opts.Clients {
		p.Register(c)
	}
	return p
}

// SignInAs makes who the user of every automatic authorization, unless its
// login_hint names another person. who need not be in the People of the [Options].
func (p *IdentityProvider) SignInAs(who Person) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.person = who
}

// Listen serves the provider on its address, sets Issuer, and returns. It rejects
// addresses that other machines can reach: their users could sign in as any
// person. The caller ends it with [IdentityProvider.Close].
func (p *IdentityProvider) Listen() error {
	listener, err := listenLoopback(p.opts.Addr)
	if err != nil {
		return err
	}
	p.Issuer = "http://" + listener.Addr().String() + p.opts.Path
	p.server = &http.Server{Handler: p, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute}
	go func() { _ = p.server.Serve(listener) }() // returns when Close is called
	return nil
}

// Close stops the server of Listen, and closes the connections of requests that
// are still waiting.
func (p *IdentityProvider) Close() error {
	if p.server == nil {
		return nil
	}
	return p.server.Close()
}
