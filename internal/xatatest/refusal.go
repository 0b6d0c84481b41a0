package xatatest

import (
	"errors"
	"fmt"
	"net/http"
)

// A refused is a rejected request, with its status and message.
type refused struct {
	status  int
	message string
}

func (r *refused) Error() string { return r.message }

func refuse(status int, format string, args ...any) error {
	return &refused{status, fmt.Sprintf(format, args...)}
}

func invalid(format string, args ...any) error {
	return refuse(http.StatusBadRequest, format, args...)
}

// A failedTransaction names the operation that failed.
type failedTransaction struct {
	index int
	err   error
}

func (f *failedTransaction) Error() string { return f.err.Error() }

// refusal returns the response to a rejected request.
func refusal(err error, id string) (status int, answer any) {
	if f, ok := errors.AsType[*failedTransaction](err); ok {
		return http.StatusBadRequest, map[string]any{"id": id, "errors": []any{map[string]any{"index": f.index, "message": f.Error()}}}
	}
	status = http.StatusInternalServerError
	if r, ok := errors.AsType[*refused](err); ok {
		status = r.status
	}
	return status, map[string]any{"id": id, "message": err.Error()}
}
