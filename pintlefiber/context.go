package pintlefiber

import (
	"context"
	"sync"

	"github.com/gofiber/fiber/v3"
)

// Context returns the [fiber.Ctx] of the request that a callback is called for,
// or nil if the call does not come from Fiber:
//
//	auth := pintle.NewFunc(func(r *http.Request) string {
//		return utils.CopyString(pintlefiber.Context(r.Context()).Params("tenant"))
//	}, config)
//
// Fiber reuses its contexts for other requests, and the memory of their texts:
// copy texts that outlive the call. Therefore Context returns nil in code that
// still runs after the call into Pintle has returned.
func Context(ctx context.Context) fiber.Ctx {
	x, _ := ctx.Value(contextKey{}).(*crossing)
	if x == nil {
		return nil
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.c
}

type contextKey struct{}

// A crossing is the context that Pintle receives: Fiber's, with the values that
// the application keeps as locals, until the call is over.
type crossing struct {
	context.Context

	mu sync.RWMutex
	c  fiber.Ctx // nil when the call is over
}

func (x *crossing) Value(key any) any {
	if key == (contextKey{}) {
		return x
	}
	if value := x.Context.Value(key); value != nil {
		return value
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	if x.c == nil {
		return nil
	}
	return x.c.Locals(key)
}

func (x *crossing) end() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.c = nil
}
