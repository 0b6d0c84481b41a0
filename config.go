package pintle

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"reflect"
	"strings"
	"time"

	"github.com/pintleauth/pintle/connection"
	"github.com/pintleauth/pintle/native"
	"github.com/pintleauth/pintle/pages"
	"github.com/pintleauth/pintle/providersession"
	"github.com/pintleauth/pintle/sharedstate"
)

// Config describes how an application signs people in. Providers is the only
// field that must be set, besides a secret here or in AUTH_SECRET; every other
// zero value is a working default.
type Config struct {
	// Providers are the ways to sign in, in the order of the sign-in page. Their
	// IDs differ.
	Providers []Provider

	// Store keeps users and accounts, and sessions unless Session sets another
	// strategy. Nil keeps the session in a sealed cookie and nothing else.
	Store Store

	// SharedState is where the processes of the site agree on what is used up: responses
	// of providers, challenges of passkeys, ID tokens; on which of them exchanges a
	// refresh token; and where the limits of package throttle count. Nil means that of the Store. A site without a Store makes one from a
	// connection, for example by redisstore.NewSharedState.
	//
	// Without either, each process decides alone, and [New] logs what that concerns: a copy
	// of a browser's cookies and of a response signs in once at each process, and each process
	// allows as many attempts as the limit says. A sign-in
	// fails while the shared state cannot be reached, but for one that is only counted there:
	// each process then counts alone.
	SharedState sharedstate.Store

	// Secrets derive every key. The first one writes; the others are still
	// read, so that a secret can be replaced without signing anyone out. Each
	// has at least 32 characters; "openssl rand -base64 33" makes one. Empty
	// means AUTH_SECRET_3, AUTH_SECRET_2, AUTH_SECRET_1 and AUTH_SECRET, as far
	// as they are set, and else NEXTAUTH_SECRET.
	Secrets []string

	// URL is the public URL of the application, for example
	// https://app.example.com. Its path, if it has one, is the default of
	// BasePath. Empty means AUTH_URL, then NEXTAUTH_URL, and otherwise the host
	// of each request, which has to be trusted: see TrustHost.
	URL string

	// BasePath is the path below which the routes are. Empty means "/auth".
	BasePath string

	// TrustHost makes Pintle trust the headers Host, X-Forwarded-Host and
	// X-Forwarded-Proto of requests. Set it behind a proxy that replaces them.
	// Links in mails and redirects are made from the host. Without TrustHost
	// and without URL, Pintle therefore serves only requests for a loopback
	// address that no proxy has forwarded from elsewhere. AUTH_TRUST_HOST=true
	// sets it too.
	TrustHost bool

	// Tenant is the tenant to which the token sessions, sign-in flows and mail
	// links of this configuration belong. Services whose secret is shared by
	// several tenants need it: what is made for one tenant is not valid for
	// another. With [NewFunc] empty means the key of the configuration. Set it
	// there when keys change while the tenant stays, as keys with a version do,
	// or to one name for tenants that share sessions. Auth.js cannot read the
	// tokens or find the mail links of a tenant; package token reads the
	// tokens, by [token.NewTenant].
	Tenant string

	// SharedSessions leaves out the name of the tenant that [NewFunc] takes
	// from the key. A token session of one configuration is then valid in every
	// other with the same secret and cookie name, and at Auth.js. A mail link
	// is valid in every other with the same secret and store. Set it only if
	// all configurations belong to one tenant, or if each has its own secrets:
	// otherwise an operator who controls the users of one tenant can sign in as
	// any user of another.
	SharedSessions bool

	// Session is how long sessions last and where they are kept.
	Session SessionConfig

	// JWT is about session tokens.
	JWT JWTConfig

	// Cookies overrides names and attributes of cookies.
	Cookies Cookies

	// SecureCookies determines whether cookies carry the attribute Secure and
	// the name prefixes that depend on it.
	SecureCookies SecureCookies

	// Pages replaces built-in pages by the host's own.
	Pages Pages

	// Theme is the look of the built-in pages and mails.
	Theme pages.Theme

	// ForgetLastProvider leaves out the cookie by which the built-in sign-in page marks the
	// provider that was used last in this browser. The cookie has the id of the provider,
	// and nothing of the user. Without a built-in sign-in page there is none.
	ForgetLastProvider bool

	// Texts are the words on the built-in pages and in the mails.
	Texts pages.Texts

	// Languages are the texts in further languages, each with its Lang. Pages
	// and mails use the language that suits the request, and that of Texts if
	// none suits it.
	Languages []pages.Texts

	// Language returns the language that the user of a request has chosen, as a
	// BCP 47 tag: "de", or "de-AT", which finds "de". The header
	// Accept-Language decides if Language is nil or returns a language that is
	// not configured.
	Language func(r *http.Request) string

	// Native are the applications on phones and desktops that may get a session for the
	// user of a browser. The application opens the browser of the system at the route
	// native/authorize below BasePath, where the user signs in and is asked; the browser
	// takes a code to the application, and the application exchanges it at the route
	// native/token for the token of a session, which it sends in the header Authorization.
	// The routes are those of the authorization code flow of OAuth 2 with PKCE, so that
	// client libraries of OAuth work. The session is as old as that of the browser. It has
	// the name of the application in [StoredSession.Data], under "application", and a
	// provider that ends the session of the browser ends it, too.
	//
	// It needs [SessionConfig.AllowBearer], database sessions, and a Store with
	// [Features.Verifications]. Without applications there are no such routes. (RFC 8252)
	Native []native.Application

	// Callbacks let the host decide.
	Callbacks Callbacks

	// Refuse answers the requests that [Auth.Require] rejects, for example as
	// JSON. The headers that keep the answer out of caches are set. Nil writes
	// the default answer of [Refusal].
	Refuse func(w http.ResponseWriter, r *http.Request, f Refusal)

	// Events report to the host what happened.
	Events Events

	// Connections are the identity providers of customers, which come from a database and
	// are read while the application runs. A user finds the one of their organisation by
	// the domain of an address, posted to the route signin/sso below the base path; the
	// built-in sign-in page has a field for it. The zero value has none.
	Connections connection.Config

	// Observer receives what happens, for traces and metrics: package pintleotel makes one.
	// The zero value observes nothing and costs nothing.
	Observer Observer

	// Accounts adds sign-up, passwords and second factors, with their pages: package
	// account has it. Nil adds nothing.
	Accounts Accounts

	// ClientAddress returns the address of the client that sent a request, for
	// the log, for [Events.SignInFailed] and for package throttle. It may return
	// an invalid address for a client that it does not know. Nil means the
	// address of the connection, or what TrustedProxies say.
	ClientAddress func(r *http.Request) netip.Addr

	// TrustedProxies are the proxies in front of this application. The address of
	// a client is then the last one in X-Forwarded-For that is not a proxy's, if
	// the connection comes from a proxy: the client can write anything before
	// that one. ClientAddress replaces it.
	TrustedProxies []netip.Prefix

	// Logger receives what the operator should know. Nil means slog.Default() as
	// it is when [New] or [NewFunc] makes the configuration. A Logger whose level
	// is [slog.LevelDebug] or lower receives debug records as well.
	Logger *slog.Logger

	// Debug writes debug records to slog.Default(), whatever its level: the steps
	// of every flow, and the operation, duration and outcome of every call of the
	// Store. They hold no secret, no code or token, no address and no id of a user.
	// If Logger is set, its level decides instead, and Debug has no effect.
	Debug bool

	// RedirectProxyURL is the base URL of a deployment that receives the
	// provider's callbacks for this one: https://app.example.com/auth. Both
	// need the same secret and the same value here. Empty means
	// AUTH_REDIRECT_PROXY_URL.
	RedirectProxyURL string

	// RedirectProxyHosts are the deployments that the one at RedirectProxyURL
	// passes callbacks on to. It is required there; with an empty list no
	// callback is passed on. An entry is a host, "localhost:3000", or every
	// host below a domain, "*.preview.example.com", with a port unless that is
	// the default. The scheme is https; http is for loopback addresses, and for
	// entries that begin with "http://".
	//
	// Each of these deployments receives authorization codes of users of all of
	// them: list only hosts that only you control.
	RedirectProxyHosts []string

	// SealAccountTokens encrypts the providers' tokens of accounts before they
	// are stored, with keys made from Secrets. [Auth.Account] and [Auth.Refresh]
	// open them; Auth.js on the same database cannot. Columns must hold texts
	// that are half as long again and 300 characters longer.
	SealAccountTokens bool

	// DangerouslyAllowShortSecrets accepts secrets of any length, for a
	// deployment that shares a short one with Auth.js until it can be replaced.
	// An attacker with one sealed cookie can find a short secret by brute
	// force.
	DangerouslyAllowShortSecrets bool

	// DangerouslySkipCSRFCheck accepts every POST without a check of the form
	// token. Set it only if something in front rejects requests from other
	// sites.
	DangerouslySkipCSRFCheck bool

	// ExperimentalPasskeys permits [WebAuthn] providers. They may still change
	// in incompatible ways.
	ExperimentalPasskeys bool

	// HTTPClient makes the requests to providers. Nil means Pintle's client,
	// with a time-out of 10 seconds.
	HTTPClient *http.Client

	// PublicNetworkOnly lets Pintle's client request public services only.
	// Set it where the host does not choose the providers, for example where a
	// customer enters an issuer: its metadata can name any URL as the token
	// endpoint, which would then receive requests from inside the network of the
	// host, with the client's credentials. [OAuth.PublicNetworkOnly] is for one
	// provider.
	//
	// The client refuses loopback, private, link-local, carrier-grade NAT,
	// multicast and other special addresses, the metadata services of clouds
	// among them. It looks at the address of each connection, since a name may
	// resolve to another address the next time, and it does not use the proxy of
	// the environment. It also refuses URLs without https, with a user name or of
	// more than 512 bytes, ports other than 443, addresses in the place of names,
	// and names that are not public: without a dot, or in local, internal,
	// localhost or home.arpa. An HTTPClient, here or in [OAuth], would bypass it,
	// so [New] rejects that.
	PublicNetworkOnly bool

	// PublicNetworkPorts are the ports that PublicNetworkOnly permits beside 443.
	PublicNetworkPorts []int

	// Getenv looks up environment variables. Nil means os.Getenv.
	Getenv func(string) string
}

// Accounts adds package account to a configuration. An application can also implement
// it, to add its own pages and rules to each configuration.
type Accounts interface {
	// Attach is called once for each configuration that is made, before it is checked:
	// by [New], and for each tenant of [NewFunc], again where a tenant was forgotten. It
	// may be called concurrently.
	//
	// cfg is a copy. Its Secrets, URL, BasePath, TrustHost and RedirectProxyURL are those
	// in effect, from the environment where the host has set none. Attach may change cfg:
	// add a provider, wrap Callbacks and Events, set Session.RecordAuthentication.
	//
	// a is the Auth of this configuration: what New returns, and for a tenant what
	// [Auth.Tenant] returns. Attach may keep it, and calls its methods only later.
	//
	// The handler serves the path account below BasePath, and the paths with one more
	// segment below that: /auth/account and /auth/account/password. Each request has
	// passed the checks of the routes. It is a GET, a HEAD or a POST of at most 64 KiB,
	// which can be read again. A POST has the form token of its browser in the field
	// csrfToken, as a form or as JSON, and comes from a page of this site, as far as the
	// browser says. [Auth.CSRFToken] returns the token for a form, and [Auth.Texts] the
	// words. The path is plain: a name in it has no escapes.
	//
	// The handler may have two methods more. One that wraps another handler passes them on.
	//
	//   - MaxUpload(page string) int64 returns the size limit of a multipart form that is posted
	//     to a page, such as "picture", in bytes. Zero means that the page accepts none, as all
	//     pages of a handler without the method. The form has the field csrfToken, and
	//     MaxUpload is called before the token is checked. Larger requests are answered with
	//     status 413, and are not read if they declare their length.
	//   - HasPage(page string) bool reports whether there is a page. Then [ObservedRoute] has
	//     its name; otherwise it has "{page}" for all of them.
	//
	// The response has the headers Cache-Control, Vary, Cross-Origin-Resource-Policy and
	// X-Content-Type-Options already, and the cookie of a new form token. A nil handler
	// adds no routes. An error makes New fail with its text.
	Attach(a *Auth, cfg *Config) (http.Handler, error)
}

// A SessionStrategy determines where sessions are kept.
type SessionStrategy string

// The strategies. The empty one is StrategyDatabase when there is a [Store]
// that can keep sessions, and else StrategyJWT. [Credentials] providers alone
// need StrategyJWT.
const (
	StrategyJWT      SessionStrategy = "jwt"
	StrategyDatabase SessionStrategy = "database"
)

// SessionConfig is how long sessions last and where they are kept.
type SessionConfig struct {
	Strategy SessionStrategy

	// MaxAge is how long an unused session lasts. Zero means 30 days.
	MaxAge time.Duration

	// UpdateAge is the least time between two extensions of one session in the
	// database, and between two renewals of one token by [Auth.Load]. Zero
	// means one day; a negative value extends at every access.
	UpdateAge time.Duration

	// AbsoluteMaxAge ends a session even if it is in use. Zero means never. It
	// is counted from the sign-in, which tokens record in the claim started, or in
	// auth_time where they lack that, whatever [Callbacks.JWT] returns; a token that lacks
	// both, because Auth.js wrote it or because there was no limit yet, counts from its iat.
	AbsoluteMaxAge time.Duration

	// RecordAuthentication records in each new session with which provider and by
	// which methods its user signed in, and when each was last proven: see
	// [Session.Authentication]. Tokens have it in the claims auth_time, started, amr,
	// auth_provider and proofs, whatever [Callbacks.JWT] returns; in the database Data
	// has members of these names, where the store has room for it. Without it only the
	// time is known, of database sessions and of tokens with AbsoluteMaxAge or Revocation.
	//
	// An account or a passkey that is linked to the signed-in user proves nothing
	// about that user: the session keeps what it has recorded. With database
	// sessions RecordAuthentication turns RotateAtSignIn on, so that a user who
	// signs in again gets a session that records it.
	RecordAuthentication bool

	// RotateAtSignIn gives a database session a new token at every sign-in and
	// removes the session that the browser had. Without it a user who is signed
	// in and signs in again, with a provider or a mail, keeps the old session,
	// as with Auth.js. A credentials sign-in always rotates.
	RotateAtSignIn bool

	// AllowBearer also accepts sessions in the header "Authorization: Bearer",
	// as native applications send them, in [Auth.Load], [Auth.Session] and
	// [Auth.SignOut]. The routes below the base path never do.
	AllowBearer bool

	// GenerateToken makes the token of a database session. Nil means 256
	// random bits.
	GenerateToken func() (string, error)

	// Describe returns how a user will recognise a new session in a list of
	// their devices, such as the name of the browser. r is the request that
	// signs the user in. With database sessions the result becomes
	// [StoredSession.Data], where the store has room for it; with token
	// sessions it becomes claims of the token, which has to fit into cookies. There
	// the names of the user's claims (sub, name, email, picture) and those that
	// [NewClaim] refuses are left out. Package account calls it with other
	// requests, too, to name the device in a mail about them.
	Describe func(r *http.Request) map[string]any

	// Revocation ends token sessions before they expire. Nil means that a
	// token is good until it expires.
	Revocation RevocationStore
}

// A RevocationStore ends token sessions before they expire: at sign-out, when a
// user signs out everywhere, and when a user is deleted. It also records which
// pending sign-ins are over. Revoked is called for
// every token that is read, and an ended session must be known to all processes,
// whose clocks must agree to a second. Methods are called concurrently, and fail when
// ctx has ended. Package memstore has one for a single
// process, packages sqlstore, redisstore and mongostore have one for several.
// Package storetest checks your own.
type RevocationStore interface {
	// Revoked reports whether a session was ended. A session whose SignedIn is
	// zero counts as older than the last RevokeUser, if there was one. An error
	// counts as ended.
	Revoked(ctx context.Context, s TokenSession) (bool, error)

	// Revoke ends one session, whatever its SignedIn. It may be forgotten after
	// the given time.
	Revoke(ctx context.Context, s TokenSession, until time.Time) error

	// RevokeUser ends every session of a user that began until now. It may be
	// forgotten after the given time, when their tokens have expired, and so have
	// the pending sign-ins.
	RevokeUser(ctx context.Context, userID string, until time.Time) error
}

// A TokenSession identifies a session that is kept in a token.
type TokenSession struct {
	// UserID is the id of the user. One that begins with "pintle." is of no user: the list
	// then keeps what has to happen once.
	UserID string

	// ID is the claim sid. It may be empty: then it stands for all tokens of the
	// user that have no session id. A pending sign-in has an ID that begins with
	// "pending-sign-in."; see [Callbacks.Hold].
	ID string

	// SignedIn is when the session began. It is zero if the token does not
	// contain it.
	SignedIn time.Time

	// Marks name the session and the user at the provider with which the session
	// began, if a provider has [OAuth].BackChannelLogout or [OAuth].EndSessionsOnRefusal.
	// Zero ones name nothing. A [providersession.Marker] ends sessions by them.
	Marks [3]providersession.Mark
}

// JWTConfig is about session tokens.
type JWTConfig struct {
	// Secrets replaces [Config.Secrets] for tokens.
	Secrets []string

	// MaxAge is how long a token is good. Zero means the session's.
	MaxAge time.Duration

	// Encode and Decode replace the token format. Other servers can then no
	// longer read the cookie. Both must be set or neither. salt is the name of
	// the session cookie, and a space and [Config.Tenant] where that is set: it
	// must take part in the key, or tokens of one tenant are valid for another.
	//
	// Encode gets the claims iat, exp and jti as well, in Unix seconds, and
	// should keep them: Pintle rejects claims of Decode whose exp has passed or
	// whose nbf has not come, and treats claims without exp as ones that do not
	// expire. An error of Decode means that the token is not valid.
	Encode func(ctx context.Context, claims Claims, salt string, maxAge time.Duration) (string, error)
	Decode func(ctx context.Context, token, salt string) (Claims, error)
}

// SecureCookies determines when cookies are marked as secure.
type SecureCookies int

// When cookies are marked as secure. Zero marks them on sites whose URL is https.
const (
	// SecureAlways marks them everywhere.
	SecureAlways SecureCookies = iota + 1

	// SecureNever marks them nowhere.
	SecureNever
)

// Cookies overrides names and attributes of the cookies, one by one.
type Cookies struct {
	SessionToken      Cookie
	CallbackURL       Cookie
	CSRFToken         Cookie
	PKCECodeVerifier  Cookie
	State             Cookie
	Nonce             Cookie
	WebAuthnChallenge Cookie

	// PendingSignIn is the cookie of a sign-in that [Callbacks.Hold] holds. Its
	// MaxAge is also how long the sign-in can be completed: ten minutes by default.
	PendingSignIn Cookie
}

// A Cookie overrides what a cookie is called and how it is set. Zero fields
// keep the default.
type Cookie struct {
	// Name is the whole name, with its prefix if it is to have one. It is the
	// salt of what the cookie holds sealed: servers that share a cookie must
	// agree on it.
	Name string

	// Domain widens the cookie to a domain and its subdomains, every one of
	// which can then read and set it.
	Domain string

	// Path narrows the cookie. The default is "/".
	Path string

	// SameSite is the attribute of that name. The default is
	// [http.SameSiteLaxMode].
	SameSite http.SameSite

	// MaxAge is the lifetime in the browser of a cookie that has no fixed
	// lifetime.
	MaxAge time.Duration

	// Secure determines when the cookie is marked as secure. Zero means as
	// [Config.SecureCookies] says. [SecureNever] exposes the cookie to the
	// network.
	Secure SecureCookies

	// DangerouslyAllowScripts leaves out the attribute HttpOnly, so that scripts
	// of the page can read the cookie.
	DangerouslyAllowScripts bool

	// Partitioned and Priority set the attributes of those names.
	Partitioned bool
	Priority    string
}

// A Provider is a way to sign in: an [*OAuth], an [*Email], a [*Credentials] or a
// [*WebAuthn]. The set is closed; ready-made ones are in package provider.
//
// [New] copies what it is given. A provider may be shared by configurations and
// is never changed by a request.
type Provider interface {
	base() providerBase
}

// A Field is an input of a form on the sign-in page.
type Field struct {
	// Name is the name that [Submission.Fields] has it under.
	Name string

	// Label is shown beside the input. Empty means Name.
	Label string

	// Type is the type of the input. Empty means "text".
	Type string

	Placeholder string

	// Attributes are further HTML attributes of the input, such as
	// autocomplete. Event handlers and style are refused.
	Attributes map[string]string
}

// listsPasskeys reports whether browsers list passkeys at a field.
//
// https://html.spec.whatwg.org/multipage/form-control-infrastructure.html#attr-fe-autocomplete-webauthn
func (f Field) listsPasskeys() bool {
	for name, value := range f.Attributes {
		if strings.EqualFold(name, "autocomplete") && strings.Contains(strings.ToLower(value), "webauthn") {
			return true
		}
	}
	return false
}

// providerBase is what all kinds have in common.
type providerBase struct {
	id, name string
	kind     ProviderType
}

// isNil reports whether an interface is nil or holds a nil pointer, whose
// methods would panic in the first request.
func isNil(v any) bool {
	value := reflect.ValueOf(v)
	return v == nil || value.Kind() == reflect.Pointer && value.IsNil()
}

// Pages replaces built-in pages by the host's own. Each is a path on this site
// or an absolute URL; empty means the built-in page. Two pages are always built
// in: the one that [Email.Confirm] shows, and the one that asks the user who
// owns an account when a mail proves an address that the account has unproven.
type Pages struct {
	// SignIn gets the parameters callbackUrl, error and code, and notice from the pages
	// of package account: a name of Texts.Account.Notices.
	SignIn string

	// SignOut asks for confirmation and posts to the sign-out route.
	SignOut string

	// Error gets the parameter error: Configuration, AccessDenied, Verification
	// or another of the codes a browser may see.
	Error string

	// VerifyRequest shows that a mail is on its way.
	VerifyRequest string

	// Account is where the application shows users how they can sign in, and
	// lets them link another account. A signed-in user returns to it when a
	// sign-in with a provider or a passkey fails, with the parameter error: see
	// [CodeAccountNotLinked] and OAuthCallbackError. Empty means the built-in page of
	// [Config.Accounts], and without that the pages that other users see then.
	Account string

	// SignUp and ForgotPassword are where the built-in sign-in page links to, for
	// people who have no account yet, and below the first form of a [Credentials]
	// provider for people who forgot their password. They get the parameter
	// callbackUrl. Empty leaves the link out.
	SignUp, ForgotPassword string

	// NewUser is where a user goes after their first sign-in, or after a sign-up of
	// package account. It gets the parameter callbackUrl. It has no built-in page.
	NewUser string
}
