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

// storeFor returns the store as the interface that a method of the host needs.
func storeFor[T any](s *settings, method, name string) (T, error) {
	var none T
	if s.records == nil {
		return none, fail(ErrConfiguration, fmt.Errorf("%s needs a Config.Store", method))
	}
	store, ok := s.Store.(T)
	if !ok {
		return none, fail(codeMissingAdapterMethods, fmt.Errorf("%s needs a store that implements pintle.%s, which %T does not", method, name, s.Store))
	}
	return store, nil
}
