package redisstore_test

import (
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/internal/integration/services"
	"github.com/pintleauth/pintle/store/redisstore"
)

// AC-215: "pintle sweep" removes the rows of users whom Auth.js has deleted, below the prefix that it is
// told.
func TestTheCommandSweepsRedis(t *testing.T) {
	command := filepath.Join(t.TempDir(), "pintle")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", command, "github.com/pintleauth/pintle/cmd/pintle")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the command: %v\n%s", err, out)
	}
	server := services.Redis(t)
	client := closed(t, redis.NewClient(&redis.Options{Addr: server.Addr, ContextTimeoutEnabled: true}))
	for _, prefix := range []string{"app:", "other:"} {
		rows := redisstore.New(client, redisstore.Options{BaseKeyPrefix: prefix}).AccountStore()
		for _, id := range []string{"1", "2"} {
			if err := rows.AddFactor(t.Context(), &accountstore.Factor{UserID: "gone", Kind: "totp", ID: id, Created: time.Now()}); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, want := range []string{"removed: 1\n", "removed: 0\n"} { // a key has the factors of a user
		out, err := exec.CommandContext(t.Context(), command, "sweep", "-prefix", "app:", "redis://"+server.Addr).CombinedOutput()
		if string(out) != want || err != nil {
			t.Errorf("the command prints %q, %v, want %q", out, err, want)
		}
	}
	for prefix, want := range map[string]int{"app:": 0, "other:": 2} {
		left, err := redisstore.New(client, redisstore.Options{BaseKeyPrefix: prefix}).AccountStore().Factors(t.Context(), "gone")
		if err != nil || len(left) != want {
			t.Errorf("%d factors are left below %s, %v, want %d", len(left), prefix, err, want)
		}
	}
}
