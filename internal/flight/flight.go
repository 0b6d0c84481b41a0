// Package flight makes one call however many callers want its result at a time.
package flight

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"golang.org/x/sync/singleflight"
)

// A Group is a set of calls, each with a key. The zero value is ready to use, and
// its methods may be called concurrently.
type Group[T any] struct{ calls singleflight.Group }

// Do returns what f returns. While a call with the same key is under way, it
// returns the result of that call and does not run f.
//
// The call does not end with the context of its first caller, since others may
// wait: its context has the values of that one, and no deadline. A caller whose
// context ends gets its cause, and the call goes on. All callers get the same
// value, which they must not change.
//
// A call that does not return is a [Crash] for all of its callers: a panic in its
// goroutine, which is no request's, would end the program.
func (g *Group[T]) Do(ctx context.Context, key string, f func(context.Context) (T, error)) (T, error) {
	// A goroutine for each caller, because singleflight ends those of all callers
	// where f ends its own, and DoChan would never answer them.
	landed := make(chan result[T], 1)
	go func() {
		r := result[T]{err: &Crash{}}
		defer func() { landed <- r }()
		value, err, _ := g.calls.Do(key, func() (any, error) { return guarded(context.WithoutCancel(ctx), f) })
		r.value, _ = value.(T)
		r.err = err
	}()
	select {
	case r := <-landed:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	}
}

// Beside runs f in a goroutine, beside a call that f may wait for. If f does not return, crashed
// is called with a [Crash].
func Beside(ctx context.Context, f func(), crashed func(error)) {
	go func() {
		err := error(&Crash{})
		defer func() {
			if err != nil {
				crashed(err)
			}
		}()
		_, err = guarded(ctx, func(context.Context) (struct{}, error) { f(); return struct{}{}, nil })
	}()
}

type result[T any] struct {
	value T
	err   error
}

func guarded[T any](ctx context.Context, f func(context.Context) (T, error)) (value T, err error) {
	defer func() {
		if failure := recover(); failure != nil {
			err = &Crash{Panic: failure, Stack: debug.Stack()}
		}
	}()
	return f(ctx)
}

// A Crash is the error of a call that did not return.
type Crash struct {
	Panic any    // nil for a call that ended its goroutine with runtime.Goexit
	Stack []byte // of the panic
}

func (c *Crash) Error() string {
	if c.Panic == nil {
		return "the call ended its goroutine"
	}
	return fmt.Sprintf("panic: %v\n%s", c.Panic, c.Stack)
}

// IsCrash reports whether err is, or wraps, a [Crash].
func IsCrash(err error) bool {
	_, ok := errors.AsType[*Crash](err)
	return ok
}
