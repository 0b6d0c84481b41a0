package provider

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"

	"github.com/pintleauth/pintle/oauth"
)

// exchange sends a token request that is not a form and returns the response with
// any status: the caller checks it as a token response.
func (q apiRequest) exchange(ctx context.Context, c *http.Client) (*oauth.TokenResponse, error) {
	req, err := q.request(ctx)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	resp, err := c.Do(req)
	if err != nil {
		return nil, withoutURL(err)
	}
	defer func() { _ = resp.Body.Close() }() // nothing to do about it: the body is read
	d := json.NewDecoder(resp.Body)
	d.UseNumber()
	r := &oauth.TokenResponse{Status: resp.StatusCode, Header: resp.Header}
	if err := d.Decode(&r.Body); err != nil {
		r.Body = nil // a body that is no object is no token response
	}
	_, _ = io.Copy(io.Discard, resp.Body) // so that the connection can be used again
	return r, nil
}

// withoutURL removes the address from an error of a client: some services require
// credentials in its query.
func withoutURL(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}

// rename renames members of a token response to those of RFC 6749.
func rename(r *oauth.TokenResponse, names map[string]string) {
	for from, to := range names {
		if value, ok := r.Body[from]; ok {
			r.Body[to] = value
			delete(r.Body, from)
		}
	}
}
