package pintle

import (
	"context"
	"fmt"
)

// ofPerson returns the configuration for a method that somebody who is signed
// in may use on what is theirs.
func (a *Auth) ofPerson(ctx context.Context, method string, s *Session) (*settings, error) {
	set, err := a.settingsFor(ctx, method)
	if err == nil && (s == nil || s.User.ID == "") {
		err = fail(ErrAccessDenied, fmt.Errorf("%s needs the session of somebody who is signed in: call it inside Auth.Require", method))
	}
	return set, err
}

// storeFor returns the store, if it has the interface that a method of the host
// needs.
func storeFor[T any](s *settings, method, name string) (*records, error) {
	if s.records == nil {
		return nil, fail(ErrConfiguration, fmt.Errorf("%s needs a Config.Store", method))
	}
	if _, ok := s.Store.(T); !ok {
		return nil, fail(codeMissingAdapterMethods, fmt.Errorf("%s needs a store that implements pintle.%s, which %T does not", method, name, s.Store))
	}
	return s.records, nil
}
