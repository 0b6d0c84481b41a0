package xatastore

import "github.com/pintleauth/pintle"

// A Store keeps users, accounts, sessions and mail links, and passkeys if the
// database is an extended one, in a Xata database. Its methods may be called
// concurrently.
type Store struct {
	pintle.UnimplementedStore
	client *client
	names  names
}

var _ pintle.Store = (*Store)(nil)

// New returns a store for the database that the options name. It makes no
// request: [Store.Check] examines the database.
func New(o Options) (*Store, error) {
	r, err := o.resolve()
	if err != nil {
		return nil, err
	}
	return &Store{client: newClient(r), names: namesOf(r.Prefix)}, nil
}

// Features implements [pintle.Store]. There are passkeys in extended databases:
// see [Options.Extended].
func (s *Store) Features() pintle.Features {
	f := pintle.Features{
		Accounts: true, Sessions: true, SessionList: true, Verifications: true, DeleteUser: true, Sweep: true,
		Passkeys: s.client.Extended, PasskeyNames: s.client.Extended,
	}
	if !s.client.Extended {
		f.Remedy = fixTable
	}
	return f
}

// GetConfig returns where the store keeps its data. It makes no request.
func (s *Store) GetConfig() Config {
	return Config{DatabaseURL: s.client.DatabaseURL, Branch: s.client.Branch}
}

// names of the tables.
type names struct {
	users, accounts, sessions, verifications, userAccounts, userSessions, passkeys string
}

func namesOf(prefix string) names {
	return names{
		users:         prefix + "_users",
		accounts:      prefix + "_accounts",
		sessions:      prefix + "_sessions",
		verifications: prefix + "_verificationTokens",
		userAccounts:  prefix + "_users_accounts",
		userSessions:  prefix + "_users_sessions",
		passkeys:      prefix + "_authenticators",
	}
}
