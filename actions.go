package pintle

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/pintleauth/pintle/internal/address"
	"github.com/pintleauth/pintle/internal/body"
	"github.com/pintleauth/pintle/internal/origin"
	"github.com/pintleauth/pintle/internal/page"
	"github.com/pintleauth/pintle/internal/query"
	"github.com/pintleauth/pintle/pages"
)

// SignInOptions are the details of [Auth.SignIn]. The zero value is a sign-in
// that comes back to the page it started from.
type SignInOptions struct {
	// RedirectTo is where the browser goes in the end: a path or a URL of this
	// site. Empty means the page that the request's Referer names, or "/". From a form of
	// [Pages.SignIn] it means the page to which the user wanted to go: the callbackUrl of
	// that page, or the one that the browser keeps while a user is at a provider.
	RedirectTo string

	// Fields are what the provider's form would have sent: the address for an
	// [Email] provider under "email", the inputs of a [Credentials] provider.
	Fields map[string]any

	// Params are added to the authorization URL of an [OAuth] provider, for
	// example prompt or login_hint. What they ask for is not checked in the answer.
	Params url.Values

	// Prompt, MaxAge and ACRValues are for an [OAuth] provider with Protocol [oauth.OIDC].
	// They are sent as prompt, max_age and acr_values, in the place of Params and of what
	// the provider's configuration has, and the answer has to meet them. The verified
	// ID token must have auth_time, no longer ago than MaxAge; with the word "login" in
	// Prompt, not before this call; and acr, one of ACRValues byte for byte. The clocks may
	// differ by 30 seconds. Otherwise the sign-in fails with [CodeStepUp], also where the
	// browser has changed what was sent. A provider may ignore any of them: many do not
	// know acr_values, and some never send auth_time.
	//
	// MaxAge counts in whole seconds, and zero is without a limit. ACRValues are in the
	// order of preference: at most eight, of 1 to 128 bytes of ASCII without spaces.
	//
	// https://openid.net/specs/openid-connect-core-1_0.html#AuthRequest
	Prompt    string
	MaxAge    time.Duration
	ACRValues []string

	// Confirm confirms the session of the request instead of signing in. The provider is
	// asked with the Prompt "login", unless Prompt has that word already. Its answer
	// signs no user in, links no account and creates no user: the account must be one of
	// the user of the session. Then the proof is recorded in the session as by
	// [Auth.Reauthenticate], with the methods "fed" and, if the session began at this
	// provider, those that it reports. The callbacks for sign-ins are not called.
	//
	// If that fails the session stays as it was, and the browser goes to RedirectTo with
	// the parameter error: "StepUp" if the answer does not meet what was asked, or the code
	// of another failure.
	//
	// It needs a store with [Features.Accounts], and [SessionConfig.RecordAuthentication].
	// SignIn fails with [CodeAccessDenied] if the request has no session.
	Confirm bool

	// Scopes asks the provider for more than the sign-in did, such as access to the
	// calendar of the user. It is for an [OAuth] provider with Protocol [oauth.OAuth2] or
	// [oauth.OIDC] at which the user of the session has an account. The provider is asked
	// for these scopes, for those that the account has, and for those of the
	// configuration. Its answer signs no user in and links no account, and the callbacks
	// for sign-ins are not called: the tokens are stored, and the browser goes to
	// RedirectTo. A scope has 1 to 256 characters of printable ASCII without spaces,
	// quotes and backslashes; 16 scopes of 1000 characters together are the most.
	//
	// If the answer is for another account, it changes nothing: a user who has several may
	// choose another one at the provider. RedirectTo then has the parameter error with the
	// code [CodeAccountNotLinked]. If the user grants only some of Scopes, it is
	// "ConsentRequired". What was granted is stored, unless the account can be refreshed
	// and would lose a scope by it. Other failures have their codes there.
	//
	// It needs a store with [Features.Accounts]. SignIn fails with [CodeAccessDenied] if
	// the request has no session, and with [CodeAccountNotLinked] if the user has no such
	// account. It cannot be combined with Confirm.
	Scopes []string

	// ProviderAccountID is the account for Scopes. It may come from a form: the account of
	// another user is not found. Empty means the only one that the user has at the
	// provider.
	ProviderAccountID string

	// RequireUserVerification is for [Auth.BeginPasskeyConfirmation]: the authenticator has
	// to verify its user, by a PIN or a biometric, whatever the provider requires for a
	// sign-in. The proof then has the method "mfa". A security key without a PIN cannot
	// give it.
	RequireUserVerification bool

	// Proofs are methods that the server has verified beside what the provider verifies, and
	// when: the mail of a sign-up that was read, for example. They are for a [Credentials]
	// provider, whose "pwd" is added, and [Callbacks.Hold] receives them in
	// [PendingSignIn].Authentication. Never take them from the request.
	Proofs map[string]time.Time
}

// SignIn signs a user in from the host's own handler: it does what a form
// that is posted to the sign-in page's provider does, sets the cookies on w, and
// returns where the browser has to be sent. Call it before the response is
// written, and redirect to the URL or give it to a script:
//
//	next, err := auth.SignIn(w, r, "github", pintle.SignInOptions{})
//
// An empty provider yields the sign-in page, and so does an unknown one, which is logged
// once. When the sign-in fails
// the error is an [*Error], with [CodeCredentials] for a wrong password. It is
// logged, and Events.SignInFailed is called, as at the routes. The handler must
// protect itself against requests forged by other sites, for example with
// [http.CrossOriginProtection].
func (a *Auth) SignIn(w http.ResponseWriter, r *http.Request, provider string, o SignInOptions) (next string, err error) {
	x, fault := a.inner(r, actionSignIn)
	x.provider = x.byID[provider]
	if fault == nil && x.provider == nil {
		var err error
		if x.provider, err = x.find(x.ctx, provider); err != nil {
			return x.leaveTo(w, err)
		}
	}
	// The fields are all that such a provider needs: there is no page in between.
	inOneStep := x.provider != nil && x.provider.hostUsers
	if inOneStep {
		x.action = actionCallback
	}
	if fault != nil {
		x.logError(fault)
		return "", fault
	}
	if err := x.notActing(); err != nil {
		return x.leaveTo(w, err)
	}
	if err := x.comeBackTo(o.RedirectTo); err != nil {
		return x.leaveTo(w, err)
	}
	if err := x.askFor(asked{Prompt: o.Prompt, MaxAge: o.MaxAge, ACR: slices.Clone(o.ACRValues)}, o.Confirm); err != nil {
		return x.leaveTo(w, err)
	}
	if err := x.askForScopes(o.Scopes, o.ProviderAccountID); err != nil {
		return x.leaveTo(w, err)
	}
	if err := x.takeProofs(o.Proofs, inOneStep); err != nil {
		return x.leaveTo(w, err)
	}
	if x.provider == nil {
		x.noteUnknownProvider(provider)
		return query.Append(x.origin+x.base+"/signin", "callbackUrl", x.callbackURL), nil
	}
	for name, values := range o.Params {
		for _, value := range values {
			x.own.Add(name, value)
		}
	}
	x.body = body.Of(o.Fields)
	if inOneStep {
		return x.leaveTo(w, x.callback())
	}
	return x.leaveTo(w, x.signIn())
}

// takeProofs keeps what the host has verified beside a password. Of another provider the answer
// comes with another request, which would not have it.
func (x *exchange) takeProofs(proofs map[string]time.Time, inOneStep bool) error {
	if len(proofs) == 0 {
		return nil
	}
	if !inOneStep {
		return fail(CodeConfiguration, errors.New("SignInOptions.Proofs is for a Credentials provider: leave it out"))
	}
	proven := Authentication{Methods: []string{methodPassword}, Time: x.began, Proofs: maps.Clone(proofs)}
	if err := x.checkAuthentication(proven.complete()); err != nil {
		return fail(CodeConfiguration, fmt.Errorf("SignInOptions.Proofs: %w", err))
	}
	x.proofs = proven.Proofs
	return nil
}

// SignOutOptions are the details of [Auth.SignOut]. The zero value comes back to the
// page it started from.
type SignOutOptions struct {
	// RedirectTo is where the browser goes afterwards: a path or a URL of this
	// site. Empty means the page that the request's Referer names, or "/".
	RedirectTo string
}

// SignOut ends the session of a request from the host's own handler, clears its
// cookies on w and returns where the browser should go. Call it before the response is written. The error matches [CodeSignOut]
// when the store or the revocation list could not record the sign-out: the user
// is still signed in, and the cookies are left so that they can try again.
func (a *Auth) SignOut(w http.ResponseWriter, r *http.Request, o SignOutOptions) (next string, err error) {
	x, fault := a.inner(r, actionSignOut)
	if fault != nil {
		x.logError(fault)
		return "", fault
	}
	if err := x.comeBackTo(o.RedirectTo); err != nil {
		return x.leaveTo(w, err)
	}
	return x.leaveTo(w, x.signOut())
}

// UpdateSession saves what [Claim.Set] changed in the session of the request
// and lets the callbacks work on data, which may be nil, as they would on what a
// browser posts. It sets the cookies on w and returns the session as it is
// afterwards, or nil when the request is signed out. Call it before the response is
// written.
//
// If [Auth.StartSession], [Auth.SignIn], [Auth.CompleteSignIn] or [Auth.SignOut] has set
// the cookies of another session on w, or cleared them, that session is updated, or
// none. Changes that were made to the session of another user are not saved then, and
// [SessionFrom] still returns that session.
func (a *Auth) UpdateSession(w http.ResponseWriter, r *http.Request, data any) (*Session, error) {
	s, known, err := a.settings(r)
	if err != nil {
		a.logCall(r.Context(), "UpdateSession", err)
		return nil, err
	}
	set, err := s.cookiesOf(r)
	if err != nil {
		s.logUnread(r.Context(), unread{err, failed})
		return nil, err
	}
	x := &exchange{settings: s, ctx: known.Context(), r: known, set: set, inside: true}
	if err := x.notActing(); err != nil {
		a.logCall(r.Context(), "UpdateSession", err)
		return nil, err
	}
	q := sessionRequest{Request: known, set: set, renewal: renewAlways, trigger: TriggerUpdate, update: data, own: true}
	before := SessionFrom(r.Context())
	if before != nil && before.Actor != nil {
		// It was acting when the handler began. Changes of the session of the user are not for
		// that of the operator.
		a.logCall(r.Context(), "UpdateSession", errActing)
		return nil, errActing
	}
	if before != nil && !before.isOf(s) {
		// The session is that of another Auth or tenant. Its changes are not
		// for this session, and the guards of that Auth must not find this
		// session in it.
		before = nil
	}
	if header, answered := set.answered(r.Header, w.Header()); answered {
		with := *known
		with.Header = header
		q.Request = &with
		if before != nil && !s.isSessionOf(q, before.User.ID) {
			before = nil
		}
	}
	if before != nil {
		q.changes = before.changes
	}
	began := s.observesSession()
	result := s.sessionOf(q)
	s.observeSession(known, set, began, &result)
	if result.err != nil {
		s.logUnread(r.Context(), result.unread)
	}
	setCookies(w, result.lines)
	if before != nil && result.session != nil {
		// Handlers further in see the session as it is now.
		*before = *result.session
	}
	return result.session, result.err
}

// isSessionOf reports whether a request has a session of a user.
func (s *settings) isSessionOf(q sessionRequest, userID string) bool {
	now := s.sessionOf(sessionRequest{Request: q.Request, set: q.set, renewal: renewNever}).session
	return now != nil && now.User.ID == userID
}

// inner returns the exchange of a call from server code, and the fault that
// makes the configuration unusable for it. No form is involved whose origin
// could be in doubt.
func (a *Auth) inner(r *http.Request, act action) (*exchange, *Error) {
	s, known := a.settingsOrFault(r)
	x := &exchange{settings: s, ctx: known.Context(), r: known, action: act, began: time.Now(), inside: true, csrfVerified: true}
	return x, x.configFault()
}

// comeBackTo sets where the browser goes in the end.
func (x *exchange) comeBackTo(to string) (err error) {
	x.debug("called by server code")
	if to == "" {
		to = x.cameFrom()
	}
	if x.callbackURL, x.callbackText, err = x.redirectTarget(to); err != nil {
		return err
	}
	if kept, _ := x.initialCookie(x.set.callbackURL); kept != x.callbackText {
		x.addCookie(x.set.callbackURL.line(x.callbackText))
	}
	return nil
}

// cameFrom returns the page with the form that the server answers. Behind a sign-in page it
// is the page that led there: after a failure at a provider the sign-in page has an error in
// the place of its callbackUrl.
func (x *exchange) cameFrom() string {
	referer := x.r.Referer()
	if x.Pages.SignIn == "" || x.action == actionSignOut {
		return cmp.Or(referer, "/")
	}
	own, err := url.Parse(x.absolute(x.Pages.SignIn))
	if err != nil {
		return cmp.Or(referer, "/")
	}
	from := *x.r.URL // a site may send no Referer
	from.Host = own.Host
	if referer != "" {
		named, err := url.Parse(referer)
		if err != nil {
			return referer // which redirectTarget rejects
		}
		from = *named
	}
	if from.Host != own.Host || from.Path != own.Path {
		return cmp.Or(referer, "/")
	}
	kept, _ := x.initialCookie(x.set.callbackURL)
	if !origin.Allowed(kept) {
		kept = ""
	}
	return cmp.Or(from.Query().Get("callbackUrl"), kept, "/")
}

// leaveTo returns the outcome of an inner exchange to the host. It logs a
// failure here, because the host may only show it.
func (x *exchange) leaveTo(w http.ResponseWriter, err error) (string, error) {
	if err != nil {
		e := classified(err)
		if e.Provider == "" && x.provider != nil {
			named := *e
			named.Provider = x.provider.id
			e = &named
		}
		x.logError(e)
		x.emitSignInFailed(e)
		return "", e
	}
	setCookies(w, x.answer.cookies)
	x.answer.emptyCache(w.Header())
	return asciiURL(x.answer.location), nil
}

// setCookies adds Set-Cookie lines to a response of the host's. A line for a
// cookie that was set before replaces the earlier one: browsers take the last,
// and proxies differ.
func setCookies(w http.ResponseWriter, lines []string) {
	h := w.Header()
	for _, line := range lines {
		name, _, _ := strings.Cut(line, "=")
		h["Set-Cookie"] = slices.DeleteFunc(h["Set-Cookie"], func(earlier string) bool {
			other, _, _ := strings.Cut(earlier, "=")
			return other == name
		})
		h["Set-Cookie"] = append(h["Set-Cookie"], line)
	}
	if len(lines) > 0 && h["Cache-Control"] == nil {
		h.Set("Cache-Control", "private")
	}
}

// StartOptions are the details of [Auth.StartSession]. With the zero value the session
// begins now and records no provider and no method.
type StartOptions struct {
	// Authentication is when and how the user proved who they are. A zero Time
	// means now, and a zero Started means Time: the lifetime of the session counts from
	// there, and [SessionConfig.Revocation] ends the session if the user's sessions were
	// ended since then. Provider, Methods and Proofs are kept with
	// [SessionConfig.RecordAuthentication]. A method without a proof was proven at Time,
	// and a proof later than Time moves Time. Provider need not be one of
	// [Config.Providers]: "registration" says as much. It is also the provider of the
	// account that callbacks and events receive.
	//
	// A time to come, a Started after Time, a Provider of more than 256 bytes, more than
	// sixteen Methods, or an empty one or one of more than 64 bytes, are errors. So is,
	// with a revocation list, a Started longer ago than [JWTConfig.MaxAge] or than a sign-in
	// waits ([Cookies.PendingSignIn]), whichever is longer: the list remembers no earlier
	// end.
	Authentication Authentication
}

// StartSession starts a session of a user from the host's own handler, without a
// sign-in: after a registration, for a native application, in a test. The caller has decided that the
// client may act as u: no password is checked, and [Callbacks.SignIn],
// [Callbacks.SyncUser] and [Callbacks.Hold] are not called.
//
// With w the cookies of the session are set, and a session that the browser holds
// ends as at a sign-in with [Credentials]. Call it before the response is written;
// the handler must protect itself against requests forged by other sites. With a
// nil w no cookie is set, and the sessions and cookies of r are left alone: give
// token to a native application, which sends it in the header Authorization where
// [SessionConfig.AllowBearer] is set. r is the request that is answered. Its host
// and scheme decide for which site the token is good, [SessionConfig.Describe]
// receives it, and with [NewFunc] it names the tenant.
//
// With database sessions the user must be in the store. With token sessions u is
// the user, stored or not, and must have an ID; [Callbacks.JWT] is called with
// [TriggerSignIn]. The account that it receives, and [Events.SignIn] after it, has
// the type [TypeCredentials] and the provider of o. Claims that are nil deny the
// session: the error then matches [CodeAccessDenied]. So it does if the revocation list
// has ended the sessions of u since the Time of o. With a zero Time the session begins
// after that: in a handler that has called [Auth.SignOutEverywhere], the call takes up to
// a second, because tokens and lists count in whole seconds.
//
// The session is as [Auth.Load] will return it, but for what [Callbacks.Session]
// changes. Errors are logged.
func (a *Auth) StartSession(w http.ResponseWriter, r *http.Request, u *User, o StartOptions) (token string, s *Session, err error) {
	if w == nil {
		r = r.Clone(r.Context())
		r.Header.Del("Cookie")
	}
	x, fault := a.inner(r, actionSession)
	if fault != nil {
		a.logCall(r.Context(), "StartSession", fault)
		return "", nil, fault
	}
	given, err := x.startSession(u, o)
	if err != nil {
		e := classified(err)
		a.logCall(r.Context(), "StartSession", e)
		return "", nil, e
	}
	if w != nil {
		setCookies(w, x.answer.cookies)
		x.answer.emptyCache(w.Header())
	}
	session := given.session()
	session.from = x.settings
	return given.token, session, nil
}

func (x *exchange) startSession(u *User, o StartOptions) (*issued, error) {
	if u == nil || u.ID == "" {
		return nil, fail(CodeConfiguration,
			errors.New("StartSession: the user has no ID: give it the user that the store returned, or set User.ID"))
	}
	if err := x.notActing(); err != nil {
		return nil, err
	}
	proof := o.Authentication
	if proof.Time.IsZero() {
		var err error
		if proof.Time, err = x.sessions.begin(x.ctx, u.ID); err != nil {
			return nil, err
		}
	}
	proof = proof.complete()
	if err := x.checkAuthentication(proof); err != nil {
		return nil, fail(CodeConfiguration, fmt.Errorf("StartOptions.Authentication: %w", err))
	}
	x.debug("session started by server code")
	who := &arrival{
		by: byHost, user: u.clone(), authentication: proof, unasked: true,
		provider: &provider{providerBase: providerBase{id: proof.Provider}},
		account:  &Account{Type: TypeCredentials, Provider: proof.Provider, ProviderAccountID: u.ID},
	}
	// This session replaces the pending sign-in, which goes first: if the store fails
	// there, no row is left of a session that no client has.
	if _, err := x.dropPending(); err != nil {
		return nil, err
	}
	d, err := x.decideByHost(who, "StartSession was given")
	if err != nil {
		return nil, err
	}
	x.addCookie(x.set.clearPending(x.r.Header)...)
	given, err := x.giveSession(who, d)
	if err == nil && given == nil {
		err = fail(CodeAccessDenied, errors.New("StartSession: Callbacks.JWT returned no claims, which denies the session"))
	}
	return given, err
}

// checkAuthentication rejects what would not be read back, and a sign-in whose
// session would be over.
func (x *exchange) checkAuthentication(a Authentication) error {
	now := time.Now()
	switch {
	case a.Time.After(now.Add(clockTolerance)):
		return fmt.Errorf("the Time %v, or a proof then, is to come", a.Time)
	case slices.ContainsFunc(slices.Collect(maps.Values(a.Proofs)), time.Time.IsZero):
		return errors.New("a proof has no time")
	case a.Started.After(a.Time):
		return fmt.Errorf("the session has Started %v, after the last proof", a.Started)
	case x.lifetime.Over(a.Started, now):
		return fmt.Errorf("the session has begun %v, longer ago than Config.Session.AbsoluteMaxAge: see Started and Time", a.Started)
	case len(a.Provider) > maxProviderID:
		return fmt.Errorf("the Provider has %d bytes, and at most %d are recorded", len(a.Provider), maxProviderID)
	case len(a.Methods) != len(recordedMethods(encodable(a.Methods))):
		return fmt.Errorf("at most %d Methods of 1 to %d bytes are recorded", maxMethods, maxMethod)
	}
	return x.sessions.mayBegin(a.Started)
}

// Reauthenticate records that the user of the request's session has just proven once
// more who they are. The caller has verified it: a password, a code, a passkey of this
// very user. o.Methods says how, and names one method at least.
//
// The session is replaced by another one of the same user, whose cookies are set on w. It
// has the data of the session before, and what that has recorded, with the methods of o
// proven now: Time moves, Started stays. It lasts as after a renewal, and no longer than
// [SessionConfig.AbsoluteMaxAge] allows. Call it before the response is written. The
// session is returned, and [SessionFrom] returns it as well, with changes by [Claim.Set]
// that are not saved yet. With token sessions [Callbacks.JWT] is called with
// [TriggerUpdate].
//
// Requests of the page may be on their way with the session before. For ten seconds they
// read it as it was, without the new proof, and their answers set and clear no cookies.
// Then it is gone. With token sessions that needs [SessionConfig.Revocation]: without it
// the token before is good until it expires, never with the new proof, and a request that
// is on its way may bring it back.
//
// It needs [SessionConfig.RecordAuthentication]. The error matches [CodeAccessDenied]
// where the browser has no session, or the session ended or was replaced meanwhile, as by
// [Auth.SignOutEverywhere] in another request; [CodeStore] where the store or the
// revocation list is unavailable. Then no cookie is set. Errors are logged. A session
// that came in the header Authorization is not replaced.
//
// The handler must protect itself against requests forged by other sites, and limit the
// guesses.
func (a *Auth) Reauthenticate(w http.ResponseWriter, r *http.Request, o CompleteOptions) (*Session, error) {
	x, fault := a.inner(r, actionSession)
	if fault != nil {
		a.logCall(r.Context(), "Reauthenticate", fault)
		return nil, fault
	}
	session, err := x.reauthenticate(w, o)
	if err != nil {
		e := classified(err)
		a.logCall(r.Context(), "Reauthenticate", e)
		return nil, e
	}
	setCookies(w, x.answer.cookies)
	session.from = x.settings
	if before := SessionFrom(r.Context()); before != nil && before.isOf(x.settings) && before.User.ID == session.User.ID {
		session.changes = before.changes
		*before = *session // handlers further in see the session as it is now
	}
	return session, nil
}

func (x *exchange) reauthenticate(w http.ResponseWriter, o CompleteOptions) (*Session, error) {
	if !x.Session.RecordAuthentication {
		return nil, fail(CodeConfiguration, errors.New("Reauthenticate records a proof: set Config.Session.RecordAuthentication"))
	}
	if len(o.Methods) == 0 {
		return nil, fail(CodeConfiguration, errors.New("CompleteOptions.Methods is empty: name what was verified, such as \"pwd\""))
	}
	if err := o.fault(); err != nil {
		return nil, err
	}
	if err := x.notActing(); err != nil {
		return nil, err
	}
	if _, answered := x.set.answered(x.r.Header, w.Header()); answered {
		return nil, noSession(errors.New("the response sets or clears the cookies of another session"))
	}
	return x.sessions.prove(x, o.Methods, nil)
}

// BeginPasskeyConfirmation begins a ceremony by which the user of the request's session
// confirms it with a passkey. provider is the id of a [WebAuthn] provider. The
// result is the JSON of the options for a script of the page, as in the member options of
// the route webauthn-options: only passkeys of this user are in it. A cookie on w keeps the
// challenge for 15 minutes. It is good for this session, and not for a sign-in. Call it
// before the response is written.
//
// The error matches [CodeAccessDenied] if there is no session, and [CodeStore] if the
// store is unavailable. There is an error as well if the user has no passkey. Errors are
// logged. Of o only RequireUserVerification may be set; the rest is an error that matches
// [CodeConfiguration].
func (a *Auth) BeginPasskeyConfirmation(w http.ResponseWriter, r *http.Request, provider string, o SignInOptions) (options json.RawMessage, err error) {
	x, here, err := a.atPasskeys(r, provider, "BeginPasskeyConfirmation")
	if only := (SignInOptions{RequireUserVerification: o.RequireUserVerification}); err == nil && !reflect.DeepEqual(o, only) {
		err = fail(CodeConfiguration, errors.New("BeginPasskeyConfirmation takes RequireUserVerification alone of SignInOptions: leave out the rest"))
	}
	if err == nil {
		options, err = x.provider.beginProof(x, x.proofOfSession(here), o.RequireUserVerification)
	}
	if err != nil {
		e := classified(err)
		a.logCall(r.Context(), "BeginPasskeyConfirmation", e)
		return nil, e
	}
	setCookies(w, x.answer.cookies)
	return options, nil
}

// FinishPasskeyConfirmation verifies the answer of the browser to
// [Auth.BeginPasskeyConfirmation], as JSON, and records the proof in the session of the
// request as [Auth.Reauthenticate] does, whose errors it has. The methods are "pop" and
// "user", and "mfa" if the authenticator has verified its user.
//
// Each challenge is answered once, in the browser and the session in which it was made,
// and by a passkey of its user. The answer to a challenge of a sign-in is rejected. The error matches
// [CodeInvalidCheck] where the challenge is missing, used, expired or of another session:
// begin again.
//
// The handler must protect itself against requests forged by other sites.
func (a *Auth) FinishPasskeyConfirmation(w http.ResponseWriter, r *http.Request, provider string, answer []byte) (*Session, error) {
	x, here, err := a.atPasskeys(r, provider, "FinishPasskeyConfirmation")
	if err != nil {
		a.logCall(r.Context(), "FinishPasskeyConfirmation", err)
		return nil, classified(err)
	}
	key, err := x.provider.finishProof(x, x.proofOfSession(here), answer)
	if err != nil {
		if !isClassified(err) {
			err = &Error{Code: codeWebAuthn, Provider: provider, Err: err}
		}
		a.logCall(r.Context(), "FinishPasskeyConfirmation", err)
		return nil, classified(err)
	}
	session, err := a.Reauthenticate(w, r, CompleteOptions{Methods: key.authentication().Methods})
	if err == nil {
		setCookies(w, x.answer.cookies)
	}
	return session, err
}

// BeginPasskeySignUp begins a ceremony by which a new user creates a passkey. The
// application has proven the address of the user, for example by a mail, in this browser:
//
//	u := &pintle.User{ID: id, Email: address, EmailVerified: time.Now()}
//	options, err := auth.BeginPasskeySignUp(w, r, "passkey", u)
//
// u has the id that the user will have, unless the store chooses another, and the address
// in normal form; both are sealed into the challenge. Make one id for each proof of an
// address, so that the ceremony is bound to it, and keep it on the server. Nothing is
// stored. WebAuthn.SignInOnly does not matter here.
//
// The options are for PublicKeyCredential.create, in the form of the options route, and
// require that the authenticator verifies its user. A cookie on w keeps the challenge for 15
// minutes. Call it before the response is written. An error is logged, and matches
// [CodeConfiguration] if u lacks one of the fields.
func (a *Auth) BeginPasskeySignUp(w http.ResponseWriter, r *http.Request, provider string, u *User) (options json.RawMessage, err error) {
	x, err := a.atPasskeySignUp(r, provider, "BeginPasskeySignUp", u)
	if err == nil {
		options, err = x.provider.beginSignUp(x, u.clone())
	}
	if err != nil {
		e := classified(err)
		a.logCall(r.Context(), "BeginPasskeySignUp", e)
		return nil, e
	}
	setCookies(w, x.answer.cookies)
	return options, nil
}

// FinishPasskeySignUp verifies the answer of the browser to [Auth.BeginPasskeySignUp], as
// JSON, creates u with the passkey, and signs in as [Auth.SignIn] does: the callbacks and the
// events of a sign-in are called, and next is where the browser has to be sent. u may have
// more than before, such as a name. Of o only RedirectTo may be set; the rest is an error that
// matches [CodeConfiguration].
//
// Each challenge is answered once, in the browser in which it was made, for a user with the
// same ID and Email. The error matches [CodeInvalidCheck] if the challenge is missing, used,
// expired or of another user or ceremony. There is an error as well if a user has the
// address by now, if the authenticator did not verify its user, or if the credential is
// registered already. An error of Callbacks.Hold, of Callbacks.JWT or of the store may come
// after the user was created: look the address up before you sign up again.
//
// The handler must protect itself against requests forged by other sites. It must use up the
// proof of the address before the call, since of two calls at the same moment both could
// succeed in a store that does not keep addresses unique.
func (a *Auth) FinishPasskeySignUp(w http.ResponseWriter, r *http.Request, provider string, u *User, answer []byte, o SignInOptions) (next string, err error) {
	x, err := a.atPasskeySignUp(r, provider, "FinishPasskeySignUp", u)
	if only := (SignInOptions{RedirectTo: o.RedirectTo}); err == nil && !reflect.DeepEqual(o, only) {
		err = fail(CodeConfiguration, errors.New("FinishPasskeySignUp takes RedirectTo alone of SignInOptions: leave out the rest"))
	}
	if err != nil {
		e := classified(err)
		a.logCall(r.Context(), "FinishPasskeySignUp", e)
		return "", e
	}
	if err := x.comeBackTo(o.RedirectTo); err != nil {
		return x.leaveTo(w, err)
	}
	who, err := x.provider.finishSignUp(x, u.clone(), answer)
	if err == nil {
		err = x.arrive(who) //nolint:contextcheck // undoing half a sign-in must outlive its request
	}
	if err != nil && !isClassified(err) {
		err = &Error{Code: codeWebAuthn, Provider: provider, Err: err}
	}
	return x.leaveTo(w, err)
}

// atPasskeySignUp returns the exchange of a call about a user who will be created.
func (a *Auth) atPasskeySignUp(r *http.Request, provider, method string, u *User) (*exchange, error) {
	x, fault := a.inner(r, actionCallback)
	if fault != nil {
		return nil, fault
	}
	wrong := func(reason string) (*exchange, error) {
		return nil, fail(CodeConfiguration, errors.New(method+": "+reason))
	}
	x.provider = x.byID[provider]
	if x.provider == nil || x.provider.beginSignUp == nil {
		return wrong(fmt.Sprintf("there is no provider of passkeys with the id %q", provider))
	}
	if u == nil || u.ID == "" || u.EmailVerified.IsZero() {
		return wrong("the user needs an ID, and EmailVerified: prove the address first")
	}
	if email, err := address.Normalize(u.Email); err != nil || email != u.Email {
		return wrong("the Email of the user is no address in normal form, as package account and mail links store it: in lower case, without spaces")
	}
	return x, x.notActing()
}

// atPasskeys returns the exchange of a call about the passkeys of the signed-in user.
func (a *Auth) atPasskeys(r *http.Request, provider, method string) (*exchange, *presence, error) {
	x, fault := a.inner(r, actionSession)
	if fault != nil {
		return nil, nil, fault
	}
	x.provider = x.byID[provider]
	if x.provider == nil || x.provider.beginProof == nil {
		return nil, nil, fail(CodeConfiguration, fmt.Errorf("%s: there is no provider of passkeys with the id %q", method, provider))
	}
	if err := x.notActing(); err != nil {
		return x, nil, err
	}
	here, err := x.sessionToConfirm()
	return x, here, err
}

// BeginPasskeySecondFactor begins a ceremony by which the user of the pending sign-in of a
// request proves to have a passkey, for a page of [Callbacks.Hold]. It is as
// [Auth.BeginPasskeyConfirmation], whose errors it has: the challenge is for this sign-in
// instead of a session, and good for no other use. The error matches [CodeInvalidCheck] if
// no sign-in waits; see [Auth.PendingSignIn].
//
// RequireUserVerification belongs there if the first proof was neither a password nor a
// mail: possession of a key beside an account of a provider is not two factors.
func (a *Auth) BeginPasskeySecondFactor(w http.ResponseWriter, r *http.Request, provider string, o SignInOptions) (options json.RawMessage, err error) {
	x, p, err := a.atPendingPasskeys(r, provider, "BeginPasskeySecondFactor")
	if only := (SignInOptions{RequireUserVerification: o.RequireUserVerification}); err == nil && !reflect.DeepEqual(o, only) {
		err = fail(CodeConfiguration, errors.New("BeginPasskeySecondFactor takes RequireUserVerification alone of SignInOptions: leave out the rest"))
	}
	if err == nil {
		options, err = x.provider.beginProof(x, x.proofOfPending(p), o.RequireUserVerification)
	}
	if err != nil {
		e := classified(err)
		a.logCall(r.Context(), "BeginPasskeySecondFactor", e)
		return nil, e
	}
	setCookies(w, x.answer.cookies)
	return options, nil
}

// FinishPasskeySecondFactor verifies the answer of the browser to
// [Auth.BeginPasskeySecondFactor], as JSON, and returns the methods that it proves, for
// [CompleteOptions]: "pop" and "user", and "mfa" if the authenticator has verified its user.
// It signs no user in: [Auth.CompleteSignIn] does, and Callbacks.Hold decides with these
// methods.
//
// Each challenge is answered once, in the browser and for the sign-in for which it was
// made, and by a passkey of its user. The error matches [CodeInvalidCheck] if the challenge
// is missing, used, expired or for something else: begin again. It matches [CodeStore] if
// the store is unavailable. Errors are logged.
//
// The handler must protect itself against requests forged by other sites.
func (a *Auth) FinishPasskeySecondFactor(w http.ResponseWriter, r *http.Request, provider string, answer []byte) (methods []string, err error) {
	var key *Passkey
	x, p, err := a.atPendingPasskeys(r, provider, "FinishPasskeySecondFactor")
	if err == nil {
		key, err = x.provider.finishProof(x, x.proofOfPending(p), answer)
	}
	if err != nil {
		if !isClassified(err) {
			err = &Error{Code: codeWebAuthn, Provider: provider, Err: err}
		}
		a.logCall(r.Context(), "FinishPasskeySecondFactor", err)
		return nil, classified(err)
	}
	setCookies(w, x.answer.cookies)
	return key.authentication().Methods, nil
}

// BeginPasskeyProof begins a ceremony by which a user proves to have a passkey, where there is
// neither a session nor a pending sign-in: on a page that a link in a mail has opened, for
// example. It is as [Auth.BeginPasskeyConfirmation], whose errors it has, for a user whom the
// application names. The error matches [ErrNotFound] if there is no such user.
//
// An answer is accepted for the same p only. The options name the passkeys of the user, so call
// it for clients that have proven something, such as the possession of the link.
func (a *Auth) BeginPasskeyProof(w http.ResponseWriter, r *http.Request, p PasskeyProof, o SignInOptions) (options json.RawMessage, err error) {
	x, user, err := a.atPasskeyProof(r, p, "BeginPasskeyProof")
	if only := (SignInOptions{RequireUserVerification: o.RequireUserVerification}); err == nil && !reflect.DeepEqual(o, only) {
		err = fail(CodeConfiguration, errors.New("BeginPasskeyProof takes RequireUserVerification alone of SignInOptions: leave out the rest"))
	}
	if err == nil {
		options, err = x.provider.beginProof(x, x.proofOf(user, p.Purpose), o.RequireUserVerification)
	}
	if err != nil {
		e := classified(err)
		a.logCall(r.Context(), "BeginPasskeyProof", e)
		return nil, e
	}
	setCookies(w, x.answer.cookies)
	return options, nil
}

// FinishPasskeyProof verifies the answer of the browser to [Auth.BeginPasskeyProof] with the same
// p, as JSON, and returns the passkey that has signed, with UserVerified as the authenticator reports it. It
// signs no user in and confirms no session.
//
// Each challenge is answered once, in the browser in which it was made, and by a passkey of the
// user. The error matches [CodeInvalidCheck] if the challenge is missing, used, expired or for
// something else: begin again. It matches [CodeStore] if the store is unavailable, [ErrNotFound]
// if there is no such user, and [CodeConfiguration] if p is not one that can begin. Errors are
// logged.
//
// The handler must protect itself against requests forged by other sites.
func (a *Auth) FinishPasskeyProof(w http.ResponseWriter, r *http.Request, p PasskeyProof, answer []byte) (*Passkey, error) {
	var key *Passkey
	x, user, err := a.atPasskeyProof(r, p, "FinishPasskeyProof")
	if err == nil {
		key, err = x.provider.finishProof(x, x.proofOf(user, p.Purpose), answer)
	}
	if err != nil {
		if !isClassified(err) {
			err = &Error{Code: codeWebAuthn, Provider: p.Provider, Err: err}
		}
		a.logCall(r.Context(), "FinishPasskeyProof", err)
		return nil, classified(err)
	}
	setCookies(w, x.answer.cookies)
	return key, nil
}

// atPasskeyProof returns the exchange of a call about the passkeys of a user whom server code
// names.
func (a *Auth) atPasskeyProof(r *http.Request, p PasskeyProof, method string) (*exchange, *User, error) {
	x, fault := a.inner(r, actionCallback)
	if fault != nil {
		return nil, nil, fault
	}
	x.provider = x.byID[p.Provider]
	switch {
	case x.provider == nil || x.provider.beginProof == nil:
		return nil, nil, fail(CodeConfiguration, fmt.Errorf("%s: there is no provider of passkeys with the id %q", method, p.Provider))
	case p.Purpose == "": // an answer for one page would be one for all others
		return nil, nil, fail(CodeConfiguration, fmt.Errorf("%s: PasskeyProof.Purpose is empty: name what the proof is for", method))
	}
	if err := x.notActing(); err != nil {
		return nil, nil, err
	}
	user, err := x.records.user(x.ctx, p.UserID)
	if user == nil && err == nil {
		err = &Error{Code: codeWebAuthn, Provider: p.Provider, Err: fmt.Errorf("%s: %w: there is no user with the id", method, ErrNotFound)}
	}
	return x, user, err
}

// atPendingPasskeys returns the exchange of a call about the passkeys of the user of a
// pending sign-in.
func (a *Auth) atPendingPasskeys(r *http.Request, provider, method string) (*exchange, *PendingSignIn, error) {
	x, fault := a.inner(r, actionCallback)
	if fault != nil {
		return nil, nil, fault
	}
	keys := x.byID[provider]
	if keys == nil || keys.beginProof == nil {
		return nil, nil, fail(CodeConfiguration, fmt.Errorf("%s: there is no provider of passkeys with the id %q", method, provider))
	}
	p, err := x.lookAtPending()
	if err == nil && p == nil {
		err = noPending(errNotHeld)
	}
	x.provider = keys // in place of the one with which the sign-in began
	return x, p, err
}

// PendingSignIn returns the sign-in that [Callbacks.Hold] holds in the browser of a
// request. It returns nil if no sign-in was held, or if the sign-in was completed,
// was cancelled or has expired, or if since then the user was deleted, the account or
// the passkey was unlinked, or the sessions of the user have ended. The user is not
// signed in: the request must be answered as one without a session.
//
// With token sessions only [SessionConfig.Revocation] shows that a sign-in was
// completed, cancelled or replaced, or that the sessions of the user have ended.
// Without it PendingSignIn returns such a sign-in until it expires, to a browser that
// has a copy of the cookies. The page must then change nothing for the user, such as
// a password or a second factor, before [Auth.CompleteSignIn] has succeeded.
//
// An error means that the store or the revocation list is unavailable.
func (a *Auth) PendingSignIn(r *http.Request) (*PendingSignIn, error) {
	x, fault := a.inner(r, actionCallback)
	if fault != nil {
		a.logCall(x.ctx, "PendingSignIn", fault)
		return nil, fault
	}
	p, err := x.lookAtPending()
	if err != nil {
		a.logCall(x.ctx, "PendingSignIn", err)
		return nil, classified(err)
	}
	return p, nil
}

// CompleteSignIn signs the browser of a request in as the user of its pending
// sign-in, once the page has what [Callbacks.Hold] asked for. It sets the
// cookies on w and returns where the browser has to be sent. Call it before the response
// is written.
//
// CompleteSignIn first calls Hold again, with o.Methods added. If Hold returns a page,
// next is that page, and the browser still has no session. So a right second factor
// does not complete a sign-in that also waits for consent to the terms of use. All
// pages together have six times the MaxAge of
// Config.Cookies.PendingSignIn, which is one hour by default, from the beginning of the
// sign-in.
//
// A pending sign-in is completed once, across all processes of a site, and in the
// browser in which it began. The error matches [CodeInvalidCheck] if there
// is no pending sign-in, or no longer: the cases in which [Auth.PendingSignIn] returns
// nil. It matches [CodeAccessDenied] if Hold denies the sign-in. It matches [CodeStore] if
// the store is unavailable: before the sign-in is used up the user can try again, and
// afterwards has to sign in again. In no case is the browser signed in. The
// session that the browser held before ends with a success only.
//
// The handler must protect itself against requests forged by other sites, for
// example with [http.CrossOriginProtection], and limit the guesses at a code.
func (a *Auth) CompleteSignIn(w http.ResponseWriter, r *http.Request, o CompleteOptions) (next string, err error) {
	x, fault := a.inner(r, actionCallback)
	if fault != nil {
		x.logError(fault)
		return "", fault
	}
	if err := x.notActing(); err != nil {
		return x.leaveTo(w, err)
	}
	lost, err := x.complete(o)
	if lost {
		setCookies(w, x.set.clearPending(x.r.Header))
	}
	return x.leaveTo(w, err)
}

// CancelSignIn ends the pending sign-in of a request and clears its cookie on w.
// Without a pending sign-in it does nothing. The error matches [CodeStore] if the store
// or the revocation list is unavailable; the cookie is then left, so that the user can
// try again. It matches [CodeSignOut] if the request carries more cookies with
// the name than are tried: another site of the domain has planted them.
func (a *Auth) CancelSignIn(w http.ResponseWriter, r *http.Request) error {
	x, fault := a.inner(r, actionCallback)
	if fault != nil {
		a.logCall(x.ctx, "CancelSignIn", fault)
		return fault
	}
	all, err := x.dropPending()
	if err == nil && !all {
		err = fail(CodeSignOut, errTooManyHeld)
	}
	if err != nil {
		a.logCall(x.ctx, "CancelSignIn", err)
		return classified(err)
	}
	setCookies(w, x.set.clearPending(x.r.Header))
	x.debug("pending sign-in cancelled")
	return nil
}

// Texts returns the words of the built-in pages in the language that suits a request,
// for pages of the host that speak as those do. Fields that the configuration leaves
// empty have the English words, and Lang is the language that was chosen. Other requests
// share the maps and lists of the result: copy one before you change it. Without a
// configuration for the request, which is logged, the words are English.
func (a *Auth) Texts(r *http.Request) pages.Texts {
	s, known, err := a.settings(r)
	if err != nil {
		a.logCall(r.Context(), "Texts", err)
		return pages.Texts(page.English())
	}
	return pages.Texts(s.pagesFor(known).Texts())
}

// CSRFToken returns the form token of the browser, for a page of the host with a
// form that posts to the routes below [Config.BasePath], such as a sign-out button.
// The form repeats the token in a hidden field:
//
//	<form method="post" action="/auth/signout">
//	  <input type="hidden" name="csrfToken" value="{{.CSRFToken}}">
//	  <button>Sign out</button>
//	</form>
//
// A browser without a token gets one by a cookie on w, and a page with a token must
// be kept out of shared caches: call CSRFToken before the response is written. The
// token stays good until the browser is closed. It is not a secret from the page's
// own scripts, and must not be given to another site. When an operator begins to act as a
// user in the browser, or stops, there is another token: forms of pages that were loaded before
// are meant for the user of before, and are rejected.
//
// It protects the routes of Pintle only. For forms that post to the host's own
// handlers use [http.CrossOriginProtection]. A handler that must reject such forms of before
// compares the field with the result of CSRFToken, in constant time.
func (a *Auth) CSRFToken(w http.ResponseWriter, r *http.Request) (string, error) {
	x, fault := a.inner(r, actionCSRF)
	if fault != nil {
		x.logError(fault)
		return "", fault
	}
	x.w = w
	x.csrfToken = x.tokenBeingSet(w.Header())
	x.formToken()
	token := x.pageToken()
	setCookies(w, x.answer.cookies)
	// A shared cache would give the token of this browser to others.
	if w.Header()["Cache-Control"] == nil {
		w.Header().Set("Cache-Control", "private")
	}
	return token, nil
}

// IDTokenNonce returns a nonce for a page of the host that shows the SDK of a provider
// with [OAuth.AcceptIDTokens], such as Google One Tap:
//
//	<div id="g_id_onload" data-client_id="…" data-nonce="{{.Nonce}}" data-login_uri="https://…/auth/idtoken/google"></div>
//
// It is good once, for ten minutes, in the browser of the request, for the user who is
// signed in now. A browser without a form token gets one by a cookie on w, so that the
// page must be kept out of shared caches: call IDTokenNonce before the response is
// written. Scripts can get a nonce from the route idtoken/{ID} instead. It fails for a
// provider that accepts no ID tokens.
func (a *Auth) IDTokenNonce(w http.ResponseWriter, r *http.Request, provider string) (string, error) {
	x, fault := a.inner(r, actionIDToken)
	if fault != nil {
		a.logCall(r.Context(), "IDTokenNonce", fault)
		return "", fault
	}
	if x.provider = x.byID[provider]; x.provider == nil || x.provider.idTokens == nil {
		e := fail(CodeConfiguration, fmt.Errorf("IDTokenNonce: there is no provider %q with AcceptIDTokens", provider))
		a.logCall(r.Context(), "IDTokenNonce", e)
		return "", e
	}
	x.csrfToken = x.tokenBeingSet(w.Header())
	nonce, _, err := x.newNonce(false)
	if err != nil {
		e := classified(err)
		a.logCall(r.Context(), "IDTokenNonce", e)
		return "", e
	}
	setCookies(w, x.answer.cookies)
	if w.Header()["Cache-Control"] == nil {
		w.Header().Set("Cache-Control", "private")
	}
	return nonce, nil
}
