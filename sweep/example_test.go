package sweep_test

import (
	"context"
	"fmt"
	"log"
	"os/signal"
	"syscall"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/store/memstore"
	"github.com/pintleauth/pintle/sweep"
)

// A program of several instances sweeps beside its requests. Each instance may do so: they
// share the work. The job ends when the program is told to end.
func ExampleJob_Run() {
	cfg := pintle.Config{Store: memstore.New()} // in production a database

	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	go sweep.New(cfg).Run(ctx)
}

// A job of the operating system, or a test, sweeps once.
func ExampleJob_Once() {
	ctx := context.Background()
	store := memstore.New()
	user, err := store.CreateUser(ctx, &pintle.User{Name: "Ada"})
	if err != nil {
		log.Fatal(err)
	}
	for i := range 1200 {
		session := &pintle.StoredSession{Token: fmt.Sprint(i), UserID: user.ID, Expires: time.Now().Add(-time.Hour)}
		if err := store.CreateSession(ctx, session); err != nil {
			log.Fatal(err)
		}
	}

	job := sweep.New(pintle.Config{Store: store})
	job.Progress = func(p sweep.Progress) { fmt.Println(p.Part, p.PartRemoved) }
	removed, err := job.Once(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("removed", removed)
	// Output:
	// store 500
	// store 1000
	// store 1200
	// removed 1200
}
