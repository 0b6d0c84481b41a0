package services_test

import (
	"context"
	"database/sql"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/redis/go-redis/v9"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/pintleauth/pintle/internal/integration/services"
)

func TestMain(m *testing.M) { os.Exit(services.Run(m)) }

func TestEachDatabaseIsEmptyAndItsOwn(t *testing.T) {
	tests := []struct {
		name string
		open func(testing.TB) *services.Database
	}{
		{"PostgreSQL", services.PostgreSQLDatabase},
		{"MariaDB", services.MariaDBDatabase},
		{"SQLite", services.SQLiteDatabase},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			one, other := tt.open(t), tt.open(t)
			if _, err := one.ExecContext(t.Context(), "CREATE TABLE people (name varchar(20))"); err != nil {
				t.Fatal(err)
			}
			if _, err := one.ExecContext(t.Context(), "INSERT INTO people VALUES ('Zoë')"); err != nil {
				t.Fatal(err)
			}
			again, err := sql.Open(one.Driver, one.DSN)
			if err != nil {
				t.Fatal(err)
			}
			defer again.Close()
			if got := onePerson(t, again); got != "Zoë" {
				t.Errorf("read %q, want %q", got, "Zoë")
			}
			if _, err := other.ExecContext(t.Context(), "SELECT name FROM people"); err == nil {
				t.Error("the other database has the table too")
			}
		})
	}
}

func TestADatabaseServerKeepsItsDataThroughAnOutage(t *testing.T) {
	tests := []struct {
		name, driver string
		create       string
		start        func(testing.TB) *services.Server
	}{
		{"PostgreSQL", "pgx", "CREATE TABLE people AS SELECT 'Ada' AS name", services.PostgreSQL},
		{"MariaDB", "mysql", "CREATE TABLE people AS SELECT 'Ada' AS name", services.MariaDB},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := tt.start(t)
			db, err := sql.Open(tt.driver, s.URL)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			if _, err := db.ExecContext(t.Context(), tt.create); err != nil {
				t.Fatal(err)
			}
			s.Stop(t)
			if err := db.PingContext(t.Context()); err == nil {
				t.Error("a stopped server answers")
			}
			s.Start(t)
			if got := onePerson(t, db); got != "Ada" {
				t.Errorf("read %q after a restart, want %q", got, "Ada")
			}
		})
	}
}

func onePerson(t *testing.T, db *sql.DB) string {
	t.Helper()
	var name string
	if err := db.QueryRowContext(t.Context(), "SELECT name FROM people").Scan(&name); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestRedisKeepsItsDataThroughAnOutage(t *testing.T) {
	s := services.Redis(t)
	options, err := redis.ParseURL(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(options)
	defer client.Close()
	if err := client.Set(t.Context(), "name", "Grace", 0).Err(); err != nil {
		t.Fatal(err)
	}
	s.Stop(t)
	if err := client.Ping(t.Context()).Err(); err == nil {
		t.Error("a stopped server answers")
	}
	s.Start(t)
	if got, err := client.Get(t.Context(), "name").Result(); err != nil || got != "Grace" {
		t.Errorf("read %q, %v after a restart, want %q", got, err, "Grace")
	}
}

func TestFerretDBKeepsItsDataThroughAnOutage(t *testing.T) {
	s := services.FerretDB(t)
	client, err := mongo.Connect(options.Client().ApplyURI(s.URL).SetServerSelectionTimeout(3 * time.Second))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Disconnect(context.Background()) }()
	people := client.Database("app").Collection("people")
	if _, err := people.InsertOne(t.Context(), bson.D{{Key: "name", Value: "Mary"}}); err != nil {
		t.Fatal(err)
	}
	s.Stop(t)
	if err := client.Ping(t.Context(), nil); err == nil {
		t.Error("a stopped server answers")
	}
	s.Start(t)
	again, err := mongo.Connect(options.Client().ApplyURI(s.URL))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = again.Disconnect(context.Background()) }()
	var person struct{ Name string }
	if err := again.Database("app").Collection("people").FindOne(t.Context(), bson.D{}).Decode(&person); err != nil || person.Name != "Mary" {
		t.Errorf("read %q, %v after a restart, want %q", person.Name, err, "Mary")
	}
}

// MongoDB finds a document and changes it atomically.
func TestFerretDBChangesADocumentForOneAtATime(t *testing.T) {
	db := services.MongoDatabase(t)
	counters := db.Collection("counters")
	if _, err := counters.InsertOne(t.Context(), bson.D{{Key: "n", Value: 0}}); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	var moved atomic.Int64
	for range 32 {
		all.Go(func() {
			result, err := counters.UpdateOne(t.Context(), bson.D{{Key: "n", Value: 0}}, bson.D{{Key: "$set", Value: bson.D{{Key: "n", Value: 1}}}})
			if err != nil {
				t.Error(err)
				return
			}
			moved.Add(result.ModifiedCount)
		})
	}
	all.Wait()
	if moved.Load() != 1 {
		t.Errorf("%d of 32 moved the counter from 0 to 1, want 1", moved.Load())
	}
}

func TestRedisClusterServesKeysFromEveryNode(t *testing.T) {
	c := services.RedisCluster(t)
	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: c.Addrs})
	defer client.Close()
	nodes := make(map[string]bool)
	for key := range strings.SplitSeq("abcdefghijklmnopqrstuvwxyz", "") {
		if err := client.Set(t.Context(), key, key, 0).Err(); err != nil {
			t.Fatal(err)
		}
		node, err := client.MasterForKey(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		nodes[node.Options().Addr] = true
	}
	if len(nodes) != 3 {
		t.Errorf("26 keys are on %d nodes, want all 3", len(nodes))
	}
}

func TestLDAPHasUsersAndPasswords(t *testing.T) {
	d := services.LDAP(t)
	ada := "uid=ada," + d.BaseDN
	d.Add(t, "dn: "+ada+"\nobjectClass: inetOrgPerson\nuid: ada\ncn: Ada Lovelace\nsn: Lovelace\nmail: ada@example.org\nuserPassword: engine\n")
	bind := func(password string) error {
		return exec.CommandContext(t.Context(), "ldapwhoami", "-x", "-H", d.URL, "-D", ada, "-w", password).Run()
	}
	if err := bind("engine"); err != nil {
		t.Errorf("bind with the password: %v", err)
	}
	if err := bind("wrong"); err == nil {
		t.Error("bind with another password succeeds")
	}
	d.Restart(t)
	if err := bind("engine"); err != nil {
		t.Errorf("bind after a restart: %v", err)
	}
}

func TestChromiumKeepsCookiesOnlyForItsOwnTest(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := r.Cookie("seen"); err == nil {
			w.Write([]byte("<p>again</p>"))
			return
		}
		http.SetCookie(w, &http.Cookie{Name: "seen", Value: "1"})
		w.Write([]byte("<p>first</p>"))
	}))
	defer srv.Close()
	for range 2 {
		ctx := services.Chromium(t)
		for _, want := range []string{"first", "again"} {
			if err := chromedp.Do(ctx, chromedp.Navigate(srv.URL)); err != nil {
				t.Fatal(err)
			}
			got, err := chromedp.Run(ctx, chromedp.Text(chromedp.CSS("p")))
			if err != nil {
				t.Fatal(err)
			}
			if got != want {
				t.Errorf("the page shows %q, want %q", got, want)
			}
		}
	}
}
