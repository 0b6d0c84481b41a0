package main

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/store/mongostore"
	"github.com/pintleauth/pintle/store/redisstore"
	"github.com/pintleauth/pintle/store/sqlstore"
	"github.com/pintleauth/pintle/sweep"
)

// sweepFlags are the options of the command.
type sweepFlags struct {
	tables tableFlags
	prefix string
	batch  int
	pause  time.Duration
	grace  time.Duration
	json   bool
}

func (f *sweepFlags) register(flags *flag.FlagSet) {
	f.tables.register(flags)
	flags.BoolVar(&f.tables.accounts, "accounts", false, "the tables of package account are beside those of the -layout")
	flags.StringVar(&f.prefix, "prefix", "", "the `text` before each key in Redis: redisstore.Options.BaseKeyPrefix")
	flags.IntVar(&f.batch, "batch", 500, "how many rows are removed at once")
	flags.DurationVar(&f.pause, "pause", 100*time.Millisecond, "the least time between two batches; a pause is as long as the batch at least, and 0 means none")
	flags.DurationVar(&f.grace, "grace", 10*time.Minute, "for how long rows stay after they have expired, since clocks differ")
	flags.BoolVar(&f.json, "json", false, "print a JSON object for each line of progress, and for the result")
}

// runSweep removes what has expired from a database.
func runSweep(w io.Writer, args []string) error {
	flags := flag.NewFlagSet("sweep", flag.ContinueOnError)
	var f sweepFlags
	f.register(flags)
	if err := parse(flags, args); err != nil {
		return err
	}
	switch {
	case f.batch < 1:
		return usagef("-batch is how many rows are removed at once: 1 or more")
	case f.pause < 0 || f.grace < 0:
		return usagef("-pause and -grace cannot be negative")
	}
	address, err := f.tables.address(flags.Args())
	if err != nil {
		return err
	}
	if err := f.tables.check(); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	job, closeDatabase, err := f.open(ctx, address)
	if err != nil {
		return err
	}
	defer closeDatabase()
	out := bufio.NewWriter(w)
	job.Batch, job.Pause, job.Grace = f.batch, orNone(f.pause), orNone(f.grace)
	job.Progress = f.progress(out, 2*time.Second)
	began := time.Now()
	removed, err := job.Once(ctx)
	f.print(out, sweep.Progress{Removed: removed, Took: time.Since(began)}, err == nil)
	err = errors.Join(err, out.Flush())
	if ctx.Err() != nil {
		return errors.New("stopped: what is removed stays removed, and the next run goes on")
	}
	return unquoted(err)
}

// orNone turns zero into what means none in a [sweep.Job].
func orNone(d time.Duration) time.Duration {
	if d == 0 {
		return -1
	}
	return d
}

// open returns the job for the database that a URL names, and how to close it.
func (f *sweepFlags) open(ctx context.Context, address string) (*sweep.Job, func(), error) {
	switch scheme, _, _ := strings.Cut(address, ":"); scheme {
	case "redis", "rediss":
		return f.openRedis(address)
	case "mongodb", "mongodb+srv":
		return f.openMongoDB(ctx, address)
	}
	if f.prefix != "" {
		return nil, nil, usagef("-prefix is about keys in Redis")
	}
	db, dialect, err := openDatabase(address, mustExist)
	if err != nil {
		return nil, nil, err
	}
	store, err := f.tables.store(ctx, db, dialect)
	if err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	cfg := pintle.Config{Store: store}
	// Beside tables of Auth.js, those that a site needs are there.
	if f.tables.layout == "" || exists(ctx, db, "pintle_revocations") {
		cfg.Session.Revocation = sqlstore.NewRevocations(db, dialect)
	}
	if f.tables.layout != "" && !f.tables.accounts && exists(ctx, db, "pintle_once") && exists(ctx, db, "pintle_counts") {
		cfg.SharedState = sqlstore.NewSharedState(db, dialect)
	}
	return sweep.New(cfg), func() { _ = db.Close() }, nil
}

// exists reports whether a table can be read.
func exists(ctx context.Context, db *sql.DB, table string) bool {
	rows, err := db.QueryContext(ctx, "SELECT 1 FROM "+table+" WHERE 1 = 0") //nolint:gosec // a quoted name, or one of ours
	if err != nil {
		return false
	}
	defer rows.Close()
	return rows.Err() == nil
}

func (f *sweepFlags) openRedis(address string) (*sweep.Job, func(), error) {
	if f.tables.given() {
		return nil, nil, usagef("-layout, -table, -column, -extra and -accounts are about tables")
	}
	o, err := redis.ParseURL(address)
	if err != nil {
		return nil, nil, unquoted(fmt.Errorf("the URL of the database: %w", err))
	}
	o.ContextTimeoutEnabled = true
	redis.SetLogger(silent{}) // the error that the command prints has the reason
	client := redis.NewClient(o)
	store := redisstore.New(client, redisstore.Options{BaseKeyPrefix: f.prefix})
	return sweep.New(pintle.Config{Store: store}), func() { _ = client.Close() }, nil
}

// silent is a logger of the client of Redis that writes nothing.
type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}

func (f *sweepFlags) openMongoDB(ctx context.Context, address string) (*sweep.Job, func(), error) {
	if f.tables.given() || f.prefix != "" {
		return nil, nil, usagef("-layout, -table, -column, -extra and -accounts are about tables, and -prefix about keys in Redis")
	}
	u, err := url.Parse(address)
	if err != nil {
		return nil, nil, unquoted(err)
	}
	name := strings.TrimPrefix(u.Path, "/")
	if name == "" {
		return nil, nil, usagef("the URL has to name the database: mongodb://HOST/DATABASE")
	}
	client, err := mongo.Connect(options.Client().ApplyURI(address).SetTimeout(time.Minute))
	if err != nil {
		return nil, nil, fmt.Errorf("the URL of the database: %w", err)
	}
	db := client.Database(name)
	closeClient := func() { _ = client.Disconnect(context.WithoutCancel(ctx)) }
	opening, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	store, err := mongostore.Open(opening, db, mongostore.Options{})
	if err != nil {
		closeClient()
		return nil, nil, err
	}
	return sweep.New(pintle.Config{
		Store: store, Session: pintle.SessionConfig{Revocation: mongostore.NewRevocations(db, mongostore.Options{})},
	}), closeClient, nil
}

// progress returns what prints a line now and then.
func (f *sweepFlags) progress(out *bufio.Writer, every time.Duration) func(sweep.Progress) {
	last := time.Now()
	return func(p sweep.Progress) {
		if time.Since(last) < every {
			return
		}
		last = time.Now()
		f.print(out, p, false)
		_ = out.Flush()
	}
}

// A sweepLine is a line of progress, or the result, as JSON.
type sweepLine struct {
	Part    string  `json:"part,omitempty"`
	Removed int     `json:"removed"`
	Seconds float64 `json:"seconds"`
	Done    bool    `json:"done"`
}

func (f *sweepFlags) print(out io.Writer, p sweep.Progress, done bool) {
	switch {
	case f.json:
		_ = json.NewEncoder(out).Encode(sweepLine{p.Part, p.Removed, p.Took.Round(time.Millisecond).Seconds(), done})
	case done:
		_, _ = fmt.Fprintf(out, "removed: %d\n", p.Removed)
	default:
		_, _ = fmt.Fprintf(out, "so far: %d, %s\n", p.Removed, p.Took.Round(time.Second))
	}
}
