// Command ferretdb serves MongoDB's protocol for tests: FerretDB with SQLite
// behind it, because MongoDB itself is in no package registry.
//
//	ferretdb -listen 127.0.0.1:27017 -dir /tmp/data
//
// FerretDB 1 differs from MongoDB in two things on which a store relies. It finds a
// document and then changes it, so that other clients can interfere, where MongoDB
// does both atomically. And it reports an update that a unique index rejects as an
// internal error. The [serializer] in front of it makes both as MongoDB documents
// them; everything else is FerretDB's.
//
// https://www.mongodb.com/docs/manual/core/write-operations-atomicity/
//
// This is a separate module, outside of the workspace, because it needs older
// versions of some libraries than the other modules. SQLite and what it uses have the
// same version in all of them, and are compiled once.
package main

import (
	"context"
	"errors"
	"flag"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/FerretDB/FerretDB/ferretdb"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:0", "`address` to serve on")
	dir := flag.String("dir", "", "`directory` for the data; it has to exist")
	flag.Parse()
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *listen, *dir, log)
	stop()
	if err != nil {
		log.Error("ferretdb", slog.Any("error", err))
		os.Exit(1)
	}
}

// run serves until ctx ends.
func run(ctx context.Context, listen, dir string, log *slog.Logger) error {
	if dir == "" {
		return errors.New("name a directory with -dir")
	}
	socket := filepath.Join(dir, "ferretdb.sock")
	if err := os.Remove(socket); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err // left by a run that was killed
	}
	db, err := ferretdb.New(&ferretdb.Config{
		Listener: ferretdb.ListenerConfig{Unix: socket},
		Logger:   log,
		Handler:  "sqlite",
		// The data need not outlive the machine, only the process.
		SQLiteURL: "file:" + dir + "/?_pragma=busy_timeout(10000)&_pragma=synchronous(off)",
	})
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return err
	}
	d := &serializer{socket: socket}
	go d.serve(l)
	err = db.Run(ctx)
	return errors.Join(err, l.Close())
}
