package pintle

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/pintleauth/pintle/internal/sealed"
	"github.com/pintleauth/pintle/internal/wire"
	"github.com/pintleauth/pintle/token"
)

// A Session is a signed-in user in the course of a request. [Auth.Load] puts
// one into the request's context and [SessionFrom] returns it.
//
// Its JSON is what a browser is shown: by default the user's name, address and
// image and when the session ends, or else what [Callbacks.Session] made of it.
// Everything else is for server code only.
type Session struct {
	// User is the signed-in user. With token sessions it has what the token
	// carries: ID, Name, Email and Image. With database sessions it is the
	// user as the store has it.
	User User

	// Expires is when the session ends unless it is used before.
	Expires time.Time

	// Authentication is when and how the user proved who they are, as far as it is
	// recorded: see [SessionConfig.RecordAuthentication]. What is not recorded is zero.
	// A zero Time means that it may be long ago. No callback and no client can change
	// it.
	Authentication Authentication

	// Roles are those that the token carries in the claim roles: the roles of the user at the
	// sign-in or at the last renewal. They are there with [Callbacks].Roles, and nil for a
	// session in the database. No callback and no client can change them. Package account
	// sets both.
	Roles []string

	// Actor is the operator who acts as User, and nil if the user is signed in. The session is
	// then that of the operator, who keeps it: it has the proofs and the roles of the operator in
	// no way. Authentication is zero, and a [Claim] has no value. Only the user may change how
	// they sign in, so methods that do that, or that change the session, fail with
	// [CodeActing]. An application can refuse more. Package account lets operators act:
	// [Config.Accounts].
	Actor *Actor

	claims  *token.Token   // nil for a database session, and where data has them
	data    map[string]any // of a database session, or changes not yet saved
	changes map[string]any
	stored  *StoredSession
	view    *any      // what Callbacks.Session made of it; nil where it was not called
	from    *settings // by which it was read; nil for sessions of the host's making
}

// An Actor is an operator who acts as another user.
type Actor struct {
	// ID is the id of the operator, and Name what the operator is called: the name, or
	// else the address.
	ID, Name string
}

// hasUser reports whether the session identifies its user in any way. A JWT
// callback or a foreign server can write tokens without a user, and a session
// callback can remove the user, or return that there is no session at all.
func (s *Session) hasUser() bool {
	if s.view != nil && *s.view == nil {
		return false
	}
	return s.User.ID != "" || s.User.Email != "" || s.User.Name != "" || s.User.Image != ""
}

// MarshalJSON writes what a browser may see of the session. It never holds the
// session's token.
func (s *Session) MarshalJSON() ([]byte, error) {
	if s == nil {
		return []byte("null"), nil
	}
	if s.view != nil {
		shown, err := wire.Marshal(*s.view)
		return s.addActor(shown), err
	}
	m := wire.NewObject()
	m.Begin("user")
	s.addShown(m, "name", "name")
	s.addShown(m, "email", "email")
	s.addShown(m, "image", "picture")
	m.End()
	m.AddString("expires", wire.Time(s.Expires))
	shown, err := m.Bytes()
	return s.addActor(shown), err
}

// addActor adds who acts as the user to the JSON of a session, if that is an object. No view
// of the host leaves it out: a page that shows the user has to show who that is.
//
// https://www.rfc-editor.org/rfc/rfc8693#section-4.1
func (s *Session) addActor(shown []byte) []byte {
	if s.Actor == nil || len(shown) < len("{}") || shown[0] != '{' {
		return shown
	}
	act := wire.NewObject()
	act.Begin("act")
	act.AddString("sub", s.Actor.ID)
	act.AddString("name", s.Actor.Name)
	act.End()
	member, err := act.Bytes()
	if err != nil {
		return shown // unreachable: texts always marshal
	}
	end := len(shown) - 1
	if end > 1 {
		return append(append(append([]byte{}, shown[:end]...), ','), member[1:]...)
	}
	return member
}

// LogValue names the session without its claims, which may hold the tokens of a
// provider, and without its data.
func (s *Session) LogValue() slog.Value {
	if s == nil {
		return slog.Value{}
	}
	return slog.GroupValue(slog.String("userId", s.User.ID), slog.Time("expires", s.Expires))
}

// addShown adds to m the shown value of the user under a name: the claim of the
// token as it is, or the field of the user.
func (s *Session) addShown(m *wire.Object, name, claim string) {
	switch {
	case s.data != nil:
		if value, said := s.data[claim]; said {
			m.Add(name, value)
		}
	case s.claims != nil:
		if raw, said := s.claims.Raw(claim); said {
			m.AddRaw(name, raw)
		}
	case name == "name":
		m.AddText(name, s.User.name())
	case name == "email":
		m.AddText(name, s.User.email())
	case name == "image":
		m.AddText(name, s.User.image())
	}
}

// A StoredSession is a session as a [Store] keeps it.
type StoredSession struct {
	// Token is what the browser's cookie holds. It is in neither the JSON nor the
	// text of a session.
	Token string

	// ID identifies the session in the store, which makes it: what the table has in
	// its column id, or else the SHA-256 of the token in base64url. It is not a
	// secret, and does not sign in.
	ID string

	UserID  string
	Expires time.Time

	// Created is when the session began. Zero means that the store does not
	// know, as tables shared with Auth.js do not.
	Created time.Time

	// Data holds what the application keeps with the session by way of
	// [Claim], and in the members auth_time, started, amr, auth_provider and proofs what
	// [SessionConfig.RecordAuthentication] records. Stores whose table has no room for it
	// ignore it.
	Data map[string]any

	// Handle identifies the session to its owner, for a list of signed-in
	// devices. It is not a secret and does not sign in. Only
	// [Store.UserSessions] sets it.
	Handle string
}

// MarshalJSON writes the members userId and expires under the names Auth.js has
// for them. Token is left out: what [Callbacks.Session] returns is shown to
// scripts of the page, and would let them take the session elsewhere (W-39).
func (s StoredSession) MarshalJSON() ([]byte, error) {
	m := wire.NewObject()
	m.AddString("userId", s.UserID)
	m.Add("expires", wire.Time(s.Expires))
	return m.Bytes()
}

// LogValue names the session without its token and its data.
func (s StoredSession) LogValue() slog.Value {
	return slog.GroupValue(slog.String("userId", s.UserID), slog.Time("expires", s.Expires))
}

// String returns what LogValue does, for the formatting of package fmt.
func (s StoredSession) String() string {
	return fmt.Sprintf("session of %q until %s", s.UserID, s.Expires.UTC().Format(time.RFC3339))
}

// GoString returns the same.
func (s StoredSession) GoString() string { return s.String() }

// A SessionUpdate lists the fields of a stored session to change. Zero fields
// stay as they are.
type SessionUpdate struct {
	Expires time.Time
	Data    map[string]any
}

// Claims are the members of a session token by their names. Values are those
// of encoding/json, with float64 for numbers.
type Claims = token.Claims

// A Claim is a typed key for data that a session carries.
//
//	var Role = pintle.NewClaim[string]("role")
//
// In token sessions the data is a claim of the token, written by
// [Callbacks.JWT] through [Claim.Put] or by server code through [Claim.Set]
// and [Auth.UpdateSession]. In database sessions it is kept with the session
// where the store has room for it.
type Claim[T any] struct{ name string }

// NewClaim returns the key for the data named name. The names of the
// registered claims (sub, exp, iat, nbf, jti, iss, aud) are refused by a panic. So
// are the names by which a session records how it began (auth_time, amr,
// auth_provider, acr, act, sid, op, started, proofs, roles), of which
// [Session.Authentication] has what is recorded, pintle.pending, which marks a
// sign-in that waits, and pintle.replaces, which names the session before.
//
// https://www.rfc-editor.org/rfc/rfc7519#section-4.1
func NewClaim[T any](name string) Claim[T] {
	if slices.Contains(reservedClaims, name) {
		panic(fmt.Sprintf("pintle: NewClaim(%q): the name is reserved", name))
	}
	return Claim[T]{name}
}

// Get returns the data in s, and reports whether s has data of the right type.
// A nil session has no data.
func (c Claim[T]) Get(s *Session) (value T, ok bool) {
	if s == nil {
		return value, false
	}
	if v, set := s.changes[c.name]; set {
		value, ok = v.(T)
		return value, ok
	}
	if s.stored != nil {
		return c.In(s.stored.Data)
	}
	if v, set := s.data[c.name]; set {
		return c.from(v)
	}
	if s.claims != nil {
		found, err := s.claims.Claim(c.name, &value)
		return value, found && err == nil
	}
	return value, false
}

// Set stores v in s. It lasts for this request; [Auth.UpdateSession] saves it.
func (c Claim[T]) Set(s *Session, v T) {
	if s.changes == nil {
		s.changes = map[string]any{}
	}
	s.changes[c.name] = v
}

// In returns the data in the claims of a token, as [Callbacks.JWT] receives
// them, and reports whether they have data of the right type.
func (c Claim[T]) In(claims map[string]any) (value T, ok bool) {
	v, ok := claims[c.name]
	if !ok {
		return value, false
	}
	return c.from(v)
}

// from converts what encoding/json made of the data back to its type.
func (c Claim[T]) from(v any) (value T, ok bool) {
	if value, ok = v.(T); ok {
		return value, true
	}
	text, err := json.Marshal(v)
	if err != nil {
		return value, false
	}
	return value, json.Unmarshal(text, &value) == nil
}

// Put stores v in the claims of a token.
func (c Claim[T]) Put(claims map[string]any, v T) { claims[c.name] = v }

// An Authentication says when and how the user of a session proved who they are.
// Times are those of this server. Tokens, and the Data of a [StoredSession], have them in
// whole seconds.
type Authentication struct {
	// Time is when the user last proved it, by any method; zero where it is not
	// recorded. It is when the request came that completed the sign-in here. A provider
	// may have asked its user earlier.
	Time time.Time

	// Started is when the session began, which is the sign-in; zero where it is not
	// recorded. A later proof leaves it: [SessionConfig.AbsoluteMaxAge] counts from it, and
	// the end of all sessions of the user ends those that started before.
	Started time.Time

	// Provider is the id of the provider; empty where it is not recorded.
	Provider string

	// Methods are the methods, as values of the amr claim (RFC 8176), where the RFC
	// has one; nil where not recorded. They are "pwd" for [Credentials], and "mail"
	// for [Email]. For a passkey they are "pop" and "user", and "mfa" if the
	// authenticator verified its user, by a PIN or a biometric.
	//
	// For [OAuth] they are "fed", and the values of the claim amr in the verified ID
	// token, each after "fed:". What a provider reports can therefore not pass for
	// what this package has checked. At most eight values of at most 32 bytes are
	// kept.
	Methods []string

	// Proofs is when each of Methods was last proven; nil where Methods is. A session
	// from before proofs were recorded has all of its methods at Time.
	Proofs map[string]time.Time
}

// complete returns a with what follows from the rest: each method was proven at Time,
// unless Proofs says when, and a method of Proofs is one of Methods. Without Started
// the session began at Time, and the last proof is at Time or later. Lists and maps are
// new ones.
func (a Authentication) complete() Authentication {
	if a.Started.IsZero() {
		a.Started = a.Time
	}
	proofs := maps.Clone(a.Proofs)
	a.Methods = slices.Clone(a.Methods)
	for _, method := range slices.Sorted(maps.Keys(proofs)) {
		if !slices.Contains(a.Methods, method) {
			a.Methods = append(a.Methods, method)
		}
	}
	if len(a.Methods) > 0 && proofs == nil {
		proofs = make(map[string]time.Time, len(a.Methods))
	}
	for _, method := range a.Methods {
		if _, said := proofs[method]; !said {
			proofs[method] = a.Time
		}
	}
	for _, at := range proofs {
		if at.After(a.Time) {
			a.Time = at
		}
	}
	a.Proofs = proofs
	return a
}

// with returns a after a further proof by methods at a time, which may be none. If they
// are more than a session records, those that were there first are left out: a provider
// may have reported any number.
func (a Authentication) with(methods []string, at time.Time) Authentication {
	if len(methods) == 0 {
		return a
	}
	a = a.complete()
	if a.Proofs == nil {
		a.Proofs = map[string]time.Time{}
	}
	for _, method := range methods {
		if !slices.Contains(a.Methods, method) {
			a.Methods = append(a.Methods, method)
		}
		a.Proofs[method] = at
	}
	for len(a.Methods) > maxMethods {
		delete(a.Proofs, a.Methods[0])
		a.Methods = a.Methods[1:]
	}
	a.Time = at
	return a.startedAt(a.Started) // which may be in the next second
}

// startedAt returns a for a session that begins at a time, which is not after its last
// proof.
func (a Authentication) startedAt(began time.Time) Authentication {
	a.Started = began
	if a.Time.Before(began) {
		a.Time = began
	}
	return a
}

// The claims of a token, and the members of [StoredSession.Data], that record an
// [Authentication] beside claimSignedIn and [StoredSession.Created].
//
// Applications of Auth.js often keep the provider in a claim "provider".
//
// https://www.rfc-editor.org/rfc/rfc8176#section-1
const (
	claimMethods  = "amr"
	claimProvider = "auth_provider"

	// claimProofs is an object with a member for each method: when it was last proven,
	// in Unix seconds.
	claimProofs = "proofs"
)

// claimRoles is a list of what [Callbacks].Roles has returned.
const claimRoles = "roles"

// maxRoles and maxRole are the most roles that a session has, and the most bytes of one.
const (
	maxRoles = 32
	maxRole  = 64
)

// recordedRoles returns the roles in a claim.
func recordedRoles(claim any) []string {
	values, _ := claim.([]any)
	if len(values) > maxRoles {
		return nil
	}
	var roles []string
	for _, value := range values {
		role, ok := value.(string)
		if !ok || role == "" || len(role) > maxRole {
			return nil
		}
		roles = append(roles, role)
	}
	return roles
}

// reservedClaims are those in which [NewClaim] keeps no data of the host: the
// registered claims, and those that record or will record how a session began.
//
// https://www.rfc-editor.org/rfc/rfc7519#section-4.1
var reservedClaims = []string{
	"", "sub", "exp", "iat", "nbf", "jti", "iss", "aud",
	claimSignedIn, claimStarted, claimSession, claimMethods, claimProvider, claimProofs, claimAtProvider, "acr", "act", claimRoles,
	dataPending, dataReplaces,
}

// dataReplaces is the member of [StoredSession.Data] that names the row which stands in for
// the session before, so that a sign-out ends both.
const dataReplaces = "pintle.replaces"

// dataPending is the member of [StoredSession.Data] that marks the row of a sign-in that
// waits in lists of sessions, which may have no tokens.
const dataPending = "pintle.pending"

// The methods of the providers of this package.
const (
	methodPassword = "pwd"
	methodMail     = "mail" // not registered
	methodProvider = "fed"  // not registered
	methodKey      = "pop"
	methodPresence = "user"
	methodMultiple = "mfa"
)

// Bounds of what a provider or a token may report.
const (
	maxMethods    = 16
	maxMethod     = 64
	maxReported   = 8
	maxReport     = 32
	maxProviderID = 256
)

// reportedMethods returns the methods of a sign-in with a provider, of which claim
// is the claim amr of the ID token. Values that are too long or no text are left
// out, and so are values after the eighth.
func reportedMethods(claim any) []string {
	values, _ := claim.([]any)
	methods := []string{methodProvider}
	for _, value := range values {
		if method, ok := value.(string); ok && method != "" && len(method) <= maxReport && len(methods) <= maxReported {
			methods = append(methods, methodProvider+":"+method)
		}
	}
	return methods
}

// recordedProvider and recordedMethods read what a session records. Another server
// that shares tokens or tables may have written anything: what this package does
// not write counts as not recorded.
func recordedProvider(claim any) (id string, ok bool) {
	id, ok = claim.(string)
	return id, ok && len(id) <= maxProviderID
}

func recordedMethods(claim any) []string {
	values, _ := claim.([]any)
	if len(values) > maxMethods {
		return nil
	}
	var methods []string
	for _, value := range values {
		method, ok := value.(string)
		if !ok || method == "" || len(method) > maxMethod {
			return nil
		}
		methods = append(methods, method)
	}
	return methods
}

// recordedProofs reads when each of the methods was last proven. A method whose time
// does not count for counts, because it has not come, counts as not proven.
func recordedProofs(methods []string, claim any, counts func(time.Time) time.Time) (proven []string, proofs map[string]time.Time) {
	times, _ := claim.(map[string]any)
	for _, method := range methods {
		seconds, ok := wire.Seconds(times[method])
		at := counts(time.Unix(seconds, 0))
		if !ok || at.IsZero() {
			continue
		}
		if proofs == nil {
			proofs = make(map[string]time.Time, len(methods))
		}
		proven, proofs[method] = append(proven, method), at
	}
	return proven, proofs
}

// past returns a time that a token records, or the zero time if it has not come yet.
func past(at time.Time) time.Time {
	if at.Unix() > 0 && !at.After(time.Now().Add(clockTolerance)) {
		return at
	}
	return time.Time{}
}

// encodable returns the methods in the form in which encoding/json decodes them,
// so that they can be compared with those of a token.
func encodable(methods []string) any {
	if len(methods) == 0 {
		return nil
	}
	values := make([]any, len(methods))
	for i, method := range methods {
		values[i] = method
	}
	return values
}

// encodableTimes does the same with proofs.
func encodableTimes(proofs map[string]time.Time) any {
	if len(proofs) == 0 {
		return nil
	}
	values := make(map[string]any, len(proofs))
	for method, at := range proofs {
		values[method] = float64(at.Unix())
	}
	return values
}

// clockTolerance is how far the clocks of two servers that share a cookie may
// be apart.
const clockTolerance = sealed.ClockTolerance

// claimSession names a session across the renewals of its token, each of which
// has a new jti. It is written if sessions can be revoked.
//
// https://openid.net/specs/openid-connect-frontchannel-1_0.html#OPLogout
const claimSession = "sid"

// claimAtProvider names, by hashes, the session at a provider with which the session
// began: an object with the members provider, sid and sub. It is written if the provider
// ends sessions here.
const claimAtProvider = "op"

// claimSignedIn is when the user last proved who they are, in Unix seconds. It is written
// only if the configuration needs it, so that tokens stay those of Auth.js.
//
// https://openid.net/specs/openid-connect-core-1_0.html#IDToken
const claimSignedIn = "auth_time"

// claimStarted is when the session began, in Unix seconds: a later proof neither lengthens
// a session nor takes it from the end of all sessions. It is written with claimProofs,
// and where claimSignedIn is needed and not known.
const claimStarted = "started"

// A Device is a place where a user is signed in: a session, without its token.
type Device struct {
	// Handle identifies the session to its owner, for [Auth.EndDevice]. It is not
	// a secret and does not sign in. It is empty for token sessions.
	Handle string

	// Created is when the session began, and zero where that is not known.
	Created time.Time

	// LastUsed is when the session was last seen, as exactly as
	// [SessionConfig.UpdateAge] records it: by default, to a day.
	LastUsed time.Time

	// Expires is when the session ends unless it is used before.
	Expires time.Time

	// Current reports that it is the session that was given to [Auth.Devices].
	Current bool

	// Data is what [SessionConfig.Describe] returned when the session began, and
	// what the application keeps with it by way of [Claim].
	Data map[string]any
}
