package sqlstore

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A Layout says which tables users and sessions are in and what their columns
// hold. Begin with one of the functions that return one, and change what the
// installation has changed:
//
//	layout := sqlstore.Drizzle(sqlstore.PostgreSQL)
//	layout.Users.Name = "app_user"
//	layout.Users.Extra = []string{"role"}
//	store, err := sqlstore.NewShared(db, layout)
type Layout struct {
	Dialect Dialect

	Users         Table
	Accounts      Table
	Sessions      Table
	Verifications Table

	// Authenticators may be the zero Table, for tables without passkeys.
	Authenticators Table

	// AccountTables says that the tables of package account stand beside those of
	// Auth.js, in the schema of the table of users: pintle_states, pintle_factors and
	// pintle_flows, pintle_provider_sessions and pintle_provider_ends of
	// [Store.ProviderSessions], pintle_once, pintle_leases and pintle_counts of
	// [Store.SharedState], and pintle_facts for the data of sessions if the table of sessions has no column
	// for it. [MigrateShared] makes them. Without them these stores are nil, as is
	// [Store.AccountStore], and the statements name no table but those above.
	AccountTables bool

	// Times is how times are kept.
	Times TimeFormat

	// hashed: the column sessionToken holds the token's hash.
	hashed bool
	// jsonState: the column session_state of accounts holds JSON.
	jsonState bool
	// exact: texts compare byte by byte, whatever the database's collation.
	exact bool
}

// A Table is one table of a [Layout].
type Table struct {
	// Name is the table's. A schema goes before it, with a dot.
	Name string

	// ID is what the column "id" holds. Users have to have one.
	ID IDFormat

	// Columns has the names of columns by the names Auth.js has for them:
	// "emailVerified", "userId", "sessionToken" and so on. A column that is not
	// listed has that name; one that is listed as empty is missing.
	//
	// Columns that Auth.js has not are used when they are listed: "created" and
	// "data" of sessions, for when the person signed in and for what the
	// application keeps with the session as JSON; "extra" of users and
	// accounts, for further fields as JSON; "verifiedEmail", "oauth_token" and
	// "oauth_token_secret" of accounts; "name", "created" and "lastUsed" of
	// passkeys; "updatedAt" of any table, for the time of each write. Times are
	// in the format of Layout.Times.
	Columns map[string]string

	// Extra has the names of further columns of users and accounts. They are
	// the members of that name of [pintle.User.Extra] or
	// [pintle.Account.Extra].
	Extra []string
}

// The columns of each table by the names Auth.js has for them. Those after the
// bar may be missing.
var (
	userColumns          = columnNames("id email | name emailVerified image", "extra updatedAt")
	accountColumns       = columnNames("userId type provider providerAccountId | access_token refresh_token id_token expires_at token_type scope session_state", "id verifiedEmail oauth_token oauth_token_secret extra updatedAt")
	sessionColumns       = columnNames("sessionToken userId expires", "id created data updatedAt")
	verificationColumns  = columnNames("identifier token expires", "id updatedAt")
	authenticatorColumns = columnNames("credentialID userId providerAccountId credentialPublicKey counter credentialDeviceType credentialBackedUp | transports", "name created lastUsed updatedAt")
)

// known is the columns a table may have: those it must have, those it has by
// default, and those it may have besides.
type known struct {
	required, expected, further []string
}

func columnNames(expected, further string) known {
	required, optional, _ := strings.Cut(expected, "|")
	return known{
		required: strings.Fields(required),
		expected: append(strings.Fields(required), strings.Fields(optional)...),
		further:  strings.Fields(further),
	}
}

// A table is a Table made ready for building statements of it.
type table struct {
	Table
	quoted  string
	columns map[string]string // quoted, by the names Auth.js has
	extra   []string          // quoted
}

func (t *table) has(column string) bool { return t.columns[column] != "" }

// makesID reports whether the store writes the column of ids, and not the
// database.
func (t *table) makesID() bool { return t.has("id") && t.ID != Integer }

// inserted returns those of some columns that the store writes in a new row, its id
// and the time of the write last.
func (t *table) inserted(columns ...string) []string {
	if t.makesID() {
		columns = append(slices.Clip(columns), "id")
	}
	return t.names("", append(slices.Clip(columns), "updatedAt")...)
}

func (d Dialect) table(t Table, k known, what string) (*table, error) {
	if t.Name == "" {
		return nil, fmt.Errorf("%s: the table has no name", what)
	}
	r := &table{Table: t, quoted: d.quote(t.Name), columns: make(map[string]string)}
	for _, column := range k.expected {
		r.columns[column] = d.quote(column)
	}
	for _, column := range slices.Sorted(maps.Keys(t.Columns)) {
		if !slices.Contains(k.expected, column) && !slices.Contains(k.further, column) {
			return nil, fmt.Errorf("%s.Columns: Auth.js has no column %q: further columns go into Extra", what, column)
		}
		delete(r.columns, column)
		if name := t.Columns[column]; name != "" {
			r.columns[column] = d.quote(name)
		} else if slices.Contains(k.required, column) {
			return nil, fmt.Errorf("%s.Columns: the column %q must not be missing", what, column)
		}
	}
	if slices.Contains(k.further, "id") {
		if t.ID == NoID {
			delete(r.columns, "id")
		} else if !r.has("id") {
			r.columns["id"] = d.quote("id")
		}
	}
	for _, column := range t.Extra {
		r.extra = append(r.extra, d.quote(column))
	}
	return r, r.checkNames()
}

// checkNames refuses names that cannot be written down safely. A name with a $
// would be taken for a parameter.
func (t *table) checkNames() error {
	for _, name := range append(append(slices.Collect(maps.Values(t.columns)), t.extra...), t.quoted) {
		if strings.ContainsAny(name, "$?\x00") || !storable(name) {
			return fmt.Errorf("the name %s has a character that names cannot have", name)
		}
	}
	return nil
}

// tables is a layout made ready for building statements of it.
type tables struct {
	Layout
	users, accounts, sessions, verifications *table

	authenticators *table // nil without such a table

	accountTables
}

func (l Layout) tables() (*tables, error) {
	r := &tables{Layout: l}
	var errs []error
	for _, want := range []struct {
		what string
		from Table
		k    known
		to   **table
	}{
		{"Users", l.Users, userColumns, &r.users},
		{"Accounts", l.Accounts, accountColumns, &r.accounts},
		{"Sessions", l.Sessions, sessionColumns, &r.sessions},
		{"Verifications", l.Verifications, verificationColumns, &r.verifications},
		{"Authenticators", l.Authenticators, authenticatorColumns, &r.authenticators},
	} {
		if want.what == "Authenticators" && want.from.Name == "" {
			continue
		}
		t, err := l.Dialect.table(want.from, want.k, "Layout."+want.what)
		*want.to = t
		errs = append(errs, err)
	}
	if l.hashed && r.users != nil {
		r.users.columns["created"] = l.Dialect.quote("created") // which tables of Auth.js do not have
	}
	errs = append(errs, r.makeAccountTables())
	switch {
	case !l.Dialect.known():
		errs = append(errs, fmt.Errorf("Layout.Dialect is %d: use PostgreSQL, MySQL or SQLite", int(l.Dialect)))
	case l.Times < Timestamp || l.Times > ISOText:
		errs = append(errs, fmt.Errorf("Layout.Times is %d: say how times are kept", int(l.Times)))
	case l.Times == Timestamp && l.Dialect == SQLite:
		errs = append(errs, errors.New("Layout.Times is Timestamp, but SQLite has no type for times: use Milliseconds or ISOText"))
	}
	if l.Users.ID == NoID {
		errs = append(errs, errors.New("Layout.Users.ID is NoID, but users need one"))
	}
	if l.Users.ID == UUID && l.Dialect != PostgreSQL {
		errs = append(errs, errors.New("Layout.Users.ID is UUID, a type that only PostgreSQL has: use TextID"))
	}
	return r, errors.Join(errs...)
}

// own is the layout that [Migrate] makes.
func own(d Dialect) Layout {
	return Layout{
		Dialect:   d,
		Times:     Milliseconds,
		hashed:    true,
		jsonState: true,
		exact:     true,

		AccountTables: true,
		Users: Table{Name: "pintle_users", ID: TextID, Columns: map[string]string{
			"emailVerified": "email_verified", "extra": "extra",
		}},
		Accounts: Table{Name: "pintle_accounts", ID: TextID, Columns: map[string]string{
			"userId": "user_id", "providerAccountId": "provider_account_id", "extra": "extra",
			"verifiedEmail": "verified_email", "oauth_token": "oauth_token", "oauth_token_secret": "oauth_token_secret",
		}},
		Sessions: Table{Name: "pintle_sessions", Columns: map[string]string{
			"sessionToken": "token_hash", "userId": "user_id", "created": "created", "data": "data",
		}},
		Verifications: Table{Name: "pintle_verifications"},
		Authenticators: Table{Name: "pintle_authenticators", Columns: map[string]string{
			"credentialID": "credential_id", "userId": "user_id", "providerAccountId": "provider_account_id",
			"credentialPublicKey": "public_key", "credentialDeviceType": "device_type", "credentialBackedUp": "backed_up",
			"name": "name", "created": "created", "lastUsed": "last_used",
		}},
	}
}
