package pintle

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/pintleauth/pintle/internal/wire"
)

// Devices yields where the user of a session is signed in, the last sign-in
// first, for an account page:
//
//	for device, err := range auth.Devices(ctx, pintle.SessionFrom(ctx)) {
//
// Of each it has the Handle that [Auth.EndDevice] takes, when it was Created and
// LastUsed, whether it is the Current one, and what [SessionConfig.Describe]
// noted in Data. The token of none is among it. The store needs
// [Features.SessionList], and may hold a connection while the loop runs.
//
// Token sessions are kept in browsers and nowhere else. Of those it yields the
// one that asks, without a handle.
func (a *Auth) Devices(ctx context.Context, s *Session) iter.Seq2[*StoredSession, error] {
	return func(yield func(*StoredSession, error) bool) {
		for device, err := range a.devices(ctx, s) {
			if err != nil {
				a.logCall(ctx, "Devices", err)
			}
			if !yield(device, err) {
				return
			}
		}
	}
}

func (a *Auth) devices(ctx context.Context, s *Session) iter.Seq2[*StoredSession, error] {
	return func(yield func(*StoredSession, error) bool) {
		set, err := a.ofPerson(ctx, "Devices", s)
		if err != nil {
			yield(nil, err)
			return
		}
		if set.strategy != StrategyDatabase {
			yield(set.tokenDevice(s))
			return
		}
		store, err := storeFor(set, "Devices", featureSessionList)
		if err != nil {
			yield(nil, err)
			return
		}
		for device, err := range store.userSessions(ctx, s.User.ID) {
			if err != nil {
				yield(nil, err)
				return
			}
			if set.lifetime.Over(device.Created, time.Now()) {
				continue
			}
			if !yield(set.shown(device, s), nil) {
				return
			}
		}
	}
}

// EndDevice ends a session of the user of s: the one with a handle that
// [Auth.Devices] yielded, which may come from a form. The error matches
// [ErrNotFound] when the user has no such session, whoever else has it, and
// always for token sessions.
func (a *Auth) EndDevice(ctx context.Context, s *Session, handle string) (err error) {
	defer a.logFailed(ctx, "EndDevice", &err)
	set, err := a.ofPerson(ctx, "EndDevice", s)
	if err != nil {
		return err
	}
	if set.strategy != StrategyDatabase {
		return fmt.Errorf("EndDevice: token sessions have no handles: %w", ErrNotFound)
	}
	store, err := storeFor(set, "EndDevice", featureSessionList)
	if err != nil {
		return err
	}
	return store.endSession(ctx, s.User.ID, handle)
}

// EndOtherDevices ends every session of the user of s but s, and returns how
// many there were. Token sessions can be ended only together: use
// [Auth.SignOutEverywhere] there, and have the person sign in again.
func (a *Auth) EndOtherDevices(ctx context.Context, s *Session) (ended int, err error) {
	defer a.logFailed(ctx, "EndOtherDevices", &err)
	set, err := a.ofPerson(ctx, "EndOtherDevices", s)
	if err != nil {
		return 0, err
	}
	if set.strategy != StrategyDatabase {
		return 0, fail(codeUnsupportedStrategy, errors.New("EndOtherDevices needs database sessions: token sessions of a user end all at once, with SignOutEverywhere"))
	}
	store, err := storeFor(set, "EndOtherDevices", featureSessionList)
	if err != nil {
		return 0, err
	}
	except := ""
	if s.stored != nil {
		except = s.stored.Token
	}
	return store.endUserSessions(ctx, s.User.ID, except)
}

// shown is a session as its owner may see it on the device of another. No page
// has a use for its token, which lists of some stores have.
func (s *settings) shown(device *StoredSession, asking *Session) *StoredSession {
	device.Current = asking.stored != nil && device.is(asking.stored.Token)
	device.Token = ""
	now := time.Now()
	device.LastUsed = s.lifetime.LastExtended(device.Expires)
	switch {
	case device.Current || device.LastUsed.After(now):
		device.LastUsed = now
	case device.LastUsed.Before(device.Created):
		// Sessions lasted less long when it was extended.
		device.LastUsed = device.Created
	}
	return device
}

// is reports whether a session that [Store.UserSessions] yielded has a token.
func (s *StoredSession) is(token string) bool {
	if s.Token != "" {
		return s.Token == token
	}
	hash := sha256.Sum256([]byte(token))
	return s.Handle == base64.RawURLEncoding.EncodeToString(hash[:])
}

// tokenDevice is a token session as its owner may see it.
func (s *settings) tokenDevice(asking *Session) (*StoredSession, error) {
	device := &StoredSession{UserID: asking.User.ID, Expires: asking.Expires, Current: true, LastUsed: time.Now(), Data: asking.data}
	if asking.hasData {
		claims, err := asking.claims.Claims()
		if err != nil {
			return nil, fail(codeJWTSession, err)
		}
		device.Data = claims
	}
	if seconds, ok := wire.Seconds(device.Data[claimSignedIn]); ok {
		device.Created = time.Unix(seconds, 0)
	}
	return device, nil
}
