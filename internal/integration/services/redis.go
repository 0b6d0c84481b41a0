package services

import (
	"context"
	"fmt"
	"os/exec"
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

// A Cluster is a Redis Cluster of three masters without replicas.
type Cluster struct {
	// Addrs are the addresses of the nodes.
	Addrs []string
	// Nodes are the servers. A cluster with one of them stopped serves no keys.
	Nodes []*Server
}

// RedisCluster starts a Redis Cluster for this test alone.
func RedisCluster(t testing.TB) *Cluster {
	t.Helper()
	cli, err := program("redis-cli")
	if err != nil {
		t.Fatal(err)
	}
	c := &Cluster{}
	for range 3 {
		// The default, the client port plus 10000, may be taken or not exist.
		bus, err := freePort()
		if err != nil {
			t.Fatal(err)
		}
		node, err := startRedis("--cluster-enabled", "yes", "--cluster-port", bus, "--cluster-node-timeout", "2000")
		if err != nil {
			t.Fatal(err)
		}
		c.Nodes = append(c.Nodes, node.ownedBy(t))
		c.Addrs = append(c.Addrs, node.Addr)
	}
	args := append([]string{"--cluster", "create"}, c.Addrs...)
	if err := run(exec.CommandContext(t.Context(), cli, append(args, "--cluster-yes")...)); err != nil {
		t.Fatal(err)
	}
	c.wait(t)
	return c
}

// wait returns when every node believes that all slots are served: a node that
// has not heard so yet answers CLUSTERDOWN.
func (c *Cluster) wait(t testing.TB) {
	t.Helper()
	deadline := time.Now().Add(startTimeout)
	for _, addr := range c.Addrs {
		client := redis.NewClient(&redis.Options{Addr: addr})
		for {
			info, err := client.ClusterInfo(t.Context()).Result()
			if err == nil && strings.Contains(info, "cluster_state:ok") {
				break
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
		args := []string{"--bind", "127.0.0.1", "--port", port, "--dir", dir, "--save", "", "--appendonly", "yes"}
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
