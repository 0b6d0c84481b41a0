package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
)

func TestEachStepNeedsStepsBeforeIt(t *testing.T) {
	for i, s := range steps {
		for _, name := range s.needs {
			if at := slices.IndexFunc(steps, func(s step) bool { return s.name == name }); at < 0 || at >= i {
				t.Errorf("%s needs %s, which is not before it", s.name, name)
			}
		}
	}
}

// told returns a function that notes which steps have begun and ended.
func told(log *[]string, name string, err error) func(*check, context.Context) (string, error) {
	var mu sync.Mutex
	return func(c *check, _ context.Context) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		*log = append(*log, name)
		fmt.Fprint(c.out, "line of ", name, "\n")
		return name + " is done", err
	}
}

func TestStepsRunInTheirOrder(t *testing.T) {
	var log []string
	var out bytes.Buffer
	c := &check{out: &out}
	err := c.steps(t.Context(), []step{
		{"one", always, told(&log, "one", nil), nil},
		{"two", always, told(&log, "two", errSkipped), nil},
		{"three", always, told(&log, "three", nil), []string{"one", "not chosen"}},
	}, 1)
	if err != nil || strings.Join(log, " ") != "one two three" {
		t.Errorf("%v, %v; want one two three", log, err)
	}
	for _, want := range []string{"== one\nline of one\n== two\n", "two              skipped\n", "three is done\n", "every step passed"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("it prints\n%s\nwant %q", &out, want)
		}
	}
}

func TestNoStepBeginsAfterOneThatFailed(t *testing.T) {
	var log []string
	c := &check{out: &bytes.Buffer{}}
	err := c.steps(t.Context(), []step{
		{"one", always, told(&log, "one", errors.New("a fault")), nil},
		{"two", always, told(&log, "two", nil), nil},
	}, 1)
	if err == nil || !strings.Contains(err.Error(), "a fault\n== one FAILED") || len(log) != 1 {
		t.Errorf("%v, %v; want the fault of the first step, and no other step", log, err)
	}
}

func TestAStepRunsBesideOthersAndAfterThoseItNeeds(t *testing.T) {
	met, ended := make(chan struct{}), make(chan struct{})
	var out bytes.Buffer
	c := &check{out: &out}
	err := c.steps(t.Context(), []step{
		{"first", always, func(c *check, _ context.Context) (string, error) {
			fmt.Fprint(c.out, "be")
			fmt.Fprint(c.out, "gun\nlast")
			<-met
			close(ended)
			return "", nil
		}, nil},
		{"second", always, func(*check, context.Context) (string, error) {
			select {
			case <-ended:
				return "", nil
			default:
				close(met)
				return "", errors.New("the step it needs has not ended")
			}
		}, []string{"first"}},
		{"third", always, func(*check, context.Context) (string, error) { close(met); return "", nil }, nil},
	}, 2)
	if err != nil {
		t.Error(err)
	}
	for _, want := range []string{"first       | begun\n", "first       | last\n", "== third\n", "== second\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("it prints\n%s\nwant %q", &out, want)
		}
	}
}

func TestAllStepsButTheNamedOnesRunOnce(t *testing.T) {
	for _, thorough := range []bool{false, true} {
		wanted, err := chosen(nil, thorough)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, s := range wanted {
			names = append(names, s.name)
		}
		want := "format vet lint workflows unit"
		if thorough {
			want = "setup format race platforms versions lint workflows conformance publish registers"
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("with -all %t the steps are %q, want %q", thorough, got, want)
		}
	}
}
