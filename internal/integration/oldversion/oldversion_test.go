package oldversion

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/internal/integration/accountsite"
	"github.com/pintleauth/pintle/internal/integration/services"
	"github.com/pintleauth/pintle/store/mongostore"
	"github.com/pintleauth/pintle/store/redisstore"
	"github.com/pintleauth/pintle/store/sqlstore"
)

func TestMain(m *testing.M) { os.Exit(services.Run(m)) }

// A database is an empty one, as both programs open it.
type database struct {
	send sender

	// open makes the tables of this version.
	open func() pintle.Store
}

var databases = []struct {
	name string
	make func(*testing.T) database
}{
	{"sqlite", sqlDatabase(sqlstore.SQLite, services.SQLiteDatabase)},
	{"postgresql", sqlDatabase(sqlstore.PostgreSQL, services.PostgreSQLDatabase)},
	{"mysql", sqlDatabase(sqlstore.MySQL, services.MariaDBDatabase)},
	{"redis", func(t *testing.T) database {
		client := redis.NewClient(&redis.Options{Addr: services.Redis(t).Addr, ContextTimeoutEnabled: true})
		t.Cleanup(func() { _ = client.Close() })
		return database{ofRedis(client), func() pintle.Store { return redisstore.New(client, redisstore.Options{}) }}
	}},
	{"mongodb", func(t *testing.T) database {
		db := services.MongoDatabase(t)
		return database{ofMongoDB(db.Database), func() pintle.Store {
			if err := mongostore.EnsureIndexes(t.Context(), db.Database, mongostore.Options{}); err != nil {
				t.Fatal(err)
			}
			s, err := mongostore.Open(t.Context(), db.Database, mongostore.Options{})
			if err != nil {
				t.Fatal(err)
			}
			return s
		}}
	}},
}

func sqlDatabase(d sqlstore.Dialect, open func(testing.TB) *services.Database) func(*testing.T) database {
	return func(t *testing.T) database {
		db := open(t)
		return database{ofSQL(t, db.DB), func() pintle.Store {
			if err := sqlstore.Migrate(t.Context(), db.DB, d); err != nil {
				t.Fatal(err)
			}
			s := sqlstore.New(db.DB, d)
			if problems, err := s.Check(t.Context()); err != nil || len(problems) != 0 {
				t.Errorf("Check() = %v, %v, want nothing", problems, err)
			}
			return s
		}}
	}
}

// ids of the recording.
const (
	ada   = "65a0f0c2e4b0a1b2c3d4e501"
	grace = "65a0f0c2e4b0a1b2c3d4e502"
	mary  = "65a0f0c2e4b0a1b2c3d4e503"
	emmy  = "65a0f0c2e4b0a1b2c3d4e504"
)

// AT-113, AC-210, AC-212: this version goes on with the rows of the old program, and the old
// program with the database that this version has migrated and used: each of its statements has
// the answer that it has in a database of its version.
func TestAnOldProgramAndThisOneShareADatabase(t *testing.T) {
	for _, d := range databases {
		t.Run(d.name, func(t *testing.T) {
			r := read(t, d.name)
			alone := d.make(t)
			alone.send.all(t, r.written)
			want := alone.send.all(t, r.later)
			for i, answer := range want {
				if strings.HasPrefix(answer, "error: ") && answer != described(redis.Nil) {
					t.Fatalf("the recording does not suit the database: %s: %s", r.later[i], answer)
				}
			}

			shared := d.make(t)
			shared.send.all(t, r.written)
			s := shared.open()
			token := goesOn(t, s, r)
			both := 0
			for i, got := range shared.send.all(t, r.later) {
				if got != want[i] {
					t.Errorf("the old program sends\n%s\nand receives\n%s\nwant\n%s", r.later[i], got, want[i])
				}
				if strings.Contains(got, "ada@example.com") {
					both++
				}
			}
			if both == 0 {
				t.Error("no answer has the address of a user: the statements find nothing")
			}
			oldProgramFinds(t, shared.send, r, token)
			readsWhatTheOldProgramWrote(t, s)
		})
	}
}

// goesOn uses the rows of the old program as this version does, and adds its own. It
// returns the token of a session.
func goesOn(t *testing.T, s pintle.Store, r recording) (token string) {
	t.Helper()
	site := accountsite.New(t, s)
	const joan = "joan@example.com"
	b := site.Browser().SetCookie("authjs.session-token", r.Cookie).IsSignedInAs(joan)
	var me struct {
		Session struct {
			ACR   *string
			AMR   []string
			Fresh bool
		}
		Password struct{ Set bool }
		Factors  []any
	}
	if err := json.Unmarshal([]byte(b.Get("/auth/account/me").Page), &me); err != nil {
		t.Fatalf("%v: %s", err, b.Page)
	}
	if me.Session.ACR != nil || len(me.Session.AMR) != 0 || me.Session.Fresh || me.Password.Set || len(me.Factors) != 0 {
		t.Errorf("the session of the old program has %+v, want no facts, no password and no factors", me)
	}
	if state, err := s.AccountStore().State(t.Context(), ada); err != nil || state.Version != 0 || !state.BannedUntil.IsZero() || len(state.Roles) != 0 {
		t.Errorf("the state of a user of the old program is %+v, %v, want none", state, err)
	}
	tokenSessionIsGood(t, s, r.Token, joan)

	// A user of the old program chooses a password, and others come.
	const address, chosen = "grace@example.com", "a password that Grace chooses"
	site.Browser().Get("/auth/account/forgot").Post("/auth/account/forgot", "email", address)
	site.Browser().Get(site.Mail(address).URL).Post("/auth/account/reset", "password", chosen).IsAt("/auth/signin")
	in := site.Browser().SignIn(address, chosen).IsSignedInAs(address)
	site.Take()
	rows := s.AccountStore()
	for _, id := range []string{ada, mary} { // whom the old program goes on with
		_, counted := rows.CountFailure(t.Context(), id, time.Now(), time.Hour, 10)
		err := errors.Join(counted,
			rows.ChangeState(t.Context(), &accountstore.State{UserID: id, Roles: []string{"admin"}}),
			rows.AddFactor(t.Context(), &accountstore.Factor{UserID: id, Kind: "password", Secret: "hash", Created: time.Now()}),
			rows.CreateFlow(t.Context(), &accountstore.Flow{ID: sha256.Sum256([]byte(id)), Kind: "reset", Subject: id, Created: time.Now(), Expires: time.Now().Add(time.Hour)}))
		if err != nil {
			t.Fatal(err)
		}
	}
	return in.Cookies()["authjs.session-token"]
}

// tokenSessionIsGood checks a session whose token the old program made.
func tokenSessionIsGood(t *testing.T, s pintle.Store, token, want string) {
	t.Helper()
	auth, err := pintle.New(pintle.Config{
		Store: s, Secrets: []string{strings.Repeat("secret ", 6)}, URL: "http://127.0.0.1",
		Providers: []pintle.Provider{&pintle.Email{Send: func(context.Context, *pintle.Message) error { return nil }}},
		Session:   pintle.SessionConfig{Strategy: pintle.StrategyJWT, MaxAge: 100 * 365 * 24 * time.Hour},
		Getenv:    func(string) string { return "" },
	})
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1/", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Cookie", "authjs.session-token="+token)
	session, err := auth.Session(request)
	if err != nil || session == nil || session.User.Email != want {
		t.Errorf("the token of the old program is the session %+v, %v, want that of %s", session, err, want)
	}
}

// oldProgramFinds makes the old program look for a session that this version has begun: as
// it looks for one of its sessions.
func oldProgramFinds(t *testing.T, send sender, r recording, token string) {
	t.Helper()
	const known = "ada-1"
	hashed := func(token string) string {
		sum := sha256.Sum256([]byte(token))
		return base64.StdEncoding.EncodeToString(sum[:])
	}
	answers := ""
	for _, line := range r.later {
		if text := string(line); strings.Contains(text, hashed(known)) || strings.Contains(text, known) {
			if !strings.Contains(text, "SELECT") && !strings.Contains(text, `"get"`) && !strings.Contains(text, `"find"`) && !strings.Contains(text, `"eval`) {
				continue // it changes something
			}
			text = strings.NewReplacer(hashed(known), hashed(token), known, token).Replace(text)
			answers += send(t.Context(), json.RawMessage(text)) + "\n"
		}
	}
	if !strings.Contains(answers, grace) {
		t.Errorf("the old program looks for a session of this version and receives\n%s", answers)
	}
}

// readsWhatTheOldProgramWrote reads the rows of the old program from after the migration,
// and what it has left of a user whom it deleted.
func readsWhatTheOldProgramWrote(t *testing.T, s pintle.Store) {
	t.Helper()
	if u, err := s.UserByEmail(t.Context(), "emmy@example.com"); err != nil || u.ID != emmy {
		t.Errorf("the user whom the old program made is %+v, %v", u, err)
	}
	if u, err := s.UserByAccount(t.Context(), "github", "emmy"); err != nil || u.ID != emmy {
		t.Errorf("the user of the account that the old program linked is %+v, %v", u, err)
	}
	if a, err := s.Account(t.Context(), "google", "ada"); err != nil || a.AccessToken != "a newer token" {
		t.Errorf("the account that the old program changed is %+v, %v", a, err)
	}
	if factors, err := s.AccountStore().Factors(t.Context(), ada); err != nil || len(factors) != 1 {
		t.Errorf("the user whom the old program changed has the factors %v, %v, want the password", factors, err)
	}

	// The old program knows nothing of the password of a user whom it deletes. A user who
	// gets the id does not have it.
	if _, err := s.User(t.Context(), mary); !errors.Is(err, pintle.ErrNotFound) {
		t.Errorf("the user whom the old program deleted: %v, want ErrNotFound", err)
	}
	if err := s.DeleteUser(t.Context(), mary); !errors.Is(err, pintle.ErrNotFound) {
		t.Errorf("DeleteUser of the user: %v, want ErrNotFound", err)
	}
	if factors, err := s.AccountStore().Factors(t.Context(), mary); err != nil || len(factors) != 0 {
		t.Errorf("after DeleteUser the user has the factors %v, %v", factors, err)
	}
}
