package crash

import (
	"context"
	"database/sql"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/pintleauth/pintle/authtest"
)

const (
	rounds     = 8
	inParallel = 8    // people who sign in at a time
	invited    = 4000 // more than can sign in in all rounds
)

// Whenever the server dies, it leaves no incomplete records (Q20): no user without
// the account of the sign-in, no account or session without its user. People whose
// sign-in was interrupted can sign in again, and people who were signed in still
// are.
func TestAServerThatIsKilledLeavesNothingHalfMade(t *testing.T) {
	idp := authtest.Start(t, authtest.Options{AutoConsent: true, People: people(invited), Algorithm: authtest.ES256})
	box := authtest.StartMailbox(t, authtest.MailboxOptions{})
	file := filepath.Join(t.TempDir(), "app.db")
	s := newServer(t, file, idp.Issuer, box.Addr)

	next, arrived, interrupted := 0, []*person{}, 0
	for range rounds {
		s.start()
		in, cutOff := load(t, s, box, &next)
		checkTables(t, file)

		s.start()
		for _, p := range in {
			if err := p.isSignedIn(t.Context(), s.url); err != nil {
				t.Errorf("a session did not survive: %v", err)
			}
		}
		for _, p := range cutOff {
			p.mustSignIn(t, s.url, box)
		}
		s.kill()
		interrupted += len(cutOff)
		arrived = append(append(arrived, in...), cutOff...)
	}
	checkTables(t, file)
	if len(arrived)-interrupted < rounds || interrupted < rounds {
		t.Errorf("%d sign-ins were completed and %d interrupted: the test needs both", len(arrived)-interrupted, interrupted)
	}
	if n := rows(t, file, "SELECT count(*) FROM pintle_users"); n != len(arrived) {
		t.Errorf("%d people are %d users", len(arrived), n)
	}
	t.Logf("%d sign-ins were completed and %d cut off", len(arrived)-interrupted, interrupted)
}

// load signs people in until the server is killed, and returns those who completed
// the sign-in and those who did not.
func load(t *testing.T, s *server, box *authtest.Mailbox, next *int) (in, cutOff []*person) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var mu sync.Mutex
	invite := func() *person {
		mu.Lock()
		defer mu.Unlock()
		*next++
		return newPerson(*next - 1)
	}
	var all sync.WaitGroup
	for range inParallel {
		all.Go(func() {
			for ctx.Err() == nil {
				p := invite()
				err := p.signIn(ctx, s.url, box)
				mu.Lock()
				if err == nil {
					in = append(in, p)
				} else {
					cutOff = append(cutOff, p)
				}
				mu.Unlock()
			}
		})
	}
	time.Sleep(100*time.Millisecond + rand.N(400*time.Millisecond))
	s.kill()
	cancel() // ends waiting for a response or a mail
	all.Wait()
	return in, cutOff
}

// checkTables looks for incomplete records. Users of a mail link have no account,
// but a verified address.
func checkTables(t *testing.T, file string) {
	t.Helper()
	for what, query := range map[string]string{
		"users without account or verified address": `SELECT count(*) FROM pintle_users u LEFT JOIN pintle_accounts a ON a.user_id = u.id WHERE a.user_id IS NULL AND u.email_verified IS NULL`,
		"accounts without a user":                   `SELECT count(*) FROM pintle_accounts a LEFT JOIN pintle_users u ON u.id = a.user_id WHERE u.id IS NULL`,
		"sessions without a user":                   `SELECT count(*) FROM pintle_sessions s LEFT JOIN pintle_users u ON u.id = s.user_id WHERE u.id IS NULL`,
		"new users without a session":               `SELECT count(*) FROM pintle_users u LEFT JOIN pintle_sessions s ON s.user_id = u.id WHERE s.user_id IS NULL`,
	} {
		if n := rows(t, file, query); n != 0 {
			t.Errorf("Q20 there are %d %s", n, what)
		}
	}
}

func rows(t *testing.T, file, query string) (n int) {
	t.Helper()
	db, err := sql.Open("sqlite", dataSource(file))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRowContext(t.Context(), query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
