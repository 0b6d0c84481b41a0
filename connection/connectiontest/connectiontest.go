// Package connectiontest checks that a [connection.Source] keeps the promises of its
// documentation. A source of your own passes with
//
//	func TestSource(t *testing.T) {
//		connectiontest.TestSource(t, func(t *testing.T) connectiontest.Harness {
//			s := newSource(t) // an empty one
//			return connectiontest.Harness{Source: s, Put: s.put, Delete: s.delete}
//		})
//	}
package connectiontest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pintleauth/pintle/connection"
)

// A Harness is a source, which is empty, and how connections come into it and out of it.
type Harness struct {
	Source connection.Source

	// Put stores a connection: a new one, or a later version of one. It fails for the id of
	// a connection that was deleted.
	Put func(ctx context.Context, c *connection.Connection) error

	// Delete removes a connection.
	Delete func(ctx context.Context, id string) error
}

// TestSource runs every check with a source that open returns. Run it with the race
// detector: one check uses the source from many goroutines.
func TestSource(t *testing.T, open func(t *testing.T) Harness) {
	t.Helper()
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) {
			if err := c.run(t.Context(), open(t)); err != nil {
				t.Error(err)
			}
		})
	}
}

type check struct {
	name string
	run  func(context.Context, Harness) error
}

var checks = []check{
	{"what is stored is returned", isReturned},
	{"an unknown id is not found", isNotFound},
	{"a domain finds its connections", findsByDomain},
	{"a domain of two connections finds both", findsBoth},
	{"a change is seen at once", seesChanges},
	{"an id is not used again", keepsIDs},
	{"a call fails when its context has ended", endsWithItsContext},
	{"the source is used concurrently", isUsedConcurrently},
}

// sample is a connection with an id and domains.
func sample(id string, domains ...string) *connection.Connection {
	return &connection.Connection{
		ID: id, Version: 1, Name: "Example Ltd", Issuer: "https://idp.example/" + id, ClientID: "client-" + id, ClientSecret: "secret of " + id, Domains: domains,
	}
}

func put(ctx context.Context, h Harness, all ...*connection.Connection) error {
	for _, c := range all {
		if err := h.Put(ctx, c); err != nil {
			return fmt.Errorf("put %s: %w", c.ID, err)
		}
	}
	return nil
}

// differs returns what a source has of a connection that is not as stored.
func differs(ctx context.Context, h Harness, want *connection.Connection) error {
	got, err := h.Source.Connection(ctx, want.ID)
	if err != nil {
		return fmt.Errorf("Connection(%q): %w", want.ID, err)
	}
	if got == nil {
		return fmt.Errorf("Connection(%q) returns nil without an error", want.ID)
	}
	if got.ID != want.ID || got.Version != want.Version || got.Issuer != want.Issuer || got.ClientID != want.ClientID ||
		got.ClientSecret != want.ClientSecret || got.Disabled != want.Disabled || got.Hidden != want.Hidden || !sameSet(got.Domains, want.Domains) {
		return fmt.Errorf("Connection(%q) returns %v, domains %q, disabled %t, hidden %t, which is not what was stored", want.ID, got.LogValue(), got.Domains, got.Disabled, got.Hidden)
	}
	return nil
}

func sameSet(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

func isReturned(ctx context.Context, h Harness) error {
	long, plain := sample(strings.Repeat("a", connection.MaxID), "one.example", "two.example"), sample("plain")
	off := sample("off-2", "off.example")
	off.Disabled, off.Hidden, off.Version = true, true, 1<<53+1
	if err := put(ctx, h, long, plain, off); err != nil {
		return err
	}
	return errors.Join(differs(ctx, h, long), differs(ctx, h, plain), differs(ctx, h, off))
}

func isNotFound(ctx context.Context, h Harness) error {
	if err := put(ctx, h, sample("known", "known.example")); err != nil {
		return err
	}
	var errs []error
	for _, id := range []string{"unknown", "", "KNOWN", "known ", "know", "known.example", "' OR '1'='1", "%"} {
		if _, err := h.Source.Connection(ctx, id); !errors.Is(err, connection.ErrNotFound) {
			errs = append(errs, fmt.Errorf("Connection(%q) returns the error %w, want ErrNotFound", id, err))
		}
	}
	return errors.Join(errs...)
}

// finds returns an error unless a domain leads to these ids.
func finds(ctx context.Context, h Harness, domain string, want ...string) error {
	got, err := h.Source.IDs(ctx, domain)
	if err != nil || !sameSet(got, want) {
		return fmt.Errorf("IDs(%q) returns %q, %w, want %q", domain, got, err, want)
	}
	return nil
}

func findsByDomain(ctx context.Context, h Harness) error {
	off := sample("off", "off.example")
	off.Disabled, off.Hidden = true, true
	if err := put(ctx, h, sample("one", "one.example", "xn--bcher-kva.example"), sample("two", "two.example"), sample("none"), off); err != nil {
		return err
	}
	errs := []error{
		finds(ctx, h, "one.example", "one"), finds(ctx, h, "xn--bcher-kva.example", "one"), finds(ctx, h, "two.example", "two"),
		finds(ctx, h, "off.example", "off"),
	}
	for _, domain := range []string{"three.example", "sub.one.example", "example", "ne.example", "one.example.", "", "%", "_ne.example", "*"} {
		errs = append(errs, finds(ctx, h, domain))
	}
	return errors.Join(errs...)
}

func findsBoth(ctx context.Context, h Harness) error {
	if err := put(ctx, h, sample("one", "both.example")); err != nil {
		return err
	}
	if err := h.Put(ctx, sample("two", "both.example")); err != nil {
		return finds(ctx, h, "both.example", "one") // a source that refuses the second is right, too
	}
	return finds(ctx, h, "both.example", "one", "two")
}

func seesChanges(ctx context.Context, h Harness) error {
	later := sample("one", "new.example")
	later.Version, later.ClientSecret, later.Disabled = 2, "another secret", true
	if err := put(ctx, h, sample("one", "old.example")); err != nil {
		return err
	}
	if err := differs(ctx, h, sample("one", "old.example")); err != nil {
		return err
	}
	if err := put(ctx, h, later); err != nil {
		return err
	}
	return errors.Join(differs(ctx, h, later), finds(ctx, h, "new.example", "one"), finds(ctx, h, "old.example"))
}

func keepsIDs(ctx context.Context, h Harness) error {
	if err := put(ctx, h, sample("one", "one.example")); err != nil {
		return err
	}
	if err := h.Delete(ctx, "one"); err != nil {
		return fmt.Errorf("delete: %w", err)
	}
	if _, err := h.Source.Connection(ctx, "one"); !errors.Is(err, connection.ErrNotFound) {
		return fmt.Errorf("Connection returns the error %w after the connection was deleted, want ErrNotFound", err)
	}
	if err := finds(ctx, h, "one.example"); err != nil {
		return err
	}
	if err := h.Put(ctx, sample("one", "other.example")); err == nil {
		return errors.New("the id of a deleted connection is used again: accounts of its users would sign in to the new one")
	}
	return nil
}

func endsWithItsContext(ctx context.Context, h Harness) error {
	if err := put(ctx, h, sample("one", "one.example")); err != nil {
		return err
	}
	ended, end := context.WithCancel(ctx)
	end()
	if _, err := h.Source.Connection(ended, "one"); err == nil || errors.Is(err, connection.ErrNotFound) {
		return fmt.Errorf("Connection returns the error %w after its context has ended", err)
	}
	if _, err := h.Source.IDs(ended, "one.example"); err == nil || errors.Is(err, connection.ErrNotFound) {
		return fmt.Errorf("IDs returns the error %w after its context has ended", err)
	}
	return nil
}

func isUsedConcurrently(ctx context.Context, h Harness) error {
	const users = 16
	if err := put(ctx, h, sample("one", "one.example")); err != nil {
		return err
	}
	errs := make([]error, users)
	var wait sync.WaitGroup
	for i := range users {
		wait.Go(func() {
			errs[i] = errors.Join(differs(ctx, h, sample("one", "one.example")), finds(ctx, h, "one.example", "one"))
		})
	}
	wait.Wait()
	return errors.Join(errs...)
}
