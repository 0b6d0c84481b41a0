package twoprocesses

import (
	"context"
	"database/sql"
	"fmt"
	"testing"

	"github.com/redis/go-redis/v9"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/internal/integration/services"
	"github.com/pintleauth/pintle/sharedstate"
	"github.com/pintleauth/pintle/store/mongostore"
	"github.com/pintleauth/pintle/store/redisstore"
	"github.com/pintleauth/pintle/store/sqlstore"
)

// A place is where a store is: a database of SQL if it has a Driver, a server of MongoDB
// if it has a URL, else the servers of Redis.
type place struct {
	Driver, DSN string
	Dialect     sqlstore.Dialect

	URL, Name string

	Addrs   []string
	Cluster bool

	// Provider is the address of a provider. A process that has one refreshes accounts.
	Provider string

	// Alone hides from the process what it could agree on with others.
	Alone bool

	// Locked makes the steps of the store depend on a lock in each process.
	Locked bool
}

func (p place) open(ctx context.Context) (accountstore.Store, error) {
	store, err := p.openStore(ctx)
	if err != nil {
		return nil, err
	}
	if p.Locked {
		return &locked{Store: store.AccountStore()}, nil
	}
	return sharing{store.AccountStore(), store.SharedState()}, nil
}

// sharing are the rows of a store with its shared state.
type sharing struct {
	accountstore.Store
	shared sharedstate.Store
}

func (p place) openStore(ctx context.Context) (pintle.Store, error) {
	store, _, err := p.openAll(ctx)
	return store, err
}

// openAll returns the store, and the list of ended sessions beside it.
func (p place) openAll(ctx context.Context) (pintle.Store, pintle.RevocationStore, error) {
	switch {
	case p.Driver != "":
		db, err := sql.Open(p.Driver, p.DSN)
		if err != nil {
			return nil, nil, err
		}
		db.SetMaxIdleConns(goroutines)
		return sqlstore.New(db, p.Dialect), sqlstore.NewRevocations(db, p.Dialect), nil
	case p.URL != "":
		client, err := mongo.Connect(options.Client().ApplyURI(p.URL))
		if err != nil {
			return nil, nil, err
		}
		db := client.Database(p.Name)
		store, err := mongostore.Open(ctx, db, mongostore.Options{})
		if err != nil {
			return nil, nil, err
		}
		return store, mongostore.NewRevocations(db, mongostore.Options{}), nil
	case p.Cluster:
		client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: p.Addrs, ContextTimeoutEnabled: true})
		return redisstore.New(client, redisstore.Options{}), redisstore.NewRevocations(client, ""), nil
	case len(p.Addrs) == 1:
		client := redis.NewClient(&redis.Options{Addr: p.Addrs[0], ContextTimeoutEnabled: true})
		return redisstore.New(client, redisstore.Options{}), redisstore.NewRevocations(client, ""), nil
	}
	return nil, nil, fmt.Errorf("there is no store in %+v", p)
}

// stores are all whose rows several processes share.
var stores = []struct {
	name string
	make func(*testing.T) place
}{
	{"SQLite", ofSQL(sqlstore.SQLite, services.SQLiteDatabase)},
	{"PostgreSQL", ofSQL(sqlstore.PostgreSQL, services.PostgreSQLDatabase)},
	{"MariaDB", ofSQL(sqlstore.MySQL, services.MariaDBDatabase)},
	{"Redis", func(t *testing.T) place { return place{Addrs: []string{services.Redis(t).Addr}} }},
	{"Redis Cluster", func(t *testing.T) place { return place{Addrs: services.RedisCluster(t).Addrs, Cluster: true} }},
	{"MongoDB", func(t *testing.T) place {
		db := services.MongoDatabase(t)
		if err := mongostore.EnsureIndexes(t.Context(), db.Database, mongostore.Options{}); err != nil {
			t.Fatal(err)
		}
		return place{URL: db.URL, Name: db.Name()}
	}},
}

func ofSQL(d sqlstore.Dialect, open func(testing.TB) *services.Database) func(*testing.T) place {
	return func(t *testing.T) place {
		t.Helper()
		db := open(t)
		if err := sqlstore.Migrate(t.Context(), db.DB, d); err != nil {
			t.Fatal(err)
		}
		return place{Driver: db.Driver, DSN: db.DSN, Dialect: d}
	}
}
