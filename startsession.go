package pintle

import (
	"errors"
	"fmt"
	"net/http"
	"time"
)

// StartOptions are the details of [Auth.StartSession]. The zero value is a session
// of a user who has signed in just now, in a way that is not recorded.
type StartOptions struct {
	// Authentication is when and how the user proved who they are. A zero Time
	// means now. The lifetime of the session counts from an earlier Time, too, and
	// [SessionConfig.Revocation] ends the session if the user's sessions were ended
	// since then. Provider and Methods are kept with
	// [SessionConfig.RecordAuthentication]. Provider need not be one of
	// [Config.Providers]: "registration" says as much. It is also the provider of the
	// account that callbacks and events receive.
	//
	// A Time to come, a Provider of more than 256 bytes, more than ten Methods, or an
	// empty one or one of more than 64 bytes, are errors.
	Authentication Authentication
}

// StartSession starts a session of a user from the host's own handler, without a
// sign-in: after a registration, for a native application, for an operator who
// looks at the site as a user sees it, in a test. The caller has decided that the
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
// session: the error then matches [CodeAccessDenied].
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
		a.logCall(x.ctx, "StartSession", fault)
		return "", nil, fault
	}
	given, err := x.startSession(u, o)
	if err != nil {
		e := classified(err)
		a.logCall(x.ctx, "StartSession", e)
		return "", nil, e
	}
	if w != nil {
		setCookies(w, x.answer.cookies)
	}
	return given.token, given.session, nil
}

func (x *exchange) startSession(u *User, o StartOptions) (*issued, error) {
	if u == nil || u.ID == "" {
		return nil, fail(CodeConfiguration, errors.New("StartSession: the user has no ID: give it the user that the store returned, or set User.ID"))
	}
	proof := o.Authentication
	if proof.Time.IsZero() {
		proof.Time = x.began
	}
	if err := x.checkAuthentication(proof); err != nil {
		return nil, fail(CodeConfiguration, fmt.Errorf("StartOptions.Authentication: %w", err))
	}
	x.debug("session started by server code")
	who := &arrival{
		by: byHost, user: u.clone(), authentication: proof, unasked: true,
		provider: &provider{providerBase: providerBase{id: proof.Provider}},
		account:  &Account{Type: TypeCredentials, Provider: proof.Provider, ProviderAccountID: u.ID},
	}
	d, err := x.decideByHost(who, "StartSession was given")
	if err != nil {
		return nil, err
	}
	if err := x.dropPending(); err != nil { // which this session replaces
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
		return fmt.Errorf("the Time %v is to come", a.Time)
	case x.lifetime.Over(a.Time, now):
		return fmt.Errorf("the Time %v is longer ago than Config.Session.AbsoluteMaxAge", a.Time)
	case len(a.Provider) > maxProviderID:
		return fmt.Errorf("the Provider has %d bytes, and at most %d are recorded", len(a.Provider), maxProviderID)
	case len(a.Methods) != len(recordedMethods(encodable(a.Methods))):
		return fmt.Errorf("at most %d Methods of 1 to %d bytes are recorded", maxMethods, maxMethod)
	}
	return nil
}
