package sqlstore

import "github.com/pintleauth/pintle/accountstore"

// accountRows is the [accountstore.Store] of a store, or of its transaction.
type accountRows struct{ records }

// AccountStore implements [pintle.Store]. It is nil for shared tables without
// [Layout.AccountTables].
func (r records) AccountStore() accountstore.Store {
	if r.tables.states == nil {
		return nil
	}
	return accountRows{r}
}
