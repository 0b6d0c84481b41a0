package xatastore

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"unicode"

	"github.com/pintleauth/pintle"
)

// An Error is a request that the service refused.
type Error struct {
	// Method and Table name the request. Table is empty where several are
	// involved.
	Method, Table string

	// Status is the HTTP status of the answer.
	Status int

	// Message is the message of the service, shortened. The API key is not in it.
	Message string

	// RequestID is what to give to the service's support. It may be empty.
	RequestID string

	// maybeDone is set when an earlier attempt got no answer that can be
	// trusted: what is refused now may be refused because it was done then.
	maybeDone bool
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Method)
	if e.Table != "" {
		b.WriteString(" " + e.Table)
	}
	fmt.Fprintf(&b, ": %d %s", e.Status, http.StatusText(e.Status))
	if e.Message != "" {
		b.WriteString(": " + e.Message)
	}
	if e.RequestID != "" {
		b.WriteString(" (request " + e.RequestID + ")")
	}
	return b.String()
}

// refused returns err if the service refused the request, and nil for faults of
// the service or of the network.
//
// The meaning of the three statuses is not documented for every request, so the
// caller reads the record to find the reason.
func refused(err error) *Error {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		return nil
	}
	switch e.Status {
	case http.StatusBadRequest, http.StatusConflict, http.StatusPreconditionFailed, http.StatusUnprocessableEntity:
		return e
	}
	return nil
}

// missing reports whether the service has no such record, and whether an
// earlier attempt may be the reason.
func missing(err error) (is, maybeDone bool) {
	if e, ok := errors.AsType[*Error](err); ok && e.Status == http.StatusNotFound {
		return true, e.maybeDone
	}
	return false, false
}

const fixTable = "make a table for passkeys as xatastore.Schema says and set Options.Extended"

var (
	errNotText = errors.New("a text is not UTF-8, has a NUL character or is longer than a column can be")
	errNoTable = fmt.Errorf("the database has no table for passkeys: %s: %w", fixTable, errors.ErrUnsupported)
)

// fail converts an error to the errors of package pintle.
//
// The service's message about a conflict is left out: it may quote the value,
// which may be a session token.
func fail(ctx context.Context, operation string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, pintle.ErrNotFound), errors.Is(err, pintle.ErrConflict):
		return err
	}
	if ended := ctx.Err(); ended != nil && !errors.Is(err, ended) {
		return fmt.Errorf("xatastore: %s: %w: %w", operation, ended, err)
	}
	return fmt.Errorf("xatastore: %s: %w", operation, err)
}

// absent returns the error for a key that no record can have: that of the
// context if it has ended, and [pintle.ErrNotFound] otherwise.
func absent(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return pintle.ErrNotFound
}

// maxMessage is how much of the service's message is passed on, in bytes.
const maxMessage = 500

// said makes text of the service fit to be logged: short, on one line, and
// without the key, which a proxy may have repeated.
func (c *client) said(text string) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), c.APIKey, "[API key]")
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
	if len(text) > maxMessage {
		text = strings.ToValidUTF8(text[:maxMessage], "") + "…"
	}
	return strings.TrimSpace(text)
}

// trouble returns an error of the network without the address, which names
// records. If the error of the host's transport holds the key, its text without
// the key replaces it.
func (c *client) trouble(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	if strings.Contains(err.Error(), c.APIKey) {
		return errors.New(c.said(err.Error()))
	}
	return err
}
