package sqlstore_test

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/internal/integration/recorder"
	"github.com/pintleauth/pintle/internal/integration/services"
	"github.com/pintleauth/pintle/providersession"
	"github.com/pintleauth/pintle/sharedstate"
	"github.com/pintleauth/pintle/store/sqlstore"
)

func TestEveryStatementUsesAnIndex(t *testing.T) {
	for _, d := range databases {
		t.Run("own-"+d.dialect.String(), func(t *testing.T) {
			db := migrated(t, d)
			checkPlans(t, db, "own-"+d.dialect.String(), d.dialect, func(db *sql.DB) *sqlstore.Store { return sqlstore.New(db, d.dialect) })
		})
	}
	layouts := slices.Clone(sharedLayouts)
	for _, l := range sharedLayouts {
		if _, err := os.Stat(statements(l.file + "-accounts")); err == nil {
			layouts = append(layouts, l.withAccounts())
		}
	}
	if len(layouts) == len(sharedLayouts) {
		t.Error("no layout has its statements for the tables of package account listed")
	}
	for _, l := range layouts {
		name := l.file
		if l.layout.AccountTables {
			name += "-accounts"
		}
		t.Run(name, func(t *testing.T) {
			db := l.create(t)
			repair(t, db, l.store(t, db))
			checkPlans(t, db, name, l.layout.Dialect, func(db *sql.DB) *sqlstore.Store {
				s, err := sqlstore.NewShared(db, l.layout)
				if err != nil {
					t.Fatal(err)
				}
				return s
			})
		})
	}
}

func checkPlans(t *testing.T, db *services.Database, layout string, d sqlstore.Dialect, open func(*sql.DB) *sqlstore.Store) {
	recorded, r := recorder.Open(t, db)
	s := open(recorded)
	populate(t, s, 200)
	execute(t, db.DB, map[sqlstore.Dialect]string{sqlstore.PostgreSQL: "ANALYZE", sqlstore.SQLite: "ANALYZE", sqlstore.MySQL: "DO 0"}[d])
	r.Take()
	exercise(t, s)
	seen := map[string]bool{}
	for _, sent := range r.Take() {
		if seen[sent.Text] || !searches(sent.Text) {
			continue
		}
		seen[sent.Text] = true
		if plan := explain(t, db, d, sent); !indexed(d, plan) {
			t.Errorf("%s\nreads a whole table:\n%s", sent.Text, plan)
		}
	}
	for name, variants := range listed(t, layout) {
		switch {
		case d != sqlstore.MySQL && (name == "session" || name == "verification"):
			continue // in other dialects a statement that deletes returns the deleted rows
		case strings.HasPrefix(layout, "own-") && name == "sessionTokens":
			continue // the handle of a session is its key there
		}
		if !slices.ContainsFunc(variants, func(text string) bool { return seen[text] || !searches(text) }) {
			t.Errorf("the plan of %s was not checked", name)
		}
	}
}

// searches reports whether a statement looks for rows.
func searches(statement string) bool {
	verb, _, _ := strings.Cut(statement, " ")
	return verb == "SELECT" || verb == "UPDATE" || verb == "DELETE" || verb == "WITH"
}

// statements is the file that lists the statements of a layout.
func statements(layout string) string {
	return filepath.Join("../../../store/sqlstore/testdata", layout+".sql")
}

// listed returns the statements of a layout by their names. Those that differ only
// in the columns they change share a name, since they find rows in the same way;
// those that remove the rows of a user have different names.
func listed(t *testing.T, layout string) map[string][]string {
	t.Helper()
	text, err := os.ReadFile(statements(layout))
	if err != nil {
		t.Fatal(err)
	}
	statements := make(map[string][]string)
	for part := range strings.SplitSeq(string(text), ";\n\n") {
		name, statement, ok := strings.Cut(strings.TrimPrefix(part, "-- "), "\n")
		if !ok {
			continue
		}
		if kind, _, several := strings.Cut(name, "["); several && strings.HasPrefix(kind, "update") {
			name = kind
		}
		statements[name] = append(statements[name], statement)
	}
	if len(statements) < 25 {
		t.Fatalf("%s lists %d statements", layout, len(statements))
	}
	return statements
}

type people struct {
	user    *pintle.User
	account *pintle.Account
	session *pintle.StoredSession
	link    *pintle.Verification
	passkey *pintle.Passkey
}

func populate(t testing.TB, s *sqlstore.Store, n int) []people {
	t.Helper()
	users := make([]people, n)
	err := s.InTx(t.Context(), func(tx pintle.Store) error {
		for i := range users {
			if err := users[i].create(t, tx, fmt.Sprintf("%06d", i)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return users
}

func (p *people) create(t testing.TB, s pintle.Store, name string) (err error) {
	ctx, expires := t.Context(), time.Now().Add(time.Hour)
	p.user, err = s.CreateUser(ctx, &pintle.User{ID: "00000000-0000-4000-8000-000000" + name, Email: name + "@example.org", Name: name})
	if err != nil {
		return err
	}
	p.account = &pintle.Account{UserID: p.user.ID, Type: pintle.TypeOAuth, Provider: "github", ProviderAccountID: name}
	p.session = &pintle.StoredSession{Token: "session " + name, UserID: p.user.ID, Expires: expires}
	p.link = &pintle.Verification{Identifier: p.user.Email, Token: "link " + name, Expires: expires}
	p.passkey = &pintle.Passkey{CredentialID: "passkey " + name, UserID: p.user.ID, ProviderAccountID: name, PublicKey: "key", DeviceType: "singleDevice"}
	err = errors.Join(
		s.LinkAccount(ctx, p.account),
		s.CreateSession(ctx, p.session),
		s.CreateVerification(ctx, p.link),
	)
	if made := s.CreatePasskey(ctx, p.passkey); !errors.Is(made, errors.ErrUnsupported) {
		err = errors.Join(err, made)
	}
	return err
}

// exercise calls every method that looks something up.
func exercise(t *testing.T, s *sqlstore.Store) {
	t.Helper()
	ctx := t.Context()
	ok := func(err error) {
		t.Helper()
		if err != nil && !errors.Is(err, errors.ErrUnsupported) {
			t.Fatal(err)
		}
	}
	u, err := s.UserByEmail(ctx, "000003@example.org")
	ok(err)
	_, err = s.User(ctx, u.ID)
	ok(err)
	_, err = s.UserByAccount(ctx, "github", "000003")
	ok(err)
	name, email, image, now := "name", "new@example.org", "image", time.Now()
	_, err = s.UpdateUser(ctx, u.ID, pintle.UserUpdate{Name: &name, Email: &email, Image: &image, EmailVerified: &now})
	ok(err)
	_, err = s.UpdateUser(ctx, u.ID, pintle.UserUpdate{Email: &email, IfEmail: &email})
	ok(err)
	_, err = s.UpdateUser(ctx, u.ID, pintle.UserUpdate{Extra: map[string]any{"role": "admin"}})
	ok(err)
	_, err = s.Account(ctx, "github", "000003")
	ok(err)
	_, err = s.UserAccounts(ctx, u.ID)
	ok(err)
	ok(s.UpdateAccount(ctx, &pintle.Account{Provider: "github", ProviderAccountID: "000003", AccessToken: "new"}))
	ok(s.SwapAccount(ctx, &pintle.Account{Provider: "github", ProviderAccountID: "000003", AccessToken: "newer"}, ""))
	ok(s.UnlinkAccount(ctx, u.ID, "github", "000003", nil))
	_, _, err = s.SessionAndUser(ctx, "session 000003")
	ok(err)
	ok(s.UpdateSession(ctx, "session 000003", pintle.SessionUpdate{Expires: now.Add(2 * time.Hour), Data: map[string]any{"a": "b"}}))
	ok(s.UpdateSession(ctx, "session 000003", pintle.SessionUpdate{}))
	var handle string
	for session, err := range s.UserSessions(ctx, u.ID) {
		ok(err)
		handle = session.Handle
	}
	ok(s.EndSession(ctx, u.ID, handle))
	_, err = s.EndUserSessions(ctx, u.ID, "session 000004")
	ok(err)
	_, err = s.EndUserSessions(ctx, u.ID, "")
	ok(err)
	_, err = s.DeleteSession(ctx, "session 000005")
	ok(err)
	_, err = s.UseVerification(ctx, "000003@example.org", "link 000003")
	ok(err)
	_, err = s.Passkey(ctx, "passkey 000003")
	ok(err)
	_, err = s.UserPasskeys(ctx, u.ID)
	ok(err)
	ok(s.UsePasskey(ctx, &pintle.Passkey{CredentialID: "passkey 000003", Counter: 1}, 0))
	ok(s.RenamePasskey(ctx, u.ID, "passkey 000003", "mine"))
	ok(s.DeletePasskey(ctx, u.ID, "passkey 000003"))
	if rows := s.AccountStore(); rows != nil {
		exerciseAccounts(t, s, rows, u.ID)
	}
	_, err = s.Sweep(ctx, now, 10)
	ok(err)
	ok(s.DeleteUser(ctx, u.ID))
}

// exerciseAccounts calls every method that looks something up for package account, and
// those of sessions whose data may be in a table.
func exerciseAccounts(t *testing.T, s *sqlstore.Store, rows accountstore.Store, user string) {
	t.Helper()
	ctx, now := t.Context(), time.Now()
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err := rows.State(ctx, user)
	ok(err)
	ok(rows.ChangeState(ctx, &accountstore.State{UserID: user}))
	_, err = rows.CountFailure(ctx, user, now, time.Hour, 10)
	ok(err)
	ok(rows.CountSuccess(ctx, user, now))
	f := &accountstore.Factor{UserID: user, Kind: "totp", ID: "1", Version: 1}
	ok(rows.AddFactor(ctx, f))
	_, err = rows.Factors(ctx, user)
	ok(err)
	ok(rows.ReplaceFactor(ctx, f))
	if err := rows.ReplaceFactor(ctx, f); !errors.Is(err, pintle.ErrConflict) {
		t.Errorf("ReplaceFactor with an old version: %v, want ErrConflict", err)
	}
	ok(rows.AdvanceFactor(ctx, user, "totp", "1", 2, now))
	_, err = rows.DeleteFactors(ctx, user, []string{"device"}, []string{"2"})
	ok(err)
	ok(rows.DeleteFactor(ctx, user, "totp", "1"))
	for i := range 2 {
		ok(rows.CreateFlow(ctx, &accountstore.Flow{ID: accountstore.Hash{byte(i)}, Kind: "reset", Subject: user, Expires: now}))
	}
	_, err = rows.Flow(ctx, accountstore.Hash{})
	ok(err)
	_, err = rows.AttemptFlow(ctx, accountstore.Hash{}, 3)
	ok(err)
	ok(rows.ChangeFlow(ctx, &accountstore.Flow{Version: 1, Expires: now}))
	_, err = rows.CountFlows(ctx, user, "reset", now)
	ok(err)
	_, err = rows.UseFlow(ctx, accountstore.Hash{}, "reset")
	ok(err)
	_, err = rows.EndFlows(ctx, user, "reset")
	ok(err)
	_, err = rows.DueUsers(ctx, now, "", 10)
	ok(err)
	_, err = rows.FactorUsers(ctx, "totp", "", 10)
	ok(err)

	for i := range 2 {
		ok(rows.Record(ctx, &accountstore.Event{ID: strconv.Itoa(i), At: now, Kind: "sign_in", Outcome: "ok", UserID: user, Expires: now.Add(time.Hour)}))
	}
	for _, q := range []accountstore.ActivityQuery{{}, {UserID: user}, {Actor: "operator"}, {Kind: "sign_in"}} {
		q.Limit = 1
		_, next, err := rows.Activity(ctx, q)
		ok(err)
		q.After, q.Limit = next, 20
		_, _, err = rows.Activity(ctx, q)
		ok(err)
	}

	signIns := s.ProviderSessions()
	sid, sub, none := providersession.Key{1}, providersession.Key{2}, providersession.Key{}
	for i := range 8 {
		r := &providersession.Record{Session: none, UserID: user, Provider: strconv.Itoa(i), Sid: sid, Role: providersession.Linked, Created: now, Expires: now}
		if i%2 == 0 {
			r.Sub = sub
		}
		ok(signIns.Put(ctx, r, now))
	}
	ok(signIns.Move(ctx, none, now.Add(time.Hour)))
	for _, keys := range [][2]providersession.Key{{sid, none}, {none, sub}, {sid, sub}} {
		_, err = signIns.EndBy(ctx, keys[0], keys[1], now.Add(time.Hour))
		ok(err)
		ok(s.InTx(ctx, func(tx pintle.Store) error {
			_, err := tx.ProviderSessions().EndBy(ctx, keys[0], keys[1], now.Add(time.Hour))
			return err
		}))
	}
	ok(signIns.Forget(ctx, none))

	shared, key, owner := s.SharedState(), sharedstate.Key{}, sharedstate.Owner{}
	for range 2 {
		_, err = shared.Once(ctx, key, now.Add(-time.Hour))
		ok(err)
		for _, o := range []sharedstate.Owner{owner, {1}} {
			_, err = shared.Lease(ctx, key, o, time.Hour)
			ok(err)
		}
	}
	ok(shared.Release(ctx, key, owner))
	for range 2 { // the second is refused
		_, err = shared.Take(ctx, key, sharedstate.Rate{Burst: 1, Every: time.Hour})
		ok(err)
	}
	_, err = shared.Take(ctx, key, sharedstate.Rate{Burst: 1, Every: time.Minute}) // lowers the count
	ok(err)
	_, err = shared.Wait(ctx, key, sharedstate.Rate{Burst: 1, Every: time.Hour})
	ok(err)
	ok(shared.GiveBack(ctx, key, sharedstate.Rate{Burst: 1, Every: time.Hour}))

	var handle string
	kept := map[string]any{"a": "b"}
	create := func(token string, expires time.Time) {
		t.Helper()
		ok(s.CreateSession(ctx, &pintle.StoredSession{Token: token, UserID: user, Expires: expires, Data: kept}))
	}
	create("listed", now.Add(time.Hour))
	for session, err := range s.UserSessions(ctx, user) {
		ok(err)
		handle = session.Handle
	}
	ok(s.EndSession(ctx, user, handle))
	create("expired", now.Add(-time.Hour))
	create("extended", now.Add(-time.Hour))
	ok(s.UpdateSession(ctx, "extended", pintle.SessionUpdate{Data: kept}))
	ok(s.UpdateSession(ctx, "extended", pintle.SessionUpdate{Expires: now.Add(time.Hour)}))
	_, err = s.CreateUser(ctx, &pintle.User{Email: "newer@example.org"})
	ok(err)
	ok(rows.ChangeState(ctx, &accountstore.State{UserID: "a user who is gone"}))
	_, err = s.Sweep(ctx, now, 10)
	ok(err)
	_, err = s.DeleteSession(ctx, "extended")
	ok(err)
	_, err = s.EndUserSessions(ctx, user, "")
	ok(err)
}

// explain returns the plan, one step a line, with every column.
func explain(t *testing.T, db *services.Database, d sqlstore.Dialect, sent recorder.Statement) string {
	t.Helper()
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	command := "EXPLAIN "
	switch d {
	case sqlstore.SQLite:
		command = "EXPLAIN QUERY PLAN "
	case sqlstore.PostgreSQL:
		// With a few hundred rows a full scan is cheap, so the planner prefers it. A
		// remaining full scan means that no index can be used.
		if _, err := conn.ExecContext(t.Context(), "SET enable_seqscan = off"); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := conn.QueryContext(t.Context(), command+sent.Text, sent.Args...)
	if err != nil {
		t.Fatalf("%s: %v", sent.Text, err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var plan strings.Builder
	for rows.Next() {
		values := make([]sql.NullString, len(columns))
		dest := make([]any, len(columns))
		for i := range values {
			dest[i] = &values[i]
		}
		if err := rows.Scan(dest...); err != nil {
			t.Fatal(err)
		}
		for i, v := range values {
			fmt.Fprintf(&plan, "%s=%s ", columns[i], v.String)
		}
		plan.WriteString("\n")
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return plan.String()
}

// indexed reports whether no step of a plan reads a whole table or index.
func indexed(d sqlstore.Dialect, plan string) bool {
	switch d {
	case sqlstore.PostgreSQL:
		return plan != "" && !strings.Contains(plan, "Seq Scan")
	case sqlstore.MySQL:
		return strings.Contains(plan, "type=") && !strings.Contains(plan, " type=ALL ") && !strings.Contains(plan, " type=index ")
	}
	// A statement whose tables are all in subqueries begins with one row without a table.
	return plan != "" && !strings.Contains(strings.ReplaceAll(plan, "SCAN CONSTANT ROW", ""), "SCAN ")
}

func TestAPlanWithoutAnIndexIsNoticed(t *testing.T) {
	for _, d := range databases {
		t.Run(d.name, func(t *testing.T) {
			db := migrated(t, d)
			populate(t, sqlstore.New(db.DB, d.dialect), 200)
			plan := explain(t, db, d.dialect, recorder.Statement{Text: "SELECT id FROM pintle_users WHERE name = 'x'"})
			if indexed(d.dialect, plan) {
				t.Errorf("a search by name passes for one with an index:\n%s", plan)
			}
		})
	}
}

func TestASessionIsCheckedInOneRoundTrip(t *testing.T) {
	for _, d := range databases {
		t.Run(d.name, func(t *testing.T) {
			db, r := recorder.Open(t, migrated(t, d))
			db.SetMaxOpenConns(1) // the second connection would prepare the statement once more
			s := sqlstore.New(db, d.dialect)
			users := populate(t, s, 3)
			look := func() {
				if _, _, err := s.SessionAndUser(t.Context(), users[1].session.Token); err != nil {
					t.Fatal(err)
				}
			}
			look()
			prepared := r.Prepared()
			for range 3 {
				r.Take()
				look()
				if sent := r.Take(); len(sent) != 1 {
					t.Errorf("sent %d statements, want 1: %v", len(sent), sent)
				}
			}
			if r.Prepared() != prepared {
				t.Errorf("%d statements were prepared again", r.Prepared()-prepared)
			}
		})
	}
}

func TestOwnTablesHoldNoSessionToken(t *testing.T) {
	for _, d := range databases {
		t.Run(d.name, func(t *testing.T) {
			db, r := recorder.Open(t, migrated(t, d))
			s := sqlstore.New(db, d.dialect)
			users := populate(t, s, 3)
			r.Take()
			exerciseToken(t, s, users[0].session.Token)
			for _, sent := range r.Take() {
				if text := fmt.Sprintf("%s %s", sent.Text, sent.Args); strings.Contains(text, users[0].session.Token) {
					t.Errorf("the database is sent the token: %s", text)
				}
			}
		})
	}
}

func exerciseToken(t *testing.T, s *sqlstore.Store, token string) {
	t.Helper()
	_, u, err := s.SessionAndUser(t.Context(), token)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.EndUserSessions(t.Context(), u.ID, token); err != nil {
		t.Fatal(err)
	}
	if err := s.UpdateSession(t.Context(), token, pintle.SessionUpdate{Expires: time.Now()}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.DeleteSession(t.Context(), token); err != nil {
		t.Fatal(err)
	}
}
