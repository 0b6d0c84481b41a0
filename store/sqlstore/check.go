package sqlstore

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// A Problem is something about a database that makes a store slow or unsafe.
type Problem struct {
	// Text describes the problem and its consequence, and what to change in the
	// layout if that repairs it.
	Text string

	// Fix is the statement that repairs it. It is empty where no statement
	// does.
	Fix string
}

// Check reports tables that differ from the layout, missing indices that look-ups
// and uniqueness need, columns that would refuse new
// rows, accounts without the users they name, and settings of the connection
// that make the store unsafe. It changes nothing. It fails when the database does
// not answer.
//
// Tables shared with Auth.js may lack indices: those of its pg adapter have
// been published without any but the primary keys. A unique index on a table
// with duplicates cannot be made before they are gone.
func (s *Store) Check(ctx context.Context) ([]Problem, error) {
	problems, err := s.checkConnection(ctx)
	if err != nil {
		return nil, s.fail(ctx, "check", err)
	}
	lacking, err := s.checkExistence(ctx)
	if err != nil {
		return nil, s.fail(ctx, "check", err)
	}
	if lacking != nil {
		return append(problems, *lacking), nil // and all else comes of it
	}
	for _, t := range s.tables.all() {
		found, err := s.checkTable(ctx, t)
		if err != nil {
			return nil, s.fail(ctx, "check", err)
		}
		problems = append(problems, found...)
	}
	for _, look := range []func(context.Context) ([]Problem, error){s.checkAccountTables, s.checkOwners, s.checkExpired} {
		found, err := look(ctx)
		if err != nil {
			return nil, s.fail(ctx, "check", err)
		}
		problems = append(problems, found...)
	}
	return problems, nil
}

// all returns the tables there are in the layout, without those of package account.
func (t *tables) all() []*table {
	all := []*table{t.users, t.accounts, t.sessions, t.verifications}
	if t.authenticators != nil {
		all = append(all, t.authenticators)
	}
	return all
}

// checkExistence looks for databases that have no table of the layout, or those
// of an earlier version of this package.
func (s *Store) checkExistence(ctx context.Context) (*Problem, error) {
	found := 0
	for _, t := range s.tables.all() {
		columns, err := s.columns(ctx, t)
		if err != nil {
			return nil, err
		}
		if len(columns) > 0 {
			found++
		}
	}
	switch {
	case found == 0 && s.tables.hashed:
		return &Problem{Text: "the database has no tables yet: run pintle migrate, or call sqlstore.Migrate"}, nil
	case found == 0:
		return &Problem{Text: fmt.Sprintf("the database has none of the tables of the layout, not even %s: it is another database, or its tables have other names", s.tables.users.Name)}, nil
	case !s.tables.hashed:
		return nil, nil
	}
	version, err := s.version(ctx)
	if latest := latestMigration(s.dialect); err != nil || version == 0 || version >= latest {
		return nil, err
	}
	return &Problem{Text: fmt.Sprintf("the tables are of version %d and the newest is %d: run pintle migrate, or call sqlstore.Migrate", version, latestMigration(s.dialect))}, nil
}

// version returns which migration was applied last, 0 where another tool applied
// them.
func (s *Store) version(ctx context.Context) (version int, err error) {
	if err := s.one(ctx, []any{&version}, s.dialect.statement(latestVersion)); err != nil {
		return 0, ctx.Err()
	}
	return version, nil
}

// A need is an index that the statements of a store rest on.
type need struct {
	columns []string // by the names Auth.js has
	unique  bool
	without string // what comes of its absence
}

func (s *Store) needs(t *table) []need {
	owner := need{[]string{"userId"}, false, "what belongs to a user is looked for in the whole table"}
	expires := need{[]string{"expires"}, false, "what has expired is looked for in the whole table"}
	switch t {
	case s.tables.users:
		return []need{{[]string{"email"}, true, "two sign-ins at once can make two users with one address, and each sign-in reads the whole table"}}
	case s.tables.accounts:
		return []need{{[]string{"provider", "providerAccountId"}, true, "two sign-ins at once can link one account to two users, and each sign-in reads the whole table"}, owner}
	case s.tables.sessions:
		return []need{{[]string{"sessionToken"}, true, "each request of a signed-in browser reads the whole table"}, owner, expires}
	case s.tables.verifications:
		return []need{{[]string{"identifier", "token"}, false, "each mail link that is opened reads the whole table"}, expires}
	case s.tables.authenticators:
		return []need{{[]string{"credentialID"}, true, "one passkey can belong to two users"}, owner}
	case s.tables.states:
		return []need{{[]string{"user_id"}, true, "each sign-in reads the whole table"}}
	case s.tables.factors:
		return []need{{[]string{"user_id", "kind", "id"}, true, "each sign-in reads the whole table"}, expires}
	case s.tables.flows:
		return []need{{[]string{"id"}, true, "each step of a flow reads the whole table"}, {[]string{"subject", "kind"}, false, "what a user has begun is looked for in the whole table"}, expires}
	case s.tables.activity:
		return []need{
			{[]string{"id"}, true, "failures of one kind are kept one by one"},
			{[]string{"at", "id"}, false, "each page of the activity reads the whole table"},
			{[]string{"user_id", "at", "id"}, false, "each page of the activity of a user reads the whole table"},
			{[]string{"actor", "at", "id"}, false, "each page of the acts of an operator reads the whole table"},
			{[]string{"kind", "at", "id"}, false, "each page of one kind of activity reads the whole table"},
			expires,
		}
	case s.tables.signIns:
		return []need{
			{[]string{"id"}, true, "a sign-in at a provider is kept twice"},
			{[]string{"session"}, false, "each sign-out reads the whole table"},
			{[]string{"user_id"}, false, owner.without},
			{[]string{"key_sid"}, false, "each sign-out at a provider reads the whole table"},
			{[]string{"key_sub"}, false, "each sign-out at a provider reads the whole table"},
			expires,
		}
	case s.tables.ends:
		return []need{{[]string{"id"}, true, "a sign-in can overtake its end"}, expires}
	case s.tables.once:
		return []need{{[]string{"id"}, true, "a value can be used twice"}, expires}
	case s.tables.counts:
		return []need{{[]string{"id"}, true, "attempts are counted twice, and more are allowed"}, expires}
	case s.tables.leases:
		return []need{{[]string{"id"}, true, "two processes can do the same work at once"}, expires}
	}
	return []need{{[]string{"session"}, true, "each request of a signed-in browser reads the whole table"}, {[]string{"user_id"}, false, owner.without}, expires}
}

func (s *Store) checkTable(ctx context.Context, t *table) ([]Problem, error) {
	there, err := s.columns(ctx, t)
	if err != nil {
		return nil, err
	}
	if len(there) == 0 {
		fix, err := s.createTable(ctx, t)
		return []Problem{{Text: fmt.Sprintf("there is no table %s, which the layout names", t.Name) + s.withoutTable(t), Fix: fix}}, err
	}
	names := slices.Clone(t.extra)
	for _, column := range t.columns {
		names = append(names, column)
	}
	slices.Sort(names)
	if lacking := s.lacking(names, there); len(lacking) > 0 {
		problem := Problem{Text: fmt.Sprintf("the table %s has no column %s, which the layout names", t.Name, list(lacking)) + s.withoutColumns(t, lacking)}
		return append([]Problem{problem}, s.checkDemands(t, there)...), nil
	}
	probe := s.dialect.statement(fmt.Sprintf("SELECT %s FROM %s WHERE 1 = 0", list(names), t.quoted))
	if err := s.each(ctx, nil, probe); err != nil {
		if ended := ctx.Err(); ended != nil {
			return nil, ended
		}
		return []Problem{{Text: fmt.Sprintf("the table %s cannot be read: %v", t.Name, err)}}, nil
	}
	indices, err := s.indices(ctx, t)
	if err != nil {
		return nil, err
	}
	problems := s.checkDemands(t, there)
	for _, n := range s.needs(t) {
		if !n.metBy(t, indices) {
			problems = append(problems, Problem{
				Text: fmt.Sprintf("the table %s has no %sindex on %s: %s", t.Name, uniquely(n.unique), strings.Join(n.names(t), ", "), n.without),
				Fix:  s.createIndex(t, n),
			})
		}
	}
	return problems, nil
}

// withoutPasskeys says what to do about a table of passkeys that is missing.
const withoutPasskeys = ": no user can be deleted. If the application has no passkeys, set Layout.Authenticators = sqlstore.Table{}, or else create the table"

// withoutTable says what to do about a table of Auth.js that is missing. That of passkeys may
// be: it belongs into no layout then, since the store deletes a user's rows in each table.
func (s *Store) withoutTable(t *table) string {
	switch {
	case s.tables.hashed:
		return ""
	case t == s.tables.authenticators:
		return withoutPasskeys
	}
	return ": set its name in the layout, or with -table"
}

// ownerTypes select the type of a column $2 of the table $1, as a column needs it that refers to
// it. In MySQL $3 is the column.
var ownerTypes = map[Dialect]string{
	PostgreSQL: `SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = to_regclass($1) AND attname = $2`,

	MySQL: `SELECT CONCAT(column_type, COALESCE(CONCAT(' COLLATE ', collation_name), ''))
FROM information_schema.columns
WHERE table_schema = COALESCE($2, DATABASE()) AND table_name = $1 AND column_name = $3`,

	SQLite: `SELECT type FROM pragma_table_info($1) WHERE name = $2`,
}

// createTable returns the statement that makes the table of passkeys as Auth.js has it, and "" for
// all others: a table of Auth.js that every layout has is there under another name, and own tables
// are made by the migrations.
func (s *Store) createTable(ctx context.Context, t *table) (statement string, err error) {
	if s.tables.hashed || t != s.tables.authenticators ||
		slices.ContainsFunc(authenticatorColumns.further, t.has) || len(t.extra) > 0 { // whose types are not known
		return "", nil
	}
	users := s.tables.users
	id := "id"
	if name := users.Columns["id"]; name != "" {
		id = name
	}
	var owner string
	if err := s.one(ctx, []any{&owner}, s.dialect.statement(ownerTypes[s.dialect]), append(s.tableArguments(users), id)...); err != nil {
		return "", ctx.Err() // the table of users has a problem of its own
	}
	text := "text"
	if s.dialect == MySQL {
		text = "varchar(255)" // a text cannot be a key
	}
	c := t.columns
	lines := []string{
		c["credentialID"] + " " + text + " NOT NULL UNIQUE", c["userId"] + " " + owner + " NOT NULL", c["providerAccountId"] + " " + text + " NOT NULL",
		c["credentialPublicKey"] + " " + text + " NOT NULL", c["counter"] + " integer NOT NULL", c["credentialDeviceType"] + " " + text + " NOT NULL",
		c["credentialBackedUp"] + " boolean NOT NULL",
	}
	if t.has("transports") {
		lines = append(lines, c["transports"]+" "+text)
	}
	lines = append(lines, fmt.Sprintf("PRIMARY KEY (%s, %s)", c["userId"], c["credentialID"]),
		fmt.Sprintf("FOREIGN KEY (%s) REFERENCES %s (%s) ON DELETE CASCADE", c["userId"], users.quoted, users.columns["id"]))
	return fmt.Sprintf("CREATE TABLE %s (\n\t%s\n)", t.quoted, strings.Join(lines, ",\n\t")), nil
}

// withoutColumns says what to do about columns that are missing in a table of Auth.js.
func (s *Store) withoutColumns(t *table, lacking []string) string {
	switch {
	case s.tables.hashed:
		return ""
	case slices.ContainsFunc(lacking, func(name string) bool { return !slices.Contains(t.extra, s.dialect.quote(name)) }):
		return ": create it, or set its name in Columns of the layout, or with -column"
	}
	return ": create it, or leave it out of Extra of the layout, or out of -extra"
}

func uniquely(unique bool) string {
	if unique {
		return "unique "
	}
	return ""
}

// names returns the names the columns have in the table.
func (n need) names(t *table) []string {
	names := make([]string, len(n.columns))
	for i, column := range n.columns {
		names[i] = column
		if name := t.Columns[column]; name != "" {
			names[i] = name
		}
	}
	return names
}

func (n need) metBy(t *table, indices []index) bool {
	names := n.names(t)
	for _, x := range indices {
		within := !slices.ContainsFunc(x.columns, func(c string) bool { return !slices.Contains(names, c) })
		if x.unique && within {
			return true // at most one row, found by it
		}
		if !n.unique && len(x.columns) >= len(names) &&
			!slices.ContainsFunc(x.columns[:len(names)], func(c string) bool { return !slices.Contains(names, c) }) {
			return true
		}
	}
	return false
}

func (s *Store) createIndex(t *table, n need) string {
	names := n.names(t)
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = s.dialect.quote(name)
	}
	kind := ""
	if n.unique {
		kind = "UNIQUE "
	}
	_, last, dotted := strings.Cut(t.Name, ".")
	if !dotted {
		last = t.Name
	}
	name := s.dialect.quote(strings.ReplaceAll(last+"_"+strings.Join(names, "_")+"_index", ".", "_"))
	return fmt.Sprintf("CREATE %sINDEX %s ON %s (%s)", kind, name, t.quoted, list(quoted))
}

// An index is one that covers every row of a table.
type index struct {
	unique  bool
	columns []string
}

// The statements below list the indices of the table $1, one column a row, in
// the order of the columns. An expression is a column without a name.
var indexQueries = map[Dialect]string{
	PostgreSQL: `SELECT CAST(CAST(i.indexrelid AS bigint) AS text), i.indisunique, COALESCE(a.attname, '')
FROM pg_index i
CROSS JOIN LATERAL unnest(i.indkey) WITH ORDINALITY AS k (attnum, place)
LEFT JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
WHERE i.indrelid = to_regclass($1) AND i.indisvalid AND i.indpred IS NULL AND k.place <= i.indnkeyatts
ORDER BY i.indexrelid, k.place`,

	// An index on the beginnings of values does not keep the values apart.
	MySQL: `SELECT index_name, MIN(non_unique = 0 AND sub_part IS NULL), COALESCE(column_name, '')
FROM information_schema.statistics
WHERE table_schema = COALESCE($2, DATABASE()) AND table_name = $1
GROUP BY index_name, column_name, seq_in_index
ORDER BY index_name, seq_in_index`,

	SQLite: `SELECT l.name, l."unique", COALESCE(i.name, '')
FROM pragma_index_list($1) l JOIN pragma_index_info(l.name) i
WHERE l.partial = 0
ORDER BY l.seq, i.seqno`,
}

func (s *Store) indices(ctx context.Context, t *table) ([]index, error) {
	var indices []index
	last := ""
	err := s.each(ctx, func(scan func(...any) error) error {
		var name, column string
		var unique bool
		if err := scan(&name, &unique, &column); err != nil {
			return err
		}
		if name != last {
			indices = append(indices, index{unique: unique})
			last = name
		}
		x := &indices[len(indices)-1]
		x.unique = x.unique && unique
		x.columns = append(x.columns, column)
		return nil
	}, s.dialect.statement(indexQueries[s.dialect]), s.tableArguments(t)...)
	return indices, err
}

// A setting is something that a data source name decides.
type setting struct {
	query string
	good  func(value string) bool
	text  string // takes the value
	fix   string // a statement, if one does it
}

func oneOf(values ...string) func(string) bool {
	return func(v string) bool { return slices.Contains(values, v) }
}

var settings = map[Dialect][]setting{
	PostgreSQL: {
		{"SHOW server_encoding", oneOf("utf8"), "the database's encoding is %q and not UTF8: names it cannot write are refused", ""},
	},
	MySQL: {
		{
			"SELECT @@sql_mode", func(v string) bool {
				return strings.Contains(v, "strict_trans_tables") || strings.Contains(v, "strict_all_tables")
			},
			"sql_mode is %q without STRICT_TRANS_TABLES: texts that are too long are cut, and two that differ at the end become one", "",
		},
		{"SELECT @@character_set_client", oneOf("utf8mb4"), "the connection's character set is %q and not utf8mb4: texts are not compared as they are", ""},
	},
	SQLite: {
		{"PRAGMA busy_timeout", func(v string) bool { return v != "0" }, "busy_timeout is %q: a request that writes while another does fails; see the package documentation", ""},
		{"PRAGMA journal_mode", oneOf("wal", "memory"), "journal_mode is %q and not wal: readers and writers wait for one another; see the package documentation", "PRAGMA journal_mode = WAL;"},
	},
}

func (s *Store) checkConnection(ctx context.Context) ([]Problem, error) {
	var problems []Problem
	for _, want := range settings[s.dialect] {
		var value string
		if err := s.one(ctx, []any{&value}, s.dialect.statement(want.query)); err != nil {
			return nil, err
		}
		if !want.good(strings.ToLower(value)) {
			problems = append(problems, Problem{Text: fmt.Sprintf(want.text, value), Fix: want.fix})
		}
	}
	return problems, nil
}
