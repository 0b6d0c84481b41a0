package connectiontest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pintleauth/pintle/connection"
)

// A memory is a source that is right, but for its fault.
type memory struct {
	fault string

	mu      sync.Mutex
	byID    map[string]*connection.Connection
	deleted map[string]bool
}

func open(fault string) Harness {
	m := &memory{fault: fault, byID: map[string]*connection.Connection{}, deleted: map[string]bool{}}
	return Harness{m, m.put, m.delete}
}

func (m *memory) Connection(ctx context.Context, id string) (*connection.Connection, error) {
	if err := ctx.Err(); err != nil && m.fault != "ignores contexts" {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fault == "ignores case" {
		id = strings.ToLower(id)
	}
	c := m.byID[id]
	switch {
	case c == nil && m.fault == "returns nil":
		return nil, nil
	case c == nil && m.fault == "has its own error":
		return nil, errors.New("no rows")
	case c == nil:
		return nil, connection.ErrNotFound
	case m.fault == "leaves disabled ones out" && c.Disabled:
		return nil, connection.ErrNotFound
	}
	found := *c
	if m.fault == "loses the secret" {
		found.ClientSecret = ""
	}
	if m.fault == "rounds versions" {
		found.Version = int64(float64(found.Version))
	}
	return &found, nil
}

func (m *memory) IDs(ctx context.Context, domain string) (ids []string, err error) {
	if err := ctx.Err(); err != nil && m.fault != "ignores contexts" && m.fault != "ignores contexts of domains" {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for id, c := range m.byID {
		match := c.Verifies(domain)
		switch m.fault {
		case "finds subdomains":
			match = slices.ContainsFunc(c.Domains, func(d string) bool { return d == domain || strings.HasSuffix(domain, "."+d) })
		case "hides":
			match = match && !c.Hidden
		}
		if match {
			ids = append(ids, id)
		}
	}
	switch {
	case m.fault == "returns the first" && len(ids) > 1:
		return ids[:1], nil
	case m.fault == "fails for unknown domains" && len(ids) == 0:
		return nil, connection.ErrNotFound
	}
	return ids, nil
}

func (m *memory) put(_ context.Context, c *connection.Connection) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.deleted[c.ID] && m.fault != "uses ids again" {
		return errors.New("the id was used before")
	}
	if before := m.byID[c.ID]; before != nil && m.fault == "is stale" {
		return nil
	}
	stored := *c
	m.byID[c.ID] = &stored
	return nil
}

func (m *memory) delete(_ context.Context, id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.deleted[id] = true
	if m.fault != "deletes nothing" {
		delete(m.byID, id)
	}
	return nil
}

func TestAGoodSourcePasses(t *testing.T) {
	TestSource(t, func(*testing.T) Harness { return open("") })
}

// RPX-103. The suite finds each fault.
func TestTheSuiteFindsFaults(t *testing.T) {
	for fault, name := range map[string]string{
		"returns nil": "an unknown id is not found", "has its own error": "an unknown id is not found", "ignores case": "an unknown id is not found",
		"ignores contexts": "a call fails when its context has ended", "ignores contexts of domains": "a call fails when its context has ended",
		"leaves disabled ones out": "what is stored is returned", "loses the secret": "what is stored is returned", "rounds versions": "what is stored is returned",
		"finds subdomains": "a domain finds its connections", "hides": "a domain finds its connections", "fails for unknown domains": "a domain finds its connections",
		"returns the first": "a domain of two connections finds both", "is stale": "a change is seen at once",
		"uses ids again": "an id is not used again", "deletes nothing": "an id is not used again",
	} {
		found := false
		for _, c := range checks {
			if err := c.run(t.Context(), open(fault)); err != nil {
				found = found || c.name == name
			}
		}
		if !found {
			t.Errorf("a source that %s passes the check %q", fault, name)
		}
	}
}
