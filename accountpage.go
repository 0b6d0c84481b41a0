package pintle

import "fmt"

// ofPerson returns the configuration for a method that somebody who is signed
// in may use on what is theirs.
func (a *Auth) ofPerson(method string, s *Session) (*settings, error) {
	switch {
	case a.fixed == nil:
		return nil, fail(ErrConfiguration, fmt.Errorf("%s needs the fixed configuration of New", method))
	case s == nil || s.User.ID == "":
		return nil, fail(ErrAccessDenied, fmt.Errorf("%s needs the session of somebody who is signed in: call it inside Auth.Require", method))
	}
	return a.fixed, nil
}

// storeFor returns the store as the interface that a method of the host needs.
func storeFor[T any](a *Auth, method, name string) (T, error) {
	var none T
	if a.fixed == nil || a.fixed.records == nil {
		return none, fail(ErrConfiguration, fmt.Errorf("%s needs the fixed configuration of New with a Config.Store", method))
	}
	store, ok := a.fixed.Store.(T)
	if !ok {
		return none, fail(codeMissingAdapterMethods, fmt.Errorf("%s needs a store that implements pintle.%s, which %T does not", method, name, a.fixed.Store))
	}
	return store, nil
}
