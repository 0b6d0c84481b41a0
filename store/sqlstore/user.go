package sqlstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/pintleauth/pintle"
)

// A userRow is a user as a row is read into it.
type userRow struct {
	id                 idText
	name, email, image sql.NullString
	verified           instant
	extra              object
	more               []anyColumn // the columns of Table.Extra
}

// dest is where the columns go, in the order of [builder.userColumns].
func (u *userRow) dest(r records) []any {
	t := r.tables.users
	u.verified.wallClock = r.dialect == MySQL
	dest := append(make([]any, 0, 16), &u.id)
	for _, column := range []struct {
		name string
		dest any
	}{{"name", &u.name}, {"email", &u.email}, {"emailVerified", &u.verified}, {"image", &u.image}, {"extra", &u.extra}} {
		if t.has(column.name) {
			dest = append(dest, column.dest)
		}
	}
	u.more = make([]anyColumn, len(t.extra))
	for i := range u.more {
		dest = append(dest, &u.more[i])
	}
	return dest
}

func (u *userRow) user(r records) *pintle.User {
	user := new(pintle.User)
	u.into(user, r)
	return user
}

func (u *userRow) into(user *pintle.User, r records) {
	user.ID, user.Name, user.Email, user.Image = string(u.id), u.name.String, u.email.String, u.image.String
	user.EmailVerified, user.Extra = u.verified.Time, withColumns(u.extra, r.tables.users.Extra, u.more)
	user.MarkNull()
}

// withColumns adds what further columns hold to the fields of a JSON object.
func withColumns(fields map[string]any, names []string, values []anyColumn) map[string]any {
	for i, name := range names {
		if values[i].value == nil {
			continue
		}
		if fields == nil {
			fields = map[string]any{}
		}
		fields[name] = values[i].value
	}
	return fields
}

// An anyColumn is a column as encoding/json would have it, whatever its type.
type anyColumn struct{ value any }

// Scan implements [sql.Scanner].
func (c *anyColumn) Scan(value any) error {
	switch v := value.(type) {
	case []byte:
		c.value = string(v)
	case time.Time:
		c.value = v.UTC().Format(isoTime)
	default:
		c.value = v
	}
	return nil
}

// withoutColumns splits fields into the values of columns and the rest. Only
// columns that there is a value for are given, by their places among the names:
// the others are left to the defaults of the table.
func withoutColumns(fields map[string]any, names []string) (rest object, given []int, values []any) {
	rest = make(object, len(fields))
	maps.Copy(rest, fields)
	for i, name := range names {
		if value := columnValue(fields[name]); value != nil {
			given, values = append(given, i), append(values, value)
		}
		delete(rest, name)
	}
	return rest, given, values
}

// including returns a statement that writes some of the further columns, and the
// usual one if the list is empty.
func (r records) including(further []int, usual *statement, build func(builder, []int) *statement) *statement {
	if len(further) == 0 {
		return usual
	}
	s := build(builder{r.tables}, further)
	s.once = true
	return s
}

// columnValue turns a value of encoding/json into one drivers take. What is not
// a text, number or truth value becomes JSON.
func columnValue(v any) any {
	switch v := v.(type) {
	case nil, string, bool, int64, float64:
		return v
	case int:
		return int64(v)
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		return v.String()
	}
	text, err := json.Marshal(v)
	if err != nil {
		return v // and the driver says why not
	}
	return string(text)
}

// CreateUser implements [pintle.Store]. The id of the stored user may differ from
// the proposed one where the layout or the database makes ids.
func (r records) CreateUser(ctx context.Context, u *pintle.User) (created *pintle.User, err error) {
	if r.tables.states == nil {
		created, err = r.createUser(ctx, u)
		return created, r.fail(ctx, "create user", err)
	}
	// A database may give out the number of a user whom Auth.js has deleted once more, and
	// an application may propose such an id. The password of that user must not sign in
	// as the new one.
	err = r.inOneStep(ctx, "create user", func(r records) error {
		if created, err = r.createUser(ctx, u); err == nil {
			err = r.dropLeftRows(ctx, created.ID)
		}
		return r.fail(ctx, "create user", err)
	})
	if err != nil {
		return nil, err
	}
	return created, nil
}

func (r records) createUser(ctx context.Context, u *pintle.User) (*pintle.User, error) {
	if !storable(u.ID, u.Name, u.Email, u.Image) {
		return nil, errNotText
	}
	t := r.tables.users
	rest, given, further := withoutColumns(u.Extra, t.Extra)
	create := r.including(given, r.sql.createUser, builder.createUser)
	extra, err := rest.column()
	if err != nil {
		return nil, fmt.Errorf("encode Extra: %w", err)
	}
	id := t.ID.propose(u.ID)
	args := make([]any, 0, 16)
	if id != nil {
		args = append(args, id)
	}
	for _, column := range []struct {
		name  string
		value any
	}{
		{"name", nullable(u.Name)},
		{"email", nullable(u.Email)},
		{"emailVerified", r.tables.Times.column(r.dialect, u.EmailVerified)},
		{"image", nullable(u.Image)},
		{"extra", extra},
		{"created", time.Now().UnixMilli()},
	} {
		if t.has(column.name) {
			args = append(args, column.value)
		}
	}
	args = r.touched(t, append(args, further...))
	var row userRow
	if r.dialect.returning() {
		if err := r.one(ctx, row.dest(r), create, args...); err != nil {
			return nil, err
		}
		return row.user(r), nil
	}
	result, err := r.result(ctx, create, args...)
	if err != nil {
		return nil, err
	}
	if id == nil {
		if id, err = result.LastInsertId(); err != nil {
			return nil, err
		}
	}
	if err := r.one(ctx, row.dest(r), r.sql.user, id); err != nil {
		return nil, err
	}
	return row.user(r), nil
}

// touched adds the time of the write where a table has a column for it.
func (r records) touched(t *table, args []any) []any {
	if t.has("updatedAt") {
		return append(args, r.tables.Times.column(r.dialect, time.Now()))
	}
	return args
}

// User implements [pintle.Store].
func (r records) User(ctx context.Context, id string) (*pintle.User, error) {
	key, ok := r.tables.Users.ID.column(id)
	if !ok {
		return nil, r.absent(ctx)
	}
	return r.findUser(ctx, "find user", r.sql.user, key)
}

// UserByEmail implements [pintle.Store].
func (r records) UserByEmail(ctx context.Context, email string) (*pintle.User, error) {
	// Users without an address have NULL; an empty one is another program's.
	if email == "" || !storable(email) {
		return nil, r.absent(ctx)
	}
	return r.findUser(ctx, "find user by address", r.sql.userByEmail, email)
}

// UserByAccount implements [pintle.Store].
func (r records) UserByAccount(ctx context.Context, provider, providerAccountID string) (*pintle.User, error) {
	if !storable(provider, providerAccountID) {
		return nil, r.absent(ctx)
	}
	return r.findUser(ctx, "find user by account", r.sql.userByAccount, provider, providerAccountID)
}

func (r records) findUser(ctx context.Context, operation string, s *statement, args ...any) (*pintle.User, error) {
	var row userRow
	if err := r.one(ctx, row.dest(r), s, args...); err != nil {
		return nil, r.fail(ctx, operation, err)
	}
	return row.user(r), nil
}

// UpdateUser implements [pintle.Store].
func (r records) UpdateUser(ctx context.Context, id string, change pintle.UserUpdate) (*pintle.User, error) {
	key, ok := r.tables.Users.ID.column(id)
	if !ok {
		return nil, r.absent(ctx)
	}
	c, err := r.userChange(change)
	if err != nil {
		return nil, r.fail(ctx, "update user", err)
	}
	if len(c.object) == 0 && change.IfEmail == nil {
		return r.updateUser(ctx, key, c)
	}
	// The object is read, changed and written. Its row is locked from the reading
	// on, so that of two changes at once none undoes the other.
	var updated *pintle.User
	err = r.atomically(ctx, "update user", func(r records) (err error) {
		if change.IfEmail != nil {
			var email sql.NullString
			if err := r.one(ctx, []any{&email}, r.sql.userLocked, key); err != nil {
				return r.fail(ctx, "update user", err)
			}
			if email.String != *change.IfEmail {
				return r.fail(ctx, "update user", pintle.ErrConflict)
			}
		}
		if len(c.object) == 0 {
			updated, err = r.updateUser(ctx, key, c)
			return err
		}
		var stored object
		if err := r.one(ctx, []any{&stored}, r.sql.userExtra, key); err != nil {
			return r.fail(ctx, "update user", err)
		}
		extra, err := stored.with(c.object).column()
		if err != nil {
			return r.fail(ctx, "update user", fmt.Errorf("encode Extra: %w", err))
		}
		c.add(r.tables.users.columns["extra"], extra)
		updated, err = r.updateUser(ctx, key, c)
		return err
	})
	if err != nil {
		return nil, err
	}
	return updated, nil
}

// A userChange is what a statement changes of a user.
type userChange struct {
	mask   int   // of userFields
	fields []any // the values of those that are columns

	columns []string // further columns
	values  []any    // theirs

	object map[string]any // what changes in the column "extra"
}

func (c *userChange) add(column string, value any) {
	c.columns, c.values = append(c.columns, column), append(c.values, value)
}

func (r records) userChange(change pintle.UserUpdate) (*userChange, error) {
	t, c := r.tables.users, &userChange{}
	field := func(bit int, value any) {
		c.mask |= 1 << bit
		if t.has(userFields[bit]) {
			c.fields = append(c.fields, value)
		}
	}
	for bit, text := range map[int]*string{0: change.Name, 1: change.Email, 3: change.Image} {
		if text != nil && !storable(*text) {
			return nil, fmt.Errorf("%s: %w", userFields[bit], errNotText)
		}
	}
	if change.Name != nil {
		field(0, nullable(*change.Name))
	}
	if change.Email != nil {
		field(1, nullable(*change.Email))
	}
	if change.EmailVerified != nil {
		field(2, r.tables.Times.column(r.dialect, *change.EmailVerified))
	}
	if change.Image != nil {
		field(3, nullable(*change.Image))
	}
	for i, name := range t.Extra {
		if value, changed := change.Extra[name]; changed {
			c.add(t.extra[i], columnValue(value))
		}
	}
	if t.has("extra") {
		c.object = maps.Clone(change.Extra)
		maps.DeleteFunc(c.object, func(name string, _ any) bool { return slices.Contains(t.Extra, name) })
	}
	return c, nil
}

func (r records) updateUser(ctx context.Context, key any, c *userChange) (*pintle.User, error) {
	update := r.sql.updateUser[c.mask]
	if len(c.columns) > 0 {
		update = builder{r.tables}.updateUser(c.mask, c.columns...)
		update.once = true
	}
	if update == nil {
		return r.findUser(ctx, "update user", r.sql.user, key)
	}
	args := r.touched(r.tables.users, slices.Concat([]any{key}, c.fields, c.values))
	if r.dialect.returning() {
		return r.findUser(ctx, "update user", update, args...)
	}
	// The number of changed rows is no use here: MySQL does not count rows that
	// had the value already.
	if _, err := r.exec(ctx, update, args...); err != nil {
		return nil, r.fail(ctx, "update user", err)
	}
	return r.findUser(ctx, "update user", r.sql.user, key)
}

// DeleteUser implements [pintle.Store].
func (r records) DeleteUser(ctx context.Context, id string) error {
	key, ok := r.tables.Users.ID.column(id)
	if !ok && (r.tables.states == nil || !storable(id)) {
		return r.absent(ctx)
	}
	if !ok {
		key = nil // no user has the id, but rows of package account may
	}
	found := false
	err := r.untilNoRace(ctx, "delete user", func(r records) (err error) {
		found, err = r.deleteUser(ctx, id, key)
		return err
	})
	if err == nil && !found {
		return pintle.ErrNotFound // after the end of the transaction, which removes what refers to the user
	}
	return err
}

// untilNoRace runs f, which only deletes, in a transaction. Deleting breaks no
// uniqueness rule: a conflict comes of another transaction of the same user, a
// sign-in for example, for which the database gave this one up.
func (r records) untilNoRace(ctx context.Context, operation string, f func(records) error) (err error) {
	for range attempts {
		err = r.atomically(ctx, operation, f)
		if r.tx || !errors.Is(err, pintle.ErrConflict) || errors.Is(err, errNothingKept) {
			break
		}
	}
	return err
}

func (r records) deleteUser(ctx context.Context, id string, key any) (found bool, err error) {
	if key != nil {
		found, err = r.deleteUserRows(ctx, key)
	}
	if err == nil {
		err = r.deleteAccountRows(ctx, id)
	}
	return found, r.fail(ctx, "delete user", err)
}

// dropLeftRows removes what the tables of package account have of an id that a user has
// just received. It looks first: in MySQL a statement that deletes no row locks the gap in
// which the row would be, and two transactions that then add a row there wait for one
// another.
func (r records) dropLeftRows(ctx context.Context, id string) error {
	var left int
	if err := r.one(ctx, []any{&left}, r.sql.leftRows, id); err != nil || left == 0 {
		return err
	}
	return r.deleteAccountRows(ctx, id)
}

// deleteAccountRows removes the rows of a user from the tables of package account.
func (r records) deleteAccountRows(ctx context.Context, id string) error {
	for _, s := range r.sql.deleteAccountRows {
		if _, err := r.exec(ctx, s, id); err != nil {
			return err
		}
	}
	return nil
}

func (r records) deleteUserRows(ctx context.Context, key any) (found bool, err error) {
	// A transaction that adds a row for the user waits, and then fails because the
	// user is gone. Without the lock a session made in between would keep the
	// user, in tables that do not cascade.
	if err := r.lockUser(ctx, key); err != nil {
		return false, err
	}
	for _, s := range r.sql.deleteUser {
		n, err := r.exec(ctx, s, key)
		if err != nil {
			return false, err
		}
		found = n > 0 // the table of users is the last
	}
	return found, nil
}

// lockUser makes other transactions that lock the user wait for this one. It
// locks nothing when there is no such user.
func (r records) lockUser(ctx context.Context, key any) error {
	if r.sql.lockUser == nil {
		return nil // a transaction of SQLite has the only lock already
	}
	var id idText
	if err := r.one(ctx, []any{&id}, r.sql.lockUser, key); err != nil && !missing(err) {
		return err
	}
	return nil
}

// missing reports whether an error is that of a missing row.
func missing(err error) bool { return errors.Is(err, sql.ErrNoRows) }
