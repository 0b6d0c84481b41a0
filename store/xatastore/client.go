package xatastore

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

const (
	// maxAnswer is the longest answer that is read, in bytes. A page of
	// records whose texts are all as long as can be is longer; that is an
	// error and not a shorter list.
	maxAnswer = 16 << 20

	// maxIdle is how many connections are kept for the next request.
	maxIdle = 32

	// maxRefusal is how much of an answer with an error is read.
	maxRefusal = 64 << 10
)

// A client makes requests to one branch of a database.
type client struct {
	*resolved
	http http.Client
}

func newClient(r *resolved) *client {
	c := &client{resolved: r}
	if r.HTTPClient != nil {
		c.http = *r.HTTPClient
	} else if t, ok := http.DefaultTransport.(*http.Transport); ok {
		// All requests go to one host, for which two idle connections are kept
		// by default: under load most requests would begin with a handshake.
		t = t.Clone()
		t.MaxIdleConnsPerHost = maxIdle
		c.http.Transport = t
	}
	// A redirected request would carry the key to an address that is not configured.
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	c.http.Jar = nil
	return c
}

// A call is one request. Every call may be repeated: what is written has an id
// that was chosen here, so that a second attempt adds nothing to the first, and
// what depends on a version is refused when that has moved.
type call struct {
	method string
	table  string   // "" for those of the branch
	path   []string // after the table
	query  url.Values
	body   any
}

// ask makes a call and decodes its answer.
func ask[T any](ctx context.Context, c *client, l call) (answer T, err error) {
	text, err := c.do(ctx, l)
	if err == nil {
		err = decode(text, &answer)
	}
	return answer, err
}

// do makes a call and returns its answer, which is JSON or empty.
func (c *client) do(ctx context.Context, l call) ([]byte, error) {
	var payload []byte
	if l.body != nil {
		var err error
		if payload, err = json.Marshal(l.body); err != nil {
			return nil, fmt.Errorf("encode the request: %w", err)
		}
	}
	pause := newBackoff()
	maybeDone := false
	for attempt := 0; ; attempt++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		text, o := c.attempt(ctx, l, payload)
		if o.err == nil {
			return text, nil
		}
		if e, ok := errors.AsType[*Error](o.err); ok {
			e.maybeDone = maybeDone
		}
		maybeDone = maybeDone || o.maybeDone
		if !o.again || attempt >= c.Retries || !pause.wait(ctx, o.wait) {
			return nil, o.err
		}
	}
}

// attempt makes a call once.
func (c *client) attempt(ctx context.Context, l call, payload []byte) ([]byte, outcome) {
	limited, cancel := context.WithTimeoutCause(ctx, c.Timeout, fmt.Errorf("no answer within %s", c.Timeout))
	defer cancel()
	req, err := http.NewRequestWithContext(limited, l.method, c.address(l), bytes.NewReader(payload))
	if err != nil {
		return nil, outcome{err: c.trouble(err)}
	}
	req.Header.Set("Authorization", "Bearer "+c.APIKey)
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "pintle-xatastore")
	if payload != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, c.unanswered(ctx, limited, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return nil, c.refusal(l, resp)
	}
	text, err := readAtMost(resp.Body, maxAnswer)
	if errors.Is(err, errTooLong) {
		return nil, outcome{err: err, maybeDone: true}
	}
	if err != nil {
		return nil, c.unanswered(ctx, limited, fmt.Errorf("read the answer: %w", err))
	}
	if !json.Valid(text) && (len(text) > 0 || l.method != http.MethodDelete) {
		// Cut off, or not the service's: it may have done what was asked.
		return nil, outcome{err: errNotJSON, again: true, maybeDone: true}
	}
	return text, outcome{}
}

// address returns the URL of a call. Ids come from clients, so each stays one
// segment of the path.
func (c *client) address(l call) string {
	var b strings.Builder
	b.WriteString(c.base)
	if l.table != "" {
		b.WriteString("/tables/" + url.PathEscape(l.table))
	}
	for _, segment := range l.path {
		b.WriteString("/" + url.PathEscape(segment))
	}
	if len(l.query) > 0 {
		b.WriteString("?" + l.query.Encode())
	}
	return b.String()
}

// unanswered is the outcome of a request whose answer did not arrive. It may
// have been carried out.
func (c *client) unanswered(ctx, limited context.Context, err error) outcome {
	if ended := ctx.Err(); ended != nil {
		return outcome{err: ended, maybeDone: true}
	}
	if limited.Err() != nil {
		return outcome{err: context.Cause(limited), again: true, maybeDone: true}
	}
	return outcome{err: c.trouble(err), again: true, maybeDone: true}
}

// refusal is the outcome of an answer that is an error.
func (c *client) refusal(l call, resp *http.Response) outcome {
	text, _ := io.ReadAll(io.LimitReader(resp.Body, maxRefusal)) // half a message is better than none
	var said struct {
		ID      string `json:"id"`
		Message string `json:"message"`
		Errors  []struct {
			Message string `json:"message"`
		} `json:"errors"`
	}
	_ = json.Unmarshal(text, &said) // a proxy's answer is not JSON: the status has to do
	if said.Message == "" && len(said.Errors) > 0 {
		said.Message = said.Errors[0].Message
	}
	id := resp.Header.Get("X-Request-Id")
	if id == "" {
		id = said.ID
	}
	o := outcome{err: &Error{
		Method: l.method, Table: l.table, Status: resp.StatusCode,
		Message: c.said(said.Message), RequestID: c.said(id),
	}}
	switch resp.StatusCode {
	case http.StatusTooManyRequests:
		o.again, o.wait = true, asked(resp.Header)
	case http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		o.again, o.wait, o.maybeDone = true, asked(resp.Header), true
	}
	return o
}

var errTooLong = fmt.Errorf("the answer is longer than %d bytes", maxAnswer)

// readAtMost fails where [io.LimitReader] would make a long answer look like a
// complete shorter one.
func readAtMost(r io.Reader, most int64) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(text)) > most {
		return nil, errTooLong
	}
	return text, err
}

var errNotJSON = errors.New("the answer is not whole, or not JSON")

// decode reads an answer, with every digit of its numbers.
func decode(text []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(v); err != nil {
		return fmt.Errorf("the answer is not what was asked for: %w", err)
	}
	return nil
}
