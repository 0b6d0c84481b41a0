// Package record_test records what version 702c706, the last without package account, sends
// to its databases. To do so again, from the root of the repository:
//
//	old=$(mktemp -d) here=$PWD/internal/integration/oldversion/testdata
//	git archive 702c706 | tar x -C "$old"
//	cp -r "$here/record" "$old/internal/integration/record"
//	(cd "$old/internal/integration/record" && RECORD="$here" go test -count=1 .)
package record_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/redis/go-redis/v9"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/integration/services"
	"github.com/pintleauth/pintle/store/mongostore"
	"github.com/pintleauth/pintle/store/redisstore"
	"github.com/pintleauth/pintle/store/sqlstore"
)

func TestMain(m *testing.M) { os.Exit(services.Run(m)) }

// A recording is what was sent, in order.
type recording struct {
	// Written are the statements that make the tables and the first rows, and Later those
	// of the same program afterwards.
	Written, Later []any

	// Cookie is that of a database session, and Token that of a token session, of
	// joan@example.com.
	Cookie, Token string
}

type recorder struct{ sent []any }

func (r *recorder) take() []any {
	sent := r.sent
	r.sent = nil
	return sent
}

func save(t *testing.T, name string, r recording) {
	t.Helper()
	var b strings.Builder
	line := func(v any) {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(text, '\n'))
	}
	line(map[string]string{"cookie": r.Cookie, "token": r.Token})
	for _, one := range r.Written {
		line(one)
	}
	line("later")
	for _, one := range r.Later {
		line(one)
	}
	if err := os.WriteFile(filepath.Join(os.Getenv("RECORD"), name+".jsonl"), []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestRecordSQL(t *testing.T) {
	for name, d := range map[string]struct {
		dialect sqlstore.Dialect
		open    func(testing.TB) *services.Database
	}{
		"sqlite":     {sqlstore.SQLite, services.SQLiteDatabase},
		"postgresql": {sqlstore.PostgreSQL, services.PostgreSQLDatabase},
		"mysql":      {sqlstore.MySQL, services.MariaDBDatabase},
	} {
		t.Run(name, func(t *testing.T) {
			db := d.open(t)
			r := &recorder{}
			recorded := sql.OpenDB(connector{r, db.DB.Driver(), db.DSN})
			defer recorded.Close()
			recorded.SetMaxOpenConns(1)
			if err := sqlstore.Migrate(t.Context(), recorded, d.dialect); err != nil {
				t.Fatal(err)
			}
			s := sqlstore.New(recorded, d.dialect)
			save(t, name, record(t, r, s, sqlstore.NewRevocations(recorded, d.dialect)))
		})
	}
}

func TestRecordRedis(t *testing.T) {
	client := redis.NewClient(&redis.Options{Addr: services.Redis(t).Addr, ContextTimeoutEnabled: true})
	defer client.Close()
	r := &recorder{}
	client.AddHook(hook{r})
	save(t, "redis", record(t, r, redisstore.New(client, redisstore.Options{}), redisstore.NewRevocations(client, "")))
}

func TestRecordMongoDB(t *testing.T) {
	r := &recorder{}
	db := services.MongoDatabase(t, options.Client().SetMonitor(&event.CommandMonitor{Started: func(_ context.Context, e *event.CommandStartedEvent) {
		switch e.CommandName {
		case "hello", "isMaster", "ping", "endSessions", "buildInfo":
			return
		}
		var command bson.D
		if err := bson.Unmarshal(e.Command, &command); err != nil {
			t.Error(err)
		}
		var kept bson.D
		for _, field := range command {
			switch field.Key {
			case "lsid", "$db", "txnNumber", "$clusterTime", "$readPreference", "writeConcern", "readConcern":
			default:
				kept = append(kept, field)
			}
		}
		text, err := bson.MarshalExtJSON(kept, true, false)
		if err != nil {
			t.Error(err)
		}
		r.sent = append(r.sent, json.RawMessage(text))
	}}))
	if err := mongostore.EnsureIndexes(t.Context(), db.Database, mongostore.Options{}); err != nil {
		t.Fatal(err)
	}
	s, err := mongostore.Open(t.Context(), db.Database, mongostore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	save(t, "mongodb", record(t, r, s, mongostore.NewRevocations(db.Database, mongostore.Options{})))
}

// at is a time of rows, and far is when they expire.
var (
	at  = time.Date(2026, 3, 1, 12, 0, 0, 123e6, time.UTC)
	far = time.Date(2100, 1, 2, 3, 4, 5, 678e6, time.UTC)
)

const (
	ada   = "65a0f0c2e4b0a1b2c3d4e501"
	grace = "65a0f0c2e4b0a1b2c3d4e502"
	mary  = "65a0f0c2e4b0a1b2c3d4e503"
	emmy  = "65a0f0c2e4b0a1b2c3d4e504"
)

func record(t *testing.T, r *recorder, s pintle.Store, ended pintle.Revocation) (made recording) {
	ctx := t.Context()
	must := func(errs ...error) {
		t.Helper()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
	}
	for n, name := range []string{"ada", "grace", "mary"} {
		id := []string{ada, grace, mary}[n]
		_, err := s.CreateUser(ctx, &pintle.User{ID: id, Name: name, Email: name + "@example.com", EmailVerified: at, Image: "https://example.com/" + name})
		must(err,
			s.LinkAccount(ctx, account(id, "github", name)),
			s.LinkAccount(ctx, account(id, "google", name)),
			s.CreateSession(ctx, session(id, name+"-1")),
			s.CreateSession(ctx, session(id, name+"-2")),
			s.CreatePasskey(ctx, &pintle.Passkey{
				CredentialID: "passkey/of+" + name + "=", UserID: id, ProviderAccountID: "passkey/of+" + name + "=", PublicKey: "AA==", Counter: 7,
				DeviceType: "singleDevice", Name: "Phone", Created: at,
			}),
			s.CreateVerification(ctx, &pintle.Verification{Identifier: name + "@example.com", Token: "link of " + name, Expires: far}))
	}
	must(ended.Revoke(ctx, ada, "ended", far), ended.RevokeUser(ctx, mary, far))
	made.Cookie = signIn(t, s, pintle.StrategyDatabase)
	made.Token = signIn(t, s, pintle.StrategyJWT)
	made.Written = r.take()

	look := func() {
		for _, name := range []string{"ada", "emmy", "mary"} {
			_, _ = s.UserByEmail(ctx, name+"@example.com")
			_, _ = s.UserByAccount(ctx, "github", name)
			_, _ = s.Account(ctx, "google", name)
			_, _ = s.Passkey(ctx, "passkey/of+"+name+"=")
			_, _, _ = s.SessionAndUser(ctx, name+"-1")
			_, _, _ = s.SessionAndUser(ctx, name+"-2")
		}
		for _, id := range []string{ada, emmy, mary} {
			_, _ = s.User(ctx, id)
			_, _ = s.UserAccounts(ctx, id)
			_, _ = s.UserPasskeys(ctx, id)
			for _, err := range s.UserSessions(ctx, id) {
				must(err)
			}
			for _, session := range []string{"ended", "another"} {
				_, err := ended.Revoked(ctx, id, session, at)
				must(err)
			}
		}
	}
	look()
	name := "Ada Lovelace"
	_, err := s.CreateUser(ctx, &pintle.User{ID: emmy, Email: "emmy@example.com", EmailVerified: at})
	must(err,
		s.LinkAccount(ctx, account(emmy, "github", "emmy")),
		s.CreateSession(ctx, session(emmy, "emmy-1")),
		s.CreateVerification(ctx, &pintle.Verification{Identifier: "emmy@example.com", Token: "link of emmy", Expires: far}))
	_, err = s.UpdateUser(ctx, ada, pintle.UserUpdate{Name: &name})
	changed := account(ada, "google", "ada")
	changed.AccessToken = "a newer token"
	must(err,
		s.UpdateAccount(ctx, changed),
		s.UnlinkAccount(ctx, ada, "github", "ada", []*pintle.Account{changed}),
		s.UpdateSession(ctx, "ada-1", pintle.SessionUpdate{Expires: far.Add(time.Hour)}),
		s.UpdateSession(ctx, "ada-1", pintle.SessionUpdate{Data: map[string]any{"theme": "light"}}),
		s.RenamePasskey(ctx, ada, "passkey/of+ada=", "Key ring"),
		ended.Revoke(ctx, emmy, "ended", far))
	_, err = s.UseVerification(ctx, "emmy@example.com", "link of emmy")
	must(err)
	_, err = s.UseVerification(ctx, "ada@example.com", "link of ada")
	must(err)
	look()
	_, err = s.DeleteSession(ctx, "emmy-1")
	must(err)
	_, err = s.EndUserSessions(ctx, ada, "")
	must(err, s.DeleteUser(ctx, mary))
	if s.Features().Sweep {
		_, err := s.Sweep(ctx, at.AddDate(-1, 0, 0), 100)
		must(err)
	}
	look()
	made.Later = r.take()
	return made
}

func account(userID, provider, name string) *pintle.Account {
	return &pintle.Account{
		UserID: userID, Type: pintle.TypeOAuth, Provider: provider, ProviderAccountID: name, AccessToken: "token of " + name, ExpiresAt: 4102444800, Scope: "user",
	}
}

func session(userID, token string) *pintle.StoredSession {
	return &pintle.StoredSession{Token: token, UserID: userID, Expires: far, Created: at, Data: map[string]any{"theme": "dark"}}
}

// signIn signs joan in by a mail, and returns the cookie of the session.
func signIn(t *testing.T, s pintle.Store, kind pintle.SessionStrategy) string {
	t.Helper()
	link := ""
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	defer server.Close()
	auth, err := pintle.New(pintle.Config{
		Store: s, Secrets: []string{strings.Repeat("secret ", 6)}, URL: server.URL,
		Providers: []pintle.Provider{&pintle.Email{Send: func(_ context.Context, m *pintle.Message) error {
			link = m.URL
			return nil
		}}},
		Session: pintle.SessionConfig{Strategy: kind, MaxAge: 100 * 365 * 24 * time.Hour},
		Getenv:  func(string) string { return "" },
	})
	if err != nil {
		t.Fatal(err)
	}
	mux.Handle("/auth/", auth)
	jar, _ := cookiejar.New(nil)
	browser := &http.Client{Jar: jar}
	resp, err := browser.Get(server.URL + "/auth/csrf")
	if err != nil {
		t.Fatal(err)
	}
	var csrf struct{ CSRFToken string }
	if err := json.NewDecoder(resp.Body).Decode(&csrf); err != nil {
		t.Fatal(err)
	}
	if _, err := browser.PostForm(server.URL+"/auth/signin/email", url.Values{"csrfToken": {csrf.CSRFToken}, "email": {"joan@example.com"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := browser.Get(link); err != nil {
		t.Fatal(err)
	}
	u, _ := url.Parse(server.URL)
	for _, c := range jar.Cookies(u) {
		if c.Name == "authjs.session-token" {
			return c.Value
		}
	}
	t.Fatal("there is no session")
	return ""
}

// A statement of SQL. Args are as arg makes them.
type statement struct {
	Text string `json:"text"`
	Args []any  `json:"args,omitempty"`
	Exec bool   `json:"exec,omitempty"`
}

func (r *recorder) note(text string, exec bool, args []driver.NamedValue) {
	s := statement{Text: text, Exec: exec}
	for _, a := range args {
		s.Args = append(s.Args, arg(a.Value))
	}
	r.sent = append(r.sent, s)
}

func arg(value any) any {
	switch v := value.(type) {
	case nil:
		return nil
	case driver.Valuer:
		plain, err := v.Value()
		if err != nil {
			panic(err)
		}
		return arg(plain)
	case string:
		return map[string]any{"text": v}
	case []byte:
		return map[string]any{"bytes": base64.StdEncoding.EncodeToString(v)}
	case int, int64, uint32:
		return map[string]any{"number": v}
	case bool:
		return map[string]any{"bool": v}
	}
	panic(fmt.Sprintf("an argument is %T", value))
}

type connector struct {
	r      *recorder
	driver driver.Driver
	dsn    string
}

func (c connector) Driver() driver.Driver { return c.driver }

func (c connector) Connect(context.Context) (driver.Conn, error) {
	made, err := c.driver.Open(c.dsn)
	if err != nil {
		return nil, err
	}
	return conn{made, c.r}, nil
}

type conn struct {
	driver.Conn
	r *recorder
}

func (c conn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	made, err := c.Conn.(driver.ConnBeginTx).BeginTx(ctx, opts)
	if err != nil {
		return nil, err
	}
	c.r.note("BEGIN", true, nil)
	return tx{made, c.r}, nil
}

type tx struct {
	driver.Tx
	r *recorder
}

func (t tx) Commit() error {
	t.r.note("COMMIT", true, nil)
	return t.Tx.Commit()
}

func (t tx) Rollback() error {
	t.r.note("ROLLBACK", true, nil)
	return t.Tx.Rollback()
}

func (c conn) PrepareContext(ctx context.Context, text string) (driver.Stmt, error) {
	s, err := c.Conn.(driver.ConnPrepareContext).PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	return stmt{s, text, c.r}, nil
}

func (c conn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	rows, err := c.Conn.(driver.QueryerContext).QueryContext(ctx, text, args)
	if !errors.Is(err, driver.ErrSkip) {
		c.r.note(text, false, args)
	}
	return rows, err
}

func (c conn) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	result, err := c.Conn.(driver.ExecerContext).ExecContext(ctx, text, args)
	if !errors.Is(err, driver.ErrSkip) {
		c.r.note(text, true, args)
	}
	return result, err
}

func (c conn) CheckNamedValue(v *driver.NamedValue) error {
	if checker, ok := c.Conn.(driver.NamedValueChecker); ok {
		return checker.CheckNamedValue(v)
	}
	return driver.ErrSkip
}

type stmt struct {
	driver.Stmt
	text string
	r    *recorder
}

func (s stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	s.r.note(s.text, false, args)
	return s.Stmt.(driver.StmtQueryContext).QueryContext(ctx, args)
}

func (s stmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	s.r.note(s.text, true, args)
	return s.Stmt.(driver.StmtExecContext).ExecContext(ctx, args)
}

func (s stmt) CheckNamedValue(v *driver.NamedValue) error {
	if checker, ok := s.Stmt.(driver.NamedValueChecker); ok {
		return checker.CheckNamedValue(v)
	}
	return driver.ErrSkip
}

// A hook records the commands to Redis. A script that the server does not know is sent
// again with its text.
type hook struct{ r *recorder }

func (h hook) DialHook(next redis.DialHook) redis.DialHook { return next }

func (h hook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, c redis.Cmder) error {
		err := next(ctx, c)
		if err == nil || !strings.Contains(err.Error(), "NOSCRIPT") {
			h.note(c)
		}
		return err
	}
}

func (h hook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, all []redis.Cmder) error {
		for _, c := range all {
			h.note(c)
		}
		return next(ctx, all)
	}
}

func (h hook) note(c redis.Cmder) {
	switch c.Name() {
	case "hello", "client", "multi", "exec":
		return
	}
	var args []string
	for _, a := range c.Args() {
		text := fmt.Sprint(a)
		switch v := a.(type) {
		case []byte:
			text = string(v)
		case bool:
			text = map[bool]string{true: "1", false: "0"}[v]
		}
		if !utf8.ValidString(text) {
			panic("an argument is not UTF-8")
		}
		args = append(args, text)
	}
	h.r.sent = append(h.r.sent, args)
}
