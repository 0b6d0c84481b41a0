package pintle

import (
	"context"
	"net/http"
	"time"

	"github.com/pintleauth/pintle/sharedstate"
)

// An Observer receives what Pintle does, for traces and metrics. Package pintleotel
// makes one for OpenTelemetry. Each field is optional, and one that is nil costs nothing.
//
// The functions run in the request and delay it: they must not wait for a network. They
// must not panic, and are called concurrently. What they receive has names and numbers of
// the configuration and of this package: no address, no id of a user, no token and no text
// that a client has sent. Only Err may hold such text, as [SignInFailedEvent].Err may.
//
// An Auth of [NewFunc] calls the Observer of the tenant. It calls none for a request whose
// tenant is unknown or has no configuration.
type Observer struct {
	// Store, SharedState and Revocation return what is called in the place of the Store, the
	// SharedState and the Session.Revocation of a configuration. What they return has the
	// same features, and calls what they are given; nil is an error of [New]. Each is called once
	// for each configuration that is made and has one, before [Accounts].Attach.
	Store       func(Store) Store
	SharedState func(sharedstate.Store) sharedstate.Store
	Revocation  func(RevocationStore) RevocationStore

	// Mail returns what sends mails in the place of send. It is called once for each [Email]
	// provider that is made ready, and by package account for its own mails.
	Mail func(send func(context.Context, *Message) error) func(context.Context, *Message) error

	// Transport returns what sends the requests to a provider, in the place of base. It is
	// called once for each provider that is made ready, whichever client makes its requests,
	// also with [Config.PublicNetworkOnly]: base then refuses what is not public. provider
	// is the ID of the provider, and "sso" for every one of [Config.Connections]. It is the
	// ID of an [Email] provider that sends mails by requests, too. Function EndpointOf of
	// package oauth tells what a request is for.
	Transport func(provider string, base http.RoundTripper) http.RoundTripper

	// Route is called when a request for the routes has arrived. The context that it returns
	// is that of all work for the request: it is derived from ctx. done is called when the
	// request is answered, and also if the handler panics; o is complete by then.
	Route func(ctx context.Context, o *ObservedRoute) (_ context.Context, done func())

	// Session is called when the session of a request was read: by [Auth.Load] and
	// [Auth.Require], [Auth.Session], [Auth.UpdateSession] and the session route. Load and
	// Require read nothing of a request without cookies, and the observer does not see it.
	Session func(ctx context.Context, o *ObservedSession)

	// SignIn is called for every sign-in that succeeds, fails or waits, at the routes and in
	// functions of [Auth].
	SignIn func(ctx context.Context, o *ObservedSignIn)
}

// An ObservedRoute is a request for the routes.
type ObservedRoute struct {
	// Method is that of the request. A client may send any.
	Method string

	// Route is the route with its base path, and with "{provider}" in the place of an ID:
	// "/auth/callback/{provider}". A page of [Config.Accounts] has its name,
	// "/auth/account/password", if the handler knows it; see [Accounts]. Route is empty if
	// there is no such route.
	Route string

	// The others are known when the request is answered.

	// Status is that of the answer. It is 0 if the handler panicked.
	Status int

	// Provider is the ID of the provider, one of [Config.Providers]. It is "sso" for
	// those of [Config.Connections], and empty if no provider is involved.
	Provider string

	// Code is why the request failed, as the log has it: one of the codes in
	// docs/errors.md, or "other" for a code of the host. It is empty if the request did not
	// fail. Err is the error.
	Code Code
	Err  error

	// Fault reports that the operator has to repair something: the log has the failure
	// at level ERROR. Clients cannot cause it at will.
	Fault bool
}

// An ObservedSession is a session that was read.
type ObservedSession struct {
	// Result is what came of it:
	//
	//   - "valid": the request has a session;
	//   - "none": the request carries none;
	//   - "rejected": what it carries is expired, ended or not valid here;
	//   - "page_first": [Callbacks.Accept] sends the user to a page first;
	//   - "unavailable": the store, the revocation list or a provider did not answer;
	//   - "fault": a callback or the configuration is at fault;
	//   - "canceled": the client left before the session was read.
	Result string

	// Duration is how long that took.
	Duration time.Duration
}

// An ObservedSignIn is a sign-in that has ended, or waits.
type ObservedSignIn struct {
	// Provider is the ID of the provider, as that of [ObservedRoute]. It is empty for a
	// session of [Auth.StartSession]. Type is its type.
	Provider string
	Type     ProviderType

	// Outcome is what came of it:
	//
	//   - "signed_in": the user has signed in;
	//   - "linked": the session goes on, and the user has linked an account or added a
	//     passkey, or signed in again;
	//   - "started": [Auth.StartSession] has begun the session;
	//   - "no_session": [Callbacks.JWT] wants none;
	//   - "held": it waits, because of [Callbacks.Hold];
	//   - "refused": it failed, and the operator has nothing to repair: because of a wrong
	//     password, a used link, a rule of the host or a consent that was not given, for example;
	//   - "throttled": it failed, because the attempts are beyond a limit;
	//   - "fault": it failed, and the operator has to repair something.
	//
	// [Events].SignInFailed lists the reasons of the last three.
	//
	// A sign-in that waits is observed twice: as "held", and when it is completed or cannot
	// be. Nothing is observed if the user never goes on.
	Outcome string

	// Waited reports that the sign-in was held before.
	Waited bool

	// NewUser reports that the sign-in made the user.
	NewUser bool

	// Code, Err and Fault are those of [ObservedRoute].
	Code  Code
	Err   error
	Fault bool
}
