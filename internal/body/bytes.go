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
	data, err := readAll(io.LimitReader(r.Body, max+1), r.ContentLength)
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

// maxAhead is the most bytes that readAll allocates before it has read them: a client
// can declare any length and send nothing.
const maxAhead = 4 << 10

// readAll is [io.ReadAll] for a body of a declared length. Most forms are shorter than
// the 512 bytes with which that begins.
func readAll(body io.Reader, declared int64) ([]byte, error) {
	if declared < 0 || declared > maxAhead {
		return io.ReadAll(body)
	}
	// One byte more, so that the end is found without another allocation.
	data := make([]byte, 0, declared+1)
	for {
		n, err := body.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		if err == io.EOF {
			return data, nil
		}
		if err != nil {
			return data, err
		}
		if len(data) == cap(data) { // longer than declared, as only a handler before can make it
			data = append(data, 0)[:len(data)]
		}
	}
}
