package pintle

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/pintleauth/pintle/internal/dpop"
	"github.com/pintleauth/pintle/internal/handshake"
	"github.com/pintleauth/pintle/internal/page"
	"github.com/pintleauth/pintle/internal/query"
	"github.com/pintleauth/pintle/internal/sealed"
	"github.com/pintleauth/pintle/internal/tokenhash"
	"github.com/pintleauth/pintle/oauth"
	"github.com/pintleauth/pintle/providersession"
)

// A provider is one of Config.Providers, completed.
type provider struct {
	providerBase
	way
	facts
}

// A way is how users arrive at a sign-in: by a provider of OAuth, a link in a mail,
// a form or a passkey. What comes after it, from [exchange.login] on, is the same
// for all.
type way interface {
	// begin answers POST signin.
	begin(x *exchange) error

	// finish answers the callback route. It returns nil and no error where the
	// response is a redirect or a page, and the sign-in may go on afterwards.
	finish(x *exchange) (*arrival, error)

	// describe returns the provider's entry on the sign-in page, made of one that
	// has what is the same for all.
	describe(x *exchange, entry page.Provider) page.Provider
}

// facts are what code outside its way has to know of a provider. The zero value is
// a provider whose users have accounts in the store.
type facts struct {
	// sendsLinks reports that a link in a mail signs users in. It proves the
	// address that the mail went to. hashes are those of the links' tokens.
	// linkLifetime is how long they work.
	sendsLinks   bool
	hashes       tokenhash.Hasher
	linkLifetime time.Duration

	// hostUsers reports that the host identifies the user by what was typed:
	// the store need not have an account, nor record whether there is a
	// password.
	hostUsers bool

	// knows reports whether a stored user can sign in without an account in the
	// store. Nil means that the provider cannot tell.
	knows func(context.Context, *User) (bool, error)

	// admits reports whether an account of the provider signs its user in. Nil
	// means that every one does.
	admits func(context.Context, *records, *Account) (bool, error)

	// linking reports whether the sign-in of a request was to link an account to
	// the signed-in user. Nil means that it never is.
	linking func(*exchange) bool

	// notLinked is the code of the error of a sign-in whose account must not be
	// linked, and removed the error of one whose account is gone by the decision.
	// Empty ones mean [CodeAccountNotLinked].
	notLinked Code
	removed   *Error

	// reach reports whether the provider answers. It is nil for ways without one.
	reach func(context.Context) error

	// keep returns what the store is given of an account. Nil means
	// [storedByDefault].
	keep func(*Account) *Account

	// storesTokens is [OAuth.StoreTokensAtSignIn].
	storesTokens bool

	// scope is what the configuration of the provider asks for.
	scope string

	// proofs proves to APIs that the application has the key to which tokens are bound. It
	// is nil if the provider issues bearer tokens.
	proofs *dpop.Prover

	// refresh exchanges a refresh token for a token response. Nil means that the
	// provider issues none.
	refresh refreshFunc

	// revoke asks the provider to end a token; see [handshake.Provider.Revoke]. Nil means
	// that its protocol has nothing for that. revokesRemoved is [OAuth.RevokeAtUnlink], and
	// revokesLeft [OAuth.RevokeAtSignOut].
	revoke                      func(ctx context.Context, token, hint string) error
	revokesRemoved, revokesLeft bool

	// followEvery is [OAuth.FollowProvider], and followGrace [OAuth.FollowGrace].
	followEvery, followGrace time.Duration

	// refusedUser names the user of an account whose refresh token the provider has
	// refused: by the key with which [oauthFlow.signedInThere] records sign-ins, and as the
	// provider does. Nil means that such a refusal ends no sessions.
	refusedUser func(*Account) (sub providersession.Key, name string, err error)

	// confirmedThere notes what the ID token of a refresh says of a session.
	confirmedThere func(*providersession.Record, *Account)

	// authority names the authority that decides which user an account belongs
	// to. It is empty if this application decides.
	authority string

	// formPost reports that the provider has browsers post its responses from its
	// own site, to which they send no cookies that say SameSite=Lax.
	formPost bool

	// proxyURL is the URL of the redirect proxy that receives the provider's
	// responses, or empty.
	proxyURL string

	// publishedKeys returns the keys that the client shows to its provider. It may be nil.
	publishedKeys func() ([]handshake.PublishedKey, error)

	// endSession ends sessions at the provider. Nil means that they go on there.
	endSession *endSession

	// backChannel verifies logout tokens. Nil means that the provider ends no sessions
	// here.
	backChannel *backChannel

	// idTokens takes ID tokens of SDKs. It is nil for providers that take none.
	idTokens *idTokens

	// oneButton reports that a button begins a sign-in on any page. Other
	// providers need their form, which is on the sign-in page.
	oneButton bool

	// autofill reports that the browser's autofill list has the passkeys of the
	// provider.
	autofill bool

	// options answers GET webauthn-options. Nil means that the provider has no
	// such route.
	options func(*exchange) error

	// tells reports that the provider sends a verified ID token, which shows when and how
	// its user has signed in there.
	tells bool

	// beginProof begins a ceremony in which a user who is known already proves to have a
	// passkey, and finishProof verifies the answer. Nil means that the provider has none.
	beginProof  func(x *exchange, of *keyProof, verified bool) (json.RawMessage, error)
	finishProof func(x *exchange, of *keyProof, answer []byte) (*Passkey, error)

	// beginSignUp begins a ceremony that creates the passkey of a user who does not exist,
	// and whose address server code has proven. finishSignUp verifies the answer. Nil means
	// that the provider has none.
	beginSignUp  func(x *exchange, u *User) (json.RawMessage, error)
	finishSignUp func(x *exchange, u *User, answer []byte) (*arrival, error)

	// joined is set for the provider of a connection.
	joined *joined

	// initiated reports whether an issuer is the one that may begin a sign-in with the
	// provider. Nil means that none may.
	initiated func(ctx context.Context, issuer string) (bool, error)

	// check returns what the provider lacks around it, once the store is known,
	// and checkClient the credentials that are missing. announce logs at the start
	// what an operator should not overlook. Each may be nil.
	check       func(*settings) *Error
	checkClient func() error
	announce    func(context.Context, *settings)

	// decides is what all processes of the site have to agree on: what is accepted once, and
	// how many attempts there were.
	decides []string
}

// limitsOfAttempts are decided by providers that package throttle limits.
const limitsOfAttempts = "limits of attempts"

// A keyProof is what a ceremony proves about a user who is known already: that the user of a
// session, of a sign-in that waits, or of what server code names, has a passkey.
type keyProof struct {
	user     *User
	signedIn *User // the user of the session, or nil

	// box seals the challenges of the purpose, and mark names what the proof is for: the
	// answer to a challenge with another mark is rejected.
	box           *sealed.Box
	purpose, mark string
}

// joined is what code has to know of a connection beside its provider.
type joined struct {
	// id is that of the connection, and prefix begins the ids of the providers of all.
	id, prefix string

	// authority names the issuer and the client. A flow that began with others does not
	// end here: the code would go to another provider than the one that issued it.
	authority string

	// accounts begins the ids of the accounts of its issuer.
	accounts string

	// neverLinks is [connection.Connection.NeverLink], and onlyKnown DisableProvision.
	neverLinks, onlyKnown bool

	client *http.Client

	// current fails if the connection no longer signs users in, and has the source say so.
	current func(context.Context) error
}

// An endSession is how sessions end at a provider.
type endSession struct {
	// begin returns where a browser goes, with the ID token of the session or "".
	begin func(x *exchange, hint string) (endedSession, error)

	// passOn redirects a browser that comes back, and belongs to another deployment. It
	// reports whether it did.
	passOn func(x *exchange) (bool, error)
}

// An endedSession is where a browser ends a session at the provider.
type endedSession struct {
	url, state string
	hinted     bool
}

// A backChannel is how a provider ends sessions here.
type backChannel struct {
	clientID string
	skew     time.Duration // between the clock of the provider and ours
	verify   func(ctx context.Context, token string) (*handshake.LogoutToken, error)

	// underWay has a place for each request that is answered at one moment.
	underWay chan struct{}
}

// An idTokens is how a provider takes the ID tokens of its SDKs.
type idTokens struct {
	oauth.IDTokens
	verify func(ctx context.Context, raw string, want handshake.SDKToken) (claims map[string]any, err error)

	// redeem exchanges the code beside a token. It is nil if codes are ignored.
	redeem func(ctx context.Context, claims map[string]any, code string) (tokens map[string]any, err error)

	// identify returns the user of a token for which a nonce was given at a time. said are
	// unsigned texts that came beside it.
	identify func(x *exchange, claims, tokens map[string]any, said map[string]string, began time.Time) (*arrival, error)

	// clients are those of SDKs that have codes exchanged. An account whose tokens were
	// issued to one is refreshed and revoked by it.
	clients map[string]*handshake.Provider
}

// issued reports whether an account is of the issuer that the provider has now. That of a
// connection can change, and the tokens of one issuer are secrets to every other one.
func (p *provider) issued(a *Account) bool {
	return p.joined == nil || strings.HasPrefix(a.ProviderAccountID, p.joined.accounts)
}

// refreshBy and revokeBy return the functions of the client to which the tokens of an
// account were issued.
func (p *provider) refreshBy(clientID string) refreshFunc {
	if p.idTokens != nil && p.idTokens.clients[clientID] != nil {
		return p.idTokens.clients[clientID].Refresh
	}
	return p.refresh
}

func (p *provider) revokeBy(clientID string) func(ctx context.Context, token, hint string) error {
	if p.idTokens != nil && p.idTokens.clients[clientID] != nil {
		return p.idTokens.clients[clientID].Revoke
	}
	return p.revoke
}

// An atProvider is a sign-in at a provider that will tell when it ends. Only claims of a
// verified ID token are in it.
type atProvider struct {
	// record lacks Session, UserID and Expires, which are those of the session here.
	record providersession.Record

	// flowBegan is when the browser was sent to the provider, to the second.
	flowBegan time.Time

	// began reports that the session of the browser, which goes on, began with the account.
	began bool
}

// again returns the record of a session whose user has signed in at the provider once more.
// It has the session there that is new, and the user. What the provider has ended since the
// session here began stays ended: Created does not move.
func (a *atProvider) again(r *providersession.Record) *providersession.Record {
	next := *r
	next.Sid, next.ACR, next.AMR, next.AuthTime, next.Proof = a.record.Sid, a.record.ACR, a.record.AMR, a.record.AuthTime, a.record.Created
	return &next
}

// isOf reports whether a record is one of the same account.
func (a *atProvider) isOf(r *providersession.Record) bool {
	return a != nil && a.record.Provider == r.Provider && a.record.ProviderAccountID == r.ProviderAccountID
}

// A heldAtProvider is an atProvider in a sign-in that waits. Times are in Unix milliseconds.
type heldAtProvider struct {
	Sid       []byte   `json:"sid,omitempty"`
	Sub       []byte   `json:"sub"`
	ACR       string   `json:"acr,omitempty"`
	AMR       []string `json:"amr,omitempty"`
	AuthTime  int64    `json:"authTime,omitempty"`
	Created   int64    `json:"created"`
	FlowBegan int64    `json:"flowBegan"`
}

func (a *atProvider) held() *heldAtProvider {
	if a == nil {
		return nil
	}
	r := &a.record
	h := &heldAtProvider{Sub: r.Sub[:], ACR: r.ACR, AMR: r.AMR, Created: r.Created.UnixMilli(), FlowBegan: a.flowBegan.UnixMilli()}
	if r.Sid != (providersession.Key{}) {
		h.Sid = r.Sid[:]
	}
	if !r.AuthTime.IsZero() {
		h.AuthTime = r.AuthTime.UnixMilli()
	}
	return h
}

// of returns what was held of a sign-in with an account.
func (h *heldAtProvider) of(a *Account) *atProvider {
	if h == nil {
		return nil
	}
	r := providersession.Record{
		Provider: a.Provider, ProviderAccountID: a.ProviderAccountID, Role: providersession.Began,
		ACR: h.ACR, AMR: h.AMR, Created: time.UnixMilli(h.Created).UTC(),
	}
	copy(r.Sid[:], h.Sid)
	copy(r.Sub[:], h.Sub)
	if h.AuthTime != 0 {
		r.AuthTime = time.UnixMilli(h.AuthTime).UTC()
	}
	return &atProvider{record: r, flowBegan: time.UnixMilli(h.FlowBegan).UTC()}
}

// The kinds of what [providerKey] names.
const (
	keyOfSession     = "op sid"
	keyOfUser        = "op sub"
	keyOfLogoutToken = "op jti"
	keyOfRefusal     = "op refusal"
)

// providerKey is a hash of what an issuer calls something in tokens for a client. Each
// part has its length before it, so that no two lists of parts have the same text.
func providerKey(kind, issuer, clientID, name string) (key [sha256.Size]byte) {
	var text []byte
	for _, part := range []string{kind, issuer, clientID, name} {
		text = binary.BigEndian.AppendUint64(text, uint64(len(part)))
		text = append(text, part...)
	}
	return sha256.Sum256(text)
}

// checkProviderID rejects ids that no URL could name: the path is compared
// undecoded, and clients send "undefined" for no provider at all.
func checkProviderID(id string) error {
	if id == "" {
		return errors.New("a provider has no ID")
	}
	if id == "undefined" || strings.Trim(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~") != "" {
		return fmt.Errorf("the provider ID %q cannot be part of a URL: use letters, digits and - . _ ~", id)
	}
	return nil
}

// evidence is the reason why an arrival counts as its user. The zero value is
// the one with the most checks.
type evidence uint8

const (
	// byAccount: the account is the user's. The store knows to whom it is linked.
	byAccount evidence = iota

	// byAddress: the user reads mail at the address.
	byAddress

	// byHost: the host returned the user, who need not be in the store.
	byHost
)

// An arrival is a user who has authenticated and is about to be signed in. The
// provider's way fills it in; login does not depend on which way that was.
type arrival struct {
	provider *provider
	by       evidence

	// stored reports that the user is a row that was found, which may be gone by
	// the decision.
	stored bool

	// signed is the passkey that has signed, with UserVerified as the answer has it.
	signed *Passkey

	// trusted reports that the host trusts the provider with addresses.
	trusted bool

	// fromHere reports that a form of this browser was posted, by its form token.
	fromHere bool

	// namesOwner reports that callbacks and events receive the account with the
	// id of its user, as Auth.js does for passkeys.
	namesOwner bool

	// owned reports that the account had an owner when the signIn callback was
	// called for that user.
	owned bool

	// user is the user as known before the decision. A user who will be created
	// already has the new id.
	user    *User
	account *Account
	profile Profile

	// emailVerified is [OAuth.EmailVerified].
	emailVerified func(Profile) bool

	submission *Submission

	// authentication is when and how the user has proven who they are.
	authentication Authentication

	// atProvider is the sign-in at a provider that ends sessions here. It is nil for others.
	atProvider *atProvider

	// unasked reports that server code started the session, which has decided what
	// [Callbacks.Hold] decides of a sign-in.
	unasked bool

	// sdk reports that an ID token of an SDK identifies the user.
	sdk bool

	// waited reports that the sign-in was held before, and its account has no tokens.
	waited bool

	// newPasskey is a passkey that was just created, for the stored user with
	// the id registrant. If registrant is empty, the user will be created.
	newPasskey *Passkey
	registrant string

	// linkTo reports whether the account may be linked to the signed-in user.
	linkTo func(signedIn *User) bool

	// flow is the id of the flow or ceremony; see [sealedCheck]. Other sign-ins
	// leave it empty.
	flow string

	// proof is the address that was proven in this browser before, and taking
	// the id of the user that loses the address to this arrival.
	proof  *addressProof
	taking string

	// ticket is the row that the arrival uses up, or nil.
	ticket *ticket

	errands errands
}

// A ticket is a row of the store that a sign-in uses up: that of a mail link, or of the
// proof that a browser has of an address.
type ticket struct {
	name       string // in debug records
	hashes     tokenhash.Hasher
	identifier string
	token      string

	// refuse returns why a row is not good. The row is nil if the store has none.
	refuse func(row *Verification) error

	// found reports that the store had the row, and checked that it was good. used is the row
	// once it is gone.
	found, checked bool
	used           *Verification
}

// errands holds the results of the errands so far.
type errands struct {
	// passwords records which users can sign in with a password, by their ids.
	passwords map[string]bool

	// admitted reports that [Callbacks.SignUp] has allowed a new user.
	admitted bool

	// synced is what [Callbacks.SyncUser] has returned.
	synced map[syncKey]UserUpdate

	// revoked are the ids of users whose token sessions were ended, and when.
	revoked map[string]time.Time

	// proving are the ids of users of whom [Callbacks.ProveAddress] was told.
	proving map[string]bool

	// marking takes an address away by putting another in its place.
	marking bool

	// asked reports that the revocation list was asked again about the session that
	// something is linked by, and ended that it has ended.
	asked, ended bool
}

// A decision is the user that an arrival turned out to be.
type decision struct {
	user    *User
	account *Account

	// newUser is nil without a store, which alone knows it.
	newUser *bool

	// session is the database session that goes on, or the one that
	// [exchange.beginSession] made. It is nil for token sessions.
	session *StoredSession

	// authentication is what the session records, and kept the presence whose
	// session goes on as it is, or in another token, because something was linked to
	// its user. Then authentication is that of kept: who signs in to the new account
	// need not be the user of the session.
	authentication Authentication
	kept           *presence

	// atProvider is that of the arrival. carried are records of the session before that
	// the new one takes over.
	atProvider *atProvider
	carried    []*providersession.Record

	// application is the name of the native application that gets the session. It is
	// empty for browsers.
	application string

	// replaces is the database session whose beginning and data the new one has, because
	// its user was asked once more.
	replaces *StoredSession

	// marker is the token of the row that shows whether the sessions of the user
	// have ended since the decision; see [dbSessions.mark]. With token sessions it is
	// what the list of ended sessions calls a sign-in that waits; see [pendingID].
	marker string

	// claims are those that were made when the sign-in was held, if claimed is
	// set. They are nil if the host wants no session.
	claims  Claims
	claimed bool

	// how describes for the log how the user was found.
	how string

	// returning reports that the account or the password was the user's before this
	// sign-in, and proven that it used up the proof of the arrival.
	returning, proven bool
}

// unitOfWork performs the writes of a decision. In a transaction the events wait
// until the writes are committed.
type unitOfWork struct {
	*records
	x       *exchange
	ctx     context.Context
	inTx    bool
	waiting bool
	events  []func()
}

// An addressProof states that the user of this browser reads mail at an address
// that another user has without having proven it. It is sealed into a cookie
// while the person decides whether that user is theirs:
//
//   - They sign in as that user in another way. Two proofs together prove the
//     address for that user.
//   - They go on without. The user loses the address, and a new one is made.
//
// It is good for one of the two, once, for as long as the store has a row that
// goes with it.
type addressProof struct {
	Address  string `json:"address"`
	User     string `json:"user"`
	Provider string `json:"provider"` // the mail provider

	// Token finds the row in the [Store]. Only its hash is there.
	Token string `json:"token"`

	// SignedIn reports that the browser was signed in as the user when the mail
	// link was opened.
	SignedIn bool `json:"signedIn,omitempty"`
}

func (who *arrival) notLinked(reason string) error {
	return &Error{Code: cmp.Or(who.provider.notLinked, CodeAccountNotLinked), Provider: who.provider.id, Err: errors.New(reason)}
}

// deniesAddress reports whether the provider states that it has not verified
// the address. [OAuth.EmailVerified] decides if it is set, because it reads the
// provider's own claims. Without it the standard claim counts, if it was sent.
//
// https://openid.net/specs/openid-connect-core-1_0.html#StandardClaims
func (who *arrival) deniesAddress() bool {
	if verified := who.emailVerified; verified != nil {
		return !verified(who.profile)
	}
	return who.profile["email_verified"] != nil && !who.profile.Bool("email_verified")
}

// connection returns the id of the connection with which the user signs in, and whether
// the address is in one of its domains. Both are zero for other providers.
func (who *arrival) connection() (id string, verified bool) {
	if who.provider == nil || who.provider.joined == nil {
		return "", false
	}
	return who.provider.joined.id, who.emailVerified != nil && who.emailVerified(who.profile)
}

// refusesNewcomers reports whether the provider signs in only users who have an account.
func (p *provider) refusesNewcomers() bool { return p != nil && p.joined != nil && p.joined.onlyKnown }

// hasProfile reports whether the user is made of a profile. The owner of the
// account is not known before the store has been read.
func (who *arrival) hasProfile() bool {
	return who.by == byAccount && !who.stored && who.newPasskey == nil
}

// An oauthFlow is a sign-in at a provider to which the browser is sent, and from
// which it comes back.
type oauthFlow struct {
	providerBase
	oauth    *OAuth
	protocol protocol
	listed   []oauth.Check // see [OAuth.checks]
	formPost bool          // see [OAuth.formPost]
	proxyURL string        // see [OAuth.proxyURL]

	scope  string       // see [facts.scope]
	proofs *dpop.Prover // see [facts.proofs]

	// ends knows where sessions end at the provider. It is nil if they are not to.
	ends *handshake.Provider

	// revokes knows how tokens end at the provider. It is nil if the protocol has nothing
	// for that.
	revokes *handshake.Provider
	// endedBy verifies logout tokens. It is nil if the provider ends no sessions here.
	endedBy *handshake.Provider

	// sdk verifies the ID tokens of SDKs. It is nil if none are accepted.
	sdk *handshake.Provider

	// initiatedBy knows the issuer that may begin a sign-in. It is nil if none may.
	initiatedBy *handshake.Provider

	// joined is that of the facts.
	joined *joined
}

// A refreshFunc exchanges a refresh token for a token response.
type refreshFunc func(ctx context.Context, refreshToken, subject string) (map[string]any, error)

// A protocol builds the URL to which the browser is sent, and evaluates the
// parameters with which it comes back.
type protocol interface {
	// CheckClient reports credentials of the application that are missing.
	CheckClient() error

	// Reach reports whether the provider answers.
	Reach(ctx context.Context) error

	begin(ctx context.Context, r authRequest) (authRedirect, error)
	finish(ctx context.Context, c callbackParams) (*identity, error)
}

// A syncKey identifies a call of [Callbacks.SyncUser] within a sign-in. userID is
// the id of the stored user, and empty for a user who will be created. linking
// reports that the account is about to be linked to the signed-in user.
type syncKey struct {
	userID  string
	linking bool
}

// A heldAddress is an error of a decision: a mail has proven the address of a
// user whom others may be able to get into.
type heldAddress struct{ user *User }

func (e *heldAddress) Error() string {
	return fmt.Sprintf("pintle: the address belongs to the user %s, who has not proven it", e.user.ID)
}

// An errand is an error of a decision: something must be done first outside its
// transaction, because the host or its database might wait for the transaction.
// The decision is made again afterwards.
type errand struct{ run func(*errands) error }

func (e *errand) Error() string {
	return "pintle: the decision waits for something outside its transaction"
}

// An authRedirect is an authorization URL, and the values for the check cookies.
type authRedirect struct {
	url                    string
	state, verifier, nonce string
}

// An authRequest is what an authorization URL is made of. own are the parameters of
// server code, extra those of a browser.
type authRequest struct {
	redirectURI string
	state       string
	extra, own  query.Values
	asked       *asked
}

// all are the parameters of both.
func (r authRequest) all() query.Values { return append(slices.Clone(r.extra), r.own...) }

// asked is what server code asks of a provider, which its answer has to meet. It is in
// the sealed state cookie: the browser carries the request to the provider, and may
// change it. Auth.js ignores the member.
type asked struct {
	Prompt string        `json:"-"`
	Login  bool          `json:"login,omitempty"`
	MaxAge time.Duration `json:"maxAge,omitempty"` // zero is without a limit
	ACR    []string      `json:"acr,omitempty"`

	// Session is the mark of the session that the answer is to confirm. It is empty for
	// a sign-in.
	Session string `json:"session,omitempty"`

	// Scopes are wanted for the user of that session, at the account of the provider with
	// the id Account. Granted is what the account has already.
	Scopes  []string `json:"scopes,omitempty"`
	Account string   `json:"account,omitempty"`
	Granted []string `json:"-"`

	// Initiated reports that the provider began the flow. Replace reports that the user who
	// was signed in has agreed on a page of this site to be signed out.
	Initiated bool `json:"initiated,omitempty"`
	Replace   bool `json:"replace,omitempty"`
}

// ask is what the provider is sent.
func (a *asked) ask() handshake.Ask {
	if a == nil {
		return handshake.Ask{}
	}
	return handshake.Ask{Prompt: a.Prompt, MaxAge: a.MaxAge, ACR: a.ACR, Scopes: slices.Concat(a.Granted, a.Scopes)}
}

// proof is what the answer to a flow has to show that began at a time in Unix seconds.
func (a *asked) proof(began int64) handshake.Proof {
	if a == nil {
		return handshake.Proof{}
	}
	p := handshake.Proof{ACR: a.ACR}
	if a.MaxAge > 0 {
		p.Since = time.Now().Add(-a.MaxAge)
	}
	if asked := time.Unix(began, 0); a.Login && asked.After(p.Since) {
		p.Since = asked
	}
	return p
}

// callbackParams are those of a provider's response, and what was kept for it.
type callbackParams struct {
	params      query.Values
	redirectURI string
	kept        *keptChecks

	// accept is called once when the response is known to belong to the flow of
	// this browser, before anything of it is sent to the provider. Its error ends
	// the sign-in.
	accept func() error

	// exchanged is called when the provider has returned tokens.
	exchanged func()
}

// An identity is what a provider reports of a user.
type identity struct {
	tokens  map[string]any
	profile Profile

	// idToken are the claims of the verified ID token, nil if there is none.
	idToken map[string]any
}

// keptChecks is the content of this browser's check cookies.
type keptChecks struct {
	values map[oauth.Check]string
	errs   map[oauth.Check]error

	id          string // see sealedCheck; empty if no cookie says
	callbackURL string // from a flow whose response is posted, or that confirms a session
	asked       *asked // nil if nothing was
	cleared     []string

	// once is the value that can be used once, and issued when it was made.
	once   string
	issued int64
}
