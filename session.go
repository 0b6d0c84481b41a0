package pintle

import (
	"context"
	"fmt"
	"log/slog"
	"time"

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

	// Authentication is when and how the user signed in, as far as it is recorded:
	// see [SessionConfig.RecordAuthentication]. What is not recorded is zero. A zero
	// Time means that it may be long ago. No callback and no client can change it.
	Authentication Authentication

	claims  token.Token
	hasData bool
	data    map[string]any // of a database session, or changes not yet saved
	changes map[string]any
	stored  *StoredSession
	view    any
	viewed  bool
	from    *settings // by which it was read; nil for sessions of the host's making
}

// A sessionContext carries a session, or records that a request has none. It is
// what [context.WithValue] returns, without the cost of a key of any type.
type sessionContext struct {
	context.Context
	session *Session

	// loader is the Auth that looked for the session, and settings the
	// configuration it did so by, nil where it had none. Both are nil for sessions
	// of [WithSession], where given is true.
	loader   *Auth
	settings *settings
	given    bool

	// away reports that there is no session because it could not be read.
	away bool
}

type sessionContextKey struct{}

// isOf reports whether a configuration read the session, or the host made it.
func (s *Session) isOf(set *settings) bool { return s.from == nil || s.from.isSame(set) }

func (c *sessionContext) Value(key any) any {
	if _, own := key.(sessionContextKey); own {
		return c
	}
	return c.Context.Value(key)
}

// sessionContextOf returns what was last recorded about the session of a
// request, or nil.
func sessionContextOf(ctx context.Context) *sessionContext {
	c, _ := ctx.Value(sessionContextKey{}).(*sessionContext)
	return c
}

// SessionFrom returns the session that [Auth.Load] put into ctx, or nil when the
// request is signed out. Where the Load of one Auth is inside that of another, the
// inner one decides.
func SessionFrom(ctx context.Context) *Session {
	if c := sessionContextOf(ctx); c != nil {
		return c.session
	}
	return nil
}

// WithSession returns a copy of ctx that carries s. Tests of a host application
// use it to act as a signed-in user.
func WithSession(ctx context.Context, s *Session) context.Context {
	return &sessionContext{Context: ctx, session: s, given: true}
}

// hasUser reports whether the session identifies its user in any way. A JWT
// callback or a foreign server can write tokens without a user, and a session
// callback can remove the user, or return that there is no session at all.
func (s *Session) hasUser() bool {
	if s.viewed && s.view == nil {
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
	if s.viewed {
		return wire.Marshal(s.view)
	}
	m := wire.NewObject()
	m.Begin("user")
	s.addShown(m, "name", "name")
	s.addShown(m, "email", "email")
	s.addShown(m, "image", "picture")
	m.End()
	m.AddString("expires", wire.Time(s.Expires))
	return m.Bytes()
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
	case s.hasData:
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

	// Created is when the user signed in. Zero means that the store does not
	// know, as tables shared with Auth.js do not.
	Created time.Time

	// Data holds what the application keeps with the session by way of
	// [Claim], and in the members amr and auth_provider what
	// [SessionConfig.RecordAuthentication] records. Stores whose table has no room for it ignore it.
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
