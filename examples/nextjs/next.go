package main

import (
	"context"
	"fmt"
	"log"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// A nextApp is the Next.js application beside this program.
type nextApp struct {
	dir string
	env []string
}

// build installs the dependencies of the application, if they are missing, and
// compiles it.
func (a *nextApp) build(ctx context.Context) error {
	if _, err := os.Stat(filepath.Join(a.dir, "package.json")); err != nil {
		return fmt.Errorf("%w: start this at the top of the repository, or set its directory with -web", err)
	}
	steps := [][]string{{"node", next, "build"}}
	if _, err := os.Stat(filepath.Join(a.dir, next)); err != nil {
		steps = [][]string{{"npm", "ci", "--no-audit", "--no-fund"}, steps[0]}
	}
	for _, step := range steps {
		cmd := a.command(ctx, step...)
		log.Print(cmd)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", cmd, err, out)
		}
	}
	return nil
}

// serve runs the application until ctx ends, and reports when it can be opened.
func (a *nextApp) serve(ctx context.Context, addr string) error {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return err
	}
	cmd := a.command(ctx, "node", next, "start", "--hostname", host, "--port", port)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return err
	}
	go announce(ctx, addr)
	return cmd.Wait()
}

const next = "node_modules/next/dist/bin/next"

func (a *nextApp) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...) //nolint:gosec // the arguments are ours, and an address of the person who started us
	cmd.Dir = a.dir
	cmd.Env = append(os.Environ(), append(a.env, "NODE_ENV=production", "NEXT_TELEMETRY_DISABLED=1")...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// announce waits until something listens at addr.
func announce(ctx context.Context, addr string) {
	for ctx.Err() == nil {
		var network net.Dialer
		if conn, err := network.DialContext(ctx, "tcp", addr); err == nil {
			_ = conn.Close() // nothing was sent
			log.Printf("open http://%s", addr)
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}
