package pintle

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pintleauth/pintle/connection"
	"github.com/pintleauth/pintle/internal/clientaddr"
	"github.com/pintleauth/pintle/internal/csrf"
	"github.com/pintleauth/pintle/internal/flight"
	"github.com/pintleauth/pintle/internal/lifetime"
	"github.com/pintleauth/pintle/internal/lru"
	"github.com/pintleauth/pintle/internal/once"
	"github.com/pintleauth/pintle/internal/origin"
	"github.com/pintleauth/pintle/internal/page"
	"github.com/pintleauth/pintle/internal/publicnet"
	"github.com/pintleauth/pintle/internal/seal"
	"github.com/pintleauth/pintle/internal/sealed"
	"github.com/pintleauth/pintle/internal/tally"
	"github.com/pintleauth/pintle/internal/tokenhash"
	"github.com/pintleauth/pintle/providersession"
	"github.com/pintleauth/pintle/sharedstate"
)

const (
	defaultBasePath = "/auth"

	defaultMaxAge    = 30 * 24 * time.Hour
	defaultUpdateAge = 24 * time.Hour

	// minSecret prevents a brute-force search for the secret of a hash or
	// token: 32 characters are at least 128 bits even when they are
	// hexadecimal.
	minSecret = 32

	// outgoingTimeout bounds a request to a provider when the host sets no
	// client.
	outgoingTimeout = 10 * time.Second
)

// settings is a Config that was completed, checked and turned into what
// requests need. It does not change.
type settings struct {
	Config

	// base is the base path without a trailing slash: "/auth", or "" when the
	// routes are at the root.
	base       string
	baseSource string // what set it
	origins    *origin.Resolver
	previews   origin.Hosts // of RedirectProxyHosts
	log        logger

	// accounts serves the routes of [Config.Accounts]. Without it there are none.
	accounts http.Handler

	providers []*provider
	byID      map[string]*provider

	// connect returns the provider of a connection that signs users in, by the id of the
	// connection, or nil. It is nil without [Config.Connections].
	connect func(ctx context.Context, id string) (*provider, error)

	// endsAtProvider reports that sessions of some provider end there, too, and
	// endsByProvider that some provider ends sessions here.
	endsAtProvider, endsByProvider bool

	// follows reports that the sessions of some provider follow it, and revokesLeft that the
	// tokens of some provider end with the last session. tied is one of these or
	// endsByProvider: sessions record the provider with which they began.
	follows, revokesLeft, tied bool
	following                  following

	// jwks is the answer of the route with the keys of clients. It is nil if there are none,
	// and no such route.
	jwks []byte

	sessions sessions
	lifetime lifetime.Policy

	// states seals the state parameter, and challenges what the challenge cookie
	// holds sealed once more.
	states, challenges *sealed.Box

	// confirmations seals the challenges by which sessions are confirmed, and secondFactors
	// those that a sign-in waits for.
	confirmations, secondFactors *sealed.Box

	// keyProofs seals the challenges for what server code has named.
	keyProofs *sealed.Box

	// nativeCodes seals the codes of native applications.
	nativeCodes *sealed.Box

	// signUps seals the challenges of users whose address server code has proven.
	signUps *sealed.Box

	// hostStore is the store as the host gave it, before an observer wrapped it.
	hostStore Store

	records    *records
	shared     *sharing
	counts     *tally.Counts // nil if each process counts attempts alone
	jwtSecrets []string
	hashes     tokenhash.Hasher
	csrf       csrf.Tokens

	spent *spent

	plain, secure *cookieSet
	languages     []language // the first is that of Config.Texts

	accountKeys *seal.Keys

	notices notices

	// openedAt are the hosts at which requests say that the site was opened, if those
	// are not its own.
	openedAt onceEach

	// ownClientAddress reports that Config.ClientAddress is a function of the host, which
	// looks at other things than TrustedProxies.
	ownClientAddress bool

	// refusedTargets are the origins that the redirect rules have kept browsers
	// from.
	refusedTargets onceEach

	// reached reports that a request for a route has come, and unreached counts
	// the browsers that were sent to the sign-in page before.
	reached   atomic.Bool
	unreached atomic.Int32

	refreshes refreshes

	// fault is what makes this configuration unusable. It is what New returns;
	// a configuration made for a request answers with it.
	fault *Error

	// home are the tenants of which this is one, and key its key. home is nil for
	// the configuration of [New].
	home *tenants
	key  string
}

// isSame reports whether two configurations are those of one Auth and, with
// [NewFunc], of one tenant. A tenant's is made again after it was forgotten.
func (s *settings) isSame(other *settings) bool {
	return s == other || s.home != nil && s.home == other.home && s.key == other.key
}

// cookieSet returns the cookies for a site that is reached over https or not.
func (s *settings) cookieSet(secure bool) *cookieSet {
	if secure {
		return s.secure
	}
	return s.plain
}

// isLocal reports whether only browsers on this machine can use the site.
func (s *settings) isLocal() bool {
	if s.URL == "" {
		return !s.TrustHost
	}
	site, err := origin.Parse(s.URL)
	return err == nil && site.Loopback()
}

// clientAddress returns the address of the client that sent a request, for the
// log and for limits. An unknown address is invalid.
func (s *settings) clientAddress(r *http.Request) netip.Addr {
	return clientaddr.Normal(s.ClientAddress(r))
}

// replacedGrace is how long a session that was replaced is still read: requests of a
// page are on their way with its token when the answer arrives that replaces it.
const replacedGrace = 10 * time.Second

// browserMaxAge is how long browsers keep a cookie, whatever it asks for.
//
// https://datatracker.ietf.org/doc/html/draft-ietf-httpbis-rfc6265bis#section-5.5
const browserMaxAge = 400 * 24 * time.Hour

// The pages of [Config.Native].
const (
	nativeAuthorize = "authorize"
	nativeToken     = "token"
)

// discoveryID is the id in the path by which a user finds a connection by an address.
const discoveryID = "sso"

// find returns the provider with an id, or nil. That of a connection comes from the
// source of the host, which may fail.
func (s *settings) find(ctx context.Context, id string) (*provider, error) {
	if p := s.byID[id]; p != nil {
		return p, nil
	}
	of, ok := s.connectionID(id)
	if !ok || !connection.ValidID(of) {
		return nil, nil
	}
	p, err := s.connect(ctx, of)
	if err != nil {
		return nil, &Error{Code: CodeConfiguration, Provider: id, Err: err}
	}
	return p, nil
}

// mayHave reports whether a provider is one of the configuration, or may be that of a
// connection.
func (s *settings) mayHave(id string) bool {
	_, connected := s.connectionID(id)
	return connected || s.byID[id] != nil
}

// connectionID returns the id of the connection that the id of a provider would be about,
// and whether it is about one. Capitals count as well: "SSO-1" is no id, and must not
// look as if it were one.
func (s *settings) connectionID(id string) (of string, ok bool) {
	prefix := s.Connections.Prefix
	if s.connect == nil || len(id) < len(prefix) || !strings.EqualFold(id[:len(prefix)], prefix) {
		return "", false
	}
	return strings.TrimPrefix(id, prefix), true
}

// isRoute reports whether a request is for a route.
func (s *settings) isRoute(r *http.Request) bool {
	_, _, ok := s.parsePath(r.URL.EscapedPath())
	return ok
}

// parsePath takes a path apart into its action and the id of a provider, or the name
// of a page of [Config.Accounts]. The path is compared as it was sent, undecoded: what only becomes an action or an
// id by decoding is neither.
func (s *settings) parsePath(path string) (act action, id string, ok bool) {
	act, id, ok = parseRoute(s.base, path)
	of, connected := s.connectionID(id)
	switch {
	case connected && act != actionAccount && !connection.ValidID(of):
		return "", "", false
	case act == actionInitiate && !connected:
		if p := s.byID[id]; p == nil || p.initiated == nil {
			return "", "", false
		}
	case act == actionAccount && s.accounts == nil:
		return "", "", false
	case act == actionSignOut && id != "":
		if p := s.byID[id]; p == nil || p.endSession == nil {
			return "", "", false
		}
	case act == actionNative:
		if len(s.Native) == 0 || id != nativeAuthorize && id != nativeToken {
			return "", "", false
		}
	case act == actionIDToken:
		if p := s.byID[id]; p == nil || p.idTokens == nil {
			return "", "", false
		}
	case act == actionClientKeys && s.jwks == nil:
		return "", "", false
	case act == actionBackChannelLogout:
		if p := s.byID[id]; p == nil || p.backChannel == nil {
			return "", "", false
		}
	}
	return act, id, ok
}

func parseRoute(base, path string) (act action, id string, ok bool) {
	rest, below := strings.CutPrefix(path, base)
	if !below || !strings.HasPrefix(rest, "/") {
		return "", "", false
	}
	rest = strings.Trim(rest, "/")
	first, second, two := strings.Cut(rest, "/")
	second = strings.TrimLeft(second, "/")
	if strings.Contains(second, "/") {
		return "", "", false
	}
	act = action(first)
	switch act {
	case actionSignIn, actionCallback, actionWebAuthnOptions:
		if second != "undefined" {
			id = second
		}
		return act, id, true
	case actionAccount, actionSignOut, actionBackChannelLogout, actionIDToken, actionNative, actionInitiate:
		return act, second, !strings.Contains(second, "%")
	case actionProviders, actionSession, actionCSRF, actionVerifyRequest, actionError, actionClientKeys:
		return act, "", !two
	}
	return "", "", false
}

func (s *settings) signInPagePath() string {
	if s.Pages.SignIn != "" {
		return s.Pages.SignIn
	}
	return s.base + "/signin"
}

// A presence is the user who is signed in in a browser.
type presence struct {
	// user is nil where the request is signed out.
	user *User

	// session is the database session, nil where sessions are kept in tokens, and
	// token is what the revocation list has to know of a token session.
	session *StoredSession
	token   TokenSession

	// authentication is what the session records of the sign-in, and began when the
	// session began at the latest. Both are zero if the session does not record it.
	authentication Authentication
	began          time.Time

	// atProvider is the claim of that name of a token session; see [claimAtProvider].
	atProvider any
}

// A providerEnd is what a logout token or the refusal of a refresh token ends: the sessions
// that began before a time with a session of the provider, with a user there, or with both.
// One of the keys may be zero.
type providerEnd struct {
	sid, sub providersession.Key
	before   time.Time

	// token names the logout token or the refusal, which has an effect once until a time.
	token sharedstate.Key
	until time.Time
}

// sessions is where the sessions of a configuration live: [tokenSessions] keeps
// them in tokens, [dbSessions] in rows of the store. Only
// [settings.chooseSessions] reads the strategy.
type sessions interface {
	// needStoredUser reports whether a session is a row of the store, which
	// belongs to a user of the store.
	needStoredUser() bool

	// carryAddress reports whether a session has a copy of the user's address, and
	// shows it until the session ends.
	carryAddress() bool

	// endHeldAtSignIn reports whether a sign-in with a provider ends the session
	// that the browser holds. The session cookie has to come along for that.
	endHeldAtSignIn() bool

	// endCopies reports whether the end of a session is the end of every copy of
	// its cookie. Where it is not, a sign-out can do no more than clear the cookie.
	endCopies() bool

	// readable reports whether sessions can be read.
	readable(ctx context.Context) error

	// read returns the session of a request and extends it as q requires. Only
	// [settings.sessionOf] calls it.
	read(q sessionRequest) sessionResult

	// present returns the user who is signed in in this browser. An expired
	// session counts as signed out: what is linked while a browser holds it must
	// not go to its user.
	present(x *exchange) (*presence, error)

	// goesOn reports whether the session of a presence, which was read before the
	// callbacks of the host ran, is still good. It reads in the transaction of the
	// decision, or fails with an [errand].
	goesOn(w *unitOfWork, who *arrival, here *presence) (bool, error)

	// begin returns when a session of a user that begins now began, which is after the
	// last end of all sessions of the user.
	begin(ctx context.Context, userID string) (time.Time, error)

	// mayBegin rejects a time at which a session of server code is to begin, if the
	// end of all sessions of its user since then may be forgotten.
	mayBegin(at time.Time) error

	// create writes what the store keeps of the session of a decision, in its
	// transaction. Only [exchange.beginSession] calls it.
	create(w *unitOfWork, d *decision) error

	// join notes that a session which goes on now also belongs to the sign-in of a
	// decision, in its transaction.
	join(w *unitOfWork, d *decision) error

	// mark writes what shows later whether the sessions of the user have ended
	// since the decision, in its transaction.
	mark(w *unitOfWork, d *decision) error

	// keep makes what the session of a held sign-in consists of, and resume takes
	// it back. A sign-in that another kind of sessions kept cannot be completed.
	keep(x *exchange, who *arrival, d *decision) error
	resume(d *decision, held *heldSignIn) error

	// marked reports whether the sessions of the user have not ended since mark.
	// unmark does the same and removes the mark.
	marked(ctx context.Context, d *decision) (bool, error)
	unmark(ctx context.Context, d *decision) (bool, error)

	// rotate ends the sessions that the browser holds and gives it one with another
	// token, where the host asks for that. It fails if the session that would go on
	// in another token has ended.
	rotate(w *unitOfWork, who *arrival, d *decision) error

	// endOther ends the sessions that the browser holds, before the sign-in of
	// user, unless it is signed in as that user. here is the presence in it.
	endOther(w *unitOfWork, here *presence, user *User) error

	// issue gives the browser the session of a decision, and returns nil where
	// there is none. Only [exchange.giveSession] calls it.
	issue(x *exchange, who *arrival, d *decision) (*issued, error)

	// prove replaces the session that the browser holds by one of the same user whose
	// methods have just been proven once more, and adds its cookies to the answer. The
	// session before is read as it was for replacedGrace, and then is gone. It fails
	// where there is no session, or none any more.
	//
	// there is the sign-in at a provider that proves it, or nil. If the session began with
	// that account, a further session of it at the provider is the one that ends this one.
	prove(x *exchange, methods []string, there *atProvider) (*Session, error)

	// rejoin notes the same in the session that the browser holds, which goes on.
	rejoin(x *exchange, there *atProvider) error

	// end ends the sessions with the tokens held, which the request carries. Its
	// cookies are left.
	end(x *exchange, held []string) ([]*SignOutEvent, error)

	// lacksForProviderEnd returns what is missing for endByProvider, or nil.
	lacksForProviderEnd() error

	// lacksForRevoking returns what is missing to know the last session with an account, or
	// nil.
	lacksForRevoking() error

	// lacksForFollowing returns what is missing for sessions that follow their provider, or
	// nil.
	lacksForFollowing() error

	// endByProvider ends the sessions that a provider has ended, and returns the records
	// by which the store found them. They are nil, and not merely empty, if sessions are not
	// counted. first is false if the logout token was used before. If it fails, the same
	// token can be used again.
	endByProvider(ctx context.Context, e *providerEnd) (ended []*providersession.Record, first bool, err error)

	// endUnproven ends the sessions of a user, but for the one with the token
	// except, in the transaction of a decision. See [work.endSessions].
	endUnproven(w *unitOfWork, who *arrival, userID, except string) error

	// endEverywhere ends every session of a user.
	endEverywhere(ctx context.Context, userID string) error

	// endBeside ends every session of the user of a sign-in that waits, and every other
	// sign-in that waits. endedAgain reports whether another request has ended them since, if
	// the begin of the session would not show it. beginAfter has the session of this one begin
	// after that.
	endBeside(ctx context.Context, d *decision) error
	endedAgain(ctx context.Context, d *decision, since time.Time) (bool, error)
	beginAfter(ctx context.Context, d *decision) error

	// devices, endDevice and endOtherDevices are what the methods of [Auth] with
	// these names do for the user of asking.
	devices(ctx context.Context, asking *Session) iter.Seq2[*Device, error]
	endDevice(ctx context.Context, asking *Session, handle string) error
	endOtherDevices(ctx context.Context, asking *Session) (ended int, err error)
}

// A renewal is the extent to which reading a session extends it.
type renewal uint8

const (
	renewNever  renewal = iota // read only: there is no response to write to
	renewDue                   // when UpdateAge has passed
	renewAlways                // the session route, as its clients expect
)

// A sessionRequest is a request whose session is to be read, and how.
type sessionRequest struct {
	*http.Request
	set     *cookieSet
	renewal renewal

	// trigger and update are for the callbacks: what a client or the host sent to
	// change the session.
	trigger Trigger
	update  any

	// changes are those that [Claim.Set] made and that are to be saved.
	changes map[string]any

	// confirmed reports that the provider has confirmed the session, which its token does
	// not say yet.
	confirmed bool

	// enters reports that the request is about to reach a handler of the host. own is the
	// session of the browser, also if an operator acts as a user. later is where showSession
	// leaves what it needs, until it is known whether an operator acts.
	enters, own bool
	later       *shownLater
}

// shownLater are the claims of a session that is shown if no operator acts as a user.
type shownLater struct{ claims Claims }

// onlyRead keeps the request from what would change a session that was replaced: its
// cookie would take the place of the new one.
func (q *sessionRequest) onlyRead() {
	q.renewal, q.trigger, q.update, q.changes, q.confirmed = renewNever, "", nil, nil, false
}

// A sessionResult is what came of reading the session of a request.
type sessionResult struct {
	// session is nil where the request is signed out or the session was not read.
	session *Session

	// page is where the user of the session goes first, if Callbacks.Accept says so. The
	// request is then signed out.
	page string

	// lines are the Set-Cookie lines for the browser. Those of a session that was
	// not read are sent by the session route only.
	lines []string

	// acting is what came of the cookie of an operator who acts as a user, and alone reports
	// that nobody is signed in beside it.
	acting actingState
	alone  bool

	// unread has no error where the session was read, and where the request
	// carries none.
	unread
}

// An unread is the reason why a session was not read.
type unread struct {
	err   error
	cause unreadCause
}

// An actingState is what is known of an operator who acts as a user.
type actingState uint8

const (
	actingNot   actingState = iota // the request has no cookie of one, or it is not known
	actingNow                      // the session has an Actor
	actingOver                     // it has ended, or was never good
	actingWaits                    // it has not ended, and the session that it belongs to did not come
)

// actingHeader is in each answer to a request in which an operator acts as a user, and actingEnd
// is the page of [Config.Accounts] that ends it.
const (
	actingHeader = "Pintle-Acting"
	actingEnd    = "stop-acting"
)

type unreadCause uint8

const (
	// rejected is a token that is expired, ended or not one of this site. The
	// request is signed out.
	rejected unreadCause = iota

	// failed is a fault of the configuration or of a callback.
	failed

	// unanswered means that a store or a revocation list is unavailable. It is
	// not known whether the request is signed in, so it counts as signed out: a
	// session that has ended must not be used because the list of ended ones is
	// unavailable.
	unanswered

	// meantForUser is a request that may change something and was meant for the user as whom
	// an operator has acted.
	meantForUser
)

// An issued is a session that a browser or an application was given. Only server code
// that starts one asks for more than the token.
type issued struct {
	token   string
	session func() *Session
}

// A heldSignIn is a pending sign-in as it waits, sealed, in a cookie of the browser.
// It is good as long as the store has a row that goes with it.
type heldSignIn struct {
	// Secret finds the row in the [Store]. Only its hash is there.
	Secret string `json:"secret"`

	// ID is that of [PendingSignIn].
	ID string `json:"id"`

	// Browser is the mark of the browser's form token: a copy of the cookie is worth
	// nothing in another browser.
	Browser string `json:"browser"`

	Provider string   `json:"provider"`
	By       evidence `json:"by"`

	// User is the user as of the time when the sign-in was held. If Stored is set, the
	// store has the user as it is now.
	User    *User    `json:"user"`
	Stored  bool     `json:"stored"`
	Account *Account `json:"account"`
	NewUser *bool    `json:"newUser"`

	// Began is when the session begins, in Unix milliseconds, however late the sign-in
	// is completed: the end of all sessions of the user covers it.
	Began int64 `json:"began"`

	// Started is when the session begins if this sign-in has ended the others of the user, in
	// Unix milliseconds, and otherwise zero: see [CompleteOptions.Change].
	Started int64    `json:"started,omitempty"`
	Methods []string `json:"methods,omitempty"`

	// Proofs is when each of Methods was proven, in Unix milliseconds.
	Proofs map[string]int64 `json:"proofs,omitempty"`

	// AtProvider is for database sessions; see the field of [decision].
	AtProvider *heldAtProvider `json:"atProvider,omitempty"`

	// Claims and Marker are for the sessions; see the fields of [decision].
	Claims  Claims `json:"claims,omitempty"`
	Claimed bool   `json:"claimed,omitempty"`
	Marker  string `json:"marker,omitempty"`

	CallbackURL  string `json:"callbackUrl"`
	CallbackText string `json:"callbackText"`

	// Lines are those of [Submission.SetCookie].
	Lines []string `json:"lines,omitempty"`

	sealed.Stamp
}

// tokenSessions are sessions that are kept in the token of the session cookie, and
// nowhere else.
type tokenSessions struct{ *settings }

// dbSessions are sessions that are rows of the store. The cookie holds the random
// token of the row.
type dbSessions struct{ *settings }

// spent is what was used and must not be used again, in the memory of one process for all
// tenants of [NewFunc]. It counts where there is no shared state: a copy of a browser's
// cookies then works once at each process. For passkeys the counter of an authenticator
// that counts stops that; for providers, that a code is redeemed once:
// https://www.rfc-editor.org/rfc/rfc6749#section-4.1.2
type spent struct {
	// flows are the states of providers' responses, and the verifiers or nonces
	// of flows without a state.
	flows spentValues

	// challenges are those of passkey ceremonies.
	challenges spentValues

	// nonces are those of ID tokens, and idTokens are those without one.
	nonces, idTokens spentValues
}

// spentValues are the used values of one kind, which has a name at the shared state.
type spentValues struct {
	kind string
	here *once.Values
}

// publicClient returns a client for [Config.PublicNetworkOnly].
func (s *settings) publicClient() *http.Client {
	return &http.Client{Timeout: outgoingTimeout, Transport: publicnet.Transport(nil, s.PublicNetworkPorts...)}
}

// refreshes are the exchanges under way and those just done.
type refreshes struct {
	underWay flight.Group[*Account]
	mu       sync.Mutex
	done     map[string]refreshed
	seen     lru.Map[string, sighting]
}

// following is what this process knows of sessions that follow their provider.
type following struct {
	underWay flight.Group[time.Time]
	mu       sync.Mutex
	known    lru.Map[string, confirmation]
}

// A confirmation is what is known of one session.
type confirmation struct {
	// provider and account are those with which a database session began, if it was looked
	// up. They are empty if it began with none that is recorded.
	provider, account string
	looked            bool

	proven time.Time // when the provider has confirmed the session
	asked  time.Time // when it was asked in vain

	// moved is the end of a database session for which its record was moved.
	moved time.Time
}

// maxFollowed bounds what is known.
const maxFollowed = 10_000

func (f *following) get(id string) (confirmation, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.known.Max = maxFollowed
	return f.known.Get(id)
}

// change changes what is known of a session, in one step.
func (f *following) change(id string, change func(*confirmation)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.known.Max = maxFollowed
	c, _ := f.known.Get(id)
	change(&c)
	f.known.Put(id, c)
}

// A sighting is the longest time to its end at which the access token of an
// account was seen.
type sighting struct {
	end  int64 // in Unix seconds: which token it is
	left time.Duration
}

// refreshed is the outcome of an exchange: an account, or an error that another
// attempt would meet again.
type refreshed struct {
	account *Account
	err     error
	at      time.Time
	until   time.Time // how long it is remembered

	// from is the access token that account had before the exchange.
	from string

	// unsaved is the turn whose tokens the store has not taken yet. They are nowhere else.
	unsaved *turn

	// unended is when the exchange began that the provider has refused, until that has ended
	// the sessions of the user, for [OAuth.EndSessionsOnRefusal]. Otherwise it is zero.
	// told reports that the host has heard of it, although an attempt at that failed.
	unended time.Time
	told    bool
}

// exchanged is an exchange of a refresh token that has failed.
type exchanged struct {
	provider *provider
	account  *Account

	// asked is when it began, or zero if the sessions have ended that it ends. untold
	// reports that an attempt at that failed and was not reported: it may have had its
	// effect although the store failed.
	asked  time.Time
	untold bool
}

// A turn is the right of one call to exchange the refresh token of an account: a lease
// for the processes that share the store. Within a process calls wait for one another
// already.
type turn struct {
	shared   *sharing // nil if each process exchanges alone
	provider string
	key      sharedstate.Key
	owner    sharedstate.Owner
	held     bool
	kept     bool // longer than the call
	waited   time.Duration
	pause    time.Duration
}

// A language is one in which the pages can be shown.
type language struct {
	tag   string // in lower case
	pages *page.Pages
}

// isOf reports whether a configuration read the session, or the host made it.
func (s *Session) isOf(set *settings) bool { return s.from == nil || s.from.isSame(set) }

// observedClient returns a client whose requests to a provider the observer sees.
func (s *settings) observedClient(provider string, c *http.Client) *http.Client {
	if s.Observer.Transport == nil {
		return c
	}
	seen := *c
	if seen.Transport == nil {
		seen.Transport = http.DefaultTransport
	}
	seen.Transport = s.Observer.Transport(provider, seen.Transport)
	return &seen
}

// site returns the origin at which the browser sees the request. Links in mails
// and redirects are made from it. Any client can set the headers, so they are
// trusted only on this machine, where they can do no harm, or where the host
// trusts them.
func (s *settings) site(r *http.Request) (origin.Origin, error) {
	site, err := s.origins.Resolve(r)
	if err != nil {
		return "", fail(codeUntrustedHost, byClient(err))
	}
	if s.URL != "" || s.TrustHost {
		return site, nil
	}
	if !site.Loopback() {
		return "", fail(codeUntrustedHost, fmt.Errorf("the request says that it is for %s: %s", site, fixUntrusted))
	}
	if header, elsewhere := origin.PassedOn(r.Header, site); elsewhere {
		return "", fail(codeUntrustedHost,
			fmt.Errorf("the request is for %s, and a proxy passed it on from elsewhere (%s): %s", site, header, fixUntrusted))
	}
	return site, nil
}

// varyByLanguage adds the header that Accept-Language decides, on a site in several
// languages.
func (s *settings) varyByLanguage(h http.Header) {
	if len(s.languages) > 1 {
		h.Add("Vary", "Accept-Language")
	}
}
