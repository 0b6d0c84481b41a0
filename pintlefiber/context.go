package pintlefiber

import (
	"context"
	"sync"

	"github.com/gofiber/fiber/v3"
)

// Context returns the [fiber.Ctx] of the request that a callback is called for,
// or nil when it is not called from within Fiber:
//
//	auth := pintle.NewFunc(func(r *http.Request) string {
//		return utils.CopyString(pintlefiber.Context(r.Context()).Params("tenant"))
//	}, config)
//
// Fiber uses its contexts again for other requests, and the memory of texts that
// come from them: copy what is kept. That is why Context returns nil in code
// that is still running when the call that led to it has returned.
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

// A crossing is the context that Pintle is given: Fiber's, with the values that
// the application keeps as locals, while they are there.
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
