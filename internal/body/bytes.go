package body

import (
	"errors"
	"fmt"
	"io"
	"net/http"
)

// DefaultMax is the limit of the routes: 256 KiB. Sign-in forms and WebAuthn
// responses take a few kilobytes; a session update may carry more.
const DefaultMax = 256 << 10

// ErrTooLarge is matched by errors about a body beyond its limit, the caller's
// or one the host set with [http.MaxBytesReader].
var ErrTooLarge = errors.New("request body is too large")

// Bytes reads the whole body of r, which may have at most max bytes. A larger
// one is an error matching [ErrTooLarge], returned before reading if the
// request declares its length. A request without a body gives nil.
func Bytes(r *http.Request, max int64) ([]byte, error) {
	if r.Body == nil || r.Body == http.NoBody {
		return nil, nil
	}
	if r.ContentLength > max {
		return nil, fmt.Errorf("read body: %d bytes declared, %d are allowed: %w", r.ContentLength, max, ErrTooLarge)
	}
	data, err := io.ReadAll(io.LimitReader(r.Body, max+1))
	if over, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, fmt.Errorf("read body: more than %d bytes: %w", over.Limit, ErrTooLarge)
	}
	if err != nil {
		return nil, fmt.Errorf("read body: %w", err)
	}
	if int64(len(data)) > max {
		return nil, fmt.Errorf("read body: more than %d bytes: %w", max, ErrTooLarge)
	}
	return data, nil
}
