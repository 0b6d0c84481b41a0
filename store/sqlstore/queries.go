package sqlstore

import (
	"fmt"
	"slices"
	"strings"
)

// queries is every statement of a store. Parameters are numbered in the order
// in which the methods pass them.
type queries struct {
	createUser, user, userByEmail, userByAccount *statement

	deleteUser []*statement // one for each table
	lockUser   *statement   // nil on SQLite
	userExtra  *statement   // locks the row it finds; nil without the column
	userLocked *statement   // the address of the row that it locks

	// updateUser has a statement for each choice of fields, as bits.
	updateUser [16]*statement

	linkAccount, account, userAccounts, updateAccount, swapAccount *statement
	unlinkAccount, ownAccount                                      *statement // ownAccount locks the row it finds

	createSession, sessionAndUser, sessionExists, deleteSession *statement
	// updateSession has a statement for each choice of fields, as bits.
	updateSession                          [4]*statement
	session                                *statement // MySQL: what deleteSession does not return
	userSessions, endSession               *statement
	endUserSessions, endUserSessionsExcept *statement
	sessionTokens                          *statement // of a user, where the handle is no column
	createVerification, useVerification    *statement
	verification                           *statement // MySQL: what useVerification does not return
	createAuthenticator, authenticator     *statement
	userAuthenticators, useAuthenticator   *statement
	renameAuthenticator                    *statement // nil if passkeys have no names
	deleteAuthenticator                    *statement
	sweepSessions, sweepVerifications      *statement

	// Those below are nil without the tables of package account.

	state, changeState, createState    *statement
	ensureState, lockState, countState *statement // lockState locks the row that ensureState has made
	factors, addFactor, replaceFactor  *statement
	advanceFactor, factorExists        *statement
	deleteFactor                       *statement
	createFlow, flow, attemptFlow      *statement
	changeFlow, useFlow, countFlows    *statement
	lockFlow                           *statement   // MySQL: what useFlow does not return
	deleteAccountRows                  []*statement // of a user, one for each table
	sweepFlows, sweepFactors           *statement
	stateOwners, factorOwners          *statement // pages of the ids of users
	dueUsers, factorUsers              *statement // the same
	dropState                          *statement
	leftRows                           *statement // whether a user has rows
	record, activity, userActivity     *statement
	actorActivity, kindActivity        *statement
	keepActs                           *statement // of operators, for a user who is deleted
	sweepActivity                      *statement
	lockSession, putFacts, facts       *statement // the data of sessions, where it is in a table
	userFacts, deleteFacts             *statement
	staleFacts, keepFacts, dropFacts   *statement

	// Sign-ins at providers. lockEnds is for one end and for three.
	putSignIn, signIns, dropSignIn, dropSignIns *statement
	dropUserSignIns, moveSignIns, rememberEnd   *statement
	signInsBy, lockSignInsBy                    [3]*statement // by session, user and both
	lockEnds                                    [2]*statement
	lockedEnd                                   *statement // MySQL: what lockEnds does not return
	sweepSignIns, sweepEnds                     *statement

	// The shared state. MySQL: takeLease changes a row, and addLease makes it.
	once, forgetOnce, takeLease, addLease, ownLease *statement
	releaseLease, sweepOnce, sweepLeases            *statement

	// Counts. MySQL: take changes a row, and addCount makes it.
	take, addCount, count, lower, giveBack, sweepCounts *statement
}

func newQueries(t *tables) *queries {
	b := builder{t}
	q := &queries{}
	b.users(q)
	b.accounts(q)
	b.sessions(q)
	b.verifications(q)
	if t.authenticators != nil {
		b.authenticators(q)
	}
	b.sweeps(q)
	if t.states != nil {
		b.accountRows(q)
	}
	return q
}

// A builder writes statements for a layout.
type builder struct{ *tables }

func (b builder) statement(format string, args ...any) *statement {
	return b.Dialect.statement(fmt.Sprintf(format, args...))
}

// is compares a text column with the parameter n, byte by byte.
//
// The collations of MySQL ignore case, most of them accents and trailing
// spaces too. The first comparison is for the index, the second for the truth.
func (b builder) is(column string, n int) string {
	if b.Dialect != MySQL || b.exact {
		return fmt.Sprintf("%s = $%d", column, n)
	}
	return fmt.Sprintf("(%s = $%d AND CAST(CONVERT(%s USING utf8mb4) AS BINARY) = CAST($%d AS BINARY))", column, n, column, n)
}

// isID compares a column of user ids with the parameter n.
func (b builder) isID(column string, n int) string {
	switch {
	case b.Users.ID != Integer:
		return b.is(column, n)
	case b.Dialect == PostgreSQL:
		// A number too large for the column is not found, instead of an error.
		return fmt.Sprintf("%s = CAST($%d AS bigint)", column, n)
	}
	return fmt.Sprintf("%s = $%d", column, n)
}

// names returns the columns of t that exist, for a list of them.
func (t *table) names(prefix string, columns ...string) []string {
	var names []string
	for _, column := range columns {
		if t.has(column) {
			names = append(names, prefix+t.columns[column])
		}
	}
	return names
}

func (t *table) withExtra(prefix string, names []string) []string {
	for _, column := range t.extra {
		names = append(names, prefix+column)
	}
	return names
}

// insert writes a row with the columns, and returns others of it where the
// dialect can.
func (b builder) insert(t *table, columns, returned []string) *statement {
	values := make([]string, len(columns))
	for i := range columns {
		values[i] = fmt.Sprintf("$%d", i+1)
	}
	text := fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", t.quoted, list(columns), list(values))
	if len(returned) > 0 && b.Dialect.returning() {
		text += " RETURNING " + list(returned)
	}
	return b.Dialect.statement(text)
}

// insertOwned writes a row with the columns, one of which names the user whose
// id is given, if there is such a user. Not every table refers to users, and
// SQLite checks references only on connections with foreign_keys.
//
// A transaction that deletes the user waits for this statement and then removes
// the row, or this statement waits for the transaction and then finds no user.
func (b builder) insertOwned(t *table, columns []string) *statement {
	u, owner := b.tables.users, t.columns["userId"]
	id := "u." + u.columns["id"]
	values := make([]string, len(columns))
	for i, column := range columns {
		values[i] = fmt.Sprintf("$%d", i+1)
		if column == owner {
			values[i] = id
		}
	}
	lock := map[Dialect]string{PostgreSQL: " FOR KEY SHARE", MySQL: " LOCK IN SHARE MODE"}[b.Dialect]
	return b.statement("INSERT INTO %s (%s) SELECT %s FROM %s u WHERE %s%s",
		t.quoted, list(columns), list(values), u.quoted, b.isID(id, slices.Index(columns, owner)+1), lock)
}

// locked locks the rows that a statement finds until the transaction ends. A
// transaction of SQLite has the only lock already.
func (b builder) locked() string {
	if b.Dialect == SQLite {
		return ""
	}
	return " FOR UPDATE"
}

// set assigns the parameters from n on to columns.
func set(n int, columns []string) string {
	assignments := make([]string, len(columns))
	for i, column := range columns {
		assignments[i] = fmt.Sprintf("%s = $%d", column, n+i)
	}
	return list(assignments)
}

func list(parts []string) string { return strings.Join(parts, ", ") }

// The columns of a user in the order in which they are read and written.
func (b builder) userColumns(prefix string) []string {
	t := b.tables.users
	return t.withExtra(prefix, t.names(prefix, "id", "name", "email", "emailVerified", "image", "extra"))
}

func (b builder) users(q *queries) {
	t := b.tables.users
	columns := b.userColumns("")
	q.createUser = b.createUser(nil)
	q.user = b.statement("SELECT %s FROM %s WHERE %s", list(columns), t.quoted, b.isID(t.columns["id"], 1))
	q.userByEmail = b.statement("SELECT %s FROM %s WHERE %s", list(columns), t.quoted, b.is(t.columns["email"], 1))
	a := b.tables.accounts
	q.userByAccount = b.statement("SELECT %s FROM %s a JOIN %s u ON u.%s = a.%s WHERE %s AND %s",
		list(b.userColumns("u.")), a.quoted, t.quoted, t.columns["id"], a.columns["userId"],
		b.is("a."+a.columns["provider"], 1), b.is("a."+a.columns["providerAccountId"], 2))
	for mask := range q.updateUser {
		q.updateUser[mask] = b.updateUser(mask)
	}
	if t.has("extra") {
		q.userExtra = b.statement("SELECT %s FROM %s WHERE %s%s", t.columns["extra"], t.quoted, b.isID(t.columns["id"], 1), b.locked())
	}
	q.userLocked = b.statement("SELECT %s FROM %s WHERE %s%s", t.columns["email"], t.quoted, b.isID(t.columns["id"], 1), b.locked())
	if b.Dialect != SQLite {
		q.lockUser = b.statement("SELECT %s FROM %s WHERE %s FOR UPDATE", t.columns["id"], t.quoted, b.isID(t.columns["id"], 1))
	}
	// Sessions first, so that access ends at once. The schema may cascade, but
	// not all do, and SQLite does only on connections with foreign_keys.
	for _, t := range []*table{b.tables.sessions, b.tables.authenticators, b.tables.accounts} {
		if t != nil {
			q.deleteUser = append(q.deleteUser, b.statement("DELETE FROM %s WHERE %s", t.quoted, b.isID(t.columns["userId"], 1)))
		}
	}
	q.deleteUser = append(q.deleteUser, b.statement("DELETE FROM %s WHERE %s", t.quoted, b.isID(t.columns["id"], 1)))
}

// createUser writes a user, with values for some of the further columns. The
// others are not named, so that each gets its default.
func (b builder) createUser(further []int) *statement {
	t := b.tables.users
	columns := t.names("", "id", "name", "email", "emailVerified", "image", "extra", "created")
	if t.ID == Integer {
		columns = columns[1:] // the database makes it
	}
	return b.insert(t, slices.Concat(columns, t.further(further), t.names("", "updatedAt")), b.userColumns(""))
}

// further returns the names of some of the further columns.
func (t *table) further(which []int) []string {
	names := make([]string, len(which))
	for i, n := range which {
		names[i] = t.extra[n]
	}
	return names
}

// The fields of a user that can change, in the order of the bits.
var userFields = []string{"name", "email", "emailVerified", "image"}

// updateUser changes the fields of mask and then further columns, given from the
// second parameter on.
func (b builder) updateUser(mask int, further ...string) *statement {
	t := b.tables.users
	var columns []string
	for i, field := range userFields {
		if mask&(1<<i) != 0 {
			columns = append(columns, t.names("", field)...)
		}
	}
	columns = append(columns, further...)
	if len(columns) == 0 {
		return nil // the user as they are
	}
	columns = append(columns, t.names("", "updatedAt")...)
	text := fmt.Sprintf("UPDATE %s SET %s WHERE %s", t.quoted, set(2, columns), b.isID(t.columns["id"], 1))
	if b.Dialect.returning() {
		text += " RETURNING " + list(b.userColumns(""))
	}
	return b.Dialect.statement(text)
}

// The columns of an account that a new token response replaces.
var tokenColumns = []string{
	"access_token", "refresh_token", "id_token", "expires_at", "token_type", "scope", "session_state",
	"oauth_token", "oauth_token_secret", "extra",
}

func (b builder) accounts(q *queries) {
	t := b.tables.accounts
	owner := t.columns["userId"]
	pair := b.accountPair
	q.linkAccount = b.linkAccount(nil)
	columns := list(t.withExtra("", slices.Concat(b.accountIdentity(), t.names("", "id"), t.names("", tokenColumns...))))
	q.account = b.statement("SELECT %s FROM %s WHERE %s", columns, t.quoted, pair(1))
	q.userAccounts = b.statement("SELECT %s FROM %s WHERE %s", columns, t.quoted, b.isID(owner, 1))
	q.updateAccount = b.updateAccount(nil)
	q.swapAccount = b.swapAccount(nil)
	q.ownAccount = b.statement("SELECT %s FROM %s WHERE %s AND %s%s", t.columns["type"], t.quoted, b.isID(owner, 1), pair(2), b.locked())
	q.unlinkAccount = b.statement("DELETE FROM %s WHERE %s AND %s", t.quoted, b.isID(owner, 1), pair(2))
}

func (b builder) accountIdentity() []string {
	return b.tables.accounts.names("", "userId", "type", "provider", "providerAccountId", "verifiedEmail")
}

// accountPair finds an account by the parameters n and n+1.
func (b builder) accountPair(n int) string {
	t := b.tables.accounts
	return b.is(t.columns["provider"], n) + " AND " + b.is(t.columns["providerAccountId"], n+1)
}

// linkAccount writes an account, with values for some of the further columns.
func (b builder) linkAccount(further []int) *statement {
	t := b.tables.accounts
	return b.insertOwned(t, slices.Concat(b.accountIdentity(), t.names("", tokenColumns...), t.further(further), t.inserted()))
}

// updateAccount replaces the tokens of an account, and some of the further
// columns.
func (b builder) updateAccount(further []int) *statement {
	t := b.tables.accounts
	changed := slices.Concat(t.names("", tokenColumns...), t.further(further), t.names("", "updatedAt"))
	return b.statement("UPDATE %s SET %s WHERE %s", t.quoted, set(3, changed), b.accountPair(1))
}

// swapAccount is updateAccount for an account whose refresh token is the parameter 3.
// NULL is the empty text.
func (b builder) swapAccount(further []int) *statement {
	t := b.tables.accounts
	changed := slices.Concat(t.names("", tokenColumns...), t.further(further), t.names("", "updatedAt"))
	stored := "''"
	if t.has("refresh_token") {
		stored = fmt.Sprintf("COALESCE(%s, '')", t.columns["refresh_token"])
	}
	same := stored + " = $3"
	if b.Dialect == MySQL {
		// The column ignores case in our own tables, too.
		same = fmt.Sprintf("CAST(CONVERT(%s USING utf8mb4) AS BINARY) = CAST($3 AS BINARY)", stored)
	}
	return b.statement("UPDATE %s SET %s WHERE %s AND %s", t.quoted, set(4, changed), b.accountPair(1), same)
}

func (b builder) sessions(q *queries) {
	t, u := b.tables.sessions, b.tables.users
	token, owner, expires := t.columns["sessionToken"], t.columns["userId"], t.columns["expires"]
	q.createSession = b.insertOwned(t, t.inserted("sessionToken", "userId", "expires", "created", "data"))
	columns := t.names("", "userId", "id", "expires", "created", "data")
	found := append(t.names("s.", "id", "expires", "created", "data"), b.userColumns("u.")...)
	data := "" // where it is in a table
	if f := b.facts; f != nil {
		found = append(found, f.names("f.", "user_id", "data")...)
		data = fmt.Sprintf(" LEFT JOIN %s f ON f.%s = $2", f.quoted, f.columns["session"])
	}
	q.sessionAndUser = b.statement("SELECT %s FROM %s s JOIN %s u ON u.%s = s.%s%s WHERE %s",
		list(found), t.quoted, u.quoted, u.columns["id"], owner, data, b.is("s."+token, 1))
	q.sessionExists = b.statement("SELECT %s FROM %s WHERE %s", expires, t.quoted, b.is(token, 1))
	for mask := range q.updateSession {
		var changed []string
		if mask&1 != 0 {
			changed = append(changed, expires)
		}
		if mask&2 != 0 {
			changed = append(changed, t.names("", "data")...)
		}
		if len(changed) > 0 {
			q.updateSession[mask] = b.statement("UPDATE %s SET %s WHERE %s", t.quoted, set(2, append(changed, t.names("", "updatedAt")...)), b.is(token, 1))
		}
	}
	deleted := fmt.Sprintf("DELETE FROM %s WHERE %s", t.quoted, b.is(token, 1))
	if b.Dialect.returning() {
		deleted += " RETURNING " + list(columns)
	}
	q.deleteSession = b.Dialect.statement(deleted)
	q.session = b.statement("SELECT %s FROM %s WHERE %s", list(columns), t.quoted, b.is(token, 1))

	q.userSessions = b.statement("SELECT %s, %s FROM %s WHERE %s", token, list(columns), t.quoted, b.isID(owner, 1))
	q.sessionTokens = b.statement("SELECT %s FROM %s WHERE %s", token, t.quoted, b.isID(owner, 1))
	q.endSession = b.statement("DELETE FROM %s WHERE %s AND %s", t.quoted, b.isID(owner, 1), b.is(token, 2))
	q.endUserSessions = b.statement("DELETE FROM %s WHERE %s", t.quoted, b.isID(owner, 1))
	q.endUserSessionsExcept = b.statement("DELETE FROM %s WHERE %s AND NOT (%s)", t.quoted, b.isID(owner, 1), b.is(token, 2))
}

func (b builder) verifications(q *queries) {
	t := b.tables.verifications
	q.createVerification = b.insert(t, t.inserted("identifier", "token", "expires"), nil)
	pair := b.is(t.columns["identifier"], 1) + " AND " + b.is(t.columns["token"], 2)
	used := fmt.Sprintf("DELETE FROM %s WHERE %s", t.quoted, pair)
	if b.Dialect.returning() {
		used += " RETURNING " + t.columns["expires"]
	}
	q.useVerification = b.Dialect.statement(used)
	q.verification = b.statement("SELECT %s FROM %s WHERE %s", t.columns["expires"], t.quoted, pair)
}

func (b builder) authenticators(q *queries) {
	t := b.tables.authenticators
	id, owner, counter := t.columns["credentialID"], t.columns["userId"], t.columns["counter"]
	columns := t.names("", append(slices.Clone(authenticatorColumns.expected), "name", "created", "lastUsed")...)
	q.createAuthenticator = b.insertOwned(t, append(slices.Clone(columns), t.names("", "updatedAt")...))
	q.authenticator = b.statement("SELECT %s FROM %s WHERE %s", list(columns), t.quoted, b.is(id, 1))
	q.userAuthenticators = b.statement("SELECT %s FROM %s WHERE %s", list(columns), t.quoted, b.isID(owner, 1))
	q.deleteAuthenticator = b.statement("DELETE FROM %s WHERE %s AND %s", t.quoted, b.isID(owner, 1), b.is(id, 2))
	q.useAuthenticator = b.statement("UPDATE %s SET %s WHERE %s AND %s = $2", t.quoted,
		set(3, t.names("", "counter", "credentialBackedUp", "lastUsed", "updatedAt")), b.is(id, 1), counter)
	if t.has("name") {
		q.renameAuthenticator = b.statement("UPDATE %s SET %s WHERE %s AND %s", t.quoted,
			set(3, t.names("", "name", "updatedAt")), b.isID(owner, 1), b.is(id, 2))
	}
}

func (b builder) sweeps(q *queries) {
	s, v := b.tables.sessions, b.tables.verifications
	q.sweepSessions = b.sweep(s, s.columns["sessionToken"])
	q.sweepVerifications = b.sweep(v, v.columns["identifier"], v.columns["token"])
}

// sweep deletes at most $2 rows that expired before $1.
func (b builder) sweep(t *table, key ...string) *statement {
	return b.sweepRows(t, b.sameForm(t.columns["expires"]), key...)
}

// sweepRows is sweep with a further condition for the rows.
func (b builder) sweepRows(t *table, condition string, key ...string) *statement {
	expires := t.columns["expires"]
	expired := expires + " < $1" + condition
	if b.Dialect == MySQL {
		return b.statement("DELETE FROM %s WHERE %s ORDER BY %s LIMIT $2", t.quoted, expired, expires)
	}
	// The condition is repeated for a session that was extended meanwhile.
	if b.Dialect == PostgreSQL {
		// Several processes may sweep at once. The rows are chosen once: as a subquery
		// of the condition, some plans choose others for each row of the table, and
		// more than the limit.
		return b.statement("WITH expired AS (SELECT %[2]s FROM %[1]s WHERE %[3]s ORDER BY %[4]s LIMIT $2 FOR UPDATE SKIP LOCKED) "+
			"DELETE FROM %[1]s WHERE (%[2]s) IN (SELECT %[2]s FROM expired) AND %[3]s", t.quoted, list(key), expired, expires)
	}
	return b.statement("DELETE FROM %[1]s WHERE (%[2]s) IN (SELECT %[2]s FROM %[1]s WHERE %[3]s ORDER BY %[4]s LIMIT $2) AND %[3]s",
		t.quoted, list(key), expired, expires)
}

// sameForm restricts a comparison of times to those in the layout's format. In
// a table that several programs write to, SQLite takes any integer for less
// than any text, and any database takes digits for less than the year 2026.
func (b builder) sameForm(column string) string {
	switch {
	case b.Times == ISOText:
		return fmt.Sprintf(" AND %s LIKE '____-%%'", column)
	case b.Times == MillisecondText:
		return fmt.Sprintf(" AND %s NOT LIKE '%%-%%'", column)
	case b.Dialect == SQLite:
		return fmt.Sprintf(" AND typeof(%s) = 'integer'", column)
	}
	return ""
}
