package services

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// Redis starts a Redis server for this test alone. It starts in milliseconds,
// so tests do not share one.
func Redis(t testing.TB) *Server {
	t.Helper()
	s, err := startRedis()
	if err != nil {
		t.Fatal(err)
	}
	return s.ownedBy(t)
}

// masters is the least a Redis Cluster can have.
const masters = 3

// A Cluster is a Redis Cluster of three masters.
type Cluster struct {
	// Addrs are the addresses of the nodes.
	Addrs []string
	// Nodes are the servers, the masters first. By default a cluster that has
	// lost one of them, and no replica to take its place, serves no keys.
	Nodes []*Server
}

// RedisCluster starts a Redis Cluster without replicas for this test alone.
func RedisCluster(t testing.TB) *Cluster {
	t.Helper()
	return RedisClusterWith(t, 0)
}

// RedisClusterWith starts a Redis Cluster whose masters have so many replicas
// each, with further options of redis-server.
func RedisClusterWith(t testing.TB, replicas int, options ...string) *Cluster {
	t.Helper()
	cli, err := program("redis-cli")
	if err != nil {
		t.Fatal(err)
	}
	c := &Cluster{}
	for range masters * (1 + replicas) {
		// The default, the client port plus 10000, may be taken or not exist.
		bus, err := freePort()
		if err != nil {
			t.Fatal(err)
		}
		settings := []string{"--cluster-enabled", "yes", "--cluster-port", bus, "--cluster-node-timeout", "2000", "--repl-diskless-sync-delay", "0"}
		node, err := startRedis(append(settings, options...)...)
		if err != nil {
			t.Fatal(err)
		}
		c.Nodes = append(c.Nodes, node.ownedBy(t))
		c.Addrs = append(c.Addrs, node.Addr)
	}
	args := append([]string{"--cluster", "create"}, c.Addrs...)
	args = append(args, "--cluster-replicas", strconv.Itoa(replicas), "--cluster-yes")
	if err := run(exec.CommandContext(t.Context(), cli, args...)); err != nil {
		t.Fatal(err)
	}
	c.wait(t)
	return c
}

// wait returns when every node reports that all slots are served, since a node
// without that information responds with CLUSTERDOWN, and when every replica has
// the data of its master.
func (c *Cluster) wait(t testing.TB) {
	t.Helper()
	deadline := time.Now().Add(startTimeout)
	for i, addr := range c.Addrs {
		client := redis.NewClient(&redis.Options{Addr: addr})
		for {
			info, err := client.ClusterInfo(t.Context()).Result()
			if err == nil && strings.Contains(info, "cluster_state:ok") {
				info, err = client.Info(t.Context(), "replication").Result()
				if err == nil && (i < masters || strings.Contains(info, "master_link_status:up")) {
					break
				}
			}
			if time.Now().After(deadline) {
				t.Fatalf("services: Redis node %s does not join the cluster: %v\n%s", addr, err, info)
			}
			time.Sleep(20 * time.Millisecond)
		}
		if err := client.Close(); err != nil {
			t.Fatalf("services: %v", err)
		}
	}
}

// Replicated waits until the replicas have all writes. Redis responds to a write
// before that, and a master that dies in between loses it.
func (c *Cluster) Replicated(t testing.TB) {
	t.Helper()
	deadline := time.Now().Add(startTimeout)
	for _, addr := range c.Addrs[:masters] {
		client := redis.NewClient(&redis.Options{Addr: addr})
		for {
			info, err := client.Info(t.Context(), "replication").Result()
			if written := written.FindStringSubmatch(info); err == nil && written != nil && strings.Contains(info, "state=online,offset="+written[1]+",") {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("services: Redis node %s does not replicate: %v\n%s", addr, err, info)
			}
			time.Sleep(20 * time.Millisecond)
		}
		if err := client.Close(); err != nil {
			t.Fatalf("services: %v", err)
		}
	}
}

var written = regexp.MustCompile(`master_repl_offset:(\d+)`)

func startRedis(extra ...string) (*Server, error) {
	server, err := program("redis-server")
	if err != nil {
		return nil, err
	}
	owner, err := unprivileged("redis")
	if err != nil {
		return nil, err
	}
	dir, err := owner.tempDir("pintle-redis-")
	if err != nil {
		return nil, err
	}
	s := &Server{name: "Redis", dir: dir, goodbye: syscall.SIGTERM}
	s.command = func(port string) *exec.Cmd {
		// The data need not outlive the machine, only the process. A server that
		// waits for its disk would keep writes to itself meanwhile.
		args := []string{"--bind", "127.0.0.1", "--port", port, "--dir", dir, "--save", "", "--appendonly", "yes", "--appendfsync", "no"}
		return owner.command(dir, server, append(args, extra...)...)
	}
	s.ready = func(ctx context.Context) error { return pingRedis(ctx, s.Addr) }
	if err := s.open(func(addr string) string { return "redis://" + addr }); err != nil {
		return nil, err
	}
	return s, nil
}

func pingRedis(ctx context.Context, addr string) error {
	client := redis.NewClient(&redis.Options{Addr: addr, MaxRetries: -1})
	defer client.Close()
	if err := client.Ping(ctx).Err(); err != nil {
		return fmt.Errorf("ping: %w", err)
	}
	return nil
}
