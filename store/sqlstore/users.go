package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/internal/userlist"
)

// listedColumns are the columns of a state as a list reads them.
var listedColumns = append(stateColumns[1:len(stateColumns):len(stateColumns)], "streak")

// afterAll is greater than the rest of any text that begins like it: the last character there
// is.
const afterAll = "\U0010FFFF"

// A userList is one page of a list, as a statement.
type userList struct {
	builder
	q     *accountstore.UserQuery
	order userlist.Order
	after userlist.Position

	where []string
	args  []any
}

// Users implements [accountstore.Store]. In the tables that [Migrate] makes an index finds the
// users of a page: that of the times at which they were made, of their addresses, or of the
// beginnings of their names. In tables that are shared with Auth.js it reads the users in the
// order of their ids, the greatest first, until the page is full.
func (r accountRows) Users(ctx context.Context, q accountstore.UserQuery) (page []*accountstore.User, next string, err error) {
	if !storable(q.ID, q.EmailPrefix, q.NamePrefix, q.Role) || q.Limit <= 0 {
		return nil, "", ctx.Err()
	}
	l := &userList{builder: builder{r.tables}, q: &q}
	if r.tables.hashed {
		l.order = userlist.Of(q.EmailPrefix, q.NamePrefix)
	} else {
		l.order = userlist.Newest
	}
	if q.After != "" {
		if l.after, err = userlist.Read(q.After, l.order); err != nil {
			return nil, "", r.fail(ctx, "list users", err)
		}
	}
	s, possible := l.statement()
	if !possible {
		return nil, "", ctx.Err()
	}
	var last userlist.Position
	err = r.each(ctx, func(scan func(...any) error) error {
		var row listedRow
		if err := scan(row.dest(r.records)...); err != nil {
			return err
		}
		if len(page) == q.Limit {
			next = last.Text()
			return nil
		}
		u := row.user()
		last = userlist.Position{Order: l.order, Key: row.key.String, ID: u.ID}
		page = append(page, u)
		return nil
	}, s, l.args...)
	if err != nil {
		return nil, "", r.fail(ctx, "list users", err)
	}
	return page, next, nil
}

// A listedRow is a user as a row of the list is read into it.
type listedRow struct {
	userRow
	created            sql.NullInt64
	version, streak    sql.NullInt64
	roles              jsonList[string]
	bannedUntil        instant
	deleteAt           instant
	stateCreated, last instant
	reason, must       sql.NullString
	claim              sql.NullString
	suspended, second  sql.NullBool
	key                sql.NullString
}

func (l *listedRow) dest(r records) []any {
	t := r.tables.users
	l.verified.wallClock = r.dialect == MySQL
	dest := []any{&l.id}
	for _, column := range []struct {
		name string
		dest any
	}{{"name", &l.name}, {"email", &l.email}, {"emailVerified", &l.verified}, {"image", &l.image}} {
		if t.has(column.name) {
			dest = append(dest, column.dest)
		}
	}
	return append(dest, &l.created,
		&l.version, &l.roles, &l.bannedUntil, &l.reason, &l.deleteAt, &l.must, &l.claim, &l.suspended, &l.stateCreated, &l.last, &l.streak,
		&l.second, &l.key)
}

func (l *listedRow) user() *accountstore.User {
	u := &accountstore.User{
		ID: string(l.id), Name: l.name.String, Email: l.email.String, EmailVerified: l.verified.Time, Image: l.image.String,
		SecondFactor: l.second.Bool,
		State: accountstore.State{
			UserID: string(l.id), Version: l.version.Int64, Roles: l.roles, BannedUntil: l.bannedUntil.Time, BanReason: l.reason.String,
			DeleteAt: l.deleteAt.Time, Must: l.must.String, Claim: l.claim.String, Suspended: l.suspended.Bool,
			Created: l.stateCreated.Time, LastSignIn: l.last.Time, Streak: int(l.streak.Int64),
		},
	}
	if l.created.Int64 != 0 {
		u.Created = time.UnixMilli(l.created.Int64).UTC()
	}
	return u
}

// add adds a condition, in which each %s is a parameter for one of the values.
func (l *userList) add(condition string, values ...any) {
	names := make([]any, len(values))
	for i, value := range values {
		l.args = append(l.args, value)
		names[i] = fmt.Sprintf("$%d", len(l.args))
	}
	l.where = append(l.where, fmt.Sprintf(condition, names...))
}

// statement writes the statement. possible is false if no user can fulfil the conditions.
func (l *userList) statement() (s *statement, possible bool) {
	u, states, factors := l.tables.users, l.states, l.factors
	id := "u." + u.columns["id"]
	if !l.conditions(id) || !l.continues(id) {
		return nil, false
	}
	created, key := "0", "''"
	if u.has("created") {
		created = "u." + u.columns["created"]
	}
	switch l.order {
	case userlist.ByEmail:
		key = "u." + u.columns["email"]
	case userlist.ByName:
		key = l.nameKey()
	case userlist.Newest:
		if u.has("created") {
			key = created
		}
	}
	columns := append(u.names("u.", "id", "name", "email", "emailVerified", "image"), created)
	columns = append(columns, states.names("s.", listedColumns...)...)
	second := fmt.Sprintf("EXISTS (SELECT 1 FROM %s f WHERE f.%s = %s AND f.%s = 'totp')",
		factors.quoted, factors.columns["user_id"], l.asOwner(id), factors.columns["kind"])
	columns = append(columns, second, key)
	if l.q.SecondFactor != nil {
		l.where = append(l.where, map[bool]string{true: second, false: "NOT " + second}[*l.q.SecondFactor])
	}
	join := "LEFT JOIN"
	if l.needsState() {
		join = "JOIN"
	}
	where := ""
	if len(l.where) > 0 {
		where = " WHERE " + strings.Join(l.where, " AND ")
	}
	order := id + " DESC"
	switch {
	case l.order == userlist.ByEmail:
		order = key
	case l.order == userlist.ByName:
		order = key + ", " + id
	case u.has("created"):
		order = created + " DESC, " + order
	}
	l.args = append(l.args, l.q.Limit+1)
	s = l.builder.statement("SELECT %s FROM %s u %s %s s ON s.%s = %s%s ORDER BY %s LIMIT $%d",
		list(columns), u.quoted, join, states.quoted, states.columns["user_id"], l.asOwner(id), where, order, len(l.args))
	s.once = true
	return s, true
}

// needsState reports whether only users with a row of their state can be in the list.
func (l *userList) needsState() bool {
	wanted := func(b *bool) bool { return b != nil && *b }
	return l.q.Role != "" || wanted(l.q.Banned) || wanted(l.q.Deleting)
}

// asOwner is the id of a user as the tables of package account have it: as text that compares
// byte by byte.
func (l *userList) asOwner(id string) string {
	switch {
	case l.exact:
		return id
	case l.Dialect == PostgreSQL:
		return "CAST(" + id + ` AS text) COLLATE "C"`
	case l.Dialect == MySQL:
		return "CAST(CONVERT(" + id + " USING utf8mb4) AS BINARY)"
	}
	return "CAST(" + id + " AS TEXT)"
}

// conditions adds those of the query. It reports whether a user can fulfil them.
func (l *userList) conditions(id string) bool {
	u, s := l.tables.users, func(column string) string { return "s." + l.states.columns[column] }
	if l.q.ID != "" {
		key, ok := u.ID.column(l.q.ID)
		if !ok {
			return false
		}
		l.args = append(l.args, key)
		l.where = append(l.where, l.isID(id, len(l.args)))
	}
	if l.q.EmailPrefix != "" {
		email, value := l.bytes("u." + u.columns["email"])
		l.add(email+" >= "+value+" AND "+email+" < "+value, l.q.EmailPrefix, l.q.EmailPrefix+afterAll)
	}
	if l.q.NamePrefix != "" {
		if !u.has("name") {
			return false
		}
		lower := map[Dialect]string{
			PostgreSQL: `lower(CAST(%s AS text)) COLLATE "C"`, MySQL: "LOWER(CONVERT(%s USING utf8mb4)) COLLATE utf8mb4_bin", SQLite: "lower(%s)",
		}[l.Dialect]
		key := l.nameKey()
		l.add(key+" >= "+lower+" AND "+key+" < "+lower, l.q.NamePrefix, l.q.NamePrefix+afterAll)
	}
	if l.q.Role != "" {
		if l.exact && l.Dialect == MySQL {
			l.where = append(l.where, "s.`has_roles` = TRUE") // the column of the index
		} else {
			l.where = append(l.where, s("roles")+" IS NOT NULL")
		}
		l.add(map[Dialect]string{
			PostgreSQL: "CAST(" + s("roles") + " AS jsonb) @> to_jsonb(CAST(%s AS text))",
			MySQL:      "JSON_CONTAINS(" + s("roles") + ", JSON_QUOTE(%s))",
			SQLite:     "EXISTS (SELECT 1 FROM json_each(" + s("roles") + ") r WHERE r.value = %s)",
		}[l.Dialect], l.q.Role)
	}
	if l.q.Banned != nil {
		if *l.q.Banned {
			l.add(s("banned_until")+" > %s", l.q.At.UnixMilli())
		} else {
			l.add("("+s("banned_until")+" IS NULL OR "+s("banned_until")+" <= %s)", l.q.At.UnixMilli())
		}
	}
	if l.q.Deleting != nil {
		claims := "(" + s("claim") + " IS NOT NULL AND " + s("claim") + " <> '')"
		if *l.q.Deleting {
			l.where = append(l.where, s("delete_at")+" IS NOT NULL AND NOT "+claims)
		} else {
			l.where = append(l.where, "("+s("delete_at")+" IS NULL OR "+claims+")")
		}
	}
	if l.q.Unproved != nil {
		unproven := "(u." + u.columns["email"] + " IS NOT NULL AND u." + u.columns["email"] + " <> '')"
		if u.has("emailVerified") {
			unproven = "(" + unproven + " AND u." + u.columns["emailVerified"] + " IS NULL)"
		}
		l.where = append(l.where, map[bool]string{true: "", false: "NOT "}[*l.q.Unproved]+unproven)
	}
	return true
}

// bytes is a column of text, and a parameter for it, so that they compare byte by byte.
func (l *userList) bytes(column string) (compared, parameter string) {
	switch {
	case l.exact:
		return column, "%s"
	case l.Dialect == PostgreSQL:
		return "CAST(" + column + ` AS text) COLLATE "C"`, "%s"
	case l.Dialect == MySQL:
		return "CAST(CONVERT(" + column + " USING utf8mb4) AS BINARY)", "CAST(%s AS BINARY)"
	}
	return column + " COLLATE BINARY", "%s"
}

// nameKey is the beginning of a name in small letters: what the index of names has.
func (l *userList) nameKey() string {
	name := "u." + l.tables.users.columns["name"]
	switch {
	case l.Dialect == PostgreSQL:
		return "lower(left(" + name + `, 100)) COLLATE "C"`
	case l.Dialect == MySQL && l.exact:
		return "u.`name_key`"
	case l.Dialect == MySQL:
		return "LOWER(LEFT(CONVERT(" + name + " USING utf8mb4), 100)) COLLATE utf8mb4_bin"
	}
	return "lower(substr(" + name + ", 1, 100))"
}

// beyondNow is later than the time at which any user was made.
const beyondNow = int64(1) << 53

// continues adds where the page begins. It reports whether there is such a place. The first
// page of a list by time has a condition, too, so that the databases use the index.
func (l *userList) continues(id string) bool {
	u, first := l.tables.users, l.q.After == ""
	var after any
	if !first {
		var ok bool
		if after, ok = u.ID.column(l.after.ID); !ok || !storable(l.after.Key) {
			return false
		}
	}
	switch {
	case l.order == userlist.ByEmail && !first:
		l.add("u."+u.columns["email"]+" > %s", l.after.Key)
	case l.order == userlist.ByName && !first:
		l.beyond(l.nameKey(), id, ">", l.after.Key, after)
	case l.order == userlist.Newest && u.has("created"):
		key := beyondNow
		if first {
			after = ""
		} else {
			var err error
			if key, err = strconv.ParseInt(l.after.Key, 10, 64); err != nil {
				return false
			}
		}
		l.beyond("u."+u.columns["created"], id, "<", key, after)
	case l.order == userlist.Newest && !first && u.ID == Integer && l.Dialect == PostgreSQL:
		l.add(id+" < CAST(%s AS bigint)", after)
	case l.order == userlist.Newest && !first:
		l.add(id+" < %s", after)
	}
	return true
}

// beyond compares two columns, the first of which decides, with two values. MySQL uses an index
// for this form only, and SQLite and PostgreSQL for the other one.
func (l *userList) beyond(a, b, than string, first, second any) {
	if l.Dialect == MySQL {
		l.add("("+a+" "+than+" %s OR "+a+" = %s AND "+b+" "+than+" %s)", first, first, second)
		return
	}
	l.add("("+a+", "+b+") "+than+" (%s, %s)", first, second)
}
