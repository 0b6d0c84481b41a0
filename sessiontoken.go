package pintle

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"strconv"
	"time"

	"github.com/pintleauth/pintle/internal/bearer"
	"github.com/pintleauth/pintle/internal/cookie"
	"github.com/pintleauth/pintle/internal/uuid"
	"github.com/pintleauth/pintle/internal/wire"
	"github.com/pintleauth/pintle/providersession"
	"github.com/pintleauth/pintle/token"
)

// A heldToken is a session token that was read and is good: one of our format,
// or the claims that [JWTConfig.Decode] made of another.
type heldToken struct {
	token.Token
	claims Claims // nil for our own format, which is read lazily
}

// decode reads the session token of a request, from its cookie and, if the
// request may carry one there, from its Authorization header. Without a token
// the error matches [token.ErrNoToken].
func (s tokenSessions) decode(ctx context.Context, r *http.Request, set *cookieSet, mayBearer bool) (heldToken, error) {
	var held heldToken
	var err error
	if s.JWT.Decode == nil {
		read := set.tokens.FromCookie
		if mayBearer {
			read = set.tokens.FromRequest
		}
		held.Token, err = read(r)
	} else {
		open := func(text string) (heldToken, error) { return s.decodeText(ctx, set, text) }
		held, err = cookie.Open(r.Header, set.session.name, open, sameClaimedUser)
		if mayBearer && errors.Is(err, token.ErrNoToken) {
			held, err = open(bearer.Token(r.Header))
		}
	}
	if errors.Is(err, token.ErrInvalid) && s.JWT.Decode == nil && !isConflict(err) {
		s.noteForeign(ctx, set.session.name, cookie.ReadChunked(r.Header, set.session.name).Value())
	}
	if err != nil && !errors.Is(err, token.ErrNoToken) {
		err = fail(codeJWTSession, err)
	}
	return held, err
}

// decodeText reads one session token.
func (s tokenSessions) decodeText(ctx context.Context, set *cookieSet, text string) (heldToken, error) {
	if s.JWT.Decode == nil {
		tok, err := set.tokens.Decode(text)
		return heldToken{Token: tok}, err
	}
	if text == "" {
		return heldToken{}, token.ErrNoToken
	}
	claims, err := s.JWT.Decode(ctx, text, set.salt)
	// Nil claims stand for our own format, whose empty token has neither a user
	// nor an end.
	if err == nil && claims == nil {
		err = errors.New("Config.JWT.Decode returned no claims")
	}
	if err == nil {
		err = checkTimes(claims)
	}
	if err != nil {
		return heldToken{}, err
	}
	return heldToken{claims: claims}, nil
}

// sameClaimedUser reports whether two tokens are of one user. Tokens without a
// subject count as those of different users.
func sameClaimedUser(a, b heldToken) bool {
	return a.subject() != "" && a.subject() == b.subject()
}

// checkTimes rejects claims outside their time, as package token does for its
// own format, so that a format of the host cannot omit the check.
//
// https://www.rfc-editor.org/rfc/rfc7519#section-4.1.4
func checkTimes(claims Claims) error {
	now := time.Now()
	for _, name := range []string{"exp", "nbf", "iat"} {
		value, said := claims[name]
		if !said {
			continue
		}
		seconds, ok := wire.Seconds(value)
		switch at := time.Unix(seconds, 0); {
		case !ok:
			return fmt.Errorf("%w: the claim %s is not a number", token.ErrInvalid, name)
		// RFC 7519 section 4.1.4: not on or after exp.
		case name == "exp" && !at.After(now.Truncate(time.Second).Add(-clockTolerance)):
			return token.ErrExpired
		case name == "nbf" && at.After(now.Add(clockTolerance)):
			return fmt.Errorf("%w: it is not valid yet", token.ErrInvalid)
		}
	}
	return nil
}

// subject returns the id of the session's user.
func (h heldToken) subject() string {
	if h.claims == nil {
		return h.Subject()
	}
	id, _ := wire.ID(h.claims["sub"])
	return id
}

// time returns a claim that is a number of Unix seconds, or the zero time.
func (h heldToken) time(name string) time.Time {
	if h.claims == nil {
		// A number in this form, as every server writes it, needs no decoder.
		raw, said := h.Raw(name)
		if !said {
			return time.Time{}
		}
		if seconds, err := strconv.ParseInt(raw, 10, 64); err == nil {
			return time.Unix(seconds, 0)
		}
	}
	seconds, ok := wire.Seconds(h.value(name))
	if !ok {
		return time.Time{}
	}
	return time.Unix(seconds, 0)
}

// value returns a claim as encoding/json decodes it, or nil.
func (h heldToken) value(name string) any {
	if h.claims != nil {
		return h.claims[name]
	}
	return decodedClaim(h.Token, name)
}

// decodedClaim is apart from value, in which its variable, which is on the heap,
// would cost an allocation for claims that are a map already.
func decodedClaim(t token.Token, name string) (value any) {
	if found, err := t.Claim(name, &value); !found || err != nil {
		return nil
	}
	return value
}

// recorded is when a session began, or its user proved who they are, according to a claim, or the zero time where that
// is not recorded.
//
// Another server that shares the secret may have written the claim, or a callback that
// copied what a client sent, from before the configuration needed it. A session that
// begins after its token was issued would escape its absolute lifetime, and the end of
// all sessions of its user: such a time counts as not recorded.
func (h heldToken) recorded(name string) time.Time { return h.counts(h.time(name)) }

// counts returns a time that the token records, or the zero time.
func (h heldToken) counts(at time.Time) time.Time {
	at = past(at)
	if issued := h.issued(); !issued.IsZero() && at.After(past(issued).Add(clockTolerance)) {
		return time.Time{}
	}
	return at
}

// began is when the session of the token began, or the zero time if the token does
// not record it. No session begins after a proof of its user: of two claims that
// contradict each other, the earlier one counts.
func (h heldToken) began() time.Time {
	began, proven := h.recorded(claimStarted), h.recorded(claimSignedIn)
	if began.IsZero() || !proven.IsZero() && proven.Before(began) {
		return proven
	}
	return began
}

// newToken is a token that is not written yet. An iat among its claims, of the token
// before or of a callback, is not when it is issued.
func newToken(claims Claims) heldToken {
	if _, has := claims["iat"]; has {
		claims = maps.Clone(claims)
		delete(claims, "iat")
	}
	return heldToken{claims: claims}
}

// authentication returns what the token records of the sign-in with
// SessionConfig.RecordAuthentication. In a token from before that was set, the other claims
// may be of Callbacks.JWT, which may have copied what a client sent. claimProvider never is.
func (h heldToken) authentication() Authentication {
	id, ok := recordedProvider(h.value(claimProvider))
	at := h.recorded(claimSignedIn)
	if !ok || at.IsZero() {
		return Authentication{}
	}
	a := Authentication{Time: at, Started: h.began(), Provider: id, Methods: recordedMethods(h.value(claimMethods))}
	if h.recorded(claimStarted).IsZero() {
		// It was written before proofs were recorded: a claim of that name is not
		// ours.
		return a.complete()
	}
	a.Methods, a.Proofs = recordedProofs(a.Methods, h.value(claimProofs), h.counts)
	return a
}

// A providerClaim is what [claimAtProvider] says.
type providerClaim struct {
	provider string
	sid, sub providersession.Mark

	// account and proof are those of a session that follows the provider: the id of the
	// account there, and when the provider has confirmed the session.
	account string
	proof   time.Time
}

// atProvider returns what the claim of that name says. ok is false if it is none that this
// package writes.
func (h heldToken) atProvider() (c providerClaim, ok bool) {
	members, _ := h.value(claimAtProvider).(map[string]any)
	id, idOK := recordedProvider(members["provider"])
	sid, sidOK := markIn(members["sid"])
	sub, subOK := markIn(members["sub"])
	if !idOK || !sidOK || !subOK || sub == (providersession.Mark{}) {
		return c, false
	}
	c = providerClaim{provider: id, sid: sid, sub: sub}
	if account, is := members["account"].(string); is && account != "" {
		c.account = account
		if seconds, is := wire.Seconds(members["proof"]); is {
			c.proof = time.Unix(seconds, 0)
		}
	}
	return c, true
}

// atProviderValue returns the claim as it is written, or nil for none.
func (h heldToken) atProviderValue() any {
	c, ok := h.atProvider()
	if !ok {
		return nil
	}
	return c.value()
}

// providerMarks returns the marks by which the provider ends the session.
func (h heldToken) providerMarks() [3]providersession.Mark {
	c, _ := h.atProvider()
	return providersession.Marks(c.sid, c.sub)
}

// markIn reads a mark, zero for none. ok is false for anything else.
func markIn(member any) (m providersession.Mark, ok bool) {
	text, isText := member.(string)
	b, err := base64.RawURLEncoding.DecodeString(text)
	if member != nil && (!isText || err != nil || len(b) != len(m)) {
		return m, false
	}
	copy(m[:], b)
	return m, true
}

// newProviderClaim returns what the claim says of a sign-in.
func (s *settings) newProviderClaim(there *atProvider) providerClaim {
	r := &there.record
	c := providerClaim{provider: r.Provider, sid: r.Sid.Mark(), sub: r.Sub.Mark()}
	if p := s.byID[r.Provider]; p != nil && p.followEvery > 0 {
		c.account, c.proof = r.ProviderAccountID, r.Created
	}
	return c
}

// value is in the form in which encoding/json decodes it.
func (c providerClaim) value() any {
	claim := map[string]any{"provider": c.provider, "sub": base64.RawURLEncoding.EncodeToString(c.sub[:])}
	if c.sid != (providersession.Mark{}) {
		claim["sid"] = base64.RawURLEncoding.EncodeToString(c.sid[:])
	}
	if c.account != "" {
		claim["account"], claim["proof"] = c.account, float64(c.proof.Unix())
	}
	return claim
}

// again returns what the claim says after a further sign-in. Of another account it says what
// it said.
func (c providerClaim) again(next providerClaim, there *atProvider) providerClaim {
	if c.provider != next.provider || c.sub != next.sub {
		return c
	}
	there.began = true
	return next
}

// issued is when the token was written.
func (h heldToken) issued() time.Time {
	if h.claims == nil {
		return h.IssuedAt()
	}
	return h.time("iat")
}

// ends is when the token expires, or the zero time if it does not.
func (h heldToken) ends() time.Time {
	if h.claims == nil {
		return h.Expires()
	}
	return h.time("exp")
}

// session returns what the session is revoked by: its own id, or that of the
// token for one that began before sessions could be revoked or at Auth.js.
func (h heldToken) session() string {
	for _, name := range []string{claimSession, "jti"} {
		var value any
		if h.claims != nil {
			value = h.claims[name]
		} else if _, err := h.Claim(name, &value); err != nil {
			continue
		}
		if id, ok := wire.ID(value); ok {
			return id
		}
	}
	return ""
}

// all returns the claims in a map that belongs to the caller.
func (h heldToken) all() (Claims, error) {
	if h.claims == nil {
		return h.Claims()
	}
	return maps.Clone(h.claims), nil
}

// encode makes a session token of claims, which stay as they are.
func (s tokenSessions) encode(ctx context.Context, set *cookieSet, claims Claims) (string, error) {
	signedIn := newToken(claims).began()
	maxAge := s.lifetime.TokenAge(signedIn, time.Now())
	if s.JWT.Encode == nil {
		return set.tokens.Encode(claims, maxAge)
	}
	// These claims give an expiry to a host's format that keeps its claims:
	// Decode returns them, and checkTimes checks them.
	stamped, now := Claims{}, time.Now()
	maps.Copy(stamped, claims)
	stamped["iat"], stamped["exp"], stamped["jti"] = float64(now.Unix()), float64(now.Unix()+int64(maxAge/time.Second)), uuid.New()
	text, err := s.JWT.Encode(ctx, stamped, set.salt, maxAge)
	if err != nil {
		return "", fmt.Errorf("Config.JWT.Encode: %w", err)
	}
	return text, nil
}

// longToken is the size of a session token, in bytes of the Cookie header, from
// which the log warns: nginx refuses a header of more than 8 KB with status 400,
// every time until the cookies expire. From 4 KB, where it runs on machines with
// pages of that size, nginx refuses the answer that sets them with status 502.
//
// https://nginx.org/en/docs/http/ngx_http_core_module.html#large_client_header_buffers
// https://nginx.org/en/docs/http/ngx_http_proxy_module.html#proxy_buffer_size
const longToken = 8 << 10

// fixToken tells the operator what to do about a long session token.
const fixToken = "keep less in it (Callbacks.JWT, Session.Describe), or set Config.Session.Strategy to StrategyDatabase"

// tokenCookies returns the lines that store a session token, in parts if it is
// long, and clear the parts of a longer one. Browsers keep cookies of 4096 bytes,
// and no more than 32 parts are read back: a longer token is an error.
//
// https://www.rfc-editor.org/rfc/rfc6265#section-6.1
func (s tokenSessions) tokenCookies(ctx context.Context, set *cookieSet, h http.Header, text string) ([]string, error) {
	parts := cookie.Parts(text)
	if parts > cookie.MaxParts {
		return nil, fmt.Errorf("the session token has %d bytes, which are %d cookies, and a session of more than "+
			"%d cookies is not read back: %s", len(text), parts, cookie.MaxParts, fixToken)
	}
	// A browser sends each as "name.0=value; ".
	if size := len(text) + parts*(len(set.session.name)+len(".0=; ")); size > longToken && s.notices.first(noticeLongToken) {
		s.log.LogAttrs(ctx, slog.LevelWarn, "pintle: a session token is too long for many proxies: nginx refuses "+
			"more than 8 KB of cookies with status 400, and 4 or 8 KB in one answer with status 502",
			slog.String("code", string(codeLongToken)), slog.Int("bytes", len(text)), slog.Int("cookies", parts),
			slog.String("fix", fixToken+"; or raise the limits of every proxy (nginx: large_client_header_buffers, proxy_buffer_size)"))
	}
	return cookie.WriteChunked(set.session.name, text, cookie.Received(h, set.session.name), set.session.lasting(s.Session.MaxAge)), nil
}

// heldToken is what this browser's session cookie holds.
func (x *exchange) heldToken() string {
	return cookie.ReadChunked(x.r.Header, x.set.session.name).Value()
}
