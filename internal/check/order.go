package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"
)

// steps runs steps in their order, some of them beside each other, and lists what each
// did. After one that fails no other begins.
func (c *check) steps(ctx context.Context, wanted []step, beside int) error {
	type end struct {
		step
		at  time.Time
		did string
		err error
	}
	var (
		began  = time.Now()
		did    strings.Builder
		failed []error
		ended  = make(chan end)
		out    = &printer{out: c.out}

		waiting = slices.Clone(wanted)
		left    = make(map[string]bool) // the steps that have not ended
		running = 0
	)
	for _, s := range wanted {
		left[s.name] = true
	}
	for {
		for running < beside && failed == nil {
			next := slices.IndexFunc(waiting, func(s step) bool {
				return !slices.ContainsFunc(s.needs, func(name string) bool { return left[name] })
			})
			if next < 0 {
				break
			}
			s := waiting[next]
			waiting = slices.Delete(waiting, next, next+1)
			running++
			fmt.Fprintln(out, "==", s.name)
			go func() {
				e := end{step: s, at: time.Now()}
				defer func() { ended <- e }()
				of := *c
				if of.out = out; beside > 1 {
					l := &labelled{printer: out, label: s.name}
					defer l.end()
					of.out = l
				}
				e.did, e.err = s.run(&of, ctx)
			}()
		}
		if running == 0 {
			break
		}
		e := <-ended
		running--
		delete(left, e.name)
		if errors.Is(e.err, errSkipped) {
			e.did, e.err = e.err.Error(), nil
		}
		if e.err != nil {
			failed = append(failed, fmt.Errorf("%w\n== %s FAILED in %s", e.err, e.name, seconds(e.at)))
			continue
		}
		fmt.Fprintf(&did, "%8s  %-15s  %s\n", seconds(e.at), e.name, e.did)
	}
	if failed != nil {
		return errors.Join(failed...)
	}
	fmt.Fprintf(out, "\n%s%8s  every step passed\n", did.String(), seconds(began))
	return nil
}

// A printer passes on what programs of several steps print.
type printer struct {
	mu  sync.Mutex
	out io.Writer
}

func (p *printer) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.Write(b)
}

// A labelled printer passes on whole lines, each behind the name of its step.
type labelled struct {
	*printer
	label string
	begun []byte // a line that has not ended
}

func (l *labelled) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.begun = append(l.begun, b...)
	end := bytes.LastIndexByte(l.begun, '\n') + 1
	for line := range bytes.Lines(l.begun[:end]) {
		if _, err := fmt.Fprintf(l.out, "%-12s| %s", l.label, line); err != nil {
			return 0, err
		}
	}
	l.begun = append([]byte(nil), l.begun[end:]...)
	return len(b), nil
}

// end passes on a last line that has no end.
func (l *labelled) end() {
	if len(l.begun) > 0 {
		_, _ = l.Write([]byte("\n"))
	}
}
