package authtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// signInWith asks for the CSRF token that the form on the sign-in page has, and
// posts what the form posts.
func signInWith(c *http.Client, base, provider string) (*http.Response, error) {
	if c.Jar == nil {
		return nil, errors.New("the client keeps no cookies: set its Jar")
	}
	token, err := csrfToken(c, base)
	if err != nil {
		return nil, err
	}
	form := url.Values{"csrfToken": {token}, "callbackUrl": {"/"}}
	r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, base+"/signin/"+provider, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Accept", "text/html")
	return c.Do(r)
}

func csrfToken(c *http.Client, base string) (string, error) {
	r, err := http.NewRequestWithContext(context.Background(), http.MethodGet, base+"/csrf", http.NoBody)
	if err != nil {
		return "", err
	}
	resp, err := c.Do(r)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	var body struct {
		Token string `json:"csrfToken"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&body); err != nil || body.Token == "" {
		return "", fmt.Errorf("there are no sign-in routes at %s: GET csrf answered %s", base, resp.Status)
	}
	return body.Token, nil
}
