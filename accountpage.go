package pintle

import (
	"context"
	"fmt"
)

// ofPerson returns the configuration for a method that somebody who is signed
// in may use on what is theirs.
func (a *Auth) ofPerson(ctx context.Context, method string, s *Session) (*settings, error) {
	set, err := a.settingsFor(ctx, method)
	switch {
	case err != nil:
		return nil, err
	case s == nil || s.User.ID == "":
		return nil, fail(ErrAccessDenied, fmt.Errorf("%s needs the session of somebody who is signed in: call it inside Auth.Require", method))
	case !s.isOf(set):
		// The user with this id is another one there.
		return nil, fail(ErrAccessDenied, fmt.Errorf("%s was given a session that another Auth, or another configuration of NewFunc, has read: call it on the Auth that guards the page", method))
	}
	return set, nil
}

// storeFor returns the store, if it has what a method of the host needs.
func storeFor(s *settings, method string, needed feature) (*records, error) {
	if s.records == nil {
		return nil, fail(ErrConfiguration, fmt.Errorf("%s needs a Config.Store", method))
	}
	if err := s.records.missing(method, needed); err != nil {
		return nil, fail(codeMissingAdapterMethods, err)
	}
	return s.records, nil
}
