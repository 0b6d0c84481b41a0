package sqlstore

import (
	"fmt"
	"slices"
	"strings"
)

// accountRows adds the statements for the tables of package account. They name other
// users, factors and flows by columns that compare byte by byte in each dialect.
func (b builder) accountRows(q *queries) {
	b.stateRows(q)
	b.factorRows(q)
	b.flowRows(q)
	b.activityRows(q)
	b.sharedRows(q)
	b.signInRows(q)
	var left []string
	q.deleteAccountRows = append(q.deleteAccountRows, q.keepActs) // before the events of the user go
	for _, t := range []struct {
		*table
		owner string
	}{{b.facts, "user_id"}, {b.states, "user_id"}, {b.factors, "user_id"}, {b.flows, "subject"}, {b.activity, "user_id"}, {b.signIns, "user_id"}} {
		if t.table != nil {
			of := fmt.Sprintf("FROM %s WHERE %s = $1", t.quoted, t.columns[t.owner])
			q.deleteAccountRows = append(q.deleteAccountRows, b.statement("DELETE %s", of))
			left = append(left, "EXISTS (SELECT 1 "+of+")")
		}
	}
	q.leftRows = b.statement("SELECT CASE WHEN %s THEN 1 ELSE 0 END", strings.Join(left, " OR "))
	b.orphanRows(q)
	q.sweepFlows = b.sweepRows(b.flows, "", b.flows.columns["id"])
	q.sweepFactors = b.sweepRows(b.factors, "", b.factors.names("", "user_id", "kind", "id")...)
	if b.facts != nil {
		b.factsRows(q)
	}
}

func (b builder) stateRows(q *queries) {
	t := b.states
	id, version := t.columns["user_id"], t.columns["version"]
	q.state = b.statement("SELECT %s FROM %s WHERE %s = $1", list(t.names("", append(stateColumns[1:len(stateColumns):len(stateColumns)], "streak")...)), t.quoted, id)
	q.changeState = b.statement("UPDATE %s SET %s = %[2]s + 1, %s WHERE %s = $1 AND %s = $2",
		t.quoted, version, set(3, t.names("", stateColumns[2:]...)), id, version)
	q.createState = b.unlessThere(t, 1, append(t.names("", stateColumns...), t.columns["streak"]), "0")
	// The row is locked by writing it where reading it locks the gap instead, in which
	// two transactions that wait for one another would then write.
	q.ensureState = b.unlessThere(t, 1, t.names("", "user_id", "version", "suspended", "streak"), "0")
	if b.Dialect == MySQL {
		q.ensureState = b.statement("INSERT INTO %s (%s) VALUES ($1, $2, $3, 0) ON DUPLICATE KEY UPDATE %s = %[3]s",
			t.quoted, list(t.names("", "user_id", "version", "suspended", "streak")), id)
	}
	q.lockState = b.statement("SELECT %s FROM %s WHERE %s = $1%s", list(t.names("", "failures", "streak")), t.quoted, id, b.locked())
	q.dueUsers = b.statement("SELECT %[1]s FROM %[2]s WHERE %[1]s > $1 AND %[3]s <= $2 ORDER BY %[1]s LIMIT $3", id, t.quoted, t.columns["delete_at"])
	q.countState = b.statement("UPDATE %s SET %s WHERE %s = $1", t.quoted, set(2, t.names("", "failures", "streak")), id)
}

// unlessThere writes a row unless one with its key is there: the first keys columns. The
// last column gets a constant, the others the parameters. In MySQL an existing row is an
// error instead, since its IGNORE ignores other errors too.
func (b builder) unlessThere(t *table, keys int, columns []string, last string) *statement {
	values := make([]string, len(columns))
	for i := range columns {
		values[i] = fmt.Sprintf("$%d", i+1)
	}
	values[len(values)-1] = last
	text := fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", t.quoted, list(columns), list(values))
	if b.Dialect != MySQL {
		text += fmt.Sprintf(" ON CONFLICT (%s) DO NOTHING", list(columns[:keys]))
	}
	return b.Dialect.statement(text)
}

func (b builder) factorRows(q *queries) {
	t := b.factors
	version, step := t.columns["version"], t.columns["step"]
	key := b.key(t, "user_id", "kind", "id")
	q.factors = b.statement("SELECT %s FROM %s WHERE %s = $1", list(t.names("", factorColumns[1:]...)), t.quoted, t.columns["user_id"])
	q.addFactor = b.insert(t, t.names("", factorColumns...), nil)
	q.replaceFactor = b.statement("UPDATE %s SET %s = %[2]s + 1, %s = CASE WHEN %[3]s < $5 THEN $5 ELSE %[3]s END, %s WHERE %s AND %[2]s = $4",
		t.quoted, version, step, set(6, t.names("", "secret", "name", "last_used", "expires")), key)
	q.advanceFactor = b.statement("UPDATE %s SET %s WHERE %s AND %s < $4", t.quoted, set(4, t.names("", "step", "last_used")), key, step)
	q.factorExists = b.statement("SELECT %s FROM %s WHERE %s", version, t.quoted, key)
	q.factorUsers = b.statement("SELECT DISTINCT %[1]s FROM %[2]s WHERE %[1]s > $1 AND %[3]s = $2 ORDER BY %[1]s LIMIT $3",
		t.columns["user_id"], t.quoted, t.columns["kind"])
	q.deleteFactor = b.statement("DELETE FROM %s WHERE %s", t.quoted, key)
}

// deleteFactors removes the factors of a user that have one of some kinds, except those
// with one of some ids.
func (b builder) deleteFactors(kinds, except int) *statement {
	t := b.factors
	text := fmt.Sprintf("DELETE FROM %s WHERE %s = $1 AND %s IN (%s)", t.quoted, t.columns["user_id"], t.columns["kind"], parameters(2, kinds))
	if except > 0 {
		text += fmt.Sprintf(" AND %s NOT IN (%s)", t.columns["id"], parameters(2+kinds, except))
	}
	s := b.Dialect.statement(text)
	s.once = true
	return s
}

func (b builder) flowRows(q *queries) {
	t := b.flows
	id, version, attempts := t.columns["id"], t.columns["version"], t.columns["attempts"]
	columns := list(t.names("", flowColumns[1:]...))
	q.createFlow = b.insert(t, t.names("", flowColumns...), nil)
	q.flow = b.statement("SELECT %s FROM %s WHERE %s = $1", columns, t.quoted, id)
	q.attemptFlow = b.statement("UPDATE %s SET %s = %[2]s + 1 WHERE %s = $1 AND %[2]s < $2 RETURNING %[2]s", t.quoted, attempts, id)
	if !b.Dialect.returning() {
		// The number that the row gets is the one that the statement reports.
		// https://dev.mysql.com/doc/refman/8.4/en/information-functions.html#function_last-insert-id
		q.attemptFlow = b.statement("UPDATE %s SET %s = LAST_INSERT_ID(%[2]s + 1) WHERE %s = $1 AND %[2]s < $2", t.quoted, attempts, id)
	}
	q.changeFlow = b.statement("UPDATE %s SET %s = %[2]s + 1, %s WHERE %s = $1 AND %[2]s = $2",
		t.quoted, version, set(3, t.names("", "payload", "code", "expires")), id)
	used := fmt.Sprintf("DELETE FROM %s WHERE %s = $1 AND %s = $2", t.quoted, id, t.columns["kind"])
	if b.Dialect.returning() {
		used += " RETURNING " + columns
	} else {
		q.lockFlow = b.statement("SELECT %s FROM %s WHERE %s = $1 AND %s = $2%s", columns, t.quoted, id, t.columns["kind"], b.locked())
	}
	q.useFlow = b.Dialect.statement(used)
	q.countFlows = b.statement("SELECT COUNT(*) FROM %s WHERE %s AND %s > $3", t.quoted, b.key(t, "subject", "kind"), t.columns["expires"])
}

// endFlows removes the flows of a subject that have one of some kinds.
func (b builder) endFlows(kinds int) *statement {
	t := b.flows
	s := b.statement("DELETE FROM %s WHERE %s = $1 AND %s IN (%s)", t.quoted, t.columns["subject"], t.columns["kind"], parameters(2, kinds))
	s.once = true
	return s
}

func (b builder) factsRows(q *queries) {
	t, s := b.facts, b.tables.sessions
	session, expires := t.columns["session"], t.columns["expires"]
	q.lockSession = b.statement("SELECT %s FROM %s WHERE %s%s", list(s.names("", "userId", "expires")), s.quoted, b.is(s.columns["sessionToken"], 1), b.locked())
	put := fmt.Sprintf("INSERT INTO %s (%s) VALUES ($1, $2, $3, $4)", t.quoted, list(t.names("", factsColumns...)))
	changed := set(2, t.names("", factsColumns[1:]...))
	if b.Dialect == MySQL {
		q.putFacts = b.statement("%s ON DUPLICATE KEY UPDATE %s", put, changed)
	} else {
		q.putFacts = b.statement("%s ON CONFLICT (%s) DO UPDATE SET %s", put, session, changed)
	}
	q.facts = b.statement("SELECT %s FROM %s WHERE %s = $1", list(t.names("", "user_id", "data")), t.quoted, session)
	q.userFacts = b.statement("SELECT %s FROM %s WHERE %s = $1", list(t.names("", "session", "data")), t.quoted, t.columns["user_id"])
	q.deleteFacts = b.statement("DELETE FROM %s WHERE %s = $1", t.quoted, session)
	q.staleFacts = b.statement("SELECT %s FROM %s WHERE %s < $1 ORDER BY %[3]s LIMIT $2", list(t.names("", "session", "user_id", "expires")), t.quoted, expires)
	q.keepFacts = b.statement("UPDATE %s SET %s = $3 WHERE %s = $1 AND %[2]s = $2", t.quoted, expires, session)
	q.dropFacts = b.statement("DELETE FROM %s WHERE %s = $1 AND %s = $2", t.quoted, session, expires)
}

// key compares columns with the parameters from the first on.
func (b builder) key(t *table, columns ...string) string {
	conditions := make([]string, len(columns))
	for i, column := range columns {
		conditions[i] = fmt.Sprintf("%s = $%d", t.columns[column], i+1)
	}
	return strings.Join(conditions, " AND ")
}

// parameters lists n parameters from the first on.
func parameters(first, n int) string {
	names := make([]string, 0, n)
	for i := range n {
		names = append(names, fmt.Sprintf("$%d", first+i))
	}
	return list(slices.Clip(names))
}
