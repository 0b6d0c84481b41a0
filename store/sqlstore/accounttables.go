package sqlstore

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

//go:embed shared
var shared embed.FS

// accountTables are the tables of package account, of sign-ins at providers and of the
// shared state: those that [Migrate] makes, or those that [MigrateShared] makes beside the
// tables of Auth.js. Their times are milliseconds
// and their texts compare byte by byte, whatever the layout.
type accountTables struct {
	states, factors, flows *table // nil without Layout.AccountTables
	activity               *table // the same
	once, leases, counts   *table // the same
	signIns, ends          *table // the same

	facts *table // nil if the table of sessions has a column for their data
}

// The columns of each table, in the order in which they are read and written.
var (
	stateColumns    = strings.Fields("user_id version roles banned_until ban_reason delete_at must claim suspended created last_sign_in")
	factorColumns   = strings.Fields("user_id kind id version secret step name created last_used expires")
	flowColumns     = strings.Fields("id kind subject version payload code attempts created expires")
	activityColumns = strings.Fields("id at kind outcome user_id actor subject detail count expires")
	activityFilters = strings.Fields("user_id actor kind outcome")
	factsColumns    = strings.Fields("session user_id data expires")
	onceColumns     = strings.Fields("id expires")
	leaseColumns    = strings.Fields("id owner expires")
	countColumns    = strings.Fields("id expires")
	signInColumns   = strings.Fields("id session user_id provider account_id key_sid key_sub role acr amr auth_time proof hint created expires")
	endColumns      = strings.Fields("id ended expires")
)

// makeAccountTables makes the tables of package account ready, in the schema of the
// users.
func (t *tables) makeAccountTables() error {
	if !t.AccountTables {
		return nil
	}
	var errs []error
	table := func(name string, columns []string) *table {
		made, err := t.Dialect.table(Table{Name: t.schema() + name, ID: TextID}, known{expected: columns}, "Layout.AccountTables")
		errs = append(errs, err)
		return made
	}
	t.states = table("pintle_states", append(slices.Clone(stateColumns), "failures", "streak"))
	t.factors = table("pintle_factors", factorColumns)
	t.flows = table("pintle_flows", flowColumns)
	t.activity = table("pintle_activity", activityColumns)
	t.once = table("pintle_once", onceColumns)
	t.leases = table("pintle_leases", leaseColumns)
	t.counts = table("pintle_counts", countColumns)
	t.signIns = table("pintle_provider_sessions", signInColumns)
	t.ends = table("pintle_provider_ends", endColumns)
	if t.sessions != nil && !t.sessions.has("data") {
		t.facts = table("pintle_facts", factsColumns)
	}
	return errors.Join(errs...)
}

// schema returns what is before the name of the table of users, with its dot.
func (l Layout) schema() string { return l.Users.Name[:strings.LastIndexByte(l.Users.Name, '.')+1] }

// all returns the tables there are.
func (t *accountTables) all() []*table {
	return slices.DeleteFunc([]*table{t.states, t.factors, t.flows, t.activity, t.signIns, t.ends, t.once, t.leases, t.counts, t.facts}, func(t *table) bool { return t == nil })
}

// MigrateShared makes the tables of [Layout.AccountTables], or those of them that are
// missing, and changes no other table. Any number of processes may call it at once. Tables
// made by a later version are left as they are. It fails if the layout's table of users
// does not exist, or that of passkeys: no user could be deleted.
//
// The user of the database needs the right to create tables. If the application does not
// have it, apply the statements that [Store.Check] returns as another user.
func MigrateShared(ctx context.Context, db *sql.DB, l Layout) error {
	t, err := l.tables()
	if err == nil && !l.AccountTables {
		err = errors.New("Layout.AccountTables is not set: there are no tables to make")
	}
	if err == nil {
		err = l.Dialect.migrate(ctx, db, t.migrateAccountTables)
	}
	if err != nil {
		return fmt.Errorf("sqlstore: migrate: %w", err)
	}
	return nil
}

func (t *tables) migrateAccountTables(ctx context.Context, run runner) error {
	// In a database without users of Auth.js the tables would be in the wrong place.
	_, err := run.ExecContext(ctx, fmt.Sprintf("SELECT %s FROM %s WHERE 1 = 0", t.users.columns["id"], t.users.quoted))
	if err != nil {
		return fmt.Errorf("the table %s, which the layout names: %w", t.users.Name, err)
	}
	if t.authenticators != nil {
		// Programs migrate before they start: the first user who is deleted would find it otherwise.
		if _, err := run.ExecContext(ctx, fmt.Sprintf("SELECT 1 FROM %s WHERE 1 = 0", t.authenticators.quoted)); err != nil {
			return fmt.Errorf("the table %s, which the layout names: %w%s", t.authenticators.Name, err, withoutPasskeys)
		}
	}
	for _, statement := range t.accountStatements() {
		if _, err := run.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// accountStatements returns the statements that make the tables of package account. A
// statement has no effect if what it makes is there.
func (t *tables) accountStatements() []string {
	steps, err := readMigrations(Migrations(t.Dialect))
	if err != nil {
		panic("sqlstore: unreachable: " + err.Error()) // the files are part of the program
	}
	var statements []string
	for _, step := range steps {
		if step.version >= firstAccountMigration && step.version != userListMigration {
			statements = append(statements, step.statements...)
		}
	}
	if t.facts != nil {
		text, err := shared.ReadFile("shared/" + t.Dialect.String() + ".sql")
		if err != nil {
			panic("sqlstore: unreachable: " + err.Error())
		}
		statements = append(statements, splitStatements(string(text))...)
	}
	for i, statement := range statements {
		statements[i] = t.inSchema(comments.ReplaceAllString(statement, ""))
	}
	return statements
}

// firstAccountMigration is the version of [Migrate] from which on it makes only tables
// that also stand beside those of Auth.js, but for userListMigration, which changes the table
// of users: that of Auth.js stays as it is.
const (
	firstAccountMigration = 4
	userListMigration     = 8
)

var (
	comments = regexp.MustCompile(`(?m)^--.*\n\n?`)

	// A name that a statement gives to a table, or to an index.
	tableName = regexp.MustCompile(`(TABLE IF NOT EXISTS|\bON) (pintle_)`)
	madeName  = regexp.MustCompile(`(TABLE IF NOT EXISTS|INDEX IF NOT EXISTS) (pintle_)`)
)

// inSchema names the tables of a statement with the schema of the layout. In SQLite it
// goes before the name of an index, in the others before that of its table.
func (t *tables) inSchema(statement string) string {
	schema := strings.TrimSuffix(t.schema(), ".")
	if schema == "" {
		return statement
	}
	name := tableName
	if t.Dialect == SQLite {
		name = madeName
	}
	quoted := strings.ReplaceAll(t.Dialect.quote(schema), "$", "$$")
	return name.ReplaceAllString(statement, "$1 "+quoted+".$2")
}

// checkAccountTables reports tables of package account that are missing, with the
// statements that make them, and those that differ from what they should be.
func (s *Store) checkAccountTables(ctx context.Context) ([]Problem, error) {
	var problems []Problem
	for _, t := range s.tables.accountTables.all() {
		columns, err := s.columns(ctx, t)
		if err != nil {
			return nil, err
		}
		var found []Problem
		if len(columns) > 0 || s.tables.hashed {
			found, err = s.checkTable(ctx, t)
		} else {
			found = s.missingAccountTable(t)
		}
		if err != nil {
			return nil, err
		}
		problems = append(problems, found...)
	}
	return problems, nil
}

func (s *Store) missingAccountTable(t *table) []Problem {
	name := strings.TrimPrefix(t.Name, s.tables.schema())
	var problems []Problem
	for _, statement := range s.tables.accountStatements() {
		made, _, _ := strings.Cut(statement, "\n")
		if !strings.Contains(made, name) { // the name of an index begins with that of its table
			continue
		}
		text := fmt.Sprintf("there is no table %s: run pintle migrate -layout NAME -accounts, or call sqlstore.MigrateShared", t.Name)
		if strings.HasPrefix(made, "CREATE INDEX") {
			text = fmt.Sprintf("there is no index of the table %s", t.Name)
		}
		problems = append(problems, Problem{Text: text, Fix: statement})
	}
	return problems
}
