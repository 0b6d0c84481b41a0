package handshake

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// A LogoutToken is a verified logout token. Subject or SessionID may be empty, not both.
type LogoutToken struct {
	Issuer, Subject, SessionID string

	// ID is the jti, which is unique for the issuer and the client.
	ID string

	// Issued is the iat, and Expires the exp: zero if there is none.
	Issued, Expires time.Time
}

// A LogoutCheck is one of the checks of a logout token. Its text is for the provider
// that sent the token: it is fixed, and repeats nothing of the token.
type LogoutCheck int

// The checks, in their order.
const (
	logoutForm LogoutCheck = iota + 1
	logoutAlg
	logoutType
	logoutCritical
	logoutSignature
	logoutIssuer
	logoutAudience
	logoutIssued
	logoutExpiry
	logoutEvents
	logoutNonce
	logoutSubject
	logoutID
)

var logoutChecks = map[LogoutCheck]string{
	logoutForm:      "logout_token is not a signed JWT in compact form",
	logoutAlg:       "the signature algorithm is not one of those for ID tokens",
	logoutType:      "typ is not that of a logout token",
	logoutCritical:  "the header has crit or b64",
	logoutSignature: "no key of the issuer fits the signature",
	logoutIssuer:    "iss is not the issuer",
	logoutAudience:  "aud is not this client alone",
	logoutIssued:    "iat or nbf is missing, not a time, in the future or long ago",
	logoutExpiry:    "exp is not a time, past, or more than a day after iat",
	logoutEvents:    "events has no back-channel logout event",
	logoutNonce:     "nonce must not be present",
	logoutSubject:   "sub or sid is required, and each is text of at most 255 bytes",
	logoutID:        "jti is missing, too long, or was used before",
}

// String returns what the check requires.
func (c LogoutCheck) String() string { return logoutChecks[c] }

// LogoutTokenUsed is the check that a jti does not pass a second time, and
// LogoutTokenSignature the one that [ErrUnknownKey] leaves open.
const (
	LogoutTokenUsed      = logoutID
	LogoutTokenSignature = logoutSignature
)

// A LogoutTokenError is a logout token that does not pass a check.
type LogoutTokenError struct {
	Check LogoutCheck
	err   error
}

func (e *LogoutTokenError) Error() string { return "logout token: " + e.err.Error() }

func (e *LogoutTokenError) Unwrap() error { return e.err }

const (
	logoutEvent = "http://schemas.openid.net/event/backchannel-logout"

	maxLogoutText = 255             // bytes of sub, sid and jti
	maxLogoutAge  = 5 * time.Minute // of a token without exp
	maxLogoutLife = 24 * time.Hour  // from iat to exp
)

// VerifyLogoutToken verifies a logout token. A token that is not good is a
// [*LogoutTokenError]; any other error means that it could not be verified now. The
// caller remembers the ID and refuses it the next time.
//
// With requireType the header must have the typ logout+jwt. Many providers send JWT or
// none; the claims events and nonce tell a logout token from an ID token all the same.
//
// https://openid.net/specs/openid-connect-backchannel-1_0.html#Validation
func (p *Provider) VerifyLogoutToken(ctx context.Context, raw string, requireType bool) (*LogoutToken, error) {
	if len(raw) > maxUnsolicited || !isCompact(raw) {
		return nil, p.refuseLogout(logoutForm, errNotCompact)
	}
	m, err := p.resolve(ctx)
	if err != nil {
		return nil, err
	}
	token, err := p.verifyLogoutHeader(ctx, m, raw, requireType)
	if err != nil {
		return nil, err
	}
	claims, err := decodeObject(token.payload)
	if err != nil {
		return nil, p.refuseLogout(logoutForm, err)
	}
	t := &LogoutToken{}
	for _, step := range []struct {
		check LogoutCheck
		run   func(map[string]any) error
	}{
		{logoutIssuer, func(claims map[string]any) error { return checkIssuer(m, token, claims) }},
		{logoutAudience, p.checkOnlyParty},
		{logoutIssued, func(claims map[string]any) error { return t.readIssued(claims, p.Skew()) }},
		{logoutExpiry, func(claims map[string]any) error { return t.readExpiry(claims, p.Skew()) }},
		{logoutEvents, checkLogoutEvent},
		{logoutNonce, checkNoNonce},
		{logoutSubject, t.readSubject},
		{logoutID, t.readID},
	} {
		if err := step.run(claims); err != nil {
			return nil, p.refuseLogout(step.check, err)
		}
	}
	t.Issuer = text(claims, "iss")
	return t, nil
}

var errNotCompact = errors.New("not a signed token in compact form of at most 16 KiB")

func (p *Provider) refuseLogout(check LogoutCheck, err error) error {
	return p.errorf("%w", &LogoutTokenError{check, err})
}

// verifyLogoutHeader checks the header, and then the signature, which is work.
func (p *Provider) verifyLogoutHeader(ctx context.Context, m *metadata, raw string, requireType bool) (*verified, error) {
	algs, err := p.allowedAlgs(m)
	if err != nil {
		return nil, p.errorf("logout token: %w", err)
	}
	header, err := headerOf(raw)
	if err != nil {
		return nil, p.refuseLogout(logoutForm, err)
	}
	if !slices.Contains(algs, jose.SignatureAlgorithm(text(header, "alg"))) {
		return nil, p.refuseLogout(logoutAlg, errors.New("signed with another algorithm"))
	}
	if err := checkLogoutType(header, requireType); err != nil {
		return nil, p.refuseLogout(logoutType, err)
	}
	for _, name := range []string{"crit", "b64"} {
		if _, has := header[name]; has {
			return nil, p.refuseLogout(logoutCritical, errors.New("the header has "+name))
		}
	}
	jws, err := parseToken(raw, algs)
	if err != nil {
		return nil, p.refuseLogout(logoutForm, err)
	}
	token, err := p.verifyForeign(ctx, m, jws)
	switch {
	case errors.Is(err, errNoKey) || errors.Is(err, errOtherSecret):
		return nil, p.refuseLogout(logoutSignature, err)
	case err != nil:
		return nil, p.errorf("logout token: %w", err)
	}
	return token, nil
}

func checkLogoutType(header map[string]any, required bool) error {
	value, has := header["typ"]
	name, _ := value.(string)
	name = strings.TrimPrefix(strings.ToLower(name), "application/")
	if name == "logout+jwt" || !required && (!has || name == "jwt") {
		return nil
	}
	return errors.New("typ is another one")
}

// checkOnlyParty also refuses further audiences: each of them has the token, and could
// end sessions here with it.
func (p *Provider) checkOnlyParty(claims map[string]any) error {
	if err := p.checkParty(claims); err != nil {
		return err
	}
	list, _ := claims["aud"].([]any)
	for _, audience := range list {
		if audience != p.ClientID {
			return errors.New("aud has another client beside this one")
		}
	}
	return nil
}

func (t *LogoutToken) readIssued(claims map[string]any, skew time.Duration) (err error) {
	now := time.Now()
	if t.Issued, err = checkIssued(claims, now, skew); err != nil {
		return err
	}
	if _, expires := claims["exp"]; !expires && t.Issued.Before(now.Add(-maxLogoutAge)) {
		return errors.New("issued long ago, and without exp")
	}
	return nil
}

func (t *LogoutToken) readExpiry(claims map[string]any, skew time.Duration) (err error) {
	if _, expires := claims["exp"]; !expires {
		return nil
	}
	if t.Expires, err = checkExpiry(claims, time.Now(), skew); err != nil {
		return err
	}
	if t.Expires.After(t.Issued.Add(maxLogoutLife)) {
		// Its jti would have to be remembered as long.
		return errors.New("exp is more than a day after iat")
	}
	return nil
}

func checkLogoutEvent(claims map[string]any) error {
	events, _ := claims["events"].(map[string]any)
	if _, is := events[logoutEvent].(map[string]any); !is {
		return errors.New("events has no back-channel logout event")
	}
	return nil
}

// checkNoNonce keeps an ID token from being a logout token.
func checkNoNonce(claims map[string]any) error {
	if _, has := claims["nonce"]; has {
		return errors.New("nonce is present")
	}
	return nil
}

func (t *LogoutToken) readSubject(claims map[string]any) error {
	for name, into := range map[string]*string{"sub": &t.Subject, "sid": &t.SessionID} {
		value, has := claims[name]
		if !has {
			continue
		}
		*into, _ = value.(string)
		if *into == "" || len(*into) > maxLogoutText {
			return errors.New(name + " is empty, too long or not text")
		}
	}
	if t.Subject == "" && t.SessionID == "" {
		return errors.New("neither sub nor sid")
	}
	return nil
}

func (t *LogoutToken) readID(claims map[string]any) error {
	if t.ID = text(claims, "jti"); t.ID == "" || len(t.ID) > maxLogoutText {
		return errors.New("jti is missing, empty, too long or not text")
	}
	return nil
}
