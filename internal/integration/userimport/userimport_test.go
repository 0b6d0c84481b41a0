// Package userimport_test imports users into real databases, also with a process that is
// killed on the way.
package userimport_test

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/internal/integration/services"
	"github.com/pintleauth/pintle/password"
	"github.com/pintleauth/pintle/store/mongostore"
	"github.com/pintleauth/pintle/store/redisstore"
	"github.com/pintleauth/pintle/store/sqlstore"
	"github.com/pintleauth/pintle/userimport"
)

var secrets = []string{strings.Repeat("secret ", 6)}

// The variables that make a second process of this binary import users: the kind of the
// store, where it is, and the number of users.
const (
	envKind  = "IMPORT_STORE"
	envPlace = "IMPORT_PLACE"
	envUsers = "IMPORT_USERS"
)

func TestMain(m *testing.M) {
	if os.Getenv(envKind) == "" {
		os.Exit(services.Run(m))
	}
	if err := child(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// child imports users, and prints a line after each batch.
func child() error {
	store, err := open(context.Background(), os.Getenv(envKind), os.Getenv(envPlace))
	if err != nil {
		return err
	}
	var users int
	if _, err := fmt.Sscan(os.Getenv(envUsers), &users); err != nil {
		return err
	}
	_, err = userimport.Import(context.Background(), store, newcomers(users), userimport.Options{
		Secrets: secrets, Batch: batch, Progress: func(r userimport.Result) { fmt.Fprintln(os.Stdout, r.Stored) },
	})
	return err
}

const batch = 4

// open opens the store of a kind whose tables and indexes are made.
func open(ctx context.Context, kind, place string) (pintle.Store, error) {
	switch kind {
	case "SQLite", "PostgreSQL":
		driver, dialect := "sqlite", sqlstore.SQLite
		if kind == "PostgreSQL" {
			driver, dialect = "pgx", sqlstore.PostgreSQL
		}
		db, err := sql.Open(driver, place)
		if err != nil {
			return nil, err
		}
		return sqlstore.New(db, dialect), sqlstore.Migrate(ctx, db, dialect)
	case "MongoDB":
		server, name, _ := strings.Cut(place, " ")
		client, err := mongo.Connect(options.Client().ApplyURI(server))
		if err != nil {
			return nil, err
		}
		db := client.Database(name)
		if err := mongostore.EnsureIndexes(ctx, db, mongostore.Options{}); err != nil {
			return nil, err
		}
		return mongostore.Open(ctx, db, mongostore.Options{})
	case "Redis":
		return redisstore.New(redis.NewClient(&redis.Options{Addr: place}), redisstore.Options{}), nil
	}
	return nil, errors.New("an unknown kind of store")
}

// newcomers are n users. The hash is of "lètmein", made by Ruby's bcrypt.
func newcomers(n int) iter.Seq2[*userimport.User, error] {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"email":"user%d@example.com","emailVerified":true,"password":"$2a$04$CCCCCCCCCCCCCCCCCCCCC.gkH6UnjS0HnlIFKPrxOxecnCGXTwVua",`+
			`"roles":["editor"],"accounts":[{"provider":"github","providerAccountId":%d}]`, i, i)
		if i%2 == 1 {
			b.WriteString(`,"totp":"ABLZDWZVUTDJUJGHWKXHEMJZ6TN5KZWC"`)
		}
		b.WriteString("}\n")
	}
	return userimport.JSONLines(strings.NewReader(b.String()))
}

// An import whose process is killed, and that is called again, has stored each user once and
// as a whole, in each kind of store. The users sign in with their old passwords.
func TestAKilledImportGoesOn(t *testing.T) {
	tests := []struct {
		kind  string
		users int
		place func(t *testing.T) string
	}{
		{"SQLite", 200, func(t *testing.T) string { return services.SQLiteDatabase(t).DSN }},
		{"PostgreSQL", 200, func(t *testing.T) string { return services.PostgreSQLDatabase(t).DSN }},
		{"MongoDB", 40, func(t *testing.T) string {
			db := services.MongoDatabase(t)
			return db.URL + " " + db.Name()
		}},
		{"Redis", 200, func(t *testing.T) string { return services.Redis(t).Addr }},
	}
	for _, tt := range tests {
		t.Run(tt.kind, func(t *testing.T) {
			place := tt.place(t)
			seen := killedImport(t, tt.kind, place, tt.users)
			store, err := open(t.Context(), tt.kind, place)
			if err != nil {
				t.Fatal(err)
			}
			result, err := userimport.Import(t.Context(), store, newcomers(tt.users), userimport.Options{Secrets: secrets})
			if err != nil || result.Stored+result.Existing != tt.users || result.Existing < seen || result.Stored == 0 {
				t.Fatalf("after %d users the second call: %+v, %v", seen, result, err)
			}
			checkWhole(t, store, tt.users)
			signIn(t, store, "user0@example.com")
		})
	}
}

// killedImport starts an import in a process, kills it after some batches, and returns how
// many users were stored at least.
func killedImport(t *testing.T, kind, place string, users int) (seen int) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	process := exec.Command(program)
	process.Env = append(os.Environ(), envKind+"="+kind, envPlace+"="+place, fmt.Sprint(envUsers, "=", users))
	process.Stderr = os.Stderr
	out, err := process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for range 3 {
		if !lines.Scan() {
			t.Fatal("the import has ended")
		}
		if _, err := fmt.Sscan(lines.Text(), &seen); err != nil {
			t.Fatal(err)
		}
	}
	if err := process.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = process.Wait() // it was killed
	if seen < batch || seen >= users {
		t.Fatalf("the process was killed after %d users of %d", seen, users)
	}
	return seen
}

func checkWhole(t *testing.T, store pintle.Store, users int) {
	t.Helper()
	rows := store.AccountStore()
	for i := range users {
		u, err := store.UserByEmail(t.Context(), fmt.Sprintf("user%d@example.com", i))
		if err != nil {
			t.Fatal(i, err)
		}
		state, err := rows.State(t.Context(), u.ID)
		if err != nil || len(state.Roles) != 1 || state.Version != 1 || u.EmailVerified.IsZero() {
			t.Fatalf("user %d is %+v with the state %+v, %v", i, u, state, err)
		}
		factors, err := rows.Factors(t.Context(), u.ID)
		if err != nil || len(factors) != 1+i%2 {
			t.Fatalf("user %d has the factors %v, %v", i, factors, err)
		}
		if owner, err := store.UserByAccount(t.Context(), "github", fmt.Sprint(i)); err != nil || owner.ID != u.ID {
			t.Fatalf("the account of user %d belongs to %v, %v", i, owner, err)
		}
	}
	listed, err := rows.FactorUsers(t.Context(), "password", "", users+10)
	if err != nil || len(listed) != users {
		t.Errorf("%d users have passwords, %v, want %d", len(listed), err, users)
	}
}

// signIn signs in with the old password, and checks that the hash is replaced.
func signIn(t *testing.T, store pintle.Store, email string) {
	t.Helper()
	mux := http.NewServeMux()
	site := httptest.NewServer(mux)
	defer site.Close()
	o := account.Options{From: "no-reply@example.com", Mail: func(context.Context, *pintle.Message) error { return nil }}
	o.Passwords.Hasher = &password.Hasher{Memory: 64, Passes: 1}
	auth, err := pintle.New(pintle.Config{
		Store: store, URL: site.URL, Secrets: secrets, Getenv: func(string) string { return "" }, Accounts: account.New(o),
		Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	mux.Handle("/auth/", auth)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	get := func(path string, answer any) {
		resp, err := client.Get(site.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if err := json.NewDecoder(resp.Body).Decode(answer); err != nil {
			t.Fatal(path, err)
		}
	}
	var form struct{ CSRFToken string }
	get("/auth/csrf", &form)
	resp, err := client.PostForm(site.URL+"/auth/callback/credentials", url.Values{"csrfToken": {form.CSRFToken}, "email": {email}, "password": {"lètmein"}})
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	var session struct{ User struct{ Email string } }
	if get("/auth/session", &session); session.User.Email != email {
		t.Errorf("signed in as %q, at %s", session.User.Email, resp.Header.Get("Location"))
	}
	u, err := store.UserByEmail(t.Context(), email)
	if err != nil {
		t.Fatal(err)
	}
	factors, err := store.AccountStore().Factors(t.Context(), u.ID)
	if err != nil || len(factors) != 1 || !strings.HasPrefix(factors[0].Secret, "$argon2id$") {
		t.Errorf("the factors are %v, %v", factors, err)
	}
}
