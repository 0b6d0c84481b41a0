package pintle

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/pintleauth/pintle/internal/cookie"
	"github.com/pintleauth/pintle/token"
)

// decode reads the session token of a request. Only a token format of the
// host's own yields claims; ours is read lazily.
func (s *settings) decode(r *http.Request, set *cookieSet, bearer bool) (token.Token, Claims, error) {
	if s.JWT.Decode == nil {
		read := set.tokens.FromCookie
		if bearer {
			read = set.tokens.FromRequest
		}
		tok, err := read(r)
		if err != nil && !errors.Is(err, token.ErrNoToken) {
			err = fail(codeJWTSession, err)
		}
		return tok, nil, err
	}
	held, _ := cookie.GetChunked(r.Header, set.session.name)
	if held == "" && bearer {
		held = bearerToken(r)
	}
	if held == "" {
		return token.Token{}, nil, token.ErrNoToken
	}
	claims, err := s.JWT.Decode(r.Context(), held, set.session.name)
	if err == nil && claims == nil {
		err = errors.New("Config.JWT.Decode returned no claims")
	}
	if err != nil {
		return token.Token{}, nil, fail(codeJWTSession, err)
	}
	return token.Token{}, claims, nil
}

// bearerToken is the session a native application sends.
//
// https://www.rfc-editor.org/rfc/rfc6750#section-2.1
func bearerToken(r *http.Request) string {
	held, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok {
		return ""
	}
	return held
}

// encode makes a session token of claims.
func (s *settings) encode(ctx context.Context, set *cookieSet, claims Claims) (string, error) {
	var signedIn time.Time
	if at, ok := unixSeconds(claims[claimSignedIn]); ok {
		signedIn = time.Unix(at, 0)
	}
	maxAge := s.tokenAge(signedIn)
	if s.JWT.Encode != nil {
		text, err := s.JWT.Encode(ctx, claims, set.session.name, maxAge)
		if err != nil {
			return "", fmt.Errorf("Config.JWT.Encode: %w", err)
		}
		return text, nil
	}
	return set.tokens.Encode(claims, maxAge)
}

// tokenCookies returns the lines that store a session token, in parts if it is
// long, and clear the parts of a longer one.
func (s *settings) tokenCookies(set *cookieSet, h http.Header, text string) []string {
	_, received := cookie.ReadChunked(h, set.session.name)
	return cookie.WriteChunked(set.session.name, text, received, set.session.lasting(s.Session.MaxAge))
}

// sessionClearing returns the lines that make a browser forget its session.
func (s *settings) sessionClearing(set *cookieSet, h http.Header) []string {
	_, received := cookie.ReadChunked(h, set.session.name)
	lines := make([]string, 0, len(received))
	for _, name := range received {
		lines = append(lines, cookie.ClearLine(name, set.session.attrs))
	}
	return lines
}

func (x *exchange) clearSession() []string { return x.sessionClearing(x.set, x.r.Header) }

// clearStaleParts clears the parts of a token that a database session replaces.
func (x *exchange) clearStaleParts() {
	_, received := cookie.ReadChunked(x.r.Header, x.set.session.name)
	for _, name := range received {
		if name != x.set.session.name {
			x.addCookie(cookie.ClearLine(name, x.set.session.attrs))
		}
	}
}

// heldToken is what this browser's session cookie holds.
func (x *exchange) heldToken() string {
	held, _ := cookie.ReadChunked(x.r.Header, x.set.session.name)
	return held
}

// signedIn returns the user who is signed in, and their database session if
// sessions are kept there. An expired session is nobody's: what is linked while
// it is held must not go to its user.
func (x *exchange) signedIn() (*User, *StoredSession, error) {
	if x.strategy == StrategyDatabase {
		held := x.heldToken()
		if held == "" {
			return nil, nil, nil
		}
		stored, user, err := x.records.sessionAndUser(x.ctx, held)
		if err != nil || stored == nil || stored.Expires.Before(time.Now()) || x.tooOld(stored.Created) {
			return nil, nil, err
		}
		return user, stored, nil
	}
	tok, claims, err := x.decode(x.r, x.set, false)
	if err == nil {
		r := reading{settings: x.settings, ctx: x.ctx}
		err = r.stillGood(tok, claims)
	}
	if err != nil {
		return nil, nil, nil //nolint:nilerr // a token that is not valid is nobody's
	}
	id := tok.Subject()
	if claims != nil {
		id, _ = identifier(claims["sub"])
	}
	if id == "" {
		return nil, nil, nil
	}
	if x.records == nil {
		return &User{ID: id}, nil, nil
	}
	user, err := x.records.user(x.ctx, id)
	return user, nil, err
}

// renewing reports whether the token is to be written anew.
func (r *reading) renewing(tok token.Token) bool {
	switch {
	case r.renewal == renewAlways || r.changes != nil || r.changed || r.trigger == TriggerUpdate:
		return r.renewal != renewNever
	case r.renewal == renewNever:
		return false
	}
	return !tok.IssuedAt().Add(max(r.Session.UpdateAge, 0)).After(time.Now())
}

// renewed is when a session ends that is extended now.
func (s *settings) renewed(signedIn time.Time) time.Time {
	return s.capped(time.Now().Add(s.Session.MaxAge), signedIn)
}

// tokenAge is how long a token is good that is written now.
func (s *settings) tokenAge(signedIn time.Time) time.Duration {
	if s.Session.AbsoluteMaxAge == 0 || signedIn.IsZero() {
		return s.JWT.MaxAge
	}
	return min(s.JWT.MaxAge, time.Until(signedIn.Add(s.Session.AbsoluteMaxAge)))
}

func (s *settings) capped(expires, signedIn time.Time) time.Time {
	if s.Session.AbsoluteMaxAge > 0 && !signedIn.IsZero() {
		if last := signedIn.Add(s.Session.AbsoluteMaxAge); last.Before(expires) {
			return last
		}
	}
	return expires
}

// tooOld reports whether a session has reached its absolute lifetime.
func (s *settings) tooOld(signedIn time.Time) bool {
	return s.Session.AbsoluteMaxAge > 0 && !signedIn.IsZero() && !time.Now().Before(signedIn.Add(s.Session.AbsoluteMaxAge))
}

// tokenExpiry is when a token ends as it is.
func (r *reading) tokenExpiry(tok token.Token) time.Time {
	if expires := tok.Expires(); !expires.IsZero() {
		return expires
	}
	return r.renewed(time.Time{})
}

// needsSignInTime reports whether tokens have to say when the person signed in.
func (s *settings) needsSignInTime() bool {
	return s.Session.AbsoluteMaxAge > 0 || s.Session.Revocation != nil
}

// signedInAt is when the person signed in, if the token says so.
func (s *settings) signedInAt(tok token.Token) time.Time {
	if !s.needsSignInTime() {
		return time.Time{}
	}
	var seconds int64
	if found, err := tok.Claim(claimSignedIn, &seconds); !found || err != nil {
		return time.Time{}
	}
	return time.Unix(seconds, 0)
}

// stillGood asks whether a valid token has been ended before its time.
func (r *reading) stillGood(tok token.Token, claims Claims) error {
	if !r.needsSignInTime() {
		return nil
	}
	signedIn, user, id := r.signedInAt(tok), tok.Subject(), tok.ID()
	if claims != nil {
		user, _ = identifier(claims["sub"])
		id, _ = identifier(claims["jti"])
		if seconds, ok := unixSeconds(claims[claimSignedIn]); ok {
			signedIn = time.Unix(seconds, 0)
		}
	}
	if r.tooOld(signedIn) {
		return fail(codeJWTSession, errors.New("the session has reached its absolute lifetime"))
	}
	if r.Session.Revocation == nil {
		return nil
	}
	revoked, err := r.Session.Revocation.Revoked(r.ctx, user, id, signedIn)
	if err != nil {
		// Fail closed: a session nobody can vouch for is not one.
		r.broken = true
		return fail(codeJWTSession, fmt.Errorf("Config.Session.Revocation: %w", err))
	}
	if revoked {
		return fail(codeJWTSession, errors.New("the session was ended"))
	}
	return nil
}

// fromToken fills in a user from the known claims of a token.
func (u *User) fromToken(tok token.Token) {
	u.ID, u.Name, u.Email, u.Image = tok.Subject(), tok.Name(), tok.Email(), tok.Picture()
}

// fromClaims fills in a user from claims. What is not of the right type is left
// out: a token of another server may hold anything.
func (u *User) fromClaims(claims Claims) {
	u.ID, _ = identifier(claims["sub"])
	u.Name, _ = claims["name"].(string)
	u.Email, _ = claims["email"].(string)
	u.Image, _ = claims["picture"].(string)
}
