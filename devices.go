package pintle

import (
	"context"
	"iter"
)

// Devices yields where the user of a session is signed in, the last sign-in
// first, for an account page:
//
//	for device, err := range auth.Devices(ctx, pintle.SessionFrom(ctx)) {
//
// Of each it has the Handle that [Auth.EndDevice] takes, when it was Created and
// LastUsed, whether it is the Current one, and what [SessionConfig.Describe]
// noted in Data. Tokens are never included. The store needs [Features.SessionList],
// and may hold a connection while the loop runs.
//
// Token sessions are kept in browsers and nowhere else. Of those it yields only s,
// without a handle.
func (a *Auth) Devices(ctx context.Context, s *Session) iter.Seq2[*StoredSession, error] {
	return func(yield func(*StoredSession, error) bool) {
		set, err := a.ofPerson(ctx, "Devices", s)
		if err != nil {
			a.logCall(ctx, "Devices", err)
			yield(nil, err)
			return
		}
		for device, err := range set.sessions.devices(ctx, s) {
			if err != nil {
				a.logCall(ctx, "Devices", err)
			}
			if !yield(device, err) {
				return
			}
		}
	}
}

// EndDevice ends a session of the user of s: the one with a handle that
// [Auth.Devices] yielded, which may come from a form. The error matches
// [ErrNotFound] when the user has no such session, also if another user has it,
// and always for token sessions.
func (a *Auth) EndDevice(ctx context.Context, s *Session, handle string) (err error) {
	defer a.logFailed(ctx, "EndDevice", &err)
	set, err := a.ofPerson(ctx, "EndDevice", s)
	if err != nil {
		return err
	}
	return set.sessions.endDevice(ctx, s, handle)
}

// EndOtherDevices ends every session of the user of s but s, and returns how
// many there were. Token sessions can be ended only together: use
// [Auth.SignOutEverywhere] there, and have the user sign in again.
func (a *Auth) EndOtherDevices(ctx context.Context, s *Session) (ended int, err error) {
	defer a.logFailed(ctx, "EndOtherDevices", &err)
	set, err := a.ofPerson(ctx, "EndOtherDevices", s)
	if err != nil {
		return 0, err
	}
	return set.sessions.endOtherDevices(ctx, s)
}
