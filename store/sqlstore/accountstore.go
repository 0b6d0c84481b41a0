package sqlstore

import "github.com/pintleauth/pintle/accountstore"

// AccountStore implements [pintle.Store]: there is none yet.
func (r records) AccountStore() accountstore.Store { return nil }
