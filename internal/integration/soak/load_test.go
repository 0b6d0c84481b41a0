package soak

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/pintleauth/pintle/authtest"
)

// kinds are the steps of the load.
var kinds = []string{
	"first sign-in by provider", "first sign-in by mail", "sign-up with password",
	"sign-in by provider", "sign-in by mail", "sign-in with password",
	"session", "refresh", "sign-out", "reset of a password", "deletion",
}

const (
	most     = 20_000 // users, whom the provider has to know
	browsers = 4      // of a user
)

func emailOf(n int) string { return fmt.Sprintf("user-%d@example.com", n) }

// people are the users of the provider.
func people() []authtest.Person {
	var all []authtest.Person
	for n := range most {
		v := visit{user: &user{number: n}}
		all = append(all, authtest.Person{Subject: v.subject(), Name: "User", Login: v.subject(), Email: emailOf(n), EmailVerified: true})
	}
	return all
}

// A step is one that a worker has made.
type step struct {
	kind       string
	start, end time.Time
	err        error
}

// A load is the journal, and the workers that write it.
type load struct {
	url    string
	box    *authtest.Mailbox
	tokens bool         // sessions are in tokens
	gate   sync.RWMutex // workers hold it to read while they make a step

	mu     sync.Mutex
	users  []*user
	free   []*user
	steps  []step
	wanted map[string]bool // kinds that have to succeed
	wrong  []string
}

// run makes steps until ctx ends.
func (l *load) run(ctx context.Context, workers int) {
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for ctx.Err() == nil {
				l.gate.RLock()
				l.once(ctx)
				l.gate.RUnlock()
			}
		})
	}
	all.Wait()
}

// once makes one step for a user who is free, or for a new one.
func (l *load) once(ctx context.Context) {
	u := l.take()
	v := &visit{ctx, l.url, l.box, l.tokens, u}
	kind, do := v.choose(l.want())
	s := step{kind: kind, start: time.Now()}
	s.err = do()
	s.end = time.Now()
	if ctx.Err() != nil && s.err != nil && !isWrong(s.err) {
		u.doubtful = true // the end of the load has cut it off
	} else {
		l.note(s)
	}
	if !u.doubtful {
		l.mu.Lock()
		l.free = append(l.free, u)
		l.mu.Unlock()
	}
	if s.err != nil && ctx.Err() == nil {
		pause(ctx, 20*time.Millisecond) // a client that is refused waits
	}
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

func isWrong(err error) bool {
	_, is := errors.AsType[*violation](err)
	return is
}

// take returns a user, a new one in one of four cases.
func (l *load) take() *user {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := len(l.free); n > 0 && (len(l.users) == most || rand.IntN(4) > 0) {
		i := rand.IntN(n)
		u := l.free[i]
		l.free = slices.Delete(l.free, i, i+1)
		return u
	}
	n := len(l.users)
	u := &user{number: n, email: emailOf(n), way: []string{"provider", "mail", "password"}[n%3]}
	l.users = append(l.users, u)
	return u
}

// want returns a kind of step that has to succeed and has not, or "".
func (l *load) want() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	for kind := range l.wanted { // in any order
		return kind
	}
	return ""
}

func (l *load) note(s step) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.steps = append(l.steps, s)
	if s.err == nil {
		delete(l.wanted, s.kind)
	} else if isWrong(s.err) {
		l.wrong = append(l.wrong, s.end.Format("15:04:05.000 ")+s.kind+": "+s.err.Error())
	}
}

// choose returns a step that the user can make: one that is wanted, if it can be.
func (v *visit) choose(wanted string) (kind string, do func() error) {
	first := v.id == "" && v.password == ""
	signIn := map[string]string{"provider": "sign-in by provider", "mail": "sign-in by mail", "password": "sign-in with password"}[v.way]
	if first {
		if v.way == "password" {
			return "sign-up with password", v.signIn
		}
		return "first " + signIn, v.signIn
	}
	can := map[string]func() error{}
	if len(v.browsers) < browsers {
		can[signIn] = v.signIn
	}
	var b *browser
	for _, i := range rand.Perm(len(v.browsers)) {
		if b = v.browsers[i]; b.state == live {
			break
		}
	}
	if b != nil {
		can["session"] = func() error { return v.check(b) }
	}
	if b != nil && b.state == live {
		can["sign-out"] = func() error { return v.signOut(b) }
		can["deletion"] = func() error { return v.delete(b) }
		if v.way == "provider" {
			can["refresh"] = func() error { return v.command(b, "/app/refresh") }
		}
	} else {
		can[signIn] = v.signIn
	}
	if v.way == "password" {
		can["reset of a password"] = v.reset
	}
	if can[wanted] != nil {
		return wanted, can[wanted]
	}
	// Sessions are asked for far more often than anything else, and deletions are rare.
	weights := map[string]int{"session": 12, signIn: 4, "sign-out": 2, "refresh": 2, "reset of a password": 1, "deletion": 1}
	sum := 0
	for kind := range can {
		sum += weights[kind]
	}
	at := rand.IntN(sum)
	for _, kind := range slices.Sorted(maps.Keys(can)) {
		if at -= weights[kind]; at < 0 {
			return kind, can[kind]
		}
	}
	panic("unreachable")
}

// counts are the outcomes of steps.
type counts struct {
	OK     int `json:"ok"`
	Failed int `json:"failed"` // as a user sees it, and can repeat it
	Wrong  int `json:"wrong"`
}

// between counts the steps that ended in a time.
func (l *load) between(from, to time.Time) (c counts) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.steps {
		switch {
		case s.end.Before(from) || s.end.After(to):
		case s.err == nil:
			c.OK++
		case isWrong(s.err):
			c.Wrong++
		default:
			c.Failed++
		}
	}
	return c
}

// recovered returns how long after a time each kind of step succeeded for the first time that
// began after it, once all have, or ctx has ended.
func (l *load) recovered(ctx context.Context, since time.Time) (after map[string]time.Duration, missing []string) {
	l.mu.Lock()
	l.wanted = map[string]bool{}
	for _, kind := range kinds {
		l.wanted[kind] = true
	}
	l.mu.Unlock()
	for ctx.Err() == nil {
		after = map[string]time.Duration{}
		l.mu.Lock()
		for _, s := range l.steps {
			if _, known := after[s.kind]; !known && s.err == nil && !s.start.Before(since) {
				after[s.kind] = s.end.Sub(since)
			}
		}
		l.mu.Unlock()
		if len(after) == len(kinds) {
			break
		}
		pause(ctx, 20*time.Millisecond)
	}
	for _, kind := range kinds {
		if _, ok := after[kind]; !ok {
			missing = append(missing, kind)
		}
	}
	return after, missing
}
