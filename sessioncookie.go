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

// stalePartClearing returns the lines that clear the parts of a token that a
// database session has taken the place of.
func (s *settings) stalePartClearing(set *cookieSet, received []string) []string {
	var lines []string
	for _, name := range received {
		if name != set.session.name {
			lines = append(lines, cookie.ClearLine(name, set.session.attrs))
		}
	}
	return lines
}

// heldToken is what this browser's session cookie holds.
func (x *exchange) heldToken() string {
	held, _ := cookie.ReadChunked(x.r.Header, x.set.session.name)
	return held
}
