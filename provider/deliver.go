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

// maxMailAnswer is how many bytes of a mail service's response are read.
const maxMailAnswer = 16 << 10

// deliver sends a message. Every status but 2xx is an error with the service's
// message, for the log.
func (q apiRequest) deliver(ctx context.Context, c *http.Client) error {
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
		return nil // the service accepted the message, even if reading its response failed
	}
	if err != nil {
		return errors.Join(fmt.Errorf("status %d", resp.StatusCode), err)
	}
	return fmt.Errorf("status %d: %.300q", resp.StatusCode, messageOf(body))
}

// messageOf returns the message in a response, under any of the names that
// services have for it, and otherwise the response.
func messageOf(body []byte) string {
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
