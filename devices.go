package pintle

import (
	"context"
	"iter"
	"time"
)

// A Device is a place where a user is signed in: a session, without its token.
type Device struct {
	// Handle identifies the session to its owner, for [Auth.EndDevice]. It is not
	// a secret and does not sign in. It is empty for token sessions.
	Handle string

	// Created is when the user signed in, and zero where that is not known.
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

// Devices yields where the user of a session is signed in, the last sign-in
// first, for an account page:
//
//	for device, err := range auth.Devices(ctx, pintle.SessionFrom(ctx)) {
//
// The store needs [Features.SessionList], and may hold a connection while the
// loop runs.
//
// Token sessions are kept in browsers and nowhere else. Of those it yields only s,
// without a handle.
func (a *Auth) Devices(ctx context.Context, s *Session) iter.Seq2[*Device, error] {
	return func(yield func(*Device, error) bool) {
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
