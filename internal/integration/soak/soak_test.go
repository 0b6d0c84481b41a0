package soak

import (
	"context"
	"database/sql"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/internal/integration/services"
	"github.com/pintleauth/pintle/store/redisstore"
	"github.com/pintleauth/pintle/store/sqlstore"
)

var (
	duration = flag.Duration("soak.duration", 12*time.Second, "how long the faults of all stores take together; recovery comes on top")
	stores   = flag.String("soak.stores", "PostgreSQL,PostgreSQL with tokens", "the stores, separated by commas: PostgreSQL, Redis Cluster; \"with tokens\" after one keeps the sessions in tokens, with a revocation list")
	only     = flag.String("soak.faults", "killed every,rolling restart,all connections,answers 500", "words in the names of the faults, separated by commas; empty means all")
	workers  = flag.Int("soak.workers", 4, "how many users act at a time")
	revision = flag.String("soak.old", "", "the revision of which the instances are, before the rolling upgrade; empty means no upgrade, \"last\" the last tag, or the commit before")
	results  = flag.String("soak.out", "", "the directory for soak.md and soak.json; empty writes none")
)

func TestMain(m *testing.M) {
	flag.Parse()
	redis.SetLogger(silent{}) // it would log the faults
	os.Exit(services.Run(m))
}

type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}

// recovery is when an application counts as one that does not recover. It is no promise of
// speed: every kind of step has to come round, on a busy machine.
const recovery = 5 * time.Minute

// A row is what happened around a fault.
type row struct {
	Store    string                   `json:"store"`
	Fault    string                   `json:"fault"`
	Lasted   time.Duration            `json:"lasted"`
	Before   counts                   `json:"before"`
	During   counts                   `json:"during"`
	Recovery map[string]time.Duration `json:"recovery"` // by the kind of step
	Hostile  *hostileTraffic          `json:"hostile,omitempty"`
}

// slowest is the longest recovery of a kind of step.
func (r *row) slowest() (most time.Duration) {
	for _, d := range r.Recovery {
		most = max(most, d)
	}
	return most
}

// A journal is what was compared in the end.
type journal struct {
	Store    string `json:"store"`
	Steps    counts `json:"steps"`
	Users    int    `json:"users"`
	Deleted  int    `json:"deleted"`
	Live     int    `json:"live"`
	Ended    int    `json:"ended"`
	Doubtful int    `json:"doubtful"`
	Wrong    int    `json:"wrong"`
}

// Q20: whatever fails, what the application has acknowledged is so, and it recovers by itself.
func TestTwoInstancesKeepWhatTheyAcknowledgeUnderFaults(t *testing.T) {
	programs := t.TempDir()
	current := build(t, ".", filepath.Join(programs, "current"))
	old := ""
	if *revision != "" {
		old = buildOld(t, programs)
	}
	var rows []row
	var journals []journal
	names := strings.Split(*stores, ",")
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			r, faults, store := open(t, name, current, old)
			slot := *duration / time.Duration(len(names)*len(faults))
			more, j := r.soak(faults, slot, store)
			for i := range more {
				more[i].Store = name
			}
			j.Store = name
			rows, journals = append(rows, more...), append(journals, j)
		})
	}
	text := table(rows, journals)
	t.Log("\n" + text)
	if *results != "" {
		write(t, "soak.md", []byte(text))
		data, err := json.MarshalIndent(map[string]any{"faults": rows, "journals": journals}, "", "\t")
		if err != nil {
			t.Fatal(err)
		}
		write(t, "soak.json", data)
	}
}

func write(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(*results, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(*results, name), data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// build compiles the command instance in a directory.
func build(t *testing.T, dir, program string) string {
	t.Helper()
	cmd := exec.Command("go", "build", "-o", program, "./instance")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, out)
	}
	return program
}

// buildOld compiles this instance with the library of another revision.
func buildOld(t *testing.T, programs string) string {
	t.Helper()
	run := func(dir, script string) string {
		t.Helper()
		cmd := exec.Command("sh", "-c", script)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", script, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	rev := *revision
	if rev == "last" {
		rev = run(".", "git describe --tags --abbrev=0 2>/dev/null || git rev-parse HEAD~1")
	}
	top := run(".", "git rev-parse --show-toplevel")
	tree := filepath.Join(programs, "tree")
	if err := os.Mkdir(tree, 0o755); err != nil {
		t.Fatal(err)
	}
	run(top, fmt.Sprintf("git archive %q | tar -x -C %q", rev, tree))
	soak := filepath.Join(tree, "internal/integration/soak")
	run(".", fmt.Sprintf("mkdir -p %q && rm -rf %q/instance && cp -R instance %q/", soak, soak, soak))
	t.Logf("the program of before is that of %s", rev)
	return build(t, soak, filepath.Join(programs, "old"))
}

// open starts servers and a site whose instances have a store, and returns its faults.
func open(t *testing.T, name, current, old string) (*run, []fault, pintle.Store) {
	t.Helper()
	r := &run{t: t, current: current}
	r.idp = authtest.NewIdentityProvider(authtest.Options{AutoConsent: true, People: people(), Algorithm: authtest.ES256, TokenLifetime: 90 * time.Second})
	provider := httptest.NewUnstartedServer(r)
	provider.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError) // requests that it aborts
	provider.Start()
	t.Cleanup(func() {
		provider.CloseClientConnections()
		provider.Close()
	})
	r.idp.Issuer = provider.URL
	r.box = authtest.StartMailbox(t, authtest.MailboxOptions{})
	p := newProxy(t)
	settings := settings{URL: p.url, Issuer: provider.URL, Mailbox: r.box.Addr, Secrets: []string{secretOld}}
	kind, tokens := strings.CutSuffix(name, " with tokens")
	settings.Tokens = tokens
	faults := slices.Clone(anywhere)
	var store pintle.Store
	switch kind {
	case "PostgreSQL":
		r.postgres = services.PostgreSQL(t)
		faults = append(faults, onPostgreSQL...)
		hosts := r.postgres.Addr
		if len(chosen(slices.Clone(onPostgreSQL[len(onPostgreSQL)-1:]), *only)) > 0 {
			r.replica = services.PostgreSQLReplica(t, r.postgres)
			hosts += "," + r.replica.Addr
		}
		// A server that acknowledged before it has written would lose that when it is killed.
		settings.PostgreSQL = "postgres://pintle@" + hosts + "/postgres?" + url.Values{
			"sslmode": {"disable"}, "synchronous_commit": {"on"}, "target_session_attrs": {"read-write"}, "connect_timeout": {"2"},
		}.Encode()
		db, err := sql.Open("pgx", settings.PostgreSQL)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		store = sqlstore.New(db, sqlstore.PostgreSQL)
	case "Redis Cluster":
		r.cluster = services.RedisClusterWith(t, 1, "--cluster-node-timeout", nodeTimeout)
		faults = append(faults, onRedisCluster...)
		settings.RedisCluster = r.cluster.Addrs
		client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: r.cluster.Addrs})
		t.Cleanup(func() { _ = client.Close() })
		store = redisstore.New(client, redisstore.Options{})
	default:
		t.Fatalf("there is no store %q: use PostgreSQL or Redis Cluster, either also with the words \"with tokens\"", name)
	}
	faults = chosen(faults, *only)
	if len(faults) == 0 {
		t.Fatalf("no fault has a name with one of %q", *only)
	}
	r.site = &site{t: t, proxy: p, program: current, settings: settings}
	if old != "" {
		r.site.program = old
		faults = append([]fault{rollingUpgrade}, faults...)
	}
	t.Cleanup(r.site.stop)
	r.site.start(0)
	r.site.start(1)
	if t.Failed() {
		t.FailNow()
	}
	r.load = &load{url: p.url, box: r.box, wanted: map[string]bool{}, tokens: tokens}
	return r, faults, store
}

// soak makes one fault after the other, each after a time without one, and compares the
// journal with the application and the store in the end.
func (r *run) soak(faults []fault, slot time.Duration, store pintle.Store) (rows []row, j journal) {
	ctx, end := context.WithCancel(context.Background())
	over := make(chan struct{})
	go func() {
		defer close(over)
		r.load.run(ctx, *workers)
	}()
	began := time.Now()
	for _, f := range faults {
		healthy := time.Now()
		time.Sleep(slot / 3)
		start := time.Now()
		f.make(r, slot*2/3)
		stop := time.Now()
		row := row{Fault: f.name, Lasted: stop.Sub(start), Before: r.load.between(healthy, start), During: r.load.between(start, stop)}
		if f.name == "hostile traffic" {
			row.Hostile = &r.hostile
		}
		wait, cancel := context.WithTimeout(ctx, recovery)
		var missing []string
		row.Recovery, missing = r.load.recovered(wait, stop)
		cancel()
		if len(missing) > 0 {
			r.t.Errorf("%s after %q these steps still fail, and no instance was restarted: %q", recovery, f.name, missing)
		}
		rows = append(rows, row)
		r.t.Logf("%s: %s lasted %.0f s: %+v, then %.2f s to recover", time.Now().Format(time.TimeOnly), f.name, row.Lasted.Seconds(), row.During, row.slowest().Seconds())
	}
	end()
	<-over
	j = r.compare(store)
	j.Steps = r.load.between(began, time.Now())
	return rows, j
}

// table is what the documentation quotes.
func table(rows []row, journals []journal) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %d processors, %s\n\n", time.Now().UTC().Format("2 January 2006"), runtime.NumCPU(), runtime.Version())
	fmt.Fprintln(&b, "| Store | Fault | Lasted | Before: ok / failed | Meanwhile: ok / failed / wrong | Recovery, first to last kind of step |")
	fmt.Fprintln(&b, "| --- | --- | --- | --- | --- | --- |")
	for _, r := range rows {
		least, most := r.slowest(), r.slowest()
		for _, d := range r.Recovery {
			least = min(least, d)
		}
		fmt.Fprintf(&b, "| %s | %s | %.0f s | %d / %d | %d / %d / %d | %.2f to %.2f s |\n", r.Store, r.Fault, r.Lasted.Seconds(),
			r.Before.OK, r.Before.Failed, r.During.OK, r.During.Failed, r.During.Wrong, least.Seconds(), most.Seconds())
	}
	fmt.Fprintln(&b, "\n| Store | Steps: ok / failed / wrong | Users | Deleted | Sessions live | Sessions ended | Users in doubt | Wrong |")
	fmt.Fprintln(&b, "| --- | --- | --- | --- | --- | --- | --- | --- |")
	for _, j := range journals {
		fmt.Fprintf(&b, "| %s | %d / %d / %d | %d | %d | %d | %d | %d | %d |\n", j.Store, j.Steps.OK, j.Steps.Failed, j.Steps.Wrong,
			j.Users, j.Deleted, j.Live, j.Ended, j.Doubtful, j.Wrong)
	}
	for _, r := range rows {
		if h := r.Hostile; h != nil {
			fmt.Fprintf(&b, "\n%s, hostile traffic: %d mutated requests (%d answered 500), %d slow connections.\n\n", r.Store, h.Requests, h.Failed, h.Slow)
			fmt.Fprintln(&b, "| Instance | Heap before, after | Goroutines | Files |\n| --- | --- | --- | --- |")
			for i := range h.Before {
				fmt.Fprintf(&b, "| %d | %.1f, %.1f MB | %d, %d | %d, %d |\n", i+1, float64(h.Before[i].Heap)/1e6, float64(h.After[i].Heap)/1e6,
					h.Before[i].Goroutines, h.After[i].Goroutines, h.Before[i].Files, h.After[i].Files)
			}
		}
	}
	return b.String()
}
