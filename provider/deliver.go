package provider

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/pintleauth/pintle"
)

// maxMailAnswer is how much is read of what a service says to a message.
const maxMailAnswer = 16 << 10

// deliver sends a message. Every status but 2xx is an error that carries what
// the service said, for the log.
func (q question) deliver(ctx context.Context, c *http.Client) error {
	req, err := q.request(ctx)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "application/json")
	resp, err := c.Do(req)
	if err != nil {
		return withoutURL(err)
	}
	defer func() { _ = resp.Body.Close() }() // nothing to do about it: the body is read
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxMailAnswer))
	if resp.StatusCode >= 200 && resp.StatusCode <= 299 {
		return nil // the service has the message, whatever became of its answer
	}
	if err != nil {
		return errors.Join(fmt.Errorf("status %d", resp.StatusCode), err)
	}
	return fmt.Errorf("status %d: %.300q", resp.StatusCode, said(body))
}

// said is the message in an answer, under any of the names services have for
// it, and otherwise the answer.
func said(body []byte) string {
	var answer struct {
		Message string          `json:"message"` // also Message of Postmark
		Error   json.RawMessage `json:"error"`
		Errors  []struct {
			Message string `json:"message"`
		} `json:"errors"`
	}
	if json.Unmarshal(body, &answer) != nil {
		return string(body)
	}
	first := ""
	if len(answer.Errors) > 0 {
		first = answer.Errors[0].Message
	}
	return cmp.Or(answer.Message, first, string(answer.Error), string(body))
}

// mailMembers are the members of a message under the names most services have.
func mailMembers(from string, m *pintle.Message) map[string]any {
	return map[string]any{"from": from, "to": m.To, "subject": m.Subject, "html": m.HTML, "text": m.Text}
}
